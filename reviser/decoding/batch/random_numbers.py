"""Random numbers on a device: number n of any stream, computed without a state."""

from __future__ import annotations

from typing import Final

from torch import Tensor

GOLDEN: Final = 0x9E3779B97F4A7C15
_FIRST: Final = 0xBF58476D1CE4E5B9
_SECOND: Final = 0x94D049BB133111EB


def signed(number: int) -> int:
    """The low 64 bits of a number as torch's signed integer; products wrap around like unsigned ones."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def uniform(seeds: Tensor, steps: Tensor) -> Tensor:
    """Number `steps` of each seed's stream, in [0, 1), by SplitMix64, which needs no state."""
    x = seeds + (steps + 1) * signed(GOLDEN)
    x = (x ^ _shifted(x, 30)) * signed(_FIRST)
    x = (x ^ _shifted(x, 27)) * signed(_SECOND)
    x = x ^ _shifted(x, 31)
    return _shifted(x, 11).double() * 2.0**-53


def _shifted(x: Tensor, bits: int) -> Tensor:
    """A logical right shift; torch's own shift copies the sign bit."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)
