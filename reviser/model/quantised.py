"""Quantisation of weights to 4 or 8 bits: how they are rounded and what the codes mean.

Eight bits: a weight is its row's scale times a code from -127 to 127.

Four bits: groups of 32 columns share a scale and a minimum, each a byte,

    weight = row_scale * scale * code - row_minimum * minimum,    code 0 to 15

That is four and a half bits a weight, and 32 for each row, whose scale and minimum are exact in bfloat16. With a
minimum, unevenly distributed groups use all 16 codes, which small models need: with one scale and no minimum they lose
many times as much.

`reviser.model.layout` says how these numbers are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from reviser.model.config import ModelConfig
from reviser.model.decoder import Reviser
from reviser.model.layout import GROUP, TABLES, Bits, matrix_shapes, parts_of

# Rows that are searched at a time: their numbers stay in the cache.
_CHUNK: Final = 256
# Steps of the scale and of the minimum that are tried around the obvious ones. A scale a little too
# small clips the outermost weights and serves all others better.
_QUICK: Final = ((0, 0), (-1, 0), (1, 0))
_THOROUGH: Final = tuple((scale, minimum) for minimum in (0, -1, 1) for scale in (0, -1, 1, -2, 2, -4, -7))


Attempt = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


def attempt(
    groups: Tensor, high: Tensor, row_scales: Tensor, row_minima: Tensor, first_minimum: Tensor, steps: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Scales and minima `steps` away from the simple choice, and the error of each group with them."""
    minimum = (first_minimum + steps[1]).clamp(0, 255)
    lowered = row_minima * minimum
    obvious = ((high + lowered) / 15 / _nonzero(row_scales)).round()
    scale = (obvious + steps[0]).clamp(1, 255)
    codes = _codes(groups, row_scales * scale, lowered)
    error = codes.mul_((row_scales * scale)[..., None]).sub_(lowered[..., None]).sub_(groups)
    return scale, minimum, error.square_().sum(dim=2)


def _codes(groups: Tensor, scales: Tensor, lowered: Tensor) -> Tensor:
    return ((groups + lowered[..., None]) / _nonzero(scales)[..., None]).round_().clamp_(0, 15)


def quantise(weight: Tensor, bits: Bits, *, thorough: bool = False) -> dict[str, Tensor]:
    """The parts of a quantised matrix: `codes`, `row_scales` and so on, or `values` at 32 bits.

    A thorough search takes seven times as long and rounds a little better.
    """
    if weight.ndim != 2:
        raise ValueError(f"A matrix is quantised, not a tensor of {weight.ndim} dimensions.")
    weight = weight.detach().float()
    padded = functional.pad(weight, (0, -weight.shape[1] % GROUP))
    if bits == 32:
        return {"values": padded}
    if bits == 8:
        row_scales = _rounded_up(padded.abs().amax(dim=1) / 127)
        codes = (padded / _nonzero(row_scales)[:, None]).round().clamp(-127, 127)
        return {"codes": codes.to(torch.int8), "row_scales": row_scales}
    tries = _THOROUGH if thorough else _QUICK
    chunks = [_search4(rows, tries, attempt).parts() for rows in torch.split(padded, _CHUNK)]
    return {name: torch.cat([chunk[name] for chunk in chunks]) for name in chunks[0]}


