"""Shared parts of the scores: a value with its interval, and precision, recall and F0.5 from counts.

If several annotators corrected a sentence, it is compared with the one who gives the best running total, as
in the published scorers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
BETA = 0.5

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """A measured value and the interval that holds it in 95 of 100 resamplings of the sentences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class FScore:
    """Precision, recall and F0.5 of corrections, each between 0 and 1."""

    f: Interval
    precision: Interval | None
    recall: Interval


def resampled(sentences: int) -> Counts:
    """The indices of sentences in each resampling; the draws are always the same."""
    return np.random.default_rng(0).integers(0, sentences, size=(RESAMPLES, sentences))


def interval(value: float, drawn: Floats) -> Interval:
    """The value with the middle 95 % of the resampled values."""
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(value), float(low), float(high))


def f_score(counts: list[list[tuple[int, int, int]]]) -> FScore:
    """F0.5 from (right, made, wanted) for each annotator of each sentence."""
    widest = max(map(len, counts))
    # A sentence with fewer annotators repeats its last one.
    table = np.array([[*row, *[row[-1]] * (widest - len(row))] for row in counts], dtype=np.int64)
    found = _measures(_summed(table, np.arange(len(counts))[None, :]))
    drawn = _measures(_summed(table, resampled(len(counts))))
    f, precision, recall = (interval(value[0], draws) for value, draws in zip(found, drawn, strict=True))
    return FScore(f, precision if table[..., 1].any() else None, recall)


def _summed(table: Counts, orders: Counts) -> Counts:
    """The sums over sentences in each order; the annotator of each sentence is chosen greedily."""
    sums = np.zeros((len(orders), 3), dtype=np.int64)
    rows = np.arange(len(orders))
    for column in orders.T:
        options = sums[:, None, :] + table[column]
        f = _measures(options)[0]
        # On a tie: more that is right, then less that was made and wanted.
        right, burden = options[..., 0], options[..., 1] + BETA**2 * options[..., 2]
        best = np.lexsort((burden, -right, -f), axis=-1)[:, 0]
        sums = options[rows, best]
    return sums


def _measures(sums: Counts) -> tuple[Floats, Floats, Floats]:
    """F0.5, precision and recall; precision is 1 if no edits were made, recall 1 if none were wanted."""
    right, made, wanted = (sums[..., at].astype(np.float64) for at in range(3))
    precision = np.where(made > 0, right / np.maximum(made, 1), 1.0)
    recall = np.where(wanted > 0, right / np.maximum(wanted, 1), 1.0)
    below = BETA**2 * precision + recall
    f = np.where(below > 0, (1 + BETA**2) * precision * recall / np.where(below > 0, below, 1), 0.0)
    return f, precision, recall
