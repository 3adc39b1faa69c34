"""Random numbers on a device: any number of any stream, without a state."""

from __future__ import annotations

from typing import Final

from torch import Tensor

GOLDEN: Final = 0x9E3779B97F4A7C15
_FIRST: Final = 0xBF58476D1CE4E5B9
_SECOND: Final = 0x94D049BB133111EB


def signed(number: int) -> int:
    """The 64 low bits of a number as torch takes them; its products wrap around as unsigned ones do."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def uniform(seeds: Tensor, steps: Tensor) -> Tensor:
    """Number `steps` of each seed's stream, in [0, 1): SplitMix64, which needs no state for that."""
    x = seeds + (steps + 1) * signed(GOLDEN)
    x = (x ^ _shifted(x, 30)) * signed(_FIRST)
    x = (x ^ _shifted(x, 27)) * signed(_SECOND)
    x = x ^ _shifted(x, 31)
    return _shifted(x, 11).double() * 2.0**-53


def _shifted(x: Tensor, bits: int) -> Tensor:
    """Shift right without copies of the sign, which torch would bring in."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)
