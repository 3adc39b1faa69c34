"""Repetition: a small model that says something twice may go on saying it, so long repeats are not written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy, Scores

LONGEST_REPEAT: Final = 8
"""So many tokens in a row are not written twice, unless told otherwise."""


class Unrepeated:
    """A policy that does not write `size` tokens in a row that stand elsewhere in the text already."""

    def __init__(self, policy: Policy, size: int = LONGEST_REPEAT) -> None:
        self._policy = policy
        self._size = size

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        if scores is None or canvas.cursor < self._size - 1:
            return scores
        repeated = [*completions(canvas.tokens, canvas.cursor, self._size)]
        if repeated:
            scores = scores.copy()
            scores[repeated] = -np.inf
        return scores


def completions(tokens: Sequence[int], cursor: int, size: int) -> Iterator[int]:
    """The tokens that would complete a repeat of so many tokens if they were written at the cursor."""
    tokens = list(tokens)
    tail = tokens[cursor - size + 1 : cursor]
    at = -1
    while True:
        try:
            at = tokens.index(tail[-1], at + 1)
        except ValueError:
            return
        first = at - len(tail) + 1
        # What stands at the cursor itself repeats nothing.
        if (
            first >= 0
            and at + 1 != cursor
            and at + 1 < len(tokens)
            and tokens[first : at + 1] == tail
        ):
            yield tokens[at + 1]
