"""What the models are trained on: bounds of the negative log-likelihood, at a random time for each row.

Both are sums over masked places alone: a place that shows its token costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.contestants.diffusion.model import DiffusionTransformer, Visibility, masked_share
from training.trainer.loss import chunked_loss
from training.trainer.recording import RecordedObjective

EARLIEST = 1e-3

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
        shift, tokens = self.model.usual(sigma)[row], ids.flatten()[hidden_at]
        sigma, rate = sigma[row], rate[row]

        def of_chunk(outputs: Tensor, chunk: slice) -> tuple[Tensor, Tensor]:
            return self._of_chunk(outputs, shift[chunk], tokens[chunk], sigma[chunk], rate[chunk], config.mask_id)

        head = self.model.head
        return chunked_loss(states, head.weight, of_chunk, bias=head.bias)
