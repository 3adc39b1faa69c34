"""Figures of a way to decide: how well it tells right from wrong, and what it corrects where good texts are left alone equally often."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from benchmarks.proofreading.calibration.curve import Share
from benchmarks.proofreading.calibration.fitting import Floats
from benchmarks.proofreading.deciding.collecting import Judged, Sample

Dial = Callable[[Judged], float]
"""The highest setting at which a proposal is accepted."""
_BETA_SQUARED = 0.25


@dataclass(frozen=True)
class Correcting:
    """What a setting corrects: F0.5 by changes, their precision and their recall."""

    f: float
    precision: float
    recall: float


def proposals(texts: Sequence[Sample]) -> list[Judged]:
    """All proposals for texts."""
    return list(chain.from_iterable(text.proposals for text in texts))


def area(scores: Floats, right: Floats) -> float:
    """The probability that a right proposal has a higher score than a wrong one."""
    good, bad = scores[right > 0], scores[right == 0]
    above = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    return float(above)


def average_precision(scores: Floats, right: Floats) -> float:
    """The mean of the precision at each right proposal."""
    ordered = right[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    return float(precision[ordered > 0].mean())


def left_alone(texts: Sequence[Sample], dials: Mapping[int, float], setting: float) -> float:
    """The share of texts in which nothing is changed; `dials` are by the proposals' identities."""
    return float(
        np.mean(
            [
                not text.spelled and all(dials[id(one)] < setting for one in text.proposals)
                for text in texts
            ]
        )
    )


def lowest_setting(texts: Sequence[Sample], dials: Mapping[int, float], share: float) -> float:
    """The lowest setting at which so many texts are left alone."""
    reached = sorted({0.0, *(dials[id(one)] for one in proposals(texts))})
    for low in reached:
        setting = float(np.nextafter(low, 2))
        if left_alone(texts, dials, setting) >= share:
            return setting
    return 1.0


def made(texts: Sequence[Sample], dials: Mapping[int, float], setting: float) -> Share:
    """The changes that a setting makes, and how many of them are right."""
    verdicts = [
        verdict
        for text in texts
        for verdict in (
            *text.spelled,
            *(one.right for one in text.proposals if dials[id(one)] >= setting),
        )
    ]
    return Share(sum(verdicts), len(verdicts))


def correcting(
    texts: Sequence[Sample], dials: Mapping[int, float], setting: float, wanted: int
) -> Correcting:
    """What a setting corrects, where so many corrections are wanted."""
    share = made(texts, dials, setting)
    precision = share.right / max(share.made, 1)
    recall = share.right / max(wanted, 1)
    below = _BETA_SQUARED * precision + recall
    f = (1 + _BETA_SQUARED) * precision * recall / below if below else 0.0
    return Correcting(f, precision, recall)
