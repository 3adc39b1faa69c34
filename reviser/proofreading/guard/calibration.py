"""Calibration: the model's probability of a change becomes a confidence, which says how often such a change is right.

A model's probability of a change is not the share of such changes that are right, and it depends on how many other
mistakes are beside it. A calibration is a logistic regression on the log-odds of the probability, on the other changes
in the sentence and on how the sentence reads with the change. It is fitted for one model, and holds that model's
digest. For other models the confidence is the probability itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8
from reviser.proofreading.suggestion import Evidence, Suggestion

SHIPPED: Final = Path(__file__).with_name("calibration.json")
"""The calibration of the bundled model; it may be missing."""
LEAST_CHANCE: Final = 0.05
"""The least probability of a change that is looked for, however often its kind is right."""
LEAST_READ: Final = 0.15
"""The same, unless the required confidence is lower."""
FOLLOWED: Final = 0.5
"""The probability from which on the reading goes on as if a change were made, whatever confidence is required."""
MOST_OTHERS: Final = 1.5
"""The upper bound of the sum of the other changes' probabilities."""

BETTER: Final = 1.0
WORSE: Final = -8.0
"""The bounds of the feature `reading`. Beyond them it says nothing more: common words read better than the terms of
a subject, and are not what was meant."""

_SUREST = 1e-9


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

    `others` is the weight of the other changes in the sentence, `reading` that of the gain in left-to-right
    log-probability.
    """

    model: str = ""
    intercept: float = 0.0
    slope: float = 1.0
    others: float = 0.0
    reading: float = 0.0

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.intercept, self.slope, self.others, self.reading))):
            raise ReviserError("a calibration has a finite coefficient for each feature")
        if self.slope <= 0:
            raise ReviserError("a calibration must grow with the probability")

    @property
    def is_raw(self) -> bool:
        """Whether the confidence is the probability itself; else sentences are also read from left to right."""
        return not self.model

    @property
    def best_reading(self) -> float:
        """The value of the feature `reading` that raises the confidence most."""
        return BETTER if self.reading >= 0 else WORSE

    def confidence(self, chance: float, others: float, reading: float) -> float:
        """The calibrated confidence of a change; `others` is the sum of the probabilities of the other changes in the
        sentence, including those made before."""
        offset = self.intercept + self.others * math.log1p(min(others, MOST_OTHERS)) + self.reading * reading
        return logistic(offset + self.slope * log_odds(chance))

    def judged(self, suggestions: Sequence[Suggestion], made: float = 0.0) -> list[Suggestion]:
        """The suggestions for a sentence, each with its calibrated confidence.

        `made` is the sum of the confidences of the changes that were made in the sentence before.
        """
        total = made + sum(one.confidence for one in suggestions)
        found = []
        for one in suggestions:
            others = max(total - one.confidence, 0.0)
            sure, reading = one.confidence, one.evidence.reading
            # What could not be read keeps the model's own chance.
            if not self.is_raw and reading is not None:
                sure = self.confidence(sure, others, reading)
            found.append(replace(one, confidence=sure, evidence=Evidence(others, reading)))
        return found

    def search(self, confidence: float) -> SearchThresholds:
        """The thresholds of a reading that finds every change that reaches `confidence`."""
        if self.is_raw:
            return SearchThresholds(confidence, confidence)
        # Other changes have a say in each, so the same ones are found whatever the dial says. Where none of them
        # could be accepted, however well it reads and however many others there are, there is nothing to find.
        least = max(LEAST_CHANCE, min(LEAST_READ, confidence))
        most = max(self.others, 0.0) * math.log1p(MOST_OTHERS) + max(self.reading * BETTER, self.reading * WORSE)
        needed = logistic((log_odds(confidence) - self.intercept - most) / self.slope)
        # What cannot be read is judged by its probability.
        return SearchThresholds(FOLLOWED, least, max(least, min(confidence, needed)))

    def to_dict(self) -> dict[str, object]:
        """The calibration as stored in a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Calibration:
        """The calibration from the contents of a file; raises `ReviserError` if they are invalid."""
        try:
            names = ("intercept", "slope", "others", "reading")
            return cls(str(data["model"]), *(float(data[name]) for name in names))
        except (KeyError, TypeError, ValueError):
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