def dequantise(parts: Mapping[str, Tensor], columns: int) -> Tensor:
    """The matrix that `parts` encode, without its padding."""
    if "values" in parts:
        return parts["values"][:, :columns]
    codes, row_scales = parts["codes"], parts["row_scales"].float()[:, None]
    if codes.dtype == torch.int8:
        return (codes.float() * row_scales)[:, :columns]
    both = codes.view(codes.shape[0], -1, GROUP // 2)
    split = torch.cat((both & 15, both >> 4), dim=2).float()
    scales = row_scales * parts["scales"]
    minima = parts["row_minima"].float()[:, None] * parts["minima"]
    return (split * scales[..., None] - minima[..., None]).flatten(1)[:, :columns]


def rounded(weight: Tensor, bits: Bits, of_try: Attempt = attempt) -> Tensor:
    """The weights after a thorough quantisation, as a model file will have them.

    `of_try` may be a compiled `attempt`, which makes one pass over memory.
    """
    whole = weight.detach().float()
    if bits != 4:
        return dequantise(quantise(whole, bits), weight.shape[1])
    # On a GPU all rows at once keep it busiest; they have no cache to stay in.
    padded = functional.pad(whole, (0, -weight.shape[1] % GROUP))
    size = _CHUNK if weight.device.type == "cpu" else max(len(padded), 1)
    chunks = [_search4(rows, _THOROUGH, of_try).weights() for rows in torch.split(padded, size)]
    return torch.cat(chunks)[:, : weight.shape[1]]


def _rounded_up(x: Tensor) -> Tensor:
    """The next bfloat16 number up; rounding down would clip the largest weights. Not for negative numbers."""
    return ((x.view(torch.int32) + 0xFFFF) & -0x10000).view(torch.float32)


def _nonzero(x: Tensor) -> Tensor:
    return torch.where(x == 0, 1.0, x)


@dataclass(frozen=True)
class _FourBitGroups:
    """Rows in four bits: codes (rows, groups, 32), a byte each for a group's scale and minimum, two numbers a row."""

    codes: Tensor
    scales: Tensor
    minima: Tensor
    row_scales: Tensor
    row_minima: Tensor

    def weights(self) -> Tensor:
        steps = (self.row_scales * self.scales)[..., None]
        return (self.codes * steps - (self.row_minima * self.minima)[..., None]).flatten(1)

    def parts(self) -> dict[str, Tensor]:
        whole = self.codes.to(torch.uint8)
        return {
            "codes": (whole[..., : GROUP // 2] | whole[..., GROUP // 2 :] << 4).flatten(1),
            "scales": self.scales.to(torch.uint8),
            "minima": self.minima.to(torch.uint8),
            "row_scales": self.row_scales[:, 0],
            "row_minima": self.row_minima[:, 0],
        }


@dataclass(frozen=True)
class _Bounds:
    """The range of each group, and the unit of its byte-sized scale and minimum in each row."""

    groups: Tensor
    high: Tensor
    row_scales: Tensor
    row_minima: Tensor
    first_minimum: Tensor

    @classmethod
    def of(cls, rows: Tensor) -> _Bounds:
        groups = rows.view(rows.shape[0], -1, GROUP)
        high = groups.amax(dim=2).clamp(min=0)
        low = (-groups.amin(dim=2)).clamp(min=0)
        row_minima = _rounded_up(low.amax(dim=1, keepdim=True) / 255)
        row_scales = _rounded_up(((high + low) / 15).amax(dim=1, keepdim=True) / 255)
        return cls(groups, high, row_scales, row_minima, (low / _nonzero(row_minima)).round())


def _search4(rows: Tensor, tries: tuple[tuple[int, int], ...], of_try: Attempt) -> _FourBitGroups:
    """The codes with the scales and minima, among those tried, that have the least error in each group."""
    bounds = _Bounds.of(rows)
    given = (bounds.groups, bounds.high, bounds.row_scales, bounds.row_minima, bounds.first_minimum)
    steps = torch.tensor(tries, dtype=rows.dtype, device=rows.device)
    scales, minima, least = of_try(*given, steps[0])
    for number in range(1, len(tries)):
        scale, minimum, error = of_try(*given, steps[number])
        better = error < least
        scales = torch.where(better, scale, scales)
        minima = torch.where(better, minimum, minima)
        least = torch.where(better, error, least)
    codes = _codes(bounds.groups, bounds.row_scales * scales, bounds.row_minima * minima)
    return _FourBitGroups(codes, scales, minima, bounds.row_scales, bounds.row_minima)


def quantise_model(
    model: Reviser, bits: Bits, table_bits: Bits | None = None, *, thorough: bool = False
) -> dict[str, Tensor]:
    """All tensors of a model, its matrices quantised.

    `table_bits` is for the embedding and the output, which lose much quality at four bits: they are stored in eight by
    default.
    """
    if model.config.uses_canvas:
        raise ValueError("A model conditioned on the canvas is not quantised.")
    tables = max(bits, 8) if table_bits is None else table_bits
    names = matrix_shapes(model.config)
    tensors: dict[str, Tensor] = {}
    for name, value in model.state_dict().items():
        if name not in names:
            tensors[name] = value.detach().float().contiguous()
            continue
        parts = quantise(value, tables if name in TABLES else bits, thorough=thorough)
        for part, tensor in parts.items():
            tensors[f"{name}.{part}"] = tensor.contiguous()
    return tensors


def dequantise_model(config: ModelConfig, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A state dict of full-precision weights, as `Reviser.load_state_dict` takes it."""
    names = matrix_shapes(config)
    state = {name: dequantise(parts_of(tensors, name), columns).contiguous() for name, (_, columns) in names.items()}
    plain = (name for name in tensors if name.rpartition(".")[0] not in names)
    return state | {name: tensors[name] for name in plain}
