"""Cross-entropy over a large vocabulary, computed in chunks so that not all logits are in memory at once.

The logits of one batch would take gigabytes. Positions that count are processed in chunks; each chunk's
logits are computed, turned into their gradient, and dropped. The backward pass only scales the gradients
that the forward pass has computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from reviser.model.decoder import has_kernels

_CHUNK = 16384

OfChunk = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]


class _ChunkedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, table: Tensor, targets: Tensor, of_chunk: OfChunk) -> Tensor:
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        hidden_grad = torch.empty_like(hidden) if ctx.needs_input_grad[0] else None
        # Matrix products are several times as fast when their sides are multiples of 64.
        size = table.shape[0]
        weights = hidden.new_empty((size + -size % 64, table.shape[1]))
        weights[:size], weights[size:] = table, 0
        table_grad: Tensor | None = None
        for start in range(0, len(hidden), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            part = hidden[chunk]
            loss, grad = of_chunk(part @ weights.T, targets[chunk], size)
            total += loss
            if hidden_grad is not None:
                hidden_grad[chunk] = grad @ weights
            if ctx.needs_input_grad[1]:
                added = grad.T @ part
                table_grad = added if table_grad is None else table_grad.float().add_(added)
        if table_grad is not None:
            table_grad = table_grad[:size]
        ctx.save_for_backward(hidden_grad, table_grad)
        ctx.table_dtype = table.dtype
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        # With an axis of its own the scale keeps its precision, and so does what is scaled.
        scale = grads[0].view(1)
        hidden_grad, table_grad = ctx.saved_tensors
        return (
            None if hidden_grad is None else (hidden_grad * scale).to(hidden_grad.dtype),
            None if table_grad is None else (table_grad * scale).to(ctx.table_dtype),
            None,
            None,
        )


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


def chunk_loss(compiled: bool) -> OfChunk:
    """The function for the loss and gradient of a chunk: plain operations, or a GPU kernel if `compiled`."""
    return _by_kernel if compiled else loss_and_gradient


def _by_kernel(logits: Tensor, targets: Tensor, size: int) -> tuple[Tensor, Tensor]:
    if not has_kernels(logits.device):
        return loss_and_gradient(logits, targets, size)
    from training.trainer.softmax import loss_and_gradient_in_place

    return loss_and_gradient_in_place(logits, targets, size)


def summed_loss(hidden: Tensor, table: Tensor, targets: Tensor, of_chunk: OfChunk = loss_and_gradient) -> Tensor:
    """The sum of -log p(target) over positions. Shapes: (positions, width), (vocab, width), (positions,).

    `of_chunk` may be a faster `loss_and_gradient`, from `chunk_loss`.
    """
    # torch does not type the way a function with a hand-written gradient is called.
    loss: Tensor = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden, table, targets, of_chunk
    )
    return loss
