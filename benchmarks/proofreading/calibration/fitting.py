"""A calibration fitted to candidates with verdicts: a logistic regression by Newton's method, with a small penalty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.proofreading.calibration.candidates import ProposedChange
from reviser.core.errors import ReviserError
from reviser.proofreading.guard.calibration import FEATURES, Calibration, log_odds
from reviser.proofreading.suggestion import Kind

PENALTY: Final = 1.0
"""The weight of the squared coefficients of kinds and features beside the loss of all candidates."""
_LEAST: Final = 20
_ROUNDS: Final = 100
_USUAL: Final = 0.9
_KINDS = tuple(Kind)

Floats = NDArray[np.float64]


def fitted(candidates: Sequence[ProposedChange], model: str) -> Calibration:
    """The calibration that fits candidates best, for the model of this digest."""
    right = np.array([one.right for one in candidates], np.float64)
    if min(right.sum(), len(right) - right.sum()) < _LEAST:
        raise ReviserError(
            f"a calibration needs at least {_LEAST} changes that are right and {_LEAST} that are wrong: give more texts"
        )
    inputs = _matrix(candidates)
    weights = regression(inputs, right)
    intercept, slope = weights[:2]
    if slope <= 0:
        raise ReviserError("the likelier changes are no more often right: give more texts")
    first = 2 + len(FEATURES)
    kinds = {kind: _rounded(one) for kind, one in zip(_KINDS, weights[first:], strict=True)}
    seen = Counter(one.kind for one in candidates)
    # The first feature is about the other changes.
    added = inputs[:, 3:first] @ weights[3:first]
    return Calibration(
        model,
        _rounded(intercept),
        _rounded(slope),
        {kind: offset for kind, offset in kinds.items() if kind in seen},
        tuple(map(_rounded, weights[2:first])),
        {
            kind: _rounded(np.quantile(added[[one.kind is kind for one in candidates]], _USUAL))
            for kind, count in seen.items()
            if count >= _LEAST
        },
    )


def _rounded(number: float) -> float:
    return round(float(number), 4)


def _matrix(candidates: Sequence[ProposedChange]) -> Floats:
    return np.array(
        [
            [1.0, log_odds(one.chance), *one.features, *(float(one.kind is kind) for kind in _KINDS)]
            for one in candidates
        ]
    )


def regression(inputs: Floats, right: Floats) -> Floats:
    """The weights of a logistic regression; those of the first two columns, a one and the chance, have no penalty."""
    weights = np.zeros(inputs.shape[1])
    penalty = np.full(inputs.shape[1], PENALTY)
    penalty[:2] = 1e-6
    for _ in range(_ROUNDS):
        chances = 1 / (1 + np.exp(-np.clip(inputs @ weights, -40, 40)))
        slope = inputs.T @ (chances - right) + penalty * weights
        bend = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        # A long step may lead past the goal.
        weights -= step * min(1.0, 4.0 / float(np.abs(step).max() or 1.0))
        if np.abs(step).max() < 1e-8:
            break
    return weights


def confidences(calibration: Calibration, candidates: Sequence[ProposedChange]) -> Floats:
    """The confidence in each candidate."""
    return np.array(
        [
            one.chance if calibration.is_raw else calibration.confidence(one.chance, one.kind, one.features)
            for one in candidates
        ]
    )
