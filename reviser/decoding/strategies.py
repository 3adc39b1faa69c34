"""Strategies of runs: do what is drawn, check steps back, or write the best of several tries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.rollout import Policy, Rollout
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.sampler import Sampler
from reviser.decoding.stepping_back import CheckedRollout

if TYPE_CHECKING:
    from reviser.decoding.left_to_right import Reading


@dataclass(frozen=True)
class RunStart:
    """The start of a run: the policy, the canvas, the history that wrote it, and the limits of the run."""

    policy: Policy
    canvas: Canvas
    history: Sequence[int]
    max_actions: int
    rules: Sequence[ScoreProcessor] = ()


Strategy = Callable[[RunStart, Sampler | None], Rollout]
"""A function that begins a run."""


def plain(begun: RunStart, sampler: Sampler | None) -> Rollout:
    """A run that carries out what it draws."""
    return Rollout(begun.policy, begun.canvas, begun.history, sampler, rules=begun.rules, max_actions=begun.max_actions)


@dataclass(frozen=True)
class CheckedStrategy:
    """A strategy whose runs step back only where the text reads as well with it."""

    reading: Reading
    tokenizer: Tokenizer

    def __call__(self, begun: RunStart, sampler: Sampler | None) -> Rollout:
        return CheckedRollout(
            begun.policy,
            begun.canvas,
            begun.history,
            self.tokenizer,
            sampler,
            rules=begun.rules,
            max_actions=begun.max_actions,
            reading=self.reading,
        )


@dataclass(frozen=True)
class BestOf:
    """A strategy that fills a gap with the best of several tries, each written by another strategy.

    `fits` says whether tokens may stand before what follows.
    """

    tries: int
    each: Strategy
    reading: Reading
    fits: Callable[[Sequence[int]], bool]

    def __call__(self, begun: RunStart, sampler: Sampler | None) -> Rollout:
        # Most commands fill no gaps, and begin sooner without this.
        from reviser.decoding.best_of import BestRollout
        from reviser.decoding.filling import GapSurroundings
        from reviser.decoding.guidance import Guided

        around = GapSurroundings.of(begun.canvas, self.reading.readable)
        guided = Guided(begun.policy, self.reading, around)
        return BestRollout(
            begun.policy,
            begun.canvas,
            begun.history,
            sampler,
            lambda canvas, drawing: self.each(replace(begun, policy=guided, canvas=canvas), drawing),
            self.reading,
            rules=begun.rules,
            guided=guided,
            tries=self.tries,
            max_actions=begun.max_actions,
            fits=self.fits,
        )
