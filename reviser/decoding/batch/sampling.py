"""The sampling rule of `reviser.decoding.sampler`, for rows of logits on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from reviser.core.errors import ReviserError

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


@dataclass(frozen=True)
class Sampling:
    """The sampling settings of a batch: temperature (0 is greedy), top-k and the temperature of moves, as for a
    `Sampler`."""

    temperature: float = 0.9
    top_k: int | None = 50
    move_temperature: float | None = None

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ReviserError("the temperature must be 0 or more")
        if self.top_k is not None and self.top_k < 1:
            raise ReviserError("top-k must be 1 or more")
        if self.move_temperature is not None and self.move_temperature <= 0:
            raise ReviserError("the temperature of moves must be above 0")


GREEDY: Final = Sampling(temperature=0.0)


def choose(
    logits: Tensor, valid: Tensor, drawn: Tensor, last: Tensor, sampling: Sampling, moves: range
) -> tuple[Tensor, Tensor]:
    """Draw an id for each row: the mask first, then temperature and top-k, as `Sampler` does.

    `drawn` is a number in [0, 1) for each row, and `last` its last id. Returns the ids, and which rows had a valid one
    at all.
    """
    return draw(logits.masked_fill(~valid, -torch.inf), drawn, sampling, last, moves)


def draw(
    scores: Tensor, drawn: Tensor, sampling: Sampling, last: Tensor | None = None, moves: range = range(0)
) -> tuple[Tensor, Tensor]:
    """Draw an id for each row of scores; ids with a score of -inf are never drawn."""
    temperature, top_k = sampling.temperature, sampling.top_k
    if temperature == 0:
        best, picked = scores.max(dim=1)
        return picked, best.isfinite()
    ids = None
    if top_k is not None and top_k < scores.shape[1]:
        scores, ids = scores.topk(top_k, dim=1)
    shares = (scores.double() / temperature).softmax(dim=1)
    for_moves = sampling.move_temperature
    if last is not None and for_moves is not None and for_moves < temperature:
        every = torch.arange(scores.shape[1], device=scores.device) if ids is None else ids
        going = ((every >= moves.start) & (every < moves.stop)).expand_as(shares)
        moving = (last >= moves.start) & (last < moves.stop)
        shares = _with_sharper_moves(shares, going, moving, temperature / for_moves)
    sums = shares.cumsum(dim=1)
    # The first sum beyond the drawn one: an id without a share is never that.
    place = (sums <= (drawn * sums[:, -1])[:, None]).sum(dim=1, keepdim=True)
    place.clamp_(max=scores.shape[1] - 1)
    picked = place if ids is None else ids.gather(1, place)
    return picked[:, 0], sums[:, -1].isfinite()


def _with_sharper_moves(shares: Tensor, going: Tensor, moving: Tensor, power: float) -> Tensor:
    """`reviser.native.choosing.with_sharper_moves` for rows; the results are not normalised."""
    of_moves = shares.where(going, 0.0)
    least = torch.finfo(shares.dtype).tiny
    # As everywhere: moves keep what they have together.
    kept = (of_moves / of_moves.amax(dim=1, keepdim=True).clamp_min(least)) ** power
    kept *= of_moves.sum(dim=1, keepdim=True) / kept.sum(dim=1, keepdim=True).clamp_min(least)
    # In rows that are moving, to stay is one more choice among them.
    staying = shares.where(~going, 0.0).sum(dim=1, keepdim=True) ** (power - 1)
    on_the_way = moving[:, None]
    return torch.where(
        going, torch.where(on_the_way, of_moves**power, kept), torch.where(on_the_way, shares * staying, shares)
    )
