"""A choice among alternatives, fitted: the weights by which the one that is right has the highest probability (a
conditional logit)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

PENALTY: Final = 0.5
"""The weight of the squared coefficients beside the loss of all choices."""
_ROUNDS: Final = 100
_STEP: Final = 1.0

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """The features of alternatives, one row for each, and which of them is right."""

    features: Floats
    right: int


def shares(features: Floats, weights: Floats) -> Floats:
    """The probability of each alternative."""
    scores = features @ weights
    raised: Floats = np.exp(scores - scores.max())
    found: Floats = raised / raised.sum()
    return found


def fitted(choices: Sequence[Choice], free: Sequence[bool]) -> Floats:
    """The weights that fit choices best; of features that are not free they are 0."""
    free_ones = np.flatnonzero(free)
    weights: Floats = np.zeros(len(free))
    for _ in range(_ROUNDS):
        slope, bend = -PENALTY * weights, PENALTY * np.eye(len(free))
        for choice in choices:
            chances = shares(choice.features, weights)
            mean = chances @ choice.features
            slope = slope + choice.features[choice.right] - mean
            bend += (choice.features * chances[:, None]).T @ choice.features - np.outer(mean, mean)
        step = np.linalg.solve(bend[np.ix_(free_ones, free_ones)], slope[free_ones])
        step *= min(1.0, _STEP / max(float(np.abs(step).max()), 1e-12))
        weights[free_ones] += step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def loss(choices: Sequence[Choice], weights: Floats) -> float:
    """The mean of the negative logarithm of the right alternative's probability."""
    return float(np.mean([-np.log(shares(one.features, weights)[one.right]) for one in choices]))
