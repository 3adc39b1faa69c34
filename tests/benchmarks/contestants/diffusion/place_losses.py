"""The losses of single masked places, as the papers have them: what the summed losses are compared with."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def score_entropy(log_scores: Tensor, tokens: Tensor, sigma: Tensor, rate: Tensor) -> Tensor:
    """SEDD's denoising score entropy of masked places, (places,)."""
    true = 1 / torch.expm1(sigma)
    spread = log_scores.exp().sum(dim=-1)
    found = log_scores.gather(1, tokens[:, None]).squeeze(1)
    return rate * (spread - true * found + true * (true.log() - 1))


def masked_likelihood(logits: Tensor, tokens: Tensor, sigma: Tensor, rate: Tensor) -> Tensor:
    """MDLM's loss of masked places, (places,)."""
    found = logits.gather(1, tokens[:, None]).squeeze(1)
    return rate / torch.expm1(sigma) * (logits.logsumexp(dim=-1) - found)


PLACE_LOSSES: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]] = {
    "sedd": score_entropy,
    "mdlm": masked_likelihood,
}
