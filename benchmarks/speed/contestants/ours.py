"""Reviser and transformers as contestants: whole actions on a canvas by any decoder, and `generate`."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.speed.contestants.contest import SEED, timed
from reviser.checkpoints.formats.llama import write_llama
from reviser.checkpoints.home import Checkpoint
from reviser.core.text import TextLayer
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.model.scoring import Decoder


class ReviserDecoding:
    """Full actions on a canvas: a rollout over a decoder, with the text kept up to date."""

    def __init__(
        self,
        decoder: Decoder,
        vocabulary: Vocabulary,
        tokenizer: Tokenizer,
        name: str,
        *,
        instructions: str = "",
        step_bytes: int = 0,
    ) -> None:
        self.name = name
        self.decoder = decoder
        self.instructions = instructions
        self.step_bytes = step_bytes
        # Stop would end the run early, and its row is untrained in a base model.
        self._vocabulary = dataclasses.replace(vocabulary, kinds=frozenset({"insert", "move"}))
        self._tokenizer = tokenizer

    def prefill(self, ids: Sequence[int]) -> None:
        self.decoder.truncate(0)
        canvas, history = seed(self._vocabulary, ids)
        self._text = TextLayer(self._tokenizer, list(ids))
        policy = ModelPolicy(self.decoder, self._vocabulary)
        most = self.decoder.capacity - len(history)
        self._rollout = Rollout(policy, canvas, history, Sampler(seed=SEED), max_actions=most)
        self._act(1)

    def steps(self, count: int) -> float:
        return timed(lambda: self._act(count))

    def _act(self, count: int) -> None:
        for _ in range(count):
            for splice in next(self._rollout).splices:
                self._text.apply(splice)


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
