"""Calibration: the model's probability of a change becomes a confidence, which says how often such a change is right.

A model's probability of a change is too low for some kinds and too high for others, and it depends on how many other
mistakes are beside it. A calibration is a logistic regression on the log-odds of the probability, with an offset for
each kind and a few features of the change. It is fitted for one model, and holds that model's digest. For other models
the confidence is the probability itself.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8
from reviser.proofreading.changes import distance_between
from reviser.proofreading.suggestion import Evidence, Kind, Suggestion

SHIPPED: Final = Path(__file__).with_name("calibration.json")
"""The calibration of the bundled model; it may be missing."""
LEAST_CHANCE: Final = 0.05
"""The least probability of a change that is looked for, however often its kind is right."""
LEAST_READ: Final = 0.15
"""The same, for a calibration with left-to-right readings, unless the required confidence is lower."""
FOLLOWED: Final = 0.5
"""The probability from which on the reading goes on as if a change were made, whatever confidence is required."""
MOST_OTHERS: Final = 1.5
"""The upper bound of the feature `others`."""

BETTER: Final = 1.0
WORSE: Final = -8.0
"""The bounds of the feature `reading`. Beyond them it says nothing more: common words read better than the terms of
a subject, and are not what was meant."""

FEATURES: Final = ("others", "insertion", "deletion", "likeness", "capital", "comma", "words")
"""The features with a weight, besides the probability and the kind; see `features_of`."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_SUREST = 1e-9


def features_of(old: str, new: str, others: float) -> tuple[float, ...]:
    """The features of a change, in the order of `FEATURES`.

    `others` is the sum of the probabilities of the other changes in the sentence, including those made before. The rest
    follows from the words: whether the change only inserts or only removes, how similar the old and the new words are,
    whether only capitals or only commas change, and whether several words do.
    """
    gone, come = old.strip(), new.strip()
    longest = max(len(gone), len(come))
    like = 1 - distance_between(gone.casefold(), come.casefold()) / longest if longest else 0.0
    return (
        math.log1p(min(others, MOST_OTHERS)),
        float(not gone),
        float(not come),
        like if gone and come else 0.0,
        float(gone != come and gone.casefold() == come.casefold()),
        float(_without_commas(gone) == _without_commas(come)),
        float(max(len(_WORD.findall(old)), len(_WORD.findall(new))) > 1),
    )


def _without_commas(text: str) -> str:
    return text.replace(",", "")


class SearchThresholds(NamedTuple):
    """The thresholds of a reading, as probabilities.

    Changes of at least `least` are reported, and the reading goes on as if those of at least `followed` were made. A
    sentence is skipped if nowhere an alternative to the draft has a probability of `trigger`.
    """

    followed: float
    least: float
    trigger: float = 0.0


