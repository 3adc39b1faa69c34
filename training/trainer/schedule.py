"""The learning rate over a run: linear warmup, then a cosine down to the final rate."""

from __future__ import annotations

import math
from typing import Protocol


class Rates(Protocol):
    """The settings of a run that decide its rate."""

    @property
    def peak_rate(self) -> float: ...
    @property
    def final_rate(self) -> float: ...
    @property
    def warmup_steps(self) -> int: ...


def learning_rate(settings: Rates, step: int, progress: float) -> float:
    """The rate at `step`, when the share `progress` (0 to 1) of the run is done."""
    cosine = 0.5 * (1 + math.cos(math.pi * min(max(progress, 0.0), 1.0)))
    rate = settings.final_rate + (settings.peak_rate - settings.final_rate) * cosine
    if step < settings.warmup_steps:
        return rate * (step + 1) / settings.warmup_steps
    return rate
