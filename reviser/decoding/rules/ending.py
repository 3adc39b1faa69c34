"""The end of a run: one that nears its limit ends with a sentence instead of being cut off in the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy
from reviser.decoding.rules.spacing import ends_sentence
from reviser.decoding.sampler import Scores

NEAR: Final = 0.75
"""Share of the allowed actions after which a run ends with the next sentence."""
LEAST: Final = 64
"""A run of fewer actions than this is cut off where it is: it is meant to be short."""
# Tokens that are looked at to see whether a sentence ends.
_TAIL: Final = 12


class Ending:
    """A policy that stops at the first end of a sentence once most of its actions are used up.

    `seeded` are the ids of the history before the run, `limit` the actions that it may take.
    """

    def __init__(self, policy: Policy, tokenizer: Tokenizer, seeded: int, limit: int) -> None:
        self._policy = policy
        self._tokenizer = tokenizer
        self._first = seeded + int(NEAR * limit)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        if scores is None or len(history) < self._first:
            return scores
        if "stop" not in self.vocabulary.kinds or not self._ends(canvas):
            return scores
        stopping = np.full_like(scores, -np.inf)
        stopping[self.vocabulary.stop_id] = 0.0
        return stopping

    def _ends(self, canvas: Canvas) -> bool:
        """Whether the cursor is at the end of what was written, and a sentence ends there."""
        if canvas.cursor != canvas.high or canvas.cursor == canvas.low:
            return False
        last = canvas.between(max(canvas.low, canvas.cursor - _TAIL), canvas.cursor)
        text = b"".join(map(self._tokenizer.token_bytes, last)).decode("utf-8", "ignore")
        return ends_sentence(text)
