"""Several tries at filling a gap, of which the best is written: the one after which the text behind the gap is likeliest.

A model that fills a gap chooses token by token, and knows only at the end whether what it wrote joins what follows. So it
writes a few fillings beforehand. Those that it ended by itself come first. Then the model reads on from left to right, and
the filling is taken after which the first tokens behind the gap have the highest probabilities.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from reviser.core.actions import Action, Splice
from reviser.core.canvas import Canvas
from reviser.decoding.left_to_right import READABLE, Reading
from reviser.decoding.lookahead import copy_of
from reviser.decoding.rollout import Policy, Rollout, Step
from reviser.decoding.sampler import Choice, Sampler

TRIES: Final = 4
"""Fillings that are written beforehand, unless told otherwise."""
FOLLOWING: Final = 20
"""Tokens behind a gap whose probabilities decide."""
# Tokens before the gap that are read with it, at the most.
_BEFORE: Final = 200

Begin = Callable[[Canvas, Sampler], Rollout]
"""Begins a try on a canvas; it draws from the sampler."""


@dataclass(frozen=True)
class _Try:
    choices: list[Choice]
    ended: bool
    joins: float

    @property
    def rank(self) -> tuple[bool, float]:
        return self.ended, self.joins


class BestRollout(Rollout):
    """A rollout that writes the best of several tries; after a caller's own action it goes on without them."""

    def __init__(
        self,
        policy: Policy,
        canvas: Canvas,
        history: Sequence[int],
        sampler: Sampler | None,
        begin: Begin,
        reading: Reading,
        *,
        tries: int = TRIES,
        max_actions: int = 256,
    ) -> None:
        super().__init__(policy, canvas, history, sampler, max_actions=max_actions)
        self._begin = begin
        self._reading = reading
        self._tries = tries
        self._planned: deque[Choice] | None = None

    def __next__(self) -> Step:
        if self.over:
            raise StopIteration
        if self._planned is None:
            self._planned = deque(self._best())
            if self.over:
                raise StopIteration
        if self._planned:
            choice = self._planned.popleft()
            return self._carry_out(choice, self.canvas.action(choice.id))
        return super().__next__()

    def take(self, id: int, action: Action | None = None) -> Step:
        self._planned = deque()
        return super().take(id, action)

    def take_back(self) -> tuple[Splice, ...]:
        self._planned = deque()
        return super().take_back()

    def _best(self) -> list[Choice]:
        tried: list[_Try] = []
        for _ in range(self._tries):
            rollout = self._begin(copy_of(self.canvas), self.sampler)
            choices = []
            for step in rollout:
                choices.append(step.choice)
                if self._cancelled:
                    return []
            tried.append(_Try(choices, rollout.ending == "stop", self._joins(rollout.canvas)))
        # The first of equals.
        return max(tried, key=lambda one: one.rank).choices

    def _joins(self, canvas: Canvas) -> float:
        """The mean log-probability of the first tokens behind the gap."""
        behind = canvas.tokens[canvas.high : canvas.high + FOLLOWING]
        start = max(canvas.low - _BEFORE, canvas.high + len(behind) - READABLE + 1, 0)
        ids = [self.canvas.vocabulary.start_id, *canvas.tokens[start : canvas.high], *behind]
        chances = self._reading.chances(ids, len(behind)) if behind else [0.0]
        return sum(chances) / len(chances)
