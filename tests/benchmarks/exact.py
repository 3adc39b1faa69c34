"""A distribution over texts of three places and three tokens, small enough to know everything about it."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

PLACES = 3
TOKENS = 3
MASK = 3


class ExactTable:
    """The distribution, and the exact chances of every token at every place given the others.

    `noisy` ids are tokens or MASK; `conditionals` (rows, places, tokens) are what is true of masked
    places, and a certainty at the others.
    """

    def __init__(self, seed: int = 0) -> None:
        weights = torch.rand([TOKENS] * PLACES, generator=torch.Generator().manual_seed(seed)).double()
        self.table = weights**3 / (weights**3).sum()
        self._known = torch.zeros([TOKENS + 1] * PLACES + [PLACES, TOKENS], dtype=torch.float64)
        for state in itertools.product(range(TOKENS + 1), repeat=PLACES):
            kept = self.table.clone()
            for place, id in enumerate(state):
                if id != MASK:
                    others = [other for other in range(TOKENS) if other != id]
                    kept.index_fill_(place, torch.tensor(others), 0.0)
            for place in range(PLACES):
                sums = kept.sum(dim=[other for other in range(PLACES) if other != place])
                self._known[*state, place] = sums / sums.sum()

    def conditionals(self, noisy: Tensor) -> Tensor:
        return self._known[tuple(noisy.unbind(dim=1))]

    def all_texts(self) -> Tensor:
        return torch.tensor(list(itertools.product(range(TOKENS), repeat=PLACES)))

    def log_likelihood(self, texts: Tensor) -> Tensor:
        return self.table[tuple(texts.unbind(dim=1))].log()

    def entropy(self) -> float:
        return float(-(self.table * self.table.log()).sum())
