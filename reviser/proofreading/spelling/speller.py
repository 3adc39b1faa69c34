"""Corrections of words that are not in the list of English words, each with a confidence.

The confidence is a logistic model of a choice: between the candidates for a word and the word itself. Each has a score from
how likely the model finds it (`choosing`), how far its spelling is and how common it is (`candidates`). The weights were
fitted on misspellings that were put into texts which the model has not seen (`python -m benchmarks spelling`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

from reviser.core.tokenizer import Tokenizer
from reviser.decoding.policy import ModelPolicy
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.project.words import Words
from reviser.proofreading.reading import Passage, overtype, rules_for
from reviser.proofreading.spelling.candidates import Candidate, candidates
from reviser.proofreading.spelling.choosing import (
    LeftToRight,
    Overtyped,
    Place,
    as_written,
    place_of,
)
from reviser.proofreading.spelling.dictionary import Dictionary, dictionary
from reviser.proofreading.spelling.unknown import Unknown, unknown_words
from reviser.prose import Paragraph
from reviser.session.session import SessionPolicy


@dataclass(frozen=True)
class Weights:
    """What each feature adds to the score of a candidate, or of the word itself."""

    chance: float
    """The logarithm of the chance by overtyping."""
    reading: float
    """The logarithm of the chance from left to right."""
    distance: float
    size: float
    """The size of the list that has a candidate, in tens."""
    split: float
    """For a candidate of two words."""
    kept: float
    """For the word itself."""
    kept_capital: float
    """For the word itself, where it has a capital at the start of a sentence: it may be a name."""
    kept_compound: float
    """For the word itself, where it is made of known words, or of one and a common beginning or ending."""


OVERTYPED: Final = Weights(0.41, 0.0, -1.47, -0.37, -1.0, -3.41, 0.2, 0.0)
"""Before words were read from left to right."""
READ: Final = Weights(0.19, 0.35, -2.8, -0.42, -1.0, 0.22, 0.0, 0.0)
"""When they were."""
CLEARLY: Final = 0.97
CLEARLY_NOT: Final = 0.003
"""Between these chances words are read from left to right too."""

# A plural or a past form that is not in the list is no sign of a word that exists: "informations", "buyed".
_BEGINNINGS = re.compile(
    r"(?:un|re|pre|non|sub|super|multi|inter|over|under|mis|auto|micro|de|anti|co|meta|hyper|semi|mini|mega|pseudo|cyber|bio"
    r"|geo|neuro|electro|photo|poly|mono|out|up|down|back)(?P<rest>.+)"
)
_ENDINGS = re.compile(
    r"(?P<rest>.+?)(?:ness|less|like|wise|i[sz](?:e|es|ed|er|ers|ing|able|ation|ations)|isms?|ists?|ware|side|able|ability)"
)
_SHORTEST_PART: Final = 4


class Found(NamedTuple):
    """An unknown word with the best candidate for it, and its chance."""

    unknown: Unknown
    new: str
    confidence: float


def is_compound(word: str, known: Dictionary) -> bool:
    """Whether a word seems to be made of known words, or of one and a common beginning or ending."""

    def is_part(part: str) -> bool:
        return len(part) >= _SHORTEST_PART and (known.size(part) or 100) <= 60

    for pattern in (_BEGINNINGS, _ENDINGS):
        found = pattern.fullmatch(word)
        if found and is_part(found["rest"]):
            return True
    cuts = range(_SHORTEST_PART - 1, len(word) - _SHORTEST_PART + 2)
    return any(
        (known.size(word[:cut]) or 100) <= 50 and (known.size(word[cut:]) or 100) <= 50
        for cut in cuts
    )


def chances(place: Place, known: Dictionary) -> list[float]:
    """The chance of each candidate, and of the word itself as the last.

    If some candidates were read from left to right, all others are out of the question.
    """
    weights = READ if place.readings else OVERTYPED
    scores = [
        weights.chance * chance
        + weights.distance * one.distance
        + weights.size * one.size / 10
        + weights.split * one.is_split
        for one, chance in zip(place.candidates, place.chances, strict=True)
    ]
    kept = weights.chance * place.kept + weights.kept
    kept += weights.kept_capital * place.word[0].isupper()
    kept += weights.kept_compound * is_compound(place.word.lower(), known)
    scores.append(kept)
    if place.readings:
        for at, number in enumerate([*range(len(place.candidates)), None]):
            scores[at] += weights.reading * place.readings.get(number, -math.inf)
    most = max(scores)
    shares = [math.exp(score - most) for score in scores]
    return [share / sum(shares) for share in shares]


class Speller:
    """Finds what unknown words stand for, by a model that overtypes."""

    def __init__(
        self,
        policy: SessionPolicy,
        tokenizer: Tokenizer,
        rules: OvertypingRules,
    ) -> None:
        self._policy = policy
        self._tokenizer = tokenizer
        self._rules = rules

    @cached_property
    def known(self) -> Dictionary:
        """The list of words; it is read when a text is."""
        return dictionary()

    def unknown(self, paragraph: Paragraph, words: Words, names: Collection[str]) -> list[Unknown]:
        """The words of a paragraph that are worth a look."""
        return [
            one
            for one in unknown_words(paragraph, self.known, words, names)
            if self._candidates(one)
        ]

    def _candidates(self, one: Unknown) -> tuple[Candidate, ...]:
        return candidates(one.text.lower().replace("’", "'"), self.known)

    def find(self, passages: Sequence[tuple[Passage, str, Sequence[Unknown]]]) -> list[list[Found]]:
        """What the unknown words of passages stand for; the words have their places in the passage's text."""
        readers, all_places = [], []
        for passage, text, unknown in passages:
            ends = [*accumulate(len(self._tokenizer.token_bytes(one)) for one in passage.tokens)]
            places = [
                place_of(
                    self._tokenizer,
                    passage.tokens,
                    ends,
                    text,
                    (one.start, one.end),
                    self._candidates(one),
                    one.first,
                )
                for one in unknown
            ]
            all_places.append(places)
            readers.append(Overtyped(self._rules, *passage, places, self._choose))
        overtype(self._policy, readers)
        self._read_doubtful([one for one, _, _ in passages], all_places)
        return [
            [
                found
                for one, place in zip(unknown, places, strict=True)
                if (found := self._found(one, place)) is not None
            ]
            for (_, _, unknown), places in zip(passages, all_places, strict=True)
        ]

    def _read_doubtful(
        self, passages: Sequence[Passage], all_places: Sequence[Sequence[Place]]
    ) -> None:
        """Read words from left to right about which overtyping leaves a doubt."""
        readers = []
        for passage, places in zip(passages, all_places, strict=True):
            doubtful = [place for place in places if self._is_doubtful(place)]
            if doubtful:
                tokens, left, _ = passage
                readers.append(
                    LeftToRight(self._rules, tokens, left, places, doubtful, self._choose)
                )
        overtype(self._policy, readers)

    def _is_doubtful(self, place: Place) -> bool:
        if len(place.chances) < len(place.tokens):
            return False
        *found, _ = chances(place, self.known)
        return CLEARLY_NOT < max(found) < CLEARLY

    def _choose(self, place: Place) -> int | None:
        if len(place.chances) < len(place.tokens):
            return None
        *found, kept = chances(place, self.known)
        best = max(range(len(found)), key=found.__getitem__)
        return best if found[best] > kept else None

    def _found(self, one: Unknown, place: Place) -> Found | None:
        if len(place.chances) < len(place.tokens):
            return None
        *found, _ = chances(place, self.known)
        best = max(range(len(found)), key=found.__getitem__)
        return Found(one, as_written(one.text, place.candidates[best].text), found[best])


def speller_for(policy: SessionPolicy, tokenizer: Tokenizer) -> Speller | None:
    """A speller for models that overtype; None for any other policy."""
    if not isinstance(policy, ModelPolicy) or not policy.vocabulary.overtypes:
        return None
    rules = rules_for(policy.vocabulary)
    assert isinstance(rules, OvertypingRules)
    return Speller(policy, tokenizer, rules)
