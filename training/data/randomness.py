"""The random numbers of the training data: splitmix64 streams, once to read and once compiled.

A stream is named by integers (seed, epoch, sample …), so any sample can be made at any time, by any
thread, without making those before it. `KeyedRandom` and the compiled functions draw the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

State = NDArray[np.uint64]
Item = TypeVar("Item")
Function = TypeVar("Function", bound=Callable[..., Any])

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def compiled(function: Function) -> Function:
    """The function as machine code that runs without the interpreter's lock, kept between runs.

    What is kept is made anew when the function's own file changes, not when one it calls from another
    file does: after a change here, remove the `__pycache__` folders in `training`.
    """
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def _mixed(value: int) -> int:
    value = (value ^ (value >> 30)) * _FIRST & _MASK
    value = (value ^ (value >> 27)) * _SECOND & _MASK
    return value ^ (value >> 31)


def key(*parts: int) -> int:
    """The name of a stream: 64 bits in which every part, and their order, counts."""
    name = 0
    for part in parts:
        name = _mixed((name ^ (part & _MASK)) + _STEP & _MASK)
    return name


class KeyedRandom:
    """One stream of random numbers."""

    def __init__(self, *parts: int) -> None:
        self._state = key(*parts)

    def bits(self) -> int:
        self._state = (self._state + _STEP) & _MASK
        return _mixed(self._state)

    def below(self, limit: int) -> int:
        """One of 0 … limit-1; for limits this small the unevenness, limit / 2^32, cannot be seen."""
        return (self.bits() >> 32) * limit >> 32

    def share(self) -> float:
        """A number from 0 up to 1."""
        return (self.bits() >> 11) * 2.0**-53

    def chance(self, probability: float) -> bool:
        return self.share() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


STEP = np.uint64(_STEP)
FIRST = np.uint64(_FIRST)
SECOND = np.uint64(_SECOND)
LOW_HALF = np.uint64(2**32 - 1)
SHIFT_11, SHIFT_27, SHIFT_30, SHIFT_31, SHIFT_32 = (np.uint64(n) for n in (11, 27, 30, 31, 32))


@compiled
def mixed(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> SHIFT_30)) * FIRST
    value = (value ^ (value >> SHIFT_27)) * SECOND
    return value ^ (value >> SHIFT_31)


@compiled
def folded(name: np.uint64, part: int | np.uint64) -> np.uint64:
    """`key`, one part at a time."""
    return mixed((name ^ np.uint64(part)) + STEP)


@compiled
def bits(state: State) -> np.uint64:
    state[0] += STEP
    return mixed(state[0])


@compiled
def below(state: State, limit: int) -> int:
    return int(np.int64(((bits(state) >> SHIFT_32) * np.uint64(limit)) >> SHIFT_32))


@compiled
def share(state: State) -> float:
    return np.float64(bits(state) >> SHIFT_11) * 2.0**-53


@compiled
def chance(state: State, probability: float) -> bool:
    return share(state) < probability


@compiled
def shuffled(index: int, size: int, name: np.uint64) -> int:
    """Where `index` of 0 … size-1 goes in the shuffle called `name`: a bijection, in no memory.

    A Feistel network permutes the numbers of an even count of bits; walking its cycle until a number
    falls below `size` makes that a permutation of 0 … size-1.
    """
    half = 1
    while (1 << (2 * half)) < size:
        half += 1
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for turn in range(4):
            scrambled = int(np.int64(folded(name, (turn << 32) + right) & LOW_HALF))
            left, right = right, (left ^ scrambled) & mask
        index = (left << half) | right
        if index < size:
            return index
