"""A base model that reads pieces of shards and says how surprised it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.checkpoints.home import Checkpoint
from reviser.core.errors import ReviserError
from reviser.model import Reviser
from training.data.corpus import Corpus

# Ids in a row: several pieces share one.
ROW = 1024
_CHUNK = 8192


class BaseReader:
    """A base model on its device, with its output table for the tokens of some shards."""

    def __init__(self, base: Reviser, base_size: int, device: torch.device) -> None:
        self._base = base.to(device).eval().requires_grad_(False)
        self._kind = torch.bfloat16 if device.type == "cuda" else torch.float32
        head = base.embedding if base.head is None else base.head
        self._table = head.weight[:base_size].to(self._kind)
        self._device = device

    @classmethod
    def of(cls, base: Checkpoint, corpus: Corpus) -> BaseReader:
        """The reader of a corpus, on a GPU if there is one."""
        if base.vocabulary.base_size < corpus.tokenizer.size:
            raise ReviserError("the base has fewer tokens than the shards")
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return cls(base.model, corpus.tokenizer.size, device)

    def states(self, ids: NDArray[np.int64], positions: NDArray[np.int64]) -> Tensor:
        """What the base makes of rows of ids, flattened; a piece begins where its positions begin anew."""
        half = torch.autocast(self._device.type, torch.bfloat16, self._kind == torch.bfloat16)
        with torch.no_grad(), half:
            states = self._base.hidden_packed(self._there(ids), self._there(positions))
        return states.flatten(0, 1).to(self._kind)

    def scores(self, states: Tensor, places: NDArray[np.int64]) -> Iterator[tuple[slice, Tensor]]:
        """What is likely after each of some places, in logits, a chunk at a time."""
        for start in range(0, len(places), _CHUNK):
            chunk = slice(start, min(start + _CHUNK, len(places)))
            with torch.no_grad():
                scores = (states[self._there(places[chunk])] @ self._table.T).float()
            yield chunk, scores

    def surprise(self, states: Tensor, places: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """The surprise, in nats, at the token that follows each of some places."""
        found = np.zeros(len(places))
        for chunk, scores in self.scores(states, places):
            wanted = scores.gather(1, self._there(targets[chunk])[:, None])[:, 0]
            found[chunk] = (scores.logsumexp(dim=-1) - wanted).cpu().numpy()
        return found

    def _there(self, array: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(array).to(self._device)