@dataclass(frozen=True)
class Calibration:
    """Coefficients, and the digest of the weights that they were fitted for. The defaults leave the probability as it
    is.

    `usual` has an upper bound for each common kind: in nine of ten changes the features add at most so much to the
    log-odds, not counting other changes in the sentence. `reading` is the weight of the gain in left-to-right
    log-probability.
    """

    model: str = ""
    intercept: float = 0.0
    slope: float = 1.0
    kinds: Mapping[Kind, float] = field(default_factory=dict)
    weights: tuple[float, ...] = (0.0,) * len(FEATURES)
    usual: Mapping[Kind, float] = field(default_factory=dict)
    reading: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.intercept, self.slope, *self.kinds.values(), *self.weights, *self.usual.values(), self.reading)
        if len(self.weights) != len(FEATURES) or not all(map(math.isfinite, numbers)):
            raise ReviserError("a calibration has a finite coefficient for each feature")
        if self.slope <= 0:
            raise ReviserError("a calibration must grow with the probability")

    @property
    def is_raw(self) -> bool:
        """Whether the confidence is the probability itself."""
        return not self.model

    @property
    def reads(self) -> bool:
        """Whether sentences are also read from left to right, with and without the changes."""
        return self.reading != 0

    @property
    def best_reading(self) -> float:
        """The value of the feature `reading` that raises the confidence most."""
        return BETTER if self.reading >= 0 else WORSE

    @property
    def is_even(self) -> bool:
        """Whether the confidence says how often a change is right, for every kind."""
        return bool(self.kinds)

    def confidence(self, chance: float, kind: Kind, features: Sequence[float], reading: float = 0.0) -> float:
        """The calibrated confidence of a change."""
        weighed = sum(a * b for a, b in zip(self.weights, features, strict=True))
        offset = self.intercept + self.kinds.get(kind, 0.0) + weighed + self.reading * reading
        return logistic(offset + self.slope * log_odds(chance))

    def judged(self, suggestions: Sequence[Suggestion], made: float = 0.0) -> list[Suggestion]:
        """The suggestions for a sentence, each with its calibrated confidence.

        `made` is the sum of the confidences of the changes that were made in the sentence before.
        """
        total = made + sum(one.confidence for one in suggestions)
        found = []
        for one in suggestions:
            others = max(total - one.confidence, 0.0)
            sure = one.confidence
            # What could not be read keeps the model's own chance.
            reading = one.evidence.reading
            if not self.is_raw and (reading is not None or not self.reads):
                features = features_of(one.old, one.new, others)
                sure = self.confidence(sure, one.kind, features, reading or 0.0)
            found.append(replace(one, confidence=sure, evidence=Evidence(others, reading)))
        return found

    def search(self, confidence: float, kinds: Collection[Kind] = frozenset(Kind)) -> SearchThresholds:
        """The thresholds of a reading that finds every change that reaches `confidence`.

        A sentence is searched where a usual change of its kind would reach the confidence by itself.
        """
        if self.is_raw:
            return SearchThresholds(confidence, confidence)
        if self.reads:
            # Other changes have a say in each, so the same ones are found whatever the dial says. Where none of them
            # could be accepted, however well it reads and however many others there are, there is nothing to find.
            least = max(LEAST_CHANCE, min(LEAST_READ, confidence))
            most = max(self.weights[0], 0.0) * math.log1p(MOST_OTHERS)
            most += max(self.reading * BETTER, self.reading * WORSE)
            best = max((self._best(kind) for kind in kinds), default=0.0)
            # What cannot be read is judged by its probability.
            trigger = min(confidence, self._needed(confidence, best + most))
            return SearchThresholds(FOLLOWED, least, max(least, trigger))
        best = max((self._best(kind) for kind in kinds), default=0.0)
        beside = max(0.0, self.weights[0] * math.log1p(MOST_OTHERS))
        least = max(LEAST_CHANCE, self._needed(confidence, best + beside))
        known = [self.kinds.get(kind, 0.0) + self.usual[kind] for kind in kinds if kind in self.usual]
        trigger = self._needed(confidence, max(known)) if known else least
        return SearchThresholds(max(FOLLOWED, least), least, max(least, trigger))

    def _needed(self, confidence: float, added: float) -> float:
        """The least probability that reaches a confidence if kind and features add `added` to the log-odds."""
        return logistic((log_odds(confidence) - self.intercept - added) / self.slope)

    def _best(self, kind: Kind) -> float:
        """The most that a kind and its features add to the log-odds, not counting other changes in the sentence."""
        _, insertion, deletion, likeness, capital, comma, words = self.weights
        replacement = max(0.0, likeness) + (capital if kind is Kind.CASE else 0.0)
        shape = max(replacement, insertion, deletion)
        mark = max(0.0, comma) if kind is Kind.PUNCTUATION else 0.0
        return self.kinds.get(kind, 0.0) + shape + mark + max(0.0, words)

    def to_dict(self) -> dict[str, object]:
        """The calibration as stored in a file."""
        return {
            "model": self.model,
            "intercept": self.intercept,
            "slope": self.slope,
            "kinds": {str(kind): offset for kind, offset in self.kinds.items()},
            "features": dict(zip(FEATURES, self.weights, strict=True)),
            "usual": {str(kind): added for kind, added in self.usual.items()},
            "reading": self.reading,
        }

    @classmethod
    def from_dict(cls, data: Any) -> Calibration:
        """The calibration from the contents of a file; raises `ReviserError` if they are invalid."""
        try:
            return cls(
                str(data["model"]),
                float(data["intercept"]),
                float(data["slope"]),
                {Kind(kind): float(offset) for kind, offset in data["kinds"].items()},
                tuple(float(data["features"][name]) for name in FEATURES),
                {Kind(kind): float(added) for kind, added in data["usual"].items()},
                float(data.get("reading", 0.0)),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ReviserError("this is no calibration of a proofreader") from None


RAW: Final = Calibration()
"""The model's own probabilities."""


def log_odds(chance: float) -> float:
    """The log-odds of a probability, within bounds."""
    chance = min(max(chance, _SUREST), 1 - _SUREST)
    return math.log(chance / (1 - chance))


def logistic(number: float) -> float:
    """The probability with these log-odds."""
    if number < 0:
        return math.exp(max(number, -700.0)) / (1 + math.exp(max(number, -700.0)))
    return 1 / (1 + math.exp(-number))


def calibration_for(policy: object, path: Path = SHIPPED) -> Calibration:
    """The calibration in a file if it was fitted for the policy's model, else `RAW`."""
    digest = getattr(policy, "digest", "")
    found = read_calibration(path) if digest and path.is_file() else RAW
    return found if found.model == digest else RAW


@cache
def read_calibration(path: Path) -> Calibration:
    """The calibration in a file."""
    try:
        return Calibration.from_dict(json.loads(read_utf8(path)))
    except ValueError:
        raise ReviserError(f"{path} is not JSON") from None
