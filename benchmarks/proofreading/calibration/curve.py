"""Figures of a calibration: how often changes of a confidence are right, and what each setting of the dial does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from benchmarks.proofreading.calibration.candidates import Candidate, TextProposals
from benchmarks.proofreading.calibration.fitting import Floats, confidences
from reviser.proofreading.guard.calibration import Calibration
from reviser.proofreading.suggestion import Kind

EDGES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
DIALS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
WANTED: Final = 0.9
"""The share of right changes that the dial is asked for."""
_FEWEST: Final = 20
"""A share of fewer changes than this says nothing."""
_BETA: Final = 0.5


@dataclass(frozen=True)
class Share:
    """So many of so many changes are right."""

    right: int
    made: int

    @property
    def value(self) -> float:
        return self.right / self.made if self.made else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 %."""
        if not self.made:
            return math.nan, math.nan
        z, n, p = 1.96, self.made, self.value
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True)
class Bin:
    """The changes whose confidence lies between two edges."""

    low: float
    high: float
    mean: float
    share: Share


@dataclass(frozen=True)
class Setting:
    """What a setting of the dial does: changes that are right, the recall where what is wanted is known, and texts
    left alone."""

    dial: float
    share: Share
    recall: float
    f: float
    left_alone: float


@dataclass(frozen=True)
class OfKind:
    """The changes of a kind: how many there are, how many are right, and the mean of their raw probabilities and of
    their calibrated confidences."""

    kind: Kind
    share: Share
    chance: float
    confidence: float


@dataclass(frozen=True)
class Curve:
    """All figures of one calibration on some texts."""

    name: str
    texts: int
    share: Share
    error: float
    bins: tuple[Bin, ...]
    settings: tuple[Setting, ...]
    enough: float | None
    """The lowest dial from which on nine of ten changes are right."""


def all_candidates(texts: Sequence[TextProposals]) -> list[Candidate]:
    """The candidates of several texts."""
    return [one for text in texts for one in text.candidates]


def curve(name: str, texts: Sequence[TextProposals], calibration: Calibration) -> Curve:
    """The figures of a calibration on texts."""
    candidates = all_candidates(texts)
    sure = confidences(calibration, candidates)
    right = np.array([one.right for one in candidates], np.bool_)
    bins = [_bin(sure, right, low, high) for low, high in pairwise(EDGES)]
    full = [one for one in bins if one.share.made]
    apart = sum(one.share.made * abs(one.mean - one.share.value) for one in full)
    return Curve(
        name,
        len(texts),
        Share(int(right.sum()), len(right)),
        apart / len(right) if len(right) else math.nan,
        tuple(bins),
        tuple(_setting(texts, sure, dial) for dial in DIALS),
        enough(sure, right),
    )


def _bin(sure: Floats, right: np.ndarray, low: float, high: float) -> Bin:
    inside = (sure >= low) & ((sure < high) | (high == 1.0))
    count = int(inside.sum())
    mean = float(sure[inside].mean()) if count else math.nan
    return Bin(low, high, mean, Share(int(right[inside].sum()), count))


def enough(sure: Floats, right: np.ndarray) -> float | None:
    """The lowest dial, in hundredths, from which on nine of ten changes are right at every higher setting that
    makes enough of them."""
    found = None
    for hundredth in range(99, 0, -1):
        made = sure >= hundredth / 100
        if made.sum() < _FEWEST:
            continue
        if right[made].mean() < WANTED:
            break
        found = hundredth / 100
    return found


def _setting(texts: Sequence[TextProposals], sure: Floats, dial: float) -> Setting:
    made_in_all = right_in_all = known_right = known_made = wanted = 0
    finished = alone = at = 0
    for text in texts:
        makes = sure[at : at + len(text.candidates)] >= dial
        at += len(text.candidates)
        made = int(makes.sum())
        right = sum(one.right for one, is_made in zip(text.candidates, makes, strict=True) if is_made)
        made_in_all, right_in_all = made_in_all + made, right_in_all + right
        if text.wanted is not None:
            known_right, known_made = known_right + right, known_made + made
            wanted += text.wanted
        if text.wanted == 0:
            finished, alone = finished + 1, alone + (made == 0)
    recall = min(1.0, known_right / wanted) if wanted else math.nan
    precision = known_right / known_made if known_made else math.nan
    below = _BETA**2 * precision + recall
    f = (1 + _BETA**2) * precision * recall / below if below > 0 else math.nan
    return Setting(dial, Share(right_in_all, made_in_all), recall, f, alone / finished if finished else math.nan)


def by_kind(texts: Sequence[TextProposals], calibration: Calibration) -> list[OfKind]:
    """The changes of each kind, the most frequent first."""
    candidates = all_candidates(texts)
    sure = confidences(calibration, candidates)
    found = []
    for kind in Kind:
        numbers = [at for at, one in enumerate(candidates) if one.kind is kind]
        if numbers:
            some = [candidates[at] for at in numbers]
            share = Share(sum(one.right for one in some), len(some))
            chance = sum(one.chance for one in some) / len(some)
            found.append(OfKind(kind, share, chance, float(sure[numbers].mean())))
    return sorted(found, key=lambda one: -one.share.made)
