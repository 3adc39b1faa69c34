"""What lies between the matrix products of a layer, each in one pass over memory, for training on a GPU.

A compiler makes these too, but slower ones.

The gradients of `gated` come side by side as the product before it wants them, and `add_dropped` makes what
chance takes away anew instead of keeping it.
"""

# ruff: noqa: N803  (constants of a kernel are in capitals)
# No `from __future__ import annotations`: torch and triton read these annotations as they are.

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_ROWS = 4
_COLUMNS = 512
_DROPPED = 1024  # numbers in each quarter of a block


@triton.jit  # type: ignore[untyped-decorator]
def _tile(rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    """The rows and columns of this program, and which of them are there."""
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
    _gated_backward[_grid(rows, width)](
        joined, grad, out, rows, width, ROWS=_ROWS, COLUMNS=_COLUMNS
    )
    return out


@_gated_gradient.register_fake
def _(grad: Tensor, joined: Tensor) -> Tensor:
    return joined.new_empty(joined.shape)


def _keep_input(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _gated_back(ctx: Any, grad: Tensor) -> Tensor:
    found: Tensor = _gated_gradient(grad, *ctx.saved_tensors)
    return found


_gated.register_autograd(_gated_back, setup_context=_keep_input)


def gated(joined: Tensor) -> Tensor:
    """silu(first half) * second half, of the last axis."""
    found: Tensor = _gated(joined)
    return found


@triton.jit
def _normal(value):  # type: ignore[no-untyped-def]
    """The share of a normal distribution below a value, and exp(-value² / 2).

    By the formula 7.1.26 of Abramowitz and Stegun, right to seven digits, with fewer operations than an erf.
    """
    bell = tl.exp(-0.5 * value * value)
    t = 1 / (1 + 0.3275911 * 0.7071067811865476 * tl.abs(value))
    tail = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    tail = 0.5 * bell * t * (0.254829592 + t * (-0.284496736 + tail))
    return tl.where(value < 0, tail, 1 - tail), bell


@triton.jit  # type: ignore[untyped-decorator]
def _gelu_forward(x, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column, there = _tile(rows, width, ROWS, COLUMNS)
    at = row * width + column
    value = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
    below, _ = _normal(value)
    tl.store(out + at, (value * below).to(out.dtype.element_ty), mask=there)


@triton.jit  # type: ignore[untyped-decorator]
def _gelu_backward(x, grad, out, rows, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    row, column, there = _tile(rows, width, ROWS, COLUMNS)
    at = row * width + column
    value = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
    given = tl.load(grad + at, mask=there, other=0.0).to(tl.float32)
    below, bell = _normal(value)
    found = given * (below + value * bell * 0.3989422804014327)
    tl.store(out + at, found.to(out.dtype.element_ty), mask=there)


@torch.library.custom_op("reviser::gelu", mutates_args=())
def _gelu(x: Tensor) -> Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    rows, width = x.numel() // x.shape[-1], x.shape[-1]
    _gelu_forward[_grid(rows, width)](x, out, rows, width, ROWS=_ROWS, COLUMNS=_COLUMNS)
    return out


@_gelu.register_fake
def _(x: Tensor) -> Tensor:
    return x.new_empty(x.shape)


@torch.library.custom_op("reviser::gelu_backward", mutates_args=())
def _gelu_gradient(grad: Tensor, x: Tensor) -> Tensor:
    grad, x = grad.contiguous(), x.contiguous()
    out = torch.empty_like(x)
    rows, width = x.numel() // x.shape[-1], x.shape[-1]
    _gelu_backward[_grid(rows, width)](x, grad, out, rows, width, ROWS=_ROWS, COLUMNS=_COLUMNS)
    return out


@_gelu_gradient.register_fake
def _(grad: Tensor, x: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _gelu_back(ctx: Any, grad: Tensor) -> Tensor:
    found: Tensor = _gelu_gradient(grad, *ctx.saved_tensors)
    return found


_gelu.register_autograd(_gelu_back, setup_context=_keep_input)


def gelu(x: Tensor) -> Tensor:
    """The exact one."""
    found: Tensor = _gelu(x)
    return found


@triton.jit  # type: ignore[untyped-decorator]
def _drop(base, x, out, seed, share, count, ADD: tl.constexpr, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    """`base + x`, or `x` alone, with a share of x dropped by chance and the rest made up for it."""
    drawn = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    kept = 1.0 / (1.0 - share)
    draws = tl.rand4x(tl.load(seed), drawn, n_rounds=7)
    # One draw gives four numbers: each is for the same place of another quarter of this program's block.
    start = tl.program_id(0).to(tl.int64) * SIZE * 4 + tl.arange(0, SIZE)
    for quarter in tl.static_range(4):
        at = start + quarter * SIZE
        there = at < count
        value = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
        value = tl.where(draws[quarter] >= share, value * kept, 0.0)
        if ADD:
            value += tl.load(base + at, mask=there, other=0.0).to(tl.float32)
        tl.store(out + at, value.to(out.dtype.element_ty), mask=there)


def _dropped(base: Tensor | None, x: Tensor, seed: Tensor, share: float) -> Tensor:
    x = x.contiguous()
    base = None if base is None else base.contiguous()
    out = torch.empty_like(x)
    _drop[(triton.cdiv(x.numel(), 4 * _DROPPED),)](
        *(x if base is None else base, x, out, seed, share, x.numel()),
        ADD=base is not None,
        SIZE=_DROPPED,
    )
    return out


@torch.library.custom_op("reviser::add_dropped", mutates_args=())
def _add_dropped(base: Tensor, x: Tensor, seed: Tensor, share: float) -> Tensor:
    return _dropped(base, x, seed, share)


@_add_dropped.register_fake
def _(base: Tensor, x: Tensor, seed: Tensor, share: float) -> Tensor:
    return x.new_empty(x.shape)


@torch.library.custom_op("reviser::dropped", mutates_args=())
def _drop_gradient(grad: Tensor, seed: Tensor, share: float) -> Tensor:
    return _dropped(None, grad, seed, share)


@_drop_gradient.register_fake
def _(grad: Tensor, seed: Tensor, share: float) -> Tensor:
    return grad.new_empty(grad.shape)


def _keep_seed(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, float], output: Tensor) -> None:
    ctx.save_for_backward(inputs[2])
    ctx.share = inputs[3]


def _drop_back(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return grad, _drop_gradient(grad, *ctx.saved_tensors, ctx.share), None, None


_add_dropped.register_autograd(_drop_back, setup_context=_keep_seed)


def add_dropped(base: Tensor, x: Tensor, share: float) -> Tensor:
    """`base + dropout(x, share)`."""
    seed = torch.randint(2**31 - 1, (1,), device=x.device)
    found: Tensor = _add_dropped(base, x, seed, share)
    return found
