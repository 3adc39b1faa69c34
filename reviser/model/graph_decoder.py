"""A decoder of one history on a GPU: each step has the same shapes, so that it is recorded once and replayed.

At one id a step a GPU waits for the host, which starts some hundred kernels. A recorded graph starts them all at once.
The step attends over a window of slots under a mask; one graph is recorded for each window size that a history reaches.
On another device the same step runs without a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.model.decoder import Reviser
from reviser.model.torch_decoder import TorchDecoder

# Attention reads this many slots, or twice, three times as many: one graph is recorded for each.
_WINDOW: Final = 256


class GraphDecoder(TorchDecoder):
    """A decoder whose steps are replays of CUDA graphs; prompts are read by the plain model.

    The next call overwrites the scores that a call returns.
    """

    def __init__(self, model: Reviser, capacity: int | None = None) -> None:
        super().__init__(model, capacity)
        device = self._cache.device
        self._on_gpu = device.type == "cuda"
        self._id = torch.zeros(1, dtype=torch.int64, device=device)
        self._position = torch.zeros(1, dtype=torch.int64, device=device)
        shape = (model.config.vocab_size,)
        self._scores = torch.zeros(shape, device=device)
        # Memory that the GPU can write to by itself.
        self._read = torch.zeros(shape, pin_memory=True) if self._on_gpu else self._scores
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def prefill(self, ids: Sequence[int]) -> NDArray[np.float32]:
        return self.decode(ids[0]) if len(ids) == 1 else super().prefill(ids)

    @torch.no_grad()
    def decode(self, id: int) -> NDArray[np.float32]:
        length = self.length
        self._cache.advance()  # refuses one id too many
        self._id.fill_(id)
        self._position.fill_(length)
        window = min(-(-(length + 1) // _WINDOW) * _WINDOW, self.capacity)
        if not self._on_gpu:
            self._step(window)
        else:
            with torch.cuda.device(self._cache.device):
                if window not in self._graphs:
                    self._graphs[window] = self._record(window)
                self._graphs[window].replay()
                self._read.copy_(self._scores, non_blocking=True)
                torch.cuda.current_stream().synchronize()
        scores: NDArray[np.float32] = self._read.numpy()
        return scores

    def _step(self, window: int) -> None:
        logits: Tensor = self._model.decode_static(self._id, self._position, self._cache.first(1, window))
        self._scores.copy_(logits[0])

    def _record(self, window: int) -> torch.cuda.CUDAGraph:
        # Libraries set themselves up in the first step of a kind, which must not be recorded.
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self._step(window)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        shared = next(iter(self._graphs.values())).pool() if self._graphs else None
        with torch.cuda.graph(graph, pool=shared):
            self._step(window)
        return graph
