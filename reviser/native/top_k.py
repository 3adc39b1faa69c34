"""The likeliest ids of a vocabulary, found in one pass over their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
