"""Noise schedules: how much of a text is masked at each time from 0 (nothing) to 1 (next to all).

A token is still there with probability exp(-sigma(t)); sigma is the total noise and its derivative the rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Schedule(Protocol):
    def total(self, t: Tensor) -> Tensor:
        """sigma(t)"""

    def rate(self, t: Tensor) -> Tensor:
        """The derivative of sigma at t."""


@dataclass(frozen=True)
class LogLinear:
    """The share of masked tokens grows evenly, from 0 to 1 - eps."""

    eps: float = 1e-3

    def total(self, t: Tensor) -> Tensor:
        return -torch.log1p(-(1 - self.eps) * t)

    def rate(self, t: Tensor) -> Tensor:
        return (1 - self.eps) / (1 - (1 - self.eps) * t)


@dataclass(frozen=True)
class Geometric:
    """The total noise grows by the same factor in the same time."""

    low: float = 1e-4
    high: float = 20.0

    def total(self, t: Tensor) -> Tensor:
        return self.low ** (1 - t) * self.high**t

    def rate(self, t: Tensor) -> Tensor:
        return self.total(t) * math.log(self.high / self.low)


def masked_share(sigma: Tensor) -> Tensor:
    """The probability that a token is masked after this much noise."""
    return -torch.expm1(-sigma)
