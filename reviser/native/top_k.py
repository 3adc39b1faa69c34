"""What is likeliest among many ids, found in one pass over their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reviser.native.library import Summary, library


def top_k_in_numpy(
    scores: NDArray[np.float32], allowed: NDArray[np.bool_], count: int, temperature: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `count` highest-scored ids that are allowed, and their probabilities among themselves.

    Highest first, of equal ones the lower id first. Scores of minus infinity are left out, so there may be fewer.
    """
    masked = np.where(allowed, scores, -np.inf)
    candidates = np.flatnonzero(masked > -np.inf)
    if count < len(candidates):
        floor = np.partition(masked[candidates], -count)[-count]
        candidates = candidates[masked[candidates] >= floor]
    ids = candidates[np.argsort(-masked[candidates], kind="stable")[:count]]
    logits = scores[ids].astype(np.float64)
    with np.errstate(invalid="ignore"):  # where a score is infinite
        powers = np.exp((logits - logits[:1]) / temperature)
    return ids, powers / powers.sum()


@dataclass(frozen=True, slots=True)
class Summaries:
    """What each row of scores says about some ids together.

    `ids` are the highest-scored ones, of equal ones the lowest, or -1 where none has a probability above 0; `highest` are their
    scores, and `log_totals` the logarithms of the sums of the exponentials of all.
    """

    ids: NDArray[np.int32]
    highest: NDArray[np.float32]
    log_totals: NDArray[np.float64]


def summarise(scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> Summaries:
    """Sum up rows of scores of the first `len(allowed)` ids, as far as they are allowed."""
    if scores.ndim != 2 or allowed.ndim != 1 or scores.shape[1] < len(allowed):
        raise ValueError("Each mark of whether an id is allowed needs a score in every row.")
    loaded = library()
    if loaded is None:
        return _summarise_in_numpy(scores, allowed)
    scores = np.ascontiguousarray(scores, dtype=np.float32)
    marks = np.ascontiguousarray(allowed, dtype=np.bool_)
    rows, stride = scores.shape
    found = np.empty(rows, dtype=Summary)
    loaded.reviser_summarise(
        scores.ctypes.data, rows, stride, marks.ctypes.data, len(marks), found.ctypes.data
    )
    return Summaries(found["id"], found["highest"], found["log_total"])


def _summarise_in_numpy(scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> Summaries:
    masked = np.where(allowed, scores[:, : len(allowed)], np.float32(-np.inf))
    ids = masked.argmax(axis=1)
    highest = masked[np.arange(len(masked)), ids]
    none = highest == -np.inf
    shifted = masked - np.where(none, 0, highest)[:, None].astype(np.float64)
    with np.errstate(divide="ignore"):
        log_totals = highest + np.log(np.exp(shifted).sum(axis=1))
    return Summaries(np.where(none, -1, ids).astype(np.int32), highest, log_totals)
