"""Rules: what a run may write, said before an action is drawn or of the one that was drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reviser.core.canvas import Canvas
from reviser.model.scoring import Scores


class ScoreProcessor:
    """Changes the scores of a policy, or judges what was drawn from them. A rule does one of the two, or both.

    To change scores makes all other actions likelier, so that a run differs a little from one without the rule.
    What is only judged changes nothing where the rule finds no fault.
    """

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        """Change scores in place."""

    def instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        """Ids to be done instead of one that was drawn, one after the other; none of them: draw again. None: it may
        stay."""
        return None

    def fits(self, tokens: Sequence[int]) -> bool:
        """Whether tokens may be all that fills a gap."""
        return True


class RuledScores:
    """Scores of a policy, changed by rules in an array of their own."""

    def __init__(self, rules: Sequence[ScoreProcessor]) -> None:
        self.rules = rules
        self._array: Scores = np.empty(0, dtype=np.float32)

    def changed(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> Scores:
        """The scores as the rules leave them; the next call writes other scores there."""
        if not self.rules:
            return scores
        if self._array.shape != scores.shape or self._array.dtype != scores.dtype:
            self._array = np.empty_like(scores)
        np.copyto(self._array, scores)
        for rule in self.rules:
            rule.change(self._array, history, canvas)
        return self._array
