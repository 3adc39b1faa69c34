"""What the models are trained on: bounds of the negative log-likelihood, at a random time for each row.

Both are sums over masked places alone: a place that shows its token costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from benchmarks.diffusion.model import DiffusionTransformer, Sight
from benchmarks.diffusion.noise import masked_share

EARLIEST = 1e-3
# Places whose outputs over the vocabulary are held at once; the backward pass makes them anew.
_CHUNK = 8192

PlaceLoss = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def score_entropy(log_scores: Tensor, tokens: Tensor, sigma: Tensor, rate: Tensor) -> Tensor:
    """SEDD's denoising score entropy of masked places, (places,).

    The score of token v at a masked place is p(v there) / p(mask there) at noise sigma. Of the true
    token it is 1 / (exp(sigma) - 1), of all others 0; the loss is 0 only where all scores are so.
    """
    true = 1 / torch.expm1(sigma)
    spread = log_scores.exp().sum(dim=-1)
    found = log_scores.gather(1, tokens[:, None]).squeeze(1)
    return rate * (spread - true * found + true * (true.log() - 1))


def masked_likelihood(logits: Tensor, tokens: Tensor, sigma: Tensor, rate: Tensor) -> Tensor:
    """MDLM's loss of masked places, (places,): cross-entropy, weighed by how fast noise is added.

    The weight is sigma'(t) / (exp(sigma) - 1): of log-linear noise, 1 / t.
    """
    found = logits.gather(1, tokens[:, None]).squeeze(1)
    return rate / torch.expm1(sigma) * (logits.logsumexp(dim=-1) - found)


PLACE_LOSSES: dict[str, PlaceLoss] = {"sedd": score_entropy, "mdlm": masked_likelihood}


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


class DiffusionObjective(nn.Module):
    """A model with its loss, in the form in which the trainer knows objectives.

    It reads the rows of the autoregressive baseline. Whatever that one learns to predict is masked and
    restored here; the start markers stay, and a text sees neither its neighbours in the row nor padding.
    """

    def __init__(self, model: DiffusionTransformer, compiled: bool) -> None:
        super().__init__()
        self.model = model
        self._of_place = PLACE_LOSSES[model.config.kind]
        if compiled:
            for block in model.blocks:
                block.compile()

    def forward(
        self, ids: Tensor, samples: Tensor, positions: Tensor, places: Tensor, targets: Tensor
    ) -> Tensor:
        """The summed loss of one draw of times and masks, an estimate of the texts' bound in nats."""
        config = self.model.config
        t = draw_times(config.kind, len(ids), ids.device)
        sigma, rate = config.schedule.total(t), config.schedule.rate(t)
        hideable = torch.zeros_like(ids, dtype=torch.bool)
        hideable.view(-1)[places + 1] = True
        shown, hidden = noisy(ids, hideable, sigma, config.mask_id)
        states = self.model.hidden(shown, sigma, Sight.within_texts(samples, positions))
        row, column = hidden.nonzero(as_tuple=True)
        states, tokens = states[row, column], ids[row, column]
        total = states.sum() * 0.0
        for start in range(0, len(row), _CHUNK):
            part = slice(start, start + _CHUNK)
            total = total + checkpoint(
                self._of_chunk,
                states[part],
                tokens[part],
                sigma[row[part]],
                rate[row[part]],
                use_reentrant=False,
            )
        return total

    def _of_chunk(self, states: Tensor, tokens: Tensor, sigma: Tensor, rate: Tensor) -> Tensor:
        return self._of_place(self.model.output(states, sigma), tokens, sigma, rate).sum()
