"""The interface of a contestant, the prompts that all read, and the timing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

SEED = 0
CAPACITY = 2048
LOWEST = 1000
"""Prompts leave out so many ids at both ends of a vocabulary, where special ones are."""


class SpeedContestant(Protocol):
    """A contestant of the speed benchmark: it reads a prompt, then generates tokens."""

    name: str
    instructions: str
    """The instruction set that its kernels use, in the words of its library."""
    step_bytes: int
    """Bytes of weights that one token reads."""

    def prefill(self, ids: Sequence[int]) -> None:
        """Reads a prompt and computes the scores of the next token."""

    def steps(self, count: int) -> float:
        """Seconds for that many tokens after the prompt."""


def prompt(length: int, vocab: int) -> list[int]:
    chance = np.random.default_rng(SEED)
    ids: list[int] = chance.integers(LOWEST, vocab - LOWEST, length).tolist()
    return ids


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
