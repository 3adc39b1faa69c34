"""transformers as a contestant: `generate` on the same weights."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.speed.contestants.contest import timed
from reviser.checkpoints.formats.llama import write_llama
from reviser.checkpoints.home import Checkpoint

NAME = "transformers fp32"


class Transformers:
    """`generate` with its cache, greedy, in single precision, in transformers' own Llama."""

    def __init__(self, checkpoint: Checkpoint, name: str = NAME) -> None:
        from transformers import LlamaForCausalLM

        # Some releases of transformers have types here, and others none.
        llama: Any = LlamaForCausalLM
        self.name = name
        self.instructions = f"torch {torch.backends.cpu.get_cpu_capability()}"
        with tempfile.TemporaryDirectory() as folder:
            written = write_llama(checkpoint, Path(folder) / "model")
            self._model = llama.from_pretrained(written, dtype=torch.float32).eval()
        self._ids: list[int] = []
        # A table that is input and output is read once: as the output.
        weights = {weight.data_ptr(): weight.nbytes for weight in self._model.parameters()}
        self.step_bytes = sum(weights.values())

    def prefill(self, ids: Sequence[int]) -> None:
        self._ids = list(ids)
        self._generate(1)

    def steps(self, count: int) -> float:
        # The prompt is read again, and counted out again.
        return timed(lambda: self._generate(count + 1)) - timed(lambda: self._generate(1))

    def _generate(self, count: int) -> None:
        ids = torch.tensor([self._ids])
        self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            min_new_tokens=count,
            max_new_tokens=count,
            pad_token_id=0,
        )
