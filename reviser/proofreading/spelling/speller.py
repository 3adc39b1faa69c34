"""The speller: corrections of words that are not in the list of English words, each with a confidence.

The confidence is a logistic model of a choice: between the candidates for a word and the word itself. Each has a
score from how likely the model finds it (`choosing`), how far its spelling is and how common it is (`candidates`).
The weights were fitted on misspellings that were put into texts which the model has not seen (`python -m benchmarks
spelling`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

from reviser.core.tokenizer import Tokenizer
from reviser.decoding.policy import ModelPolicy, SessionPolicy
from reviser.model.scoring import ChoiceScores
from reviser.proofreading.overtyping import (
    Overtyper,
    OvertypingReader,
    OvertypingRules,
    ReaderSequence,
    longest_reading,
)
from reviser.proofreading.reading import LEAST_CONFIDENCE, Passage, overtype, rules_for
from reviser.proofreading.spelling.candidates import ALWAYS, CAPITAL, ONE_SLIP, Candidate, candidates
from reviser.proofreading.spelling.choosing import (
    LIKELIEST,
    LeftToRightScorer,
    MisspeltPlace,
    OvertypingScorer,
    as_opening,
    as_written,
    place_of,
    rank,
)
from reviser.proofreading.spelling.dictionary import LARGEST, Dictionary, dictionary
from reviser.proofreading.spelling.terms import Terms
from reviser.proofreading.spelling.unknown import UnknownWord, unknown_words
from reviser.prose import Paragraph


class FeatureWeights(NamedTuple):
    """The weights of the features of a candidate, or of the word itself; see `features`."""

    chance: float
    reading: float
    distance: float
    size: float
    split: float
    kept: float


OVERTYPED: Final = FeatureWeights(0.46, 0.0, -1.54, -0.36, -2.5, -3.98)
"""The weights for candidates scored by overtyping alone."""
READ: Final = FeatureWeights(0.2, 0.37, -2.67, -0.37, -1.9, 0.21)
"""The weights for candidates also scored from left to right."""
PRIOR: Final = 1.5
"""Subtracted from the score of the word itself: people misspell more words than the texts have in which the weights
were fitted.

Chosen on the first sentences of JFLEG's dev set.
"""
DOUBTED: Final = 0.9
NEAR: Final = 1.25
"""If overtyping gives a probability of `DOUBTED` that a word does not stay, and a candidate is at most this far, all
candidates together get that probability.

