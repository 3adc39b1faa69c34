"""Fused kernels for the operations between the matrix products of a layer, for training on a GPU.

Each makes one pass over memory and is faster than what a compiler generates.

The gradients of `gated` come side by side, as the product before it needs them. `add_norm` computes its dropout mask
again instead of storing it. Gradients that all rows share, those of a norm's weights and biases, are summed where the
rows are read anyway: each program writes a sum of its rows, and one small kernel adds these up.
"""

# ruff: noqa: N803  (constants of a kernel are in capitals)
# No `from __future__ import annotations`: torch and triton read these annotations as they are.

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

_ROWS = 4
_COLUMNS = 512
_NORMED = 2048  # numbers in the rows that are normed together
# Gradients that are summed over rows: programs at the most, rows that each takes together, times that loads are ahead,
# the fastest found on an H200. One warp is one program, so that a sum never leaves its thread.
_NORM_SUMS = 1024, 1, 3
_GELU_SUMS = 256, 1, 4
_GELU_COLUMNS = 256
_SUMMED = 128, 8  # sums that are added up together, and how many columns of them


@triton.jit  # type: ignore[untyped-decorator]
def _tile(rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    """The rows and columns of this program, and a mask of those that exist."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    return row.to(tl.int64), column, (row < rows) & (column < width)


@triton.jit  # type: ignore[untyped-decorator]
def _gated_forward(joined, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column, there = _tile(rows, width, ROWS, COLUMNS)
    at = row * 2 * width + column
    gate = tl.load(joined + at, mask=there, other=0.0).to(tl.float32)
    up = tl.load(joined + at + width, mask=there, other=0.0).to(tl.float32)
    found = gate * tl.sigmoid(gate) * up
    tl.store(out + row * width + column, found.to(out.dtype.element_ty), mask=there)


@triton.jit  # type: ignore[untyped-decorator]
def _gated_backward(joined, grad, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column, there = _tile(rows, width, ROWS, COLUMNS)
    at = row * 2 * width + column
    gate = tl.load(joined + at, mask=there, other=0.0).to(tl.float32)
    up = tl.load(joined + at + width, mask=there, other=0.0).to(tl.float32)
    given = tl.load(grad + row * width + column, mask=there, other=0.0).to(tl.float32)
    opened = tl.sigmoid(gate)
    of_gate = given * up * opened * (1 + gate * (1 - opened))
    tl.store(out + at, of_gate.to(out.dtype.element_ty), mask=there)
    tl.store(out + at + width, (given * gate * opened).to(out.dtype.element_ty), mask=there)


def _grid(rows: int, width: int) -> tuple[int, int]:
    return triton.cdiv(rows, _ROWS), triton.cdiv(width, _COLUMNS)


@torch.library.custom_op("reviser::gated", mutates_args=())
def _gated(joined: Tensor) -> Tensor:
    joined = joined.contiguous()
    out: Tensor = _half(joined)
    rows, width = out.numel() // out.shape[-1], out.shape[-1]
    _gated_forward[_grid(rows, width)](joined, out, rows, width, ROWS=_ROWS, COLUMNS=_COLUMNS)
    return out


@_gated.register_fake
def _half(joined: Tensor) -> Tensor:
    return joined.new_empty((*joined.shape[:-1], joined.shape[-1] // 2))


@torch.library.custom_op("reviser::gated_backward", mutates_args=())
def _gated_gradient(grad: Tensor, joined: Tensor) -> Tensor:
    grad, joined = grad.contiguous(), joined.contiguous()
    out = torch.empty_like(joined)
    rows, width = grad.numel() // grad.shape[-1], grad.shape[-1]
    _gated_backward[_grid(rows, width)](joined, grad, out, rows, width, ROWS=_ROWS, COLUMNS=_COLUMNS)
    return out


@_gated_gradient.register_fake
def _(grad: Tensor, joined: Tensor) -> Tensor:
    return joined.new_empty(joined.shape)


def _keep_input(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _gated_back(ctx: Any, grad: Tensor) -> Tensor:
    found: Tensor = _gated_gradient(grad, *ctx.saved_tensors)
    return found


_gated.register_autograd(_gated_back, setup_context=_keep_input)


def gated(joined: Tensor) -> Tensor:
    """silu(first half) * second half, over the last axis."""
    found: Tensor = _gated(joined)
    return found


@triton.jit
def _normal(value):  # type: ignore[no-untyped-def]
    """The cumulative normal distribution at a value, and exp(-value² / 2).

    By formula 7.1.26 of Abramowitz and Stegun, exact to seven digits, with fewer operations than an erf.
    """
    bell = tl.exp(-0.5 * value * value)
    # A square of a root is a quotient that takes half the instructions.
    t = tl.rsqrt(1 + 0.3275911 * 0.7071067811865476 * tl.abs(value))
    t = t * t
    tail = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    tail = 0.5 * bell * t * (0.254829592 + t * (-0.284496736 + tail))
    return tl.where(value < 0, tail, 1 - tail), bell


@triton.jit  # type: ignore[untyped-decorator]
def _add_up(parts, out, count, width, PARTS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    """The sum of `count` rows of parts, for the columns of this program."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros((PARTS, COLUMNS), tl.float32)
    for start in range(0, count, PARTS):
        row = start + tl.arange(0, PARTS)[:, None]
        there = (row < count) & (column < width)
        total += tl.load(parts + row * width + column, mask=there, other=0.0)
    found = tl.sum(total, 0)[None, :].to(out.dtype.element_ty)
    tl.store(out + column, found, mask=column < width)


def _summed(parts: Tensor, kind: torch.dtype) -> Tensor:
    """The sum of parts (programs, …) over the programs."""
    out = parts.new_empty(parts.shape[1:], dtype=kind)
    rows, columns = _SUMMED
    _add_up[(triton.cdiv(out.numel(), columns),)](*(parts, out, len(parts), out.numel()), PARTS=rows, COLUMNS=columns)
    return out


def _shares(rows: int, together: int, most: int) -> tuple[int, int]:
    """The number of programs that divide the rows, and the number of times that each reads `together` rows."""
    times = triton.cdiv(rows, together * most)
    return triton.cdiv(rows, together * times), times


@triton.jit  # type: ignore[untyped-decorator]
def _gelu_forward(x, bias, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column, there = _tile(rows, width, ROWS, COLUMNS)
    at = row * width + column
    value = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
    value += tl.load(bias + column, mask=column < width, other=0.0).to(tl.float32)
    below, _ = _normal(value)
    tl.store(out + at, (value * below).to(out.dtype.element_ty), mask=there)


@triton.jit  # type: ignore[untyped-decorator]
def _gelu_backward(  # type: ignore[no-untyped-def]
    x, bias, grad, out, parts, rows, width, times, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STAGES: tl.constexpr
):
    """The gradient of this program's rows, and its sum over them."""
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    added = tl.load(bias + column, mask=column < width, other=0.0).to(tl.float32)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for time in tl.range(times, num_stages=STAGES):
        row = (tl.program_id(0) * times + time) * ROWS + tl.arange(0, ROWS)[:, None]
        at = row.to(tl.int64) * width + column
        there = (row < rows) & (column < width)
        value = tl.load(x + at, mask=there, other=0.0).to(tl.float32) + added
        given = tl.load(grad + at, mask=there, other=0.0).to(tl.float32)
        below, bell = _normal(value)
        found = given * (below + value * bell * 0.3989422804014327)
        total += found
        tl.store(out + at, found.to(out.dtype.element_ty), mask=there)
    to = parts + tl.program_id(0) * width + column
    tl.store(to, tl.sum(total, 0)[None, :], mask=column < width)


@torch.library.custom_op("reviser::gelu", mutates_args=())
def _gelu(x: Tensor, bias: Tensor) -> Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    rows, width = x.numel() // x.shape[-1], x.shape[-1]
    _gelu_forward[_grid(rows, width)](x, bias, out, rows, width, ROWS=_ROWS, COLUMNS=_COLUMNS)
    return out


@_gelu.register_fake
def _(x: Tensor, bias: Tensor) -> Tensor:
    return x.new_empty(x.shape)


@torch.library.custom_op("reviser::gelu_backward", mutates_args=())
def _gelu_gradient(grad: Tensor, x: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    grad, x = grad.contiguous(), x.contiguous()
    out = torch.empty_like(x)
    rows, width = x.numel() // x.shape[-1], x.shape[-1]
    most, together, stages = _GELU_SUMS
    programs, times = _shares(rows, together, most)
    parts = torch.empty((programs, width), dtype=torch.float32, device=x.device)
    _gelu_backward[(programs, triton.cdiv(width, _GELU_COLUMNS))](
        *(x, bias, grad, out, parts, rows, width, times),
        ROWS=together,
        COLUMNS=_GELU_COLUMNS,
        STAGES=stages,
        num_warps=1,
    )
    return out, _summed(parts, bias.dtype)


@_gelu_gradient.register_fake
def _(grad: Tensor, x: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), bias.new_empty(bias.shape)


def _gelu_back(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    of_x, of_bias = _gelu_gradient(grad, *ctx.saved_tensors)
    return of_x, of_bias


_gelu.register_autograd(_gelu_back, setup_context=_keep_input)


def gelu(x: Tensor, bias: Tensor) -> Tensor:
    """The exact GELU of `x + bias`."""
    found: Tensor = _gelu(x, bias)
    return found


@triton.jit
def _kept(seed, places, share):  # type: ignore[no-untyped-def]
    """The dropout mask: 24 bits of a hash of the seed and each number's place decide whether it is kept."""
    mixed = places.to(tl.uint32) * 0x9E3779B1 + seed.to(tl.uint32)
    mixed = (mixed ^ (mixed >> 16)) * 0x7FEB352D
    mixed = (mixed ^ (mixed >> 15)) * 0x846CA68B
    mixed = (mixed ^ (mixed >> 16)) >> 8
    return mixed.to(tl.float32) >= share * 16777216.0


@triton.jit  # type: ignore[untyped-decorator]
def _norm_forward(  # type: ignore[no-untyped-def]
    base,
    found,
    extra,
    seeds,
    weight,
    bias,
    total,
    normed,
    means,
    scales,
    share,
    epsilon,
    rows,
    width,
    WHICH: tl.constexpr,
    EXTRA: tl.constexpr,
    DROP: tl.constexpr,
    CENTRED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    inside = column < width
    there = (row < rows) & inside
    at = row.to(tl.int64) * width + column
    value = tl.load(found + at, mask=there, other=0.0).to(tl.float32)
    if EXTRA:
        value += tl.load(extra + column, mask=inside, other=0.0).to(tl.float32)
    if DROP:
        kept = _kept(tl.load(seeds + WHICH), at, share)
        value = tl.where(kept, value * (1.0 / (1.0 - share)), 0.0)
    value = tl.where(there, value, 0.0) + tl.load(base + at, mask=there, other=0.0).to(tl.float32)
    # The gradient will see what is stored.
    stored = value.to(total.dtype.element_ty)
    tl.store(total + at, stored, mask=there)
    value = stored.to(tl.float32)
    if CENTRED:
        mean = tl.sum(value, 1) / width
        tl.store(means + row, mean[:, None], mask=row < rows)
        value = tl.where(there, value - mean[:, None], 0.0)
    scale = 1 / tl.sqrt(tl.sum(value * value, 1) / width + epsilon)
    tl.store(scales + row, scale[:, None], mask=row < rows)
    value = value * scale[:, None] * tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    if CENTRED:
        value += tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(normed + at, value.to(normed.dtype.element_ty), mask=there)


@triton.jit  # type: ignore[untyped-decorator]
def _norm_backward(  # type: ignore[no-untyped-def]
    of_total,
    of_normed,
    total,
    means,
    scales,
    seeds,
    weight,
    of_base,
    of_found,
    parts,
    share,
    rows,
    width,
    times,
    WHICH: tl.constexpr,
    EXTRA: tl.constexpr,
    DROP: tl.constexpr,
    CENTRED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
):
    """The gradients of this program's rows, and their sums for the norm's weights and biases."""
    column = tl.arange(0, COLUMNS)[None, :]
    inside = column < width
    factor = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    for_weight = tl.zeros((ROWS, COLUMNS), tl.float32)
    for_bias = tl.zeros((ROWS, COLUMNS), tl.float32)
    for_extra = tl.zeros((ROWS, COLUMNS), tl.float32)
    for time in tl.range(times, num_stages=STAGES):
        row = (tl.program_id(0) * times + time) * ROWS + tl.arange(0, ROWS)[:, None]
        there = (row < rows) & inside
        at = row.to(tl.int64) * width + column
        given = tl.load(of_normed + at, mask=there, other=0.0).to(tl.float32)
        value = tl.load(total + at, mask=there, other=0.0).to(tl.float32)
        scale = tl.load(scales + row, mask=row < rows, other=0.0)
        if CENTRED:
            value = tl.where(there, value - tl.load(means + row, mask=row < rows, other=0.0), 0.0)
            for_bias += given
        value = value * scale
        for_weight += given * value
        given = given * factor
        along = tl.sum(given * value, 1)[:, None] / width
        change = given - value * along
        if CENTRED:
            change -= tl.sum(given, 1)[:, None] / width
        change = change * scale + tl.load(of_total + at, mask=there, other=0.0).to(tl.float32)
        kind = of_base.dtype.element_ty
        tl.store(of_base + at, change.to(kind), mask=there)
        if DROP:
            kept = _kept(tl.load(seeds + WHICH), at, share)
            change = tl.where(kept, change * (1.0 / (1.0 - share)), 0.0)
            tl.store(of_found + at, change.to(kind), mask=there)
        if EXTRA:
            for_extra += change
    to = parts + tl.program_id(0) * (1 + CENTRED + EXTRA) * width + column
    tl.store(to, tl.sum(for_weight, 0)[None, :], mask=inside)
    if CENTRED:
        tl.store(to + width, tl.sum(for_bias, 0)[None, :], mask=inside)
    if EXTRA:
        tl.store(to + (1 + CENTRED) * width, tl.sum(for_extra, 0)[None, :], mask=inside)


@torch.library.custom_op("reviser::add_norm", mutates_args=())
def _add_norm(
    base: Tensor,
    found: Tensor,
    extra: Tensor | None,
    seeds: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    which: int,
    share: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    base, found = base.contiguous(), found.contiguous()
    made: tuple[Tensor, Tensor, Tensor, Tensor] = _norm_room(
        base, found, extra, seeds, weight, bias, which, share, epsilon
    )
    width = base.shape[-1]
    rows, columns = base.numel() // width, triton.next_power_of_2(width)
    together = max(_NORMED // columns, 1)
    _norm_forward[(triton.cdiv(rows, together),)](
        *(base, found, weight if extra is None else extra),
        *(seeds, weight, weight if bias is None else bias),
        *(*made, share, epsilon, rows, width),
        WHICH=which,
        EXTRA=extra is not None,
        DROP=share > 0,
        CENTRED=bias is not None,
        ROWS=together,
        COLUMNS=columns,
    )
    return made


@_add_norm.register_fake
def _norm_room(
    base: Tensor,
    found: Tensor,
    extra: Tensor | None,
    seeds: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    which: int,
    share: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Output tensors for the sum and its norm, and for the gradient each row's mean and scale."""
    means, scales = (base.new_empty(base.shape[:-1], dtype=torch.float32) for _ in range(2))
    return base.new_empty(base.shape), base.new_empty(base.shape), means, scales


@torch.library.custom_op("reviser::add_norm_backward", mutates_args=())
def _norm_gradient(
    of_total: Tensor,
    of_normed: Tensor,
    total: Tensor,
    means: Tensor,
    scales: Tensor,
    seeds: Tensor,
    weight: Tensor,
    extra: bool,
    centred: bool,
    which: int,
    share: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the base, of `found` (None where it is the same), and of the weights, the biases and `extra`."""
    of_total, of_normed = of_total.contiguous(), of_normed.contiguous()
    width = total.shape[-1]
    rows = total.numel() // width
    most, together, stages = _NORM_SUMS
    programs, times = _shares(rows, together, most)
    parts = total.new_empty((programs, 1 + centred + extra, width), dtype=torch.float32)
    of_base = torch.empty_like(total)
    of_found = torch.empty_like(total) if share > 0 else total.new_empty(0)
    _norm_backward[(programs,)](
        *(of_total, of_normed, total, means, scales, seeds, weight),
        *(of_base, of_found, parts, share, rows, width, times),
        WHICH=which,
        EXTRA=extra,
        DROP=share > 0,
        CENTRED=centred,
        ROWS=together,
        COLUMNS=triton.next_power_of_2(width),
        STAGES=stages,
        num_warps=1,
    )
    return of_base, of_found, _summed(parts, weight.dtype)


@_norm_gradient.register_fake
def _(
    of_total: Tensor,
    of_normed: Tensor,
    total: Tensor,
    means: Tensor,
    scales: Tensor,
    seeds: Tensor,
    weight: Tensor,
    extra: bool,
    centred: bool,
    which: int,
    share: float,
) -> tuple[Tensor, Tensor, Tensor]:
    return (
        total.new_empty(total.shape),
        total.new_empty(total.shape if share > 0 else (0,)),
        weight.new_empty((1 + centred + extra, *weight.shape)),
    )


def _keep_norm(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, _, extra, seeds, weight, bias, ctx.which, ctx.share, _ = inputs
    total, _, means, scales = output
    ctx.save_for_backward(total, means, scales, seeds, weight)
    ctx.extra = None if extra is None else extra.dtype
    ctx.centred = bias is not None


def _norm_back(ctx: Any, of_total: Tensor, of_normed: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    of_base, of_found, of_norm = _norm_gradient(
        *(of_total, of_normed, *ctx.saved_tensors), *(ctx.extra is not None, ctx.centred, ctx.which, ctx.share)
    )
    of_found = of_found if ctx.share > 0 else of_base
    of_extra = None if ctx.extra is None else of_norm[-1].to(ctx.extra)
    of_bias = of_norm[1] if ctx.centred else None
    return of_base, of_found, of_extra, None, of_norm[0], of_bias, *[None] * 3


_add_norm.register_autograd(_norm_back, setup_context=_keep_norm)


def add_norm(
    base: Tensor,
    found: Tensor,
    extra: Tensor | None,
    norm: nn.LayerNorm | nn.RMSNorm,
    seeds: Tensor,
    which: int,
    share: float,
) -> tuple[Tensor, Tensor]:
    """`base + dropout(found + extra, share)`, and its norm. Seed number `which` decides what is dropped.

    `extra` is the bias of the product that gave `found`; computed here, its gradient costs nothing.
    """
    bias = norm.bias if isinstance(norm, nn.LayerNorm) else None
    given = (base, found, extra, seeds, norm.weight, bias, which, share, norm.eps)
    total, normed, *_ = _add_norm(*given)
    return total, normed
