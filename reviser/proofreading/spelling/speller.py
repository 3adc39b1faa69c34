"""Corrections of words that are not in the list of English words, each with a confidence.

The confidence is a logistic model of a choice: between the candidates for a word and the word itself. Each has a score from
how likely the model finds it (`choosing`), how far its spelling is and how common it is (`candidates`). The weights were
fitted on misspellings that were put into texts which the model has not seen (`python -m benchmarks spelling`).
"""

from __future__ import annotations

import math
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


OVERTYPED: Final = Weights(0.46, 0.0, -1.54, -0.36, -2.5, -3.98)
"""Before words were read from left to right."""
READ: Final = Weights(0.2, 0.37, -2.67, -0.37, -1.9, 0.21)
"""When they were."""
CLEARLY: Final = 0.97
CLEARLY_NOT: Final = 0.003
"""Between these chances words are read from left to right too."""


class Found(NamedTuple):
    """An unknown word with the best candidate for it, and its chance."""

    unknown: Unknown
    new: str
    confidence: float


def chances(place: Place) -> list[float]:
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
    scores.append(weights.chance * place.kept + weights.kept)
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
        *found, _ = chances(place)
        return CLEARLY_NOT < max(found) < CLEARLY

    def _choose(self, place: Place) -> int | None:
        if len(place.chances) < len(place.tokens):
            return None
        *found, kept = chances(place)
        best = max(range(len(found)), key=found.__getitem__)
        return best if found[best] > kept else None

    def _found(self, one: Unknown, place: Place) -> Found | None:
        if len(place.chances) < len(place.tokens):
            return None
        *found, _ = chances(place)
        best = max(range(len(found)), key=found.__getitem__)
        return Found(one, as_written(one.text, place.candidates[best].text), found[best])


def speller_for(policy: SessionPolicy, tokenizer: Tokenizer) -> Speller | None:
    """A speller for models that overtype; None for any other policy."""
    if not isinstance(policy, ModelPolicy) or not policy.vocabulary.overtypes:
        return None
    rules = rules_for(policy.vocabulary)
    assert isinstance(rules, OvertypingRules)
    return Speller(policy, tokenizer, rules)