Overtyping may doubt a word without finding one candidate likely, where other words beside it are wrong as well ("our
enviroment have").
"""
# How far a misspelling mostly is from what was meant, at the most, where the size of a list counts too.
_NEAR_ENOUGH: Final = 1.3
CLEARLY: Final = 0.97
CLEARLY_NOT: Final = 0.003
"""Words with a probability between these two are also read from left to right."""
PLAIN: Final = 0.95
"""The confidence of an obvious correction, made without reading the sentence."""
_PLAIN_LETTERS: Final = 5
# A rare word with this ending ("vampiress") is no plural with an s too many.
_OF_WOMEN: Final = "ess"
_PLAIN_SIZE: Final = 35
# How much further the next candidate is at the least, where the size of a list counts as above.
_PLAIN_LEAD: Final = 0.5
MARGIN: Final = 8.0
"""A candidate whose score is certain to be this much below the best is not read: its share would be below a
thousandth."""


class UnknownWordsPassage(NamedTuple):
    """A passage with unknown words, which have offsets in `text`.

    If all of them seem right, `read_on` makes a reader of the passage from the scores known so far.
    """

    passage: Passage
    text: str
    unknown: Sequence[UnknownWord]
    read_on: Callable[[Sequence[ChoiceScores]], OvertypingReader] | None = None


class Respelling(NamedTuple):
    """An unknown word, the best candidate for it, and its probability."""

    unknown: UnknownWord
    new: str
    confidence: float


def features(place: MisspeltPlace) -> list[FeatureWeights]:
    """The features of each candidate, and of the word itself as the last.

    These are the log-probabilities by overtyping and from left to right, the distance of the candidate from the word,
    the size of the list that has it (in tens), and whether it is two words, or the word itself. If some candidates were
    read from left to right, all others are excluded.
    """
    if place.readings:
        readings = [place.readings.get(number, -math.inf) for number in range(len(place.chances))]
    else:
        readings = [0.0] * len(place.chances)
    rows = [
        _row(one, chance, reading)
        for one, chance, reading in zip(place.candidates, place.chances, readings, strict=True)
    ]
    return [*rows, FeatureWeights(place.kept, place.readings.get(None, 0.0), 0.0, 0.0, 0.0, 1.0)]


def _row(one: Candidate, chance: float, reading: float) -> FeatureWeights:
    return FeatureWeights(chance, reading, one.distance, one.size / 10, float(one.is_split), 0.0)


def chances(place: MisspeltPlace) -> list[float]:
    """The probability of each candidate, and of the word itself as the last."""
    weights = READ if place.readings else OVERTYPED
    scores = [sum(weight * value for weight, value in zip(weights, row, strict=True)) for row in features(place)]
    scores[-1] -= PRIOR
    most = max(scores)
    shares = [math.exp(score - most) for score in scores]
    return _with_doubt(place, [share / sum(shares) for share in shares])


def _with_doubt(place: MisspeltPlace, found: list[float]) -> list[float]:
    """The probabilities, with those of all candidates raised to sum to at least the model's doubt of the word
    itself."""
    doubt = -math.expm1(min(place.kept, 0.0))
    if any(one.distance == ALWAYS for one in place.candidates):
        doubt = max(doubt, DOUBTED)
    *others, kept = found
    if doubt < DOUBTED or 1 - kept >= doubt or not others:
        return found
    best = max(range(len(others)), key=others.__getitem__)
    if place.candidates[best].distance > NEAR or others[best] == 0:
        return found
    share = doubt / (1 - kept)
    return [*(share * chance for chance in others), 1 - doubt]


class FittedJudge:
    """Decides about unknown words by the fitted weights; `thoroughly` means that no candidate is skipped."""

    def __init__(self, *, thoroughly: bool = False) -> None:
        self._thoroughly = thoroughly

    def choose(self, place: MisspeltPlace) -> int | None:
        """The index of the best candidate, if it is likelier than the word."""
        if not place.is_judged:
            return None
        *found, kept = chances(place)
        best = max(range(len(found)), key=found.__getitem__)
        return best if found[best] > kept else None

    def is_doubtful(self, place: MisspeltPlace) -> bool:
        """Whether a word is also read from left to right."""
        if not place.is_judged:
            return False
        *found, _ = chances(place)
        return self._thoroughly or CLEARLY_NOT < max(found) < CLEARLY

    def next_to_read(self, place: MisspeltPlace, bounds: Sequence[float], read: Sequence[bool]) -> int | None:
        """The index of the unread candidate that could still be the best; None if the share of the unread ones is
        negligible."""
        numbers = range(len(bounds))
        unread = [number for number in numbers if not read[number]]
        scores = [*map(_score, place.candidates, bounds)]
        if not self._thoroughly:
            ranks = [*map(rank, place.candidates, bounds)]
            best = max((scores[number] for number in numbers if read[number]), default=-math.inf)
            # Those that are likeliest are known exactly: they are read from left to right where there is doubt.
            ranked = sorted((ranks[number] for number in numbers if read[number]), reverse=True)
            least = ranked[LIKELIEST - 1] if len(ranked) >= LIKELIEST else -math.inf
            unread = [number for number in unread if scores[number] > best - MARGIN or ranks[number] >= least]
        return max(unread, key=scores.__getitem__, default=None)


def _score(candidate: Candidate, chance: float) -> float:
    """The score of a candidate before left-to-right reading."""
    row = _row(candidate, chance, 0.0)
    return sum(weight * value for weight, value in zip(OVERTYPED, row, strict=True))


class Speller:
    """Finds corrections of unknown words, with a model that overtypes."""

    def __init__(self, policy: SessionPolicy, tokenizer: Tokenizer, rules: OvertypingRules) -> None:
        self._policy = policy
        self._tokenizer = tokenizer
        self._rules = rules

    @cached_property
    def known(self) -> Dictionary:
        """The word list, loaded on first use."""
        return dictionary()

    def unknown(self, paragraph: Paragraph, terms: Terms, *, plain: bool = False) -> list[UnknownWord]:
        """The unknown words of a paragraph that may be misspelt."""
        return [one for one in unknown_words(paragraph, self.known, terms, plain=plain) if self._candidates(one)]

    def seems_right(self, one: UnknownWord) -> bool:
        """Whether a word is listed, or no common word is near to it: then it is seldom a misspelling."""
        if not one.opens and self.known.size(one.text.lower()) is not None:
            return one.text != "i"
        return not any(not each.is_split and each.rank <= _NEAR_ENOUGH for each in self._candidates(one))

    def plainly(self, one: UnknownWord) -> Respelling | None:
        """The obvious correction of a word in any context: the only common word at a distance of one slip; None if
        there is none.

        A slip is two transposed letters, or a letter that is doubled or should be.
        """
        word = one.text
        if one.opens or not word.islower() or len(word) < _PLAIN_LETTERS or self.known.knows(word):
            return None
        if word.endswith(_OF_WOMEN):
            return None
        best, *others = self._candidates(one) or (None,)
        if best is None or best.is_split or not best.text.islower():
            return None
        if not 0 < best.distance <= ONE_SLIP or best.size > _PLAIN_SIZE:
            return None
        if any(each.rank < best.rank + _PLAIN_LEAD for each in others):
            return None
        return Respelling(one, best.text, PLAIN)

    def _candidates(self, one: UnknownWord) -> tuple[Candidate, ...]:
        word = one.text.lower().replace("’", "'")
        size = self.known.size(word)
        if not one.opens:
            return candidates(word, self.known)
        # With a capital, as it should have.
        if size is not None and size < LARGEST:
            return (Candidate(as_opening(word), CAPITAL, size),)
        found = candidates(word, self.known)
        return tuple(each._replace(text=as_opening(each.text)) for each in found)

    def find(
        self, passages: Sequence[UnknownWordsPassage], tell: Callable[[int], None] | None = None
    ) -> list[list[Respelling]]:
        """The corrections of the unknown words of passages; `tell` is called with the number of passages read."""
        return [
            [
                found
                for one, place in zip(strange.unknown, places, strict=True)
                if (found := self._found(one, place)) is not None
            ]
            for strange, places in zip(passages, self.judged(passages, tell=tell), strict=True)
        ]

    def judged(
        self,
        passages: Sequence[UnknownWordsPassage],
        *,
        thoroughly: bool = False,
        tell: Callable[[int], None] | None = None,
    ) -> list[list[MisspeltPlace]]:
        """The model's scores of the unknown words of passages; `thoroughly` also reads words from left to right that
        are not in doubt."""
        judge = FittedJudge(thoroughly=thoroughly)
        all_places = [self._places(*strange[:3]) for strange in passages]
        pairs = zip(passages, all_places, strict=True)
        overtype(self._policy, [self._reader(strange, places, judge) for strange, places in pairs], tell)
        return all_places

    def _reader(self, strange: UnknownWordsPassage, places: list[MisspeltPlace], judge: FittedJudge) -> Overtyper:
        """The reader that scores the words of a passage, in an order in which each step reuses the cache of the one
        before."""
        (tokens, left, _), _, _, read_on = strange
        reader = OvertypingScorer(self._rules, *strange.passage, places, judge, watching=read_on is not None)

        def corrections() -> Overtyper | None:
            return read_on(reader.choice_scores) if read_on and reader.is_kept else None

        def left_to_right() -> Overtyper | None:
            doubtful = [place for place in places if judge.is_doubtful(place)]
            return LeftToRightScorer(self._rules, tokens, left, places, doubtful, judge)

        longest = reader.longest
        if read_on:
            longest = max(longest, longest_reading(len(reader.ids), len(tokens)))
        return ReaderSequence(reader, [corrections, left_to_right], longest)

    def _places(self, passage: Passage, text: str, unknown: Sequence[UnknownWord]) -> list[MisspeltPlace]:
        ends = [*accumulate(len(self._tokenizer.token_bytes(one)) for one in passage.tokens)]
        return [place_of(self._tokenizer, ends, text, (one.start, one.end), self._candidates(one)) for one in unknown]

    def _found(self, one: UnknownWord, place: MisspeltPlace) -> Respelling | None:
        if not place.is_judged:
            return None
        *found, _ = chances(place)
        best = max(range(len(found)), key=found.__getitem__)
        if found[best] < LEAST_CONFIDENCE:
            return None
        return Respelling(one, as_written(one.text, place.candidates[best].text), found[best])


def speller_for(policy: SessionPolicy, tokenizer: Tokenizer) -> Speller | None:
    """A speller for models that overtype; None for any other policy."""
    if not isinstance(policy, ModelPolicy) or not policy.vocabulary.overtypes:
        return None
    return Speller(policy, tokenizer, rules_for(policy.vocabulary))
