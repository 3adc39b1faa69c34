"""Cross-entropy over a large vocabulary without ever holding all its logits.

The logits of one batch would take gigabytes. Positions that count are taken in chunks; each chunk's
logits are made, turned into their own gradient, and dropped, so the backward pass only has to scale
what the forward pass has already computed.

Some ids may be unwanted at a position beside the one that is wanted there. The loss of such an id of probability p is
-log(1 - p), but for a margin that keeps the gradient small where p is near 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from reviser.model.decoder import has_kernels

_CHUNK = 16384

MARGIN = 0.05

OfChunk = Callable[[Tensor, Tensor, int, Tensor | None, float], tuple[Tensor, Tensor]]
Unwanted = Callable[[slice], Tensor]
"""The unwanted ids of some positions: (positions, ids), each but once, never the target, -1 where there are fewer."""


class _ChunkedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        table: Tensor,
        targets: Tensor,
        of_chunk: OfChunk,
        unwanted: Unwanted | None,
        weight: float,
    ) -> Tensor:
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
            others = None if unwanted is None else unwanted(chunk)
            loss, grad = of_chunk(part @ weights.T, targets[chunk], size, others, weight)
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
            None,
            None,
        )


def loss_and_gradient(
    logits: Tensor,
    targets: Tensor,
    size: int,
    unwanted: Tensor | None = None,
    weight: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """The summed loss of a chunk and its gradient in the logits, in the logits' own precision.

    Only the first `size` columns are ids; the others are padding and get no share. Each row may have
    `unwanted` ids, whose losses have this weight.
    """
    columns = torch.arange(logits.shape[1], device=logits.device)
    scores = logits.float().masked_fill(columns >= size, float("-inf"))
    total = scores.logsumexp(dim=-1, keepdim=True)
    loss = (total - scores.gather(1, targets[:, None])).sum()
    shares = (scores - total).exp()
    grad = shares - (columns == targets[:, None]).float()
    if unwanted is not None:
        their = unwanted.clamp(min=0)
        share = shares.gather(1, their) * (unwanted >= 0)
        loss -= weight * ((1 - share + MARGIN) / (1 + MARGIN)).log().sum()
        pressure = weight * share / (1 - share + MARGIN)
        grad = (grad - pressure.sum(1, keepdim=True) * shares).scatter_add_(1, their, pressure)
    return loss, grad.to(logits.dtype)


def chunk_loss(compiled: bool) -> OfChunk:
    """What makes a loss and a gradient of a chunk: plain operations, or where told, a kernel for a GPU."""
    return _by_kernel if compiled else loss_and_gradient


def _by_kernel(
    logits: Tensor, targets: Tensor, size: int, unwanted: Tensor | None, weight: float
) -> tuple[Tensor, Tensor]:
    if not has_kernels(logits.device):
        return loss_and_gradient(logits, targets, size, unwanted, weight)
    from training.trainer.softmax import loss_and_gradient_in_place

    return loss_and_gradient_in_place(logits, targets, size, unwanted, weight, MARGIN)


def summed_loss(
    hidden: Tensor,
    table: Tensor,
    targets: Tensor,
    of_chunk: OfChunk = loss_and_gradient,
    unwanted: Unwanted | None = None,
    weight: float = 0.0,
) -> Tensor:
    """The sum of -log p(target) over positions: (positions, width), (vocab, width), (positions,).

    `of_chunk` may be a faster `loss_and_gradient`, from `chunk_loss`; that says what `unwanted` ids add.
    """
    # torch does not type the way a function with a hand-written gradient is called.
    loss: Tensor = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden, table, targets, of_chunk, unwanted, weight
    )
    return loss


def said_before(
    ids: Tensor, lasting: Tensor, places: Tensor, targets: Tensor, window: int
) -> Tensor:
    """For each place, the ids at it or up to `window` places before, each once and without the target.

    `ids` and `lasting` are flat; an id counts at its place and at as many after it as `lasting` says, itself included.
    """
    back = torch.arange(window, device=ids.device)
    at = places[:, None] - back
    inside = at.clamp(min=0)
    found = ids[inside]
    counts = (at >= 0) & (back < lasting[inside]) & (found != targets[:, None])
    return torch.where(counts, found, -1)
