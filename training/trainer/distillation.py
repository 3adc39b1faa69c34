"""Distillation: where a history is plain text so far, the target is the base model's whole distribution.

A model that learns to edit forgets some of what its base knew. Where its history is plain text from the beginning,
the base gives a distribution over all tokens, which is far more informative than the one token of the training
text. There the loss is the divergence from the base's distribution instead of the cross-entropy.

The base only knows tokens. So the divergence is between the distributions over tokens, given that a token is
inserted. Where the text counts in the loss, the probability of inserting any token counts too, as it would in the
cross-entropy: so the model learns how often to move or stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.core.errors import ReviserError
from reviser.model import Reviser
from reviser.model.decoder import has_kernels
from training.batches.packing import PackedRows
from training.trainer.loss import chunked_loss

_CHUNK = 8192

OfPair = Callable[[Tensor, Tensor, int, Tensor], tuple[Tensor, Tensor]]


def plain_places(rows: PackedRows, base_size: int) -> NDArray[np.bool_]:
    """The positions (without the last column) at which a history is plain text so far and continues with a token."""
    operators = (rows.ids >= base_size) & (rows.positions > 0)
    seen = np.cumsum(operators, axis=1)
    begun = np.maximum(np.arange(rows.ids.shape[1]) - rows.positions, 0)
    within: NDArray[np.int64] = seen - np.take_along_axis(seen, begun, axis=1)
    goes_on = (rows.samples[:, 1:] == rows.samples[:, :-1]) & (rows.samples[:, 1:] >= 0)
    plain: NDArray[np.bool_] = (within[:, :-1] == 0) & goes_on & (rows.ids[:, 1:] < base_size)
    return plain


@dataclass(frozen=True)
class AskedPlaces:
    """The positions at which the base is queried, in all rows and in the rows that the base reads.

    `inserts` is the weight of the probability of inserting any token, relative to the divergence.
    """

    rows: Tensor
    places: Tensor
    of_base: Tensor
    inserts: Tensor


class BaseTeacher:
    """A base model as teacher, so that a run keeps the base's knowledge."""

    def __init__(self, base: Reviser, base_size: int, weight: float, share: float = 0.5, most: int = 32768) -> None:
        """The base reads `share` of the rows, those with most plain text, and is queried at up to `most` positions."""
        if base.config.vocab_size < base_size:
            raise ReviserError("the base to be kept has another vocabulary than the model")
        self.weight = weight
        self.base_size = base_size
        self._share = share
        self._most = most
        self._base = base.eval().requires_grad_(False)
        self._of_pair: OfPair = divergence_and_gradient

    def to(self, device: torch.device, compiled: bool) -> None:
        """Moves the base to the run's device; on a GPU it computes in half precision."""
        self._base.to(device)
        head = self._base.embedding if self._base.head is None else self._base.head
        self._table = head.weight[: self.base_size].to(self._precision(device))
        if compiled and has_kernels(device):
            self._of_pair = torch.compile(divergence_and_gradient, dynamic=False)

    @staticmethod
    def _precision(device: torch.device) -> torch.dtype:
        return torch.bfloat16 if device.type == "cuda" else torch.float32

    def choose(self, rows: PackedRows, plain: NDArray[np.bool_], device: torch.device) -> AskedPlaces:
        """Chooses the positions of a batch; if there are too many, evenly spread ones."""
        count = max(int(len(rows) * self._share), 1)
        chosen = np.sort(np.argsort(-plain.sum(axis=1), kind="stable")[:count])
        row, column = np.nonzero(plain[chosen])
        # Whole chunks, as far as there are any: their shape is compiled for.
        asked = min(len(row), self._most)
        asked -= asked % _CHUNK if asked > _CHUNK else 0
        spread = np.arange(asked) * len(row) // max(asked, 1)
        row, column = row[spread], column[spread]
        length = rows.ids.shape[1]
        counted = rows.mask[:, 1:][chosen[row], column].astype(np.float32)
        # Those that are asked stand for all that count.
        times = float((plain & rows.mask[:, 1:]).sum()) / max(float(counted.sum()), 1.0)
        parts = (
            chosen,
            chosen[row] * length + column,
            row * length + column,
            (counted * (times / self.weight)).astype(np.float32),
        )
        made = (torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in parts)
        return AskedPlaces(*made)

    def divergence(self, ids: Tensor, positions: Tensor, kept: AskedPlaces, states: Tensor, table: Tensor) -> Tensor:
        """The summed divergence, in nats, of the model from the base; `states` are of the flattened rows."""
        read = ids.index_select(0, kept.rows)
        # The base knows none of the operators, and a text of its begins after the end of another, which is token 0.
        read = torch.where(read < self.base_size, read, 0)
        kind = self._precision(ids.device)
        half = torch.autocast(ids.device.type, torch.bfloat16, enabled=kind == torch.bfloat16)
        with torch.no_grad(), half:
            known = self._base.hidden_packed(read, positions.index_select(0, kept.rows))
            known = known.flatten(0, 1).index_select(0, kept.of_base).to(kind)

        def of_chunk(logits: Tensor, chunk: slice) -> tuple[Tensor, Tensor]:
            return self._of_pair(logits, known[chunk] @ self._table.T, len(table), kept.inserts[chunk])

        return chunked_loss(states.index_select(0, kept.places), table, of_chunk, size=_CHUNK)


def divergence_and_gradient(logits: Tensor, wanted: Tensor, size: int, inserts: Tensor) -> tuple[Tensor, Tensor]:
    """The summed divergence of a chunk from the wanted distributions, and its gradient with respect to the logits.

    Only the first `size` columns of the logits are ids. `wanted` may have fewer columns, those of the base's
    tokens; the divergence is over these. `inserts` weighs, for each row, -log p(any of these tokens).
    """
    columns = torch.arange(logits.shape[1], device=logits.device)
    scores = logits.float().masked_fill(columns >= size, float("-inf"))
    known = wanted.shape[1]
    among_tokens = scores[:, :known].log_softmax(dim=-1)
    shares = scores.log_softmax(dim=-1)
    target = wanted.float().log_softmax(dim=-1)
    chances = target.exp()
    surprise = shares[:, :known].logsumexp(dim=-1).neg()
    loss = (chances * (target - among_tokens)).sum() + (inserts * surprise).sum()
    weight = inserts[:, None]
    tokens = among_tokens.exp()
    of_all = weight * shares.exp()
    grad = torch.cat((tokens - chances + of_all[:, :known] - weight * tokens, of_all[:, known:]), 1)
    return loss, grad.to(logits.dtype)
