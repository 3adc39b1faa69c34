"""Random numbers for training data: splitmix64 streams, in plain Python and compiled.

A stream is named by integers (seed, epoch, sample …), so any thread can make any sample at any time,
without making those before it. `KeyedRandom` and the compiled functions draw the same numbers.
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
    """Compiles a function to machine code that runs without the interpreter's lock; the result is cached between runs.

    The cache is renewed when the function's own file changes, but not when a function it calls in another
    file does: after a change in this module, remove the `__pycache__` folders in `training`.
    """
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def _mixed(value: int) -> int:
    value = (value ^ (value >> 30)) * _FIRST & _MASK
    value = (value ^ (value >> 27)) * _SECOND & _MASK
    return value ^ (value >> 31)


def key(*parts: int) -> int:
    """The 64-bit name of a stream, a hash of the parts in their order."""
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
        """A number from 0 to limit-1; the bias of limit / 2^32 is negligible for the small limits used here."""
        return (self.bits() >> 32) * limit >> 32

    def share(self) -> float:
        """A number from 0 (inclusive) to 1 (exclusive)."""
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
    """The name of a stream with one more part; `key` is repeated use of this."""
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
    """The position of `index` (0 to size-1) in the shuffle called `name`: a bijection that needs no memory.

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
