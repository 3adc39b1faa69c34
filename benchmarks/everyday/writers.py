"""Contestants of the everyday benchmark: models of ours with moves or without, and any other.

`plain:MODEL` is a model of ours that may only insert and stop: what it would write from left to right.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from benchmarks.contestants.continuation_models import (
    OwnModel,
    engine_of,
    load_contestant,
    stream_of,
)
from benchmarks.protocol.records import Contestant, Generation, Progress, Prompt
from benchmarks.protocol.runs import key_of
from benchmarks.protocol.setup import Setup
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.library import find_model
from reviser.checkpoints.summary import inspect
from reviser.core.errors import ReviserError
from reviser.decoding.batch import Sampling, generate
from reviser.decoding.rollout import MOVE_TEMPERATURE, Rollout, Sampler, seed
from reviser.model import ModelConfig
from reviser.scoring.loading import (
    default_device,
    fingerprint,
    home_checkpoint,
    home_folder,
    short_name,
)
from reviser.session.engine import Engine, load_engine

PLAIN = "plain:"
_LEFT_TO_RIGHT = frozenset({"insert", "stop"})
_ROWS = 256


class Writer(OwnModel):
    """A model of ours that chooses where to go as surely as our commands let it."""

    def __init__(
        self,
        name: str,
        weights: str,
        config: ModelConfig,
        model: Engine | Checkpoint,
        setup: Setup,
        *,
        plain: bool,
        move_temperature: float | None,
    ) -> None:
        vocabulary = model.policy.vocabulary if isinstance(model, Engine) else model.vocabulary
        if plain:
            vocabulary = replace(vocabulary, kinds=vocabulary.kinds & _LEFT_TO_RIGHT)
        super().__init__(name, weights, config, vocabulary, model.tokenizer, setup)
        self.fingerprint = key_of(basis=self.fingerprint, move_temperature=move_temperature)
        self._move_temperature = move_temperature
        self._model = model

    def generate(
        self, prompts: Sequence[Prompt], seed: int, progress: Progress
    ) -> Iterator[Generation]:
        if isinstance(self._model, Checkpoint):
            yield from self._together(self._model, prompts, seed)
            progress(len(prompts))
            return
        for prompt in prompts:
            began = time.perf_counter()
            run = self._run(self._model, prompt, seed)
            ids = [step.id for step in run]
            seconds = time.perf_counter() - began
            yield self.generation(prompt, seed, ids, str(run.ending), seconds)
            progress(1)

    def _run(self, engine: Engine, prompt: Prompt, number: int) -> Rollout:
        policy = engine.policy
        canvas, history = seed(
            self.vocabulary, self.prompt_ids(prompt), max_length=policy.max_length
        )
        sampler = Sampler(
            self.temperature,
            self.top_k,
            seed=stream_of(prompt, number),
            move_temperature=self._move_temperature,
        )
        most = min(self.max_actions, policy.context - len(history))
        return Rollout(policy, canvas, history, sampler, max_actions=most)

    def _together(
        self, checkpoint: Checkpoint, prompts: Sequence[Prompt], number: int
    ) -> Iterator[Generation]:
        began = time.perf_counter()
        runs = generate(
            checkpoint.model.eval(),
            self.vocabulary,
            [self.prompt_ids(prompt) for prompt in prompts],
            seeds=[stream_of(prompt, number) for prompt in prompts],
            sampling=Sampling(self.temperature, self.top_k, self._move_temperature),
            max_actions=self.max_actions,
            rows=_ROWS,
        )
        seconds = (time.perf_counter() - began) / max(len(prompts), 1)
        for prompt, run in zip(prompts, runs, strict=True):
            yield self.generation(prompt, number, run.ids, run.ending, seconds)


def load_writer(
    given: str,
    setup: Setup,
    *,
    move_temperature: float | None = MOVE_TEMPERATURE,
    device: torch.device | None = None,
) -> Contestant:
    """The contestant that `MODEL`, `plain:MODEL` or `NAME=` before either means."""
    device = device or default_device()
    named, equals, source = given.partition("=")
    named, source = (named, source) if equals else ("", given)
    plain, source = source.startswith(PLAIN), source.removeprefix(PLAIN)
    name = named or short_name(source) + (", plain" if plain else "")
    folder = find_model() if source == "default" else home_folder(source)
    if device.type == "cpu" and folder is not None:
        engine, config = load_engine(folder), inspect(folder).config
        return Writer(
            name,
            fingerprint(str(folder)),
            config,
            engine,
            setup,
            plain=plain,
            move_temperature=move_temperature,
        )
    checkpoint = home_checkpoint(str(folder or source), device)
    if checkpoint is not None:
        config, weights = checkpoint.model.config, fingerprint(str(folder or source))
        model = engine_of(name, checkpoint) if device.type == "cpu" else checkpoint
        return Writer(
            name, weights, config, model, setup, plain=plain, move_temperature=move_temperature
        )
    if plain:
        raise ReviserError(f"{source} is no model of ours, so it writes from left to right anyway")
    return load_contestant(source, setup, name=name, device=device)
