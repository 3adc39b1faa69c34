"""The likeliest of many ids, found in one pass over their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reviser.native.library import library


def top_k_probabilities(
    scores: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    count: int,
    temperature: float = 1.0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `count` highest-scored ids that are allowed, and their probabilities among themselves.

    Highest first, of equal ones the lower id first. Scores of minus infinity are left out, so there
    may be fewer.
    """
    if scores.shape != allowed.shape or scores.ndim != 1:
        raise ValueError("Each score needs a mark of whether it is allowed.")
    loaded = library()
    if loaded is None:
        return _top_k_in_numpy(scores, allowed, count, temperature)
    scores = np.ascontiguousarray(scores, dtype=np.float32)
    marks = np.ascontiguousarray(allowed, dtype=np.bool_)
    size = min(count, len(scores))
    ids, probabilities = np.empty(size, dtype=np.int64), np.empty(size)
    found = loaded.reviser_top_k(
        scores.ctypes.data,
        marks.ctypes.data,
        len(scores),
        size,
        temperature,
        ids.ctypes.data,
        probabilities.ctypes.data,
    )
    return ids[:found], probabilities[:found]


def _top_k_in_numpy(
    scores: NDArray[np.float32], allowed: NDArray[np.bool_], count: int, temperature: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    masked = np.where(allowed, scores, -np.inf)
    candidates = np.flatnonzero(masked > -np.inf)
    if count < len(candidates):
        floor = np.partition(masked[candidates], -count)[-count]
        candidates = candidates[masked[candidates] >= floor]
    ids = candidates[np.argsort(-masked[candidates], kind="stable")[:count]]
    logits = scores[ids].astype(np.float64)
    powers = np.exp((logits - logits[:1]) / temperature)
    return ids, powers / powers.sum()
