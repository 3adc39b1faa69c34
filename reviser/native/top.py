"""The highest of many scores, found in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reviser.native.library import library


def top_ids(
    scores: NDArray[np.float32], allowed: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    """The `count` highest-scored ids that are allowed, highest first, of equal ones the lower first.

    Scores of minus infinity are left out, so there may be fewer.
    """
    if scores.shape != allowed.shape or scores.ndim != 1:
        raise ValueError("Each score needs a mark of whether it is allowed.")
    loaded = library()
    if loaded is None:
        return _top_in_numpy(scores, allowed, count)
    scores = np.ascontiguousarray(scores, dtype=np.float32)
    marks = np.ascontiguousarray(allowed, dtype=np.bool_)
    ids = np.empty(min(count, len(scores)), dtype=np.int64)
    found = loaded.reviser_top(
        scores.ctypes.data, marks.ctypes.data, len(scores), len(ids), ids.ctypes.data
    )
    return ids[:found]


def _top_in_numpy(
    scores: NDArray[np.float32], allowed: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    masked = np.where(allowed, scores, -np.inf)
    candidates = np.flatnonzero(masked > -np.inf)
    if count < len(candidates):
        floor = np.partition(masked[candidates], -count)[-count]
        candidates = candidates[masked[candidates] >= floor]
    order = np.argsort(-masked[candidates], kind="stable")
    return candidates[order[:count]]
