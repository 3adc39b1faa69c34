"""What rules have in common: each is a policy that changes a few scores of another."""

from __future__ import annotations

import numpy as np

from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy
from reviser.decoding.sampler import Scores


class Rule:
    """A policy that changes scores of another.

    Rules around one another change one array, which is made once: the next call writes other scores there.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._own: _OwnScores = policy._own if isinstance(policy, Rule) else _OwnScores()

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def _changeable(self, scores: Scores) -> Scores:
        """Scores of the other policy, as an array that may be changed."""
        return self._own.copy_of(scores)


class _OwnScores:
    """An array for changed scores."""

    def __init__(self) -> None:
        self._array: Scores = np.empty(0, dtype=np.float32)

    def copy_of(self, scores: Scores) -> Scores:
        # Another rule may have copied them already.
        if scores is not self._array:
            if self._array.shape != scores.shape or self._array.dtype != scores.dtype:
                self._array = np.empty_like(scores)
            np.copyto(self._array, scores)
        return self._array
