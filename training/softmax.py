"""Cross-entropy of a chunk of logits in one kernel, for a GPU: the loss, and the gradient in the logits' place."""

# ruff: noqa: N803  (constants of a kernel are in capitals)

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 4096
_WARPS = 8


@triton.jit  # type: ignore[untyped-decorator]
def _kernel(logits, targets, losses, size, width, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0)
    start = logits + row.to(tl.int64) * width
    target = tl.load(targets + row)
    wanted = tl.load(start + target).to(tl.float32)
    columns = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, size, BLOCK):
        at = begin + columns
        score = tl.load(start + at, mask=at < size, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, score)
        # A column that has seen nothing but the end of the row has nothing to be scaled.
        kept = tl.where(top == float("-inf"), 0.0, tl.exp(top - higher))
        total = total * kept + tl.where(score == float("-inf"), 0.0, tl.exp(score - higher))
        top = higher
    highest = tl.max(top, 0)
    total = tl.sum(tl.where(top == float("-inf"), 0.0, total * tl.exp(top - highest)), 0)
    sum_of_all = highest + tl.log(total)
    tl.store(losses + row, sum_of_all - wanted)
    for begin in range(0, width, BLOCK):
        at = begin + columns
        score = tl.load(start + at, mask=at < size, other=float("-inf")).to(tl.float32)
        gradient = tl.exp(score - sum_of_all) - tl.where(at == target, 1.0, 0.0)
        tl.store(start + at, gradient.to(logits.dtype.element_ty), mask=at < width)


def loss_and_gradient_in_place(logits: Tensor, targets: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """`loss_and_gradient` that turns the logits themselves into their gradient."""
    rows, width = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    _kernel[(rows,)](logits, targets, losses, size, width, BLOCK=_BLOCK, num_warps=_WARPS)
    return losses.sum(), logits
