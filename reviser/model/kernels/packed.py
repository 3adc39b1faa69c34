"""Packed attention kernels, for rows that hold several histories each, in training on a GPU.

A query sees the keys of its own history up to itself. Histories lie one after the other, so a tile of queries sees one
range of keys, and one range of queries sees a tile of keys: each kernel loops over that range alone. The heads that
share a key share its tile in the gradients as well.

Queries, keys and values come as one matrix product writes them, `qkv` (rows, ids, heads side by side: those of queries,
of keys, of values), and their gradient is returned in the same form: the rotation by rotary positions is done here.
`firsts` and `lasts` (rows, ids) give the first and last place of each id's history.
"""

# ruff: noqa: N803  (constants of a kernel are in capitals)
# No `from __future__ import annotations`: torch and triton read these annotations as they are.

import math
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

_LOG2_E = math.log2(math.e)
_LN_2 = tl.constexpr(math.log(2))
_HIDDEN = tl.constexpr(-1e30)


class Tiles(NamedTuple):
    """The tiling of a kernel: queries and keys of a tile, its warps, and its pipeline stages."""

    queries: int
    keys: int
    warps: int
    stages: int


# The fastest found by `python -m benchmarks attention` on an H200, for heads of 64.
FORWARD = Tiles(64, 32, 4, 3)
QUERIES = Tiles(64, 32, 4, 3)
KEYS = Tiles(32, 64, 4, 3)
_TURNED = 32  # ids that are turned together,
_HEADS = 4  # and how many heads of each


@triton.jit  # type: ignore[untyped-decorator]
def _at(row, places, length, heads, head, WIDTH: tl.constexpr, PART: tl.constexpr):  # type: ignore[no-untyped-def]
    """The offsets of some ids' vectors, or of the first PART of each, in a row of `heads` heads."""
    ids = row.to(tl.int64) * length + places
    return (ids * heads + head)[:, None] * WIDTH + tl.arange(0, PART)[None, :]


