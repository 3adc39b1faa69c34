"""Rules of writing: they change scores before an action is drawn, or replace the action that was drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reviser.core.canvas import Canvas
from reviser.model.scoring import Scores


class ScoreProcessor:
    """A rule: it changes the scores of a policy, or judges the id that was drawn from them, or both.

    Changing scores makes all other actions likelier, so a run differs a little from one without the rule. Judging
    changes nothing unless the rule finds a fault.
    """

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        """Change scores in place."""

    def instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        """The ids to carry out in place of a drawn one. An empty sequence: draw again. None: the id may stay."""
        return None

    def fits(self, tokens: Sequence[int]) -> bool:
        """Whether tokens may be the whole filling of a gap."""
        return True


class RuledScores:
    """Scores of a policy after changes by rules, kept in a separate array."""

    def __init__(self, rules: Sequence[ScoreProcessor]) -> None:
        self.rules = rules
        self._array: Scores = np.empty(0, dtype=np.float32)

    def changed(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> Scores:
        """The scores as the rules change them; the next call reuses the array."""
        if not self.rules:
            return scores
        if self._array.shape != scores.shape or self._array.dtype != scores.dtype:
            self._array = np.empty_like(scores)
        np.copyto(self._array, scores)
        for rule in self.rules:
            rule.change(self._array, history, canvas)
        return self._array
