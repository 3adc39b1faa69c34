"""Reviser as a contestant: whole actions on a canvas, by any decoder."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from benchmarks.speed.contestants.contest import SEED, timed
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
