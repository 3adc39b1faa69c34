"""Losses over a large vocabulary, computed in chunks so that not all logits are in memory at once.

The logits of one batch would take gigabytes. Positions that count are processed in chunks; each chunk's
logits are computed, turned into their gradient, and dropped. The backward pass only scales the gradients
that the forward pass has computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from reviser.model.decoder import has_kernels

_CHUNK = 16384

OfChunk = Callable[[Tensor, slice], tuple[Tensor, Tensor]]
"""For the logits of some positions and which these are: their summed loss and its gradient in the logits."""
OfTargets = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, table: Tensor, bias: Tensor | None, size: int, of_chunk: OfChunk) -> Tensor:
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        hidden_grad = torch.empty_like(hidden) if ctx.needs_input_grad[0] else None
        # Matrix products are several times as fast when their sides are multiples of 64.
        more = -len(table) % 64
        weights = functional.pad(table.to(hidden.dtype), (0, 0, 0, more))
        offset = None if bias is None else functional.pad(bias.to(hidden.dtype), (0, more))
        table_grad: Tensor | None = None
        bias_grad = torch.zeros(len(weights), dtype=torch.float32, device=hidden.device)
        for start in range(0, len(hidden), size):
            chunk = slice(start, start + size)
            part = hidden[chunk]
            loss, grad = of_chunk(functional.linear(part, weights, offset), chunk)
            total += loss
            if hidden_grad is not None:
                hidden_grad[chunk] = grad @ weights
            if ctx.needs_input_grad[1]:
                added = grad.T @ part
                table_grad = added if table_grad is None else table_grad.float().add_(added)
            if bias is not None:
                bias_grad += grad.sum(dim=0, dtype=torch.float32)
        if table_grad is None:
            table_grad = torch.zeros_like(weights)
        ctx.save_for_backward(hidden_grad, table_grad[: len(table)], None if bias is None else bias_grad[: len(bias)])
        ctx.dtypes = (hidden.dtype, table.dtype, torch.float32 if bias is None else bias.dtype)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        # With an axis of its own the scale keeps its precision, and so does what is scaled.
        scale = grads[0].view(1)
        scaled = (
            None if grad is None else (grad * scale).to(dtype)
            for grad, dtype in zip(ctx.saved_tensors, ctx.dtypes, strict=True)
        )
        return (*scaled, None, None)


def chunked_loss(
    hidden: Tensor, table: Tensor, of_chunk: OfChunk, *, size: int | None = None, bias: Tensor | None = None
) -> Tensor:
    """The sum of the losses of all chunks of `size` positions; `hidden` is (positions, width), `table` (ids, width).

    The logits have some columns more than the table has rows, which are padding.
    """
    # torch does not type the way a function with a hand-written gradient is called.
    loss: Tensor = _ChunkedLoss.apply(hidden, table, bias, size or _CHUNK, of_chunk)  # type: ignore[no-untyped-call]
    return loss


def loss_and_gradient(logits: Tensor, targets: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The summed loss of a chunk and its gradient with respect to the logits, in the logits' precision.

    Only the first `size` columns are ids; the others are padding and get no probability.
    """
    columns = torch.arange(logits.shape[1], device=logits.device)
    scores = logits.float().masked_fill(columns >= size, float("-inf"))
    total = scores.logsumexp(dim=-1, keepdim=True)
    loss = (total - scores.gather(1, targets[:, None])).sum()
    shares = (scores - total).exp()
    grad = shares - (columns == targets[:, None]).float()
    return loss, grad.to(logits.dtype)


def chunk_loss(compiled: bool) -> OfTargets:
    """The function for the loss and gradient of a chunk: plain operations, or a GPU kernel if `compiled`."""
    return _by_kernel if compiled else loss_and_gradient


def _by_kernel(logits: Tensor, targets: Tensor, size: int) -> tuple[Tensor, Tensor]:
    if not has_kernels(logits.device):
        return loss_and_gradient(logits, targets, size)
    from training.trainer.softmax import loss_and_gradient_in_place

    return loss_and_gradient_in_place(logits, targets, size)


def summed_loss(hidden: Tensor, table: Tensor, targets: Tensor, of_targets: OfTargets = loss_and_gradient) -> Tensor:
    """The sum of -log p(target) over positions. Shapes: (positions, width), (vocab, width), (positions,).

    `of_targets` may be a faster `loss_and_gradient`, from `chunk_loss`.
    """
    return chunked_loss(hidden, table, lambda logits, chunk: of_targets(logits, targets[chunk], len(table)))
