"""A GPU kernel for the cross-entropy of a chunk of logits: it overwrites the logits with their gradient."""

# ruff: noqa: N803  (constants of a kernel are in capitals)

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 2048
_WARPS = 16


_NOTHING = tl.constexpr(-1e30)


@triton.jit
def _scores(start, at, size):  # type: ignore[no-untyped-def]
    return tl.load(start + at, mask=at < size, other=_NOTHING).to(tl.float32)


@triton.jit  # type: ignore[untyped-decorator]
def _cross_entropy(  # type: ignore[no-untyped-def]
    logits, targets, losses, size, width, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    start = logits + row.to(tl.int64) * width
    target = tl.load(targets + row)
    wanted = tl.load(start + target).to(tl.float32)
    columns = tl.arange(0, BLOCK)
    # Each column of a block keeps its own sum, scaled by the highest score it has seen, until the end. What was
    # summed before the first real score, or beyond the row, is scaled to nothing there.
    top = tl.full((BLOCK,), _NOTHING, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, size, 4 * BLOCK):
        first = _scores(start, begin + columns, size)
        second = _scores(start, begin + BLOCK + columns, size)
        third = _scores(start, begin + 2 * BLOCK + columns, size)
        fourth = _scores(start, begin + 3 * BLOCK + columns, size)
        higher = tl.maximum(tl.maximum(first, second), tl.maximum(third, fourth))
        higher = tl.maximum(top, higher)
        total = total * tl.exp(top - higher)
        total += tl.exp(first - higher) + tl.exp(second - higher)
        total += tl.exp(third - higher) + tl.exp(fourth - higher)
        top = higher
    highest = tl.max(top, 0)
    sum_of_all = highest + tl.log(tl.sum(total * tl.exp(top - highest), 0))
    tl.store(losses + row, sum_of_all - wanted)
    for begin in range(0, width, BLOCK):
        at = begin + columns
        shares = tl.exp(_scores(start, at, size) - sum_of_all)
        gradient = shares - tl.where(at == target, 1.0, 0.0)
        tl.store(start + at, gradient.to(logits.dtype.element_ty), mask=at < width)


def loss_and_gradient_in_place(logits: Tensor, targets: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """`loss_and_gradient` in place: the logits are overwritten by their gradient."""
    rows, width = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    _cross_entropy[(rows,)](logits, targets, losses, size, width, BLOCK=_BLOCK, num_warps=_WARPS)
    return losses.sum(), logits
