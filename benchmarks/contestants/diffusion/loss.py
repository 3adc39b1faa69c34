"""What the models are trained on: bounds of the negative log-likelihood, at a random time for each row.

Both are sums over masked places alone: a place that shows its token costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.contestants.diffusion.model import DiffusionTransformer, Visibility
from benchmarks.contestants.diffusion.noise import masked_share
from training.trainer.recording import RecordedObjective

EARLIEST = 1e-3
# Places whose outputs over the vocabulary are held at once.
_CHUNK = 16384

# Of a chunk's outputs, their shifts, tokens, sigmas and rates and the mask's id: the summed loss and its
# gradient in the outputs.
OfChunk = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, int], tuple[Tensor, Tensor]]


def entropy_and_gradient(
    outputs: Tensor, shift: Tensor, tokens: Tensor, sigma: Tensor, rate: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    """The sum of SEDD's denoising score entropy over masked places, and its gradient.

    The score of token v at a masked place is p(v there) / p(mask there) at noise sigma. Of the true token it is
    1 / (exp(sigma) - 1), of all others 0; the loss is 0 only where all scores are so.

    Columns from the mask's on are no tokens and get no share.
    """
    columns = torch.arange(outputs.shape[1], device=outputs.device)
    found = outputs.float() - shift[:, None]
    scores = found.masked_fill(columns >= mask_id, float("-inf")).exp()
    true = (1 / torch.expm1(sigma))[:, None]
    kept = rate[:, None]
    loss = scores.sum(dim=-1, keepdim=True) - true * found.gather(1, tokens[:, None])
    loss = (kept * (loss + true * (true.log() - 1))).sum()
    # Taking off by comparing, not by writing into place, lets a compiler make one pass of this.
    grad = kept * (scores - true * (columns == tokens[:, None]).float())
    return loss, grad.to(outputs.dtype)


def likelihood_and_gradient(
    outputs: Tensor, shift: Tensor, tokens: Tensor, sigma: Tensor, rate: Tensor, mask_id: int
) -> tuple[Tensor, Tensor]:
    """The sum of MDLM's loss over masked places, and its gradient: cross-entropy, weighed by how fast noise is added.

    The weight is sigma'(t) / (exp(sigma) - 1): of log-linear noise, 1 / t.
    """
    columns = torch.arange(outputs.shape[1], device=outputs.device)
    found = outputs.float() - shift[:, None]
    found = found.masked_fill(columns >= mask_id, float("-inf"))
    total = found.logsumexp(dim=-1, keepdim=True)
    weight = (rate / torch.expm1(sigma))[:, None]
    loss = (weight * (total - found.gather(1, tokens[:, None]))).sum()
    grad = weight * ((found - total).exp() - (columns == tokens[:, None]).float())
    return loss, grad.to(outputs.dtype)


OF_CHUNK: dict[str, OfChunk] = {"sedd": entropy_and_gradient, "mdlm": likelihood_and_gradient}


class _SummedLoss(torch.autograd.Function):
    """The loss of many places without ever holding the outputs of all.

    A chunk's outputs are turned into their own gradient at once and dropped, so the backward pass only
    has to scale what the forward pass has computed.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        table: Tensor,
        bias: Tensor,
        places: tuple[Tensor, Tensor, Tensor, Tensor],
        mask_id: int,
        of_chunk: OfChunk,
    ) -> Tensor:
        total = torch.zeros((), dtype=torch.float32, device=states.device)
        # Matrix products are several times as fast when their sides are multiples of 64.
        more = -len(table) % 64
        weights = functional.pad(table.to(states.dtype), (0, 0, 0, more))
        offset = functional.pad(bias.to(states.dtype), (0, more))
        learns = any(ctx.needs_input_grad[:3])
        states_grad = torch.empty_like(states) if learns else None
        table_grad = torch.zeros(weights.shape, dtype=torch.float32, device=table.device)
        bias_grad = torch.zeros(offset.shape, dtype=torch.float32, device=table.device)
        for start in range(0, len(states), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            part = states[chunk]
            outputs = functional.linear(part, weights, offset)
            shift, tokens, sigma, rate = (place[chunk] for place in places)
            loss, grad = of_chunk(outputs, shift, tokens, sigma, rate, mask_id)
            total += loss
            if states_grad is not None:
                states_grad[chunk] = grad @ weights
                table_grad += grad.T @ part
                bias_grad += grad.sum(dim=0, dtype=torch.float32)
        ctx.save_for_backward(states_grad, table_grad[: len(table)], bias_grad[: len(bias)])
        ctx.dtypes = (table.dtype, bias.dtype)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (scale,) = grads
        states_grad, table_grad, bias_grad = ctx.saved_tensors
        table_dtype, bias_dtype = ctx.dtypes
        return (
            states_grad * scale.to(states_grad.dtype),
            (table_grad * scale).to(table_dtype),
            (bias_grad * scale).to(bias_dtype),
            None,
            None,
            None,
        )


def draw_times(kind: str, rows: int, device: torch.device) -> Tensor:
    """A time for each row: independent for SEDD, one in each of as many equal parts for MDLM."""
    drawn = torch.rand(rows, device=device)
    if kind == "mdlm":
        drawn = (drawn + torch.arange(rows, device=device)) / rows
    return EARLIEST + (1 - EARLIEST) * drawn


def noisy(ids: Tensor, hideable: Tensor, sigma: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
    """`ids` (rows, places) with some of the `hideable` ones masked, and which they are."""
    hidden = hideable & (torch.rand(ids.shape, device=ids.device) < masked_share(sigma)[:, None])
    return ids.masked_fill(hidden, mask_id), hidden


class DiffusionObjective(RecordedObjective):
    """A model with its loss, in the form in which the trainer knows objectives.

    It reads the rows of the autoregressive baseline. Whatever that one learns to predict is masked and
    restored here; the start markers stay, and a text sees neither its neighbours in the row nor padding.
    """

    def __init__(self, model: DiffusionTransformer, compiled: bool) -> None:
        super().__init__(model, model.blocks, model.hidden_of_texts)
        self.model = model
        self._of_chunk: OfChunk = OF_CHUNK[model.config.kind]
        if compiled:
            for block in model.blocks:
                block.compile()
            # Compiled once for whole chunks and once for the last, which may have any size; the vocabulary's
            # is known to both.
            self._of_chunk = torch.compile(self._of_chunk)

    def trunk_inputs(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        ids, samples, positions, *_ = inputs
        if not Visibility.is_dense(samples):
            return None
        sigma = torch.full((len(ids),), 0.5, device=ids.device)
        return ids, sigma, samples, positions

    def forward(self, ids: Tensor, samples: Tensor, positions: Tensor, places: Tensor, targets: Tensor) -> Tensor:
        """The summed loss of one draw of times and masks, an estimate of the texts' bound in nats."""
        config = self.model.config
        t = draw_times(config.kind, len(ids), ids.device)
        sigma, rate = config.schedule.total(t), config.schedule.rate(t)
        hideable = torch.zeros_like(ids, dtype=torch.bool)
        hideable.view(-1)[places + 1] = True
        shown, hidden = noisy(ids, hideable, sigma, config.mask_id)
        states = self.states(shown, sigma, samples, positions)
        # Asking which are hidden waits for the device, which by now has the whole trunk to work on.
        hidden_at = hidden.flatten().nonzero().squeeze(1)
        row = hidden_at // ids.shape[1]
        states = states.flatten(0, 1).index_select(0, hidden_at)
        tokens = ids.flatten()[hidden_at]
        measured = (self.model.usual(sigma)[row], tokens, sigma[row], rate[row])
        head = self.model.head
        # torch does not type the way a function with a hand-written gradient is called.
        total: Tensor = _SummedLoss.apply(  # type: ignore[no-untyped-call]
            states, head.weight, head.bias, measured, config.mask_id, self._of_chunk
        )
        return total