@triton.jit  # type: ignore[untyped-decorator]
def _angles(cos, sin, positions, inside, WIDTH: tl.constexpr):  # type: ignore[no-untyped-def]
    """The cosines and sines of some positions, for one half of a head."""
    at = positions[:, None] * WIDTH + tl.arange(0, WIDTH // 2)[None, :]
    # The first half of the table of sines has them negative.
    sines = tl.load(sin + at + WIDTH // 2, mask=inside[:, None], other=0.0)
    return tl.load(cos + at, mask=inside[:, None], other=0.0).to(tl.float32), sines.to(tl.float32)


@triton.jit  # type: ignore[untyped-decorator]
def _turned_back(gradient, cosines, sines, SIZE: tl.constexpr, WIDTH: tl.constexpr):  # type: ignore[no-untyped-def]
    """The gradient of vectors before their rotation, by halves, from the gradient after it."""
    halves = tl.permute(tl.reshape(gradient, (SIZE, 2, WIDTH // 2)), (0, 2, 1))
    low, high = tl.split(halves)
    return low * cosines + high * sines, high * cosines - low * sines


@triton.jit  # type: ignore[untyped-decorator]
def _turn(  # type: ignore[no-untyped-def]
    qkv, cos, sin, firsts, turned, length, heads, kv_heads, WIDTH: tl.constexpr, IDS: tl.constexpr, HEADS: tl.constexpr
):
    """Rotate queries and keys by their positions, for some heads of some ids."""
    row = tl.program_id(1)
    places = tl.program_id(0) * IDS + tl.arange(0, IDS)
    inside = places < length
    first = tl.load(firsts + row * length + places, mask=inside, other=0)
    cosines, sines = _angles(cos, sin, places - first, inside, WIDTH)
    begin = tl.program_id(2) * HEADS
    for head in range(begin, tl.minimum(begin + HEADS, heads + kv_heads)):
        at = _at(row, places, length, heads + 2 * kv_heads, head, WIDTH, WIDTH // 2)
        low = tl.load(qkv + at, mask=inside[:, None], other=0.0).to(tl.float32)
        high = tl.load(qkv + at + WIDTH // 2, mask=inside[:, None], other=0.0).to(tl.float32)
        to = turned + _at(row, places, length, heads + kv_heads, head, WIDTH, WIDTH // 2)
        kind = turned.dtype.element_ty
        tl.store(to, (low * cosines - high * sines).to(kind), mask=inside[:, None])
        tl.store(to + WIDTH // 2, (high * cosines + low * sines).to(kind), mask=inside[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _forward(  # type: ignore[no-untyped-def]
    qkv,
    turned,
    firsts,
    out,
    sums,
    length,
    heads,
    kv_heads,
    scale,
    WIDTH: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    """The attention output of a tile of queries, and the logarithm (to base 2) of each query's sum of weights."""
    row, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    shared = head // (heads // kv_heads)
    begin = tl.program_id(0) * QUERIES
    places = begin + tl.arange(0, QUERIES)
    inside = places < length
    first = tl.load(firsts + row * length + places, mask=inside, other=0)
    of_query = _at(row, places, length, heads + kv_heads, head, WIDTH, WIDTH)
    asked = tl.load(turned + of_query, mask=inside[:, None], other=0.0)
    top = tl.full((QUERIES,), _HIDDEN, tl.float32)
    total = tl.zeros((QUERIES,), tl.float32)
    found = tl.zeros((QUERIES, WIDTH), tl.float32)
    low = tl.load(firsts + row * length + begin) // KEYS * KEYS
    for start in range(low, tl.minimum(begin + QUERIES, length), KEYS):
        others = start + tl.arange(0, KEYS)
        there = others[:, None] < length
        of_key = _at(row, others, length, heads + kv_heads, heads + shared, WIDTH, WIDTH)
        key = tl.load(turned + of_key, mask=there, other=0.0)
        total_heads = heads + 2 * kv_heads
        of_value = _at(row, others, length, total_heads, heads + kv_heads + shared, WIDTH, WIDTH)
        value = tl.load(qkv + of_value, mask=there, other=0.0)
        score = tl.dot(asked, tl.trans(key), input_precision="ieee") * scale
        seen = (others[None, :] <= places[:, None]) & (others[None, :] >= first[:, None])
        score = tl.where(seen, score, _HIDDEN)
        higher = tl.maximum(top, tl.max(score, 1))
        # A query that has seen nothing so far weighs hidden keys alike; the first one seen makes that 0.
        weight = tl.math.exp2(score - higher[:, None])
        kept = tl.math.exp2(top - higher)
        total = total * kept + tl.sum(weight, 1)
        found = found * kept[:, None]
        found = tl.dot(weight.to(value.dtype), value, found, input_precision="ieee")
        top = higher
    found = (found / total[:, None]).to(out.dtype.element_ty)
    of_found = _at(row, places, length, heads, head, WIDTH, WIDTH)
    tl.store(out + of_found, found, mask=inside[:, None])
    at = tl.program_id(1).to(tl.int64) * length + places
    tl.store(sums + at, top + tl.math.log2(total), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _gradient_of_queries(  # type: ignore[no-untyped-def]
    qkv,
    turned,
    cos,
    sin,
    firsts,
    out,
    grad,
    sums,
    shares,
    dqkv,
    length,
    heads,
    kv_heads,
    scale,
    WIDTH: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    """The gradient of a tile of queries; and, for the keys' kernel, each output's product with its gradient."""
    row, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    shared = head // (heads // kv_heads)
    total_heads = heads + 2 * kv_heads
    begin = tl.program_id(0) * QUERIES
    places = begin + tl.arange(0, QUERIES)
    inside = places < length
    first = tl.load(firsts + row * length + places, mask=inside, other=0)
    of_query = _at(row, places, length, heads + kv_heads, head, WIDTH, WIDTH)
    asked = tl.load(turned + of_query, mask=inside[:, None], other=0.0)
    of_found = _at(row, places, length, heads, head, WIDTH, WIDTH)
    given = tl.load(grad + of_found, mask=inside[:, None], other=0.0)
    found = tl.load(out + of_found, mask=inside[:, None], other=0.0)
    share = tl.sum(found.to(tl.float32) * given.to(tl.float32), 1)
    at = tl.program_id(1).to(tl.int64) * length + places
    tl.store(shares + at, share, mask=inside)
    total = tl.load(sums + at, mask=inside, other=0.0)
    gradient = tl.zeros((QUERIES, WIDTH), tl.float32)
    low = tl.load(firsts + row * length + begin) // KEYS * KEYS
    for start in range(low, tl.minimum(begin + QUERIES, length), KEYS):
        others = start + tl.arange(0, KEYS)
        there = others[:, None] < length
        of_key = _at(row, others, length, heads + kv_heads, heads + shared, WIDTH, WIDTH)
        key = tl.load(turned + of_key, mask=there, other=0.0)
        of_value = _at(row, others, length, total_heads, heads + kv_heads + shared, WIDTH, WIDTH)
        value = tl.load(qkv + of_value, mask=there, other=0.0)
        score = tl.dot(asked, tl.trans(key), input_precision="ieee") * scale
        seen = (others[None, :] <= places[:, None]) & (others[None, :] >= first[:, None])
        weight = tl.where(seen, tl.math.exp2(score - total[:, None]), 0.0)
        change = tl.dot(given, tl.trans(value), input_precision="ieee") - share[:, None]
        gradient = tl.dot((weight * change).to(key.dtype), key, gradient, input_precision="ieee")
    # The scale is that of powers of 2; the gradient's is that of powers of e.
    gradient = gradient * (scale * _LN_2)
    cosines, sines = _angles(cos, sin, places - first, inside, WIDTH)
    near, far = _turned_back(gradient, cosines, sines, QUERIES, WIDTH)
    to = dqkv + _at(row, places, length, total_heads, head, WIDTH, WIDTH // 2)
    kind = dqkv.dtype.element_ty
    tl.store(to, near.to(kind), mask=inside[:, None])
    tl.store(to + WIDTH // 2, far.to(kind), mask=inside[:, None])


@triton.jit  # type: ignore[untyped-decorator]
def _gradient_of_keys(  # type: ignore[no-untyped-def]
    qkv,
    turned,
    cos,
    sin,
    firsts,
    lasts,
    grad,
    sums,
    shares,
    dqkv,
    length,
    heads,
    kv_heads,
    scale,
    WIDTH: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    """The gradients of a tile of keys and of their values, over all heads that share them."""
    row, shared = tl.program_id(1) // kv_heads, tl.program_id(1) % kv_heads
    group = heads // kv_heads
    total_heads = heads + 2 * kv_heads
    begin = tl.program_id(0) * KEYS
    places = begin + tl.arange(0, KEYS)
    inside = places < length
    of_key = _at(row, places, length, heads + kv_heads, heads + shared, WIDTH, WIDTH)
    key = tl.load(turned + of_key, mask=inside[:, None], other=0.0)
    of_value = _at(row, places, length, total_heads, heads + kv_heads + shared, WIDTH, WIDTH)
    value = tl.load(qkv + of_value, mask=inside[:, None], other=0.0)
    for_keys = tl.zeros((KEYS, WIDTH), tl.float32)
    for_values = tl.zeros((KEYS, WIDTH), tl.float32)
    end = tl.load(lasts + row * length + tl.minimum(begin + KEYS, length) - 1) + 1
    for head in range(shared * group, shared * group + group):
        of_head = (row * heads + head).to(tl.int64) * length
        for start in range(begin // QUERIES * QUERIES, end, QUERIES):
            others = start + tl.arange(0, QUERIES)
            there = others < length
            first = tl.load(firsts + row * length + others, mask=there, other=length)
            of_query = _at(row, others, length, heads + kv_heads, head, WIDTH, WIDTH)
            asked = tl.load(turned + of_query, mask=there[:, None], other=0.0)
            of_found = _at(row, others, length, heads, head, WIDTH, WIDTH)
            given = tl.load(grad + of_found, mask=there[:, None], other=0.0)
            total = tl.load(sums + of_head + others, mask=there, other=0.0)
            share = tl.load(shares + of_head + others, mask=there, other=0.0)
            score = tl.dot(key, tl.trans(asked), input_precision="ieee") * scale
            seen = (places[:, None] <= others[None, :]) & (places[:, None] >= first[None, :])
            weight = tl.where(seen, tl.math.exp2(score - total[None, :]), 0.0)
            for_values = tl.dot(weight.to(given.dtype), given, for_values, input_precision="ieee")
            change = tl.dot(value, tl.trans(given), input_precision="ieee") - share[None, :]
            for_keys = tl.dot((weight * change).to(asked.dtype), asked, for_keys, input_precision="ieee")
    kind = dqkv.dtype.element_ty
    tl.store(dqkv + of_value, for_values.to(kind), mask=inside[:, None])
    own = tl.load(firsts + row * length + places, mask=inside, other=0)
    cosines, sines = _angles(cos, sin, places - own, inside, WIDTH)
    near, far = _turned_back(for_keys * (scale * _LN_2), cosines, sines, KEYS, WIDTH)
    to = dqkv + _at(row, places, length, total_heads, heads + shared, WIDTH, WIDTH // 2)
    tl.store(to, near.to(kind), mask=inside[:, None])
    tl.store(to + WIDTH // 2, far.to(kind), mask=inside[:, None])


def _sizes(width: int, tiles: Tiles) -> dict[str, int]:
    return {
        "WIDTH": width,
        "QUERIES": tiles.queries,
        "KEYS": tiles.keys,
        "num_warps": tiles.warps,
        "num_stages": tiles.stages,
    }


@torch.library.custom_op("reviser::packed_attention", mutates_args=())
def _attend(
    qkv: Tensor, cos: Tensor, sin: Tensor, firsts: Tensor, lasts: Tensor, heads: int, kv_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    rows, length, _ = qkv.shape
    width = cos.shape[1]
    qkv = qkv.contiguous()
    out, turned, sums = _room(qkv, cos, sin, firsts, lasts, heads, kv_heads)
    _turn[(triton.cdiv(length, _TURNED), rows, triton.cdiv(heads + kv_heads, _HEADS))](
        *(qkv, cos, sin, firsts, turned, length, heads, kv_heads), WIDTH=width, IDS=_TURNED, HEADS=_HEADS
    )
    _forward[(triton.cdiv(length, FORWARD.queries), rows * heads)](
        *(qkv, turned, firsts, out, sums),
        *(length, heads, kv_heads, _LOG2_E / math.sqrt(width)),
        **_sizes(width, FORWARD),
    )
    return out, turned, sums


@_attend.register_fake
def _room(
    qkv: Tensor, cos: Tensor, sin: Tensor, firsts: Tensor, lasts: Tensor, heads: int, kv_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Output tensors for the attention output, the rotated queries and keys, and the sums of weights."""
    rows, length, _ = qkv.shape
    width = cos.shape[1]
    return (
        qkv.new_empty((rows, length, heads * width)),
        qkv.new_empty((rows, length, (heads + kv_heads) * width)),
        qkv.new_empty((rows, heads, length), dtype=torch.float32),
    )


@torch.library.custom_op("reviser::packed_attention_backward", mutates_args=())
def _gradient(
    grad: Tensor,
    qkv: Tensor,
    cos: Tensor,
    sin: Tensor,
    firsts: Tensor,
    lasts: Tensor,
    out: Tensor,
    turned: Tensor,
    sums: Tensor,
    heads: int,
    kv_heads: int,
) -> Tensor:
    rows, length, _ = qkv.shape
    width = cos.shape[1]
    grad, qkv = grad.contiguous(), qkv.contiguous()
    dqkv = torch.empty_like(qkv)
    shares = torch.empty_like(sums)
    counts = (length, heads, kv_heads, _LOG2_E / math.sqrt(width))
    _gradient_of_queries[(triton.cdiv(length, QUERIES.queries), rows * heads)](
        *(qkv, turned, cos, sin, firsts, out, grad, sums, shares, dqkv), *counts, **_sizes(width, QUERIES)
    )
    _gradient_of_keys[(triton.cdiv(length, KEYS.keys), rows * kv_heads)](
        *(qkv, turned, cos, sin, firsts, lasts, grad, sums, shares, dqkv), *counts, **_sizes(width, KEYS)
    )
    return dqkv


@_gradient.register_fake
def _(grad: Tensor, qkv: Tensor, *_: Any) -> Tensor:
    return qkv.new_empty(qkv.shape)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    *tensors, ctx.heads, ctx.kv_heads = inputs
    ctx.save_for_backward(*tensors, *output)


def _backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    found = _gradient(grad, *ctx.saved_tensors, ctx.heads, ctx.kv_heads)
    return (found, *[None] * 6)


_attend.register_autograd(_backward, setup_context=_keep)


def packed_attention(
    qkv: Tensor, tables: tuple[Tensor, Tensor], histories: tuple[Tensor, Tensor], heads: int, kv_heads: int
) -> Tensor:
    """The attention output of each query in its own history, (rows, ids, heads side by side).

    `tables` are a model's rotary ones, cosines and sines for each position; `histories` are `firsts` and `lasts`.
    """
    out: Tensor = _attend(qkv, *tables, *histories, heads, kv_heads)[0]
    return out
