"""Ways to weigh evidence: each a logistic regression of some features of a proposal, fitted to verdicts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.proofreading.calibration.fitting import Floats, regression
from benchmarks.proofreading.deciding.collecting import Judged
from reviser.core.errors import ReviserError
from reviser.proofreading.calibration import (
    BETTER,
    FEATURES,
    MOST_OTHERS,
    WORSE,
    Calibration,
    features_of,
    log_odds,
    logistic,
)
from reviser.proofreading.changes import Kind
from reviser.proofreading.evidence.readings import BEHIND
from reviser.proofreading.spelling.dictionary import LARGEST, dictionary

_FURTHEST: Final = 12.0
_NO_WAY_BACK: Final = -8.0
_LEAST: Final = 20
_WORD = re.compile(r"\w+(?:['’]\w+)*")

Feature = Callable[[Judged], float]


def chance(one: Judged) -> float:
    """The log-odds of the model's probability."""
    return log_odds(one.chance)


def reading(one: Judged) -> float:
    """By how much the sentence reads better with the change."""
    if one.heard is None:
        return 0.0
    new = sum(one.heard.read_new[: one.heard.new + BEHIND])
    old = sum(one.heard.read_old[: one.heard.old + BEHIND])
    return max(-_FURTHEST, min(_FURTHEST, new - old))


def bounded_reading(one: Judged) -> float:
    """The same within the bounds that the program has."""
    return max(WORSE, min(BETTER, reading(one)))


def way_back(one: Judged) -> float:
    """The log-probability that the changed sentence is changed back."""
    return 0.0 if one.heard is None else max(_NO_WAY_BACK, sum(one.heard.reverted))


def staying(one: Judged) -> float:
    """The log-odds of the probability that the new words stay."""
    return 0.0 if one.heard is None else log_odds(math.exp(min(0.0, sum(one.heard.stays))))


def doubt(one: Judged) -> float:
    """The log-odds of the probability that the old words do not stay."""
    return 0.0 if one.heard is None else -log_odds(math.exp(min(0.0, sum(one.heard.kept))))


def agreement(one: Judged) -> float:
    """The log-odds of the change when its sentence is read alone and nothing else was changed, less those of the first reading."""
    if one.heard is None:
        return 0.0
    return log_odds(math.exp(min(0.0, sum(one.heard.made)))) - log_odds(one.chance)


def others(one: Judged) -> float:
    """The other changes in the sentence."""
    return math.log1p(min(one.others, MOST_OTHERS))


def length(one: Judged) -> float:
    """The logarithm of the words of the text."""
    return math.log1p(one.words)


def _rarity(text: str) -> float:
    sizes = [dictionary().size(word) for word in _WORD.findall(text)]
    return max((LARGEST + 10 if size is None else size for size in sizes), default=0) / 10


def rarity_of_old(one: Judged) -> float:
    """How rare the rarest old word is, or that it is unknown."""
    return _rarity(one.old)


def rarity_of_new(one: Judged) -> float:
    """The same of the new words."""
    return _rarity(one.new)


def _word_feature(number: int) -> Feature:
    return lambda one: features_of(one.old, one.new, one.others)[number]


def _of_kind(kind: Kind) -> Feature:
    return lambda one: float(one.kind is kind)


_OF_WORDS = tuple(_word_feature(number) for number in range(1, len(FEATURES)))
_KINDS = tuple(map(_of_kind, Kind))

READING: Final = 0.8
OTHERS: Final = 1.2
"""What these weigh beside the log-odds of the probability, in the program. They were chosen on the dev sets: made-up mistakes do not say how those of people keep company."""


def combined(read: float = READING, beside: float = OTHERS) -> Feature:
    """The log-odds of the probability, with weights for how the sentence reads and for the other changes in it."""
    return lambda one: chance(one) + read * bounded_reading(one) + beside * others(one)


program = combined()
PROGRAM: Final = (program,)
"""What the program weighs."""
_FREE = (chance, bounded_reading, others)
CHOSEN: Final = "reading and others, with chosen weights"
WAYS: Final[dict[str, tuple[Feature, ...]]] = {
    "its probability alone": (chance,),
    "and how the sentence reads with it": (chance, reading),
    "and how it reads, no more than a little better": (chance, bounded_reading),
    "and how likely the way back is": (chance, way_back),
    "and whether the new words stay": (chance, staying),
    "and whether the old words stay": (chance, doubt),
    "and its probability in the sentence alone": (chance, agreement),
    "and the other changes in the sentence": (chance, others),
    "and how rare the words are": (chance, rarity_of_old, rarity_of_new),
    "and the length of the text": (chance, length),
    "and its kind and words": (chance, *_OF_WORDS, *_KINDS),
    "reading (bounded) and other changes": _FREE,
    "reading, others, the way back": (*_FREE, way_back),
    "reading, others, whether the old words stay": (*_FREE, doubt),
    "reading, others, how rare the words are": (*_FREE, rarity_of_old, rarity_of_new),
    "reading, others, kind and words": (*_FREE, *_OF_WORDS, *_KINDS),
    CHOSEN: PROGRAM,
}


@dataclass(frozen=True)
class Weighing:
    """Features with their weights, the first of which stands for itself."""

    features: tuple[Feature, ...]
    weights: tuple[float, ...]

    def confidence(self, one: Judged) -> float:
        """How likely it is that a proposal is right."""
        first, *rest = self.weights
        values = (feature(one) for feature in self.features)
        return logistic(first + sum(a * b for a, b in zip(rest, values, strict=True)))


def fitted(features: Sequence[Feature], some: Sequence[Judged]) -> Weighing:
    """The weights that fit the verdicts best."""
    right = np.array([one.right for one in some], np.float64)
    if min(right.sum(), len(right) - right.sum()) < _LEAST:
        raise ReviserError(
            f"at least {_LEAST} changes that are right and {_LEAST} that are wrong are needed: give more texts"
        )
    inputs: Floats = np.array([[1.0, *(feature(one) for feature in features)] for one in some])
    return Weighing(tuple(features), tuple(round(float(x), 4) for x in regression(inputs, right)))


def as_calibration(weighing: Weighing, model: str) -> Calibration:
    """What the program weighs, as a calibration for the model of this digest."""
    if weighing.features != PROGRAM:
        raise ReviserError("the program weighs other features")
    intercept, slope = weighing.weights
    weights = (round(OTHERS * slope, 4), *(0.0,) * (len(FEATURES) - 1))
    return Calibration(model, intercept, slope, weights=weights, reading=round(READING * slope, 4))


def dial_of(confidence: float, share: float) -> float:
    """The highest setting of the dial that accepts a proposal: some may be wrong with a share of the chance only."""
    return 1 - (1 - confidence) / share
