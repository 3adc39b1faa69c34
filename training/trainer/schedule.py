"""The learning rate schedule: linear warmup, then a cosine down to the final rate, or a plateau and a cooldown."""

from __future__ import annotations

import math
from typing import Protocol


class Rates(Protocol):
    """The settings that determine the learning rate."""

    @property
    def peak_rate(self) -> float: ...
    @property
    def final_rate(self) -> float: ...
    @property
    def warmup_steps(self) -> int: ...


def learning_rate(settings: Rates, step: int, progress: float) -> float:
    """The rate at `step`, when the share `progress` (0 to 1) of the run is done.

    With a `cooldown`, the rate falls only during that last share of the run.
    """
    cooldown: float | None = getattr(settings, "cooldown", None)
    done = min(max(progress, 0.0), 1.0)
    height = 0.5 * (1 + math.cos(math.pi * done)) if cooldown is None else min(1.0, (1 - done) / cooldown)
    rate = settings.final_rate + (settings.peak_rate - settings.final_rate) * height
    if step < settings.warmup_steps:
        return rate * (step + 1) / settings.warmup_steps
    return rate
