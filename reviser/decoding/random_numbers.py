"""Random numbers from a seed: those of `numpy.random.default_rng`, without loading numpy's generators.

Runs are recorded with their seeds, so the numbers must never change. Loading numpy's generators takes as long as
reading a model's files. The algorithms are PCG64 (O'Neill) and numpy's `SeedSequence`.
"""

from __future__ import annotations

import os
from typing import Final, TypedDict

_WORD: Final = 0xFFFFFFFF
_LONG: Final = (1 << 64) - 1
_WIDE: Final = (1 << 128) - 1
_MULTIPLIER: Final = 0x2360ED051FC65DA44385DF649FCCF645
_POOL: Final = 4
_AHEAD: Final = 16


class Position(TypedDict):
    """The position of PCG64 in its stream, and the stream's increment."""

    state: int
    inc: int


class RandomState(TypedDict):
    """The state of a generator, with numpy's names."""

    bit_generator: str
    state: Position
    has_uint32: int
    uinteger: int


class Random:
    """A stream of numbers in [0, 1). Without a seed it is a different one each time."""

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            seed = int.from_bytes(os.urandom(16), "little")
        if seed < 0:
            raise ValueError("expected non-negative integer")
        first, second, third, fourth = _seeding(_pool(_words(seed)))
        self._increment = ((third << 64 | fourth) << 1 | 1) & _WIDE
        start = self._next_state(0) + (first << 64 | second)
        self._state = self._before = self._next_state(start & _WIDE)
        # The states that follow, each with its number, the next one last.
        self._ahead: list[tuple[int, float]] = []

    def random(self) -> float:
        """The next number."""
        if not self._ahead:
            self._look_ahead()
        self._before = self._state
        self._state, number = self._ahead.pop()
        return number

    def take_back(self) -> None:
        """Return to before the last number, which is drawn again next."""
        self._state = self._before
        self._ahead.clear()

    @property
    def state(self) -> RandomState:
        """The current state, in numpy's format."""
        return {
            "bit_generator": "PCG64",
            "state": {"state": self._state, "inc": self._increment},
            "has_uint32": 0,
            "uinteger": 0,
        }

    @state.setter
    def state(self, state: RandomState) -> None:
        self._state, self._increment = state["state"]["state"], state["state"]["inc"]
        self._ahead.clear()

    def _next_state(self, state: int) -> int:
        return (state * _MULTIPLIER + self._increment) & _WIDE

    def _look_ahead(self) -> None:
        """Compute the next few numbers at once, which is faster than one by one between steps of a model."""
        state = self._state
        for _ in range(_AHEAD):
            state = self._next_state(state)
            self._ahead.append((state, _number(state)))
        self._ahead.reverse()


def _number(state: int) -> float:
    high, low = state >> 64, state & _LONG
    mixed, turn = high ^ low, high >> 58
    turned = mixed >> turn | mixed << (64 - turn) & _LONG
    return (turned >> 11) * 2.0**-53


def _words(number: int) -> list[int]:
    """A number in words of 32 bits, the lowest first."""
    words = [number & _WORD]
    while number := number >> 32:
        words.append(number & _WORD)
    return words


def _pool(entropy: list[int]) -> list[int]:
    """The words of a seed, mixed into numpy's entropy pool."""
    constant = 0x43B0D7E5

    def hashed(word: int) -> int:
        nonlocal constant
        word ^= constant
        constant = constant * 0x931E8875 & _WORD
        word = word * constant & _WORD
        return word ^ word >> 16

    def mixed(one: int, other: int) -> int:
        word = (0xCA01F9DD * one - 0x4973F715 * other) & _WORD
        return word ^ word >> 16

    pool = [hashed(entropy[place] if place < len(entropy) else 0) for place in range(_POOL)]
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                pool[target] = mixed(pool[target], hashed(pool[source]))
    for word in entropy[_POOL:]:
        for target in range(_POOL):
            pool[target] = mixed(pool[target], hashed(word))
    return pool


def _seeding(pool: list[int]) -> list[int]:
    """The four 64-bit numbers that initialise a generator."""
    constant = 0x8B51F9DD
    words = []
    for place in range(2 * _POOL):
        word = pool[place % _POOL] ^ constant
        constant = constant * 0x58F38DED & _WORD
        word = word * constant & _WORD
        words.append(word ^ word >> 16)
    return [words[place] | words[place + 1] << 32 for place in range(0, len(words), 2)]
