"""Contestants of the everyday benchmark: models of ours as our commands let them write, and any other.

A model of ours writes with its steps back checked, and repeats no eight tokens in a row. `unchecked:MODEL` makes every step
back that the model chooses. `plain:MODEL` may only insert and stop: what it would write from left to right.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

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
from reviser.decoding.left_to_right import Reading, can_read, left_to_right
from reviser.decoding.repetition import Unrepeated
from reviser.decoding.rollout import MOVE_TEMPERATURE, Policy, Rollout, Sampler, seed
from reviser.decoding.stepping_back import CheckedRollout
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
UNCHECKED = "unchecked:"
_LEFT_TO_RIGHT = frozenset({"insert", "stop"})
_ROWS = 256


@dataclass(frozen=True)
class Way:
    """How a contestant writes: by the rules of our commands or not, with moves, with its steps back checked."""

    ours: bool
    plain: bool
    checked: bool
    move_temperature: float | None


class Writer(OwnModel):
    """A model of ours that writes as our commands let it, or as `way` says.

    A run is made on the processor, one after the other, as by `reviser continue`. A base model beside it, which has no rules of
    ours, may also write many texts at once on a GPU.
    """

    def __init__(
        self,
        name: str,
        weights: str,
        config: ModelConfig,
        model: Engine | Checkpoint,
        setup: Setup,
        *,
        way: Way,
    ) -> None:
        vocabulary = model.policy.vocabulary if isinstance(model, Engine) else model.vocabulary
        if way.plain:
            vocabulary = replace(vocabulary, kinds=vocabulary.kinds & _LEFT_TO_RIGHT)
        super().__init__(name, weights, config, vocabulary, model.tokenizer, setup)
        self.fingerprint = key_of(basis=self.fingerprint, way=asdict(way))
        self._way = way
        self._model = model
        self._read: Reading | None = None

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
        policy: Policy = engine.policy
        canvas, history = seed(
            self.vocabulary, self.prompt_ids(prompt), max_length=engine.policy.max_length
        )
        sampler = Sampler(
            self.temperature,
            self.top_k,
            seed=stream_of(prompt, number),
            move_temperature=self._way.move_temperature,
        )
        most = min(self.max_actions, engine.policy.context - len(history))
        if self._way.ours:
            policy = Unrepeated(policy)
        if self._way.checked and self.moves and can_read(engine.policy):
            return CheckedRollout(
                policy,
                canvas,
                history,
                self.tokenizer,
                sampler,
                max_actions=most,
                reading=self._reading(engine),
            )
        return Rollout(policy, canvas, history, sampler, max_actions=most)

    def _reading(self, engine: Engine) -> Reading:
        if self._read is None:
            self._read = left_to_right(engine.policy)
        return self._read

    def _together(
        self, checkpoint: Checkpoint, prompts: Sequence[Prompt], number: int
    ) -> Iterator[Generation]:
        began = time.perf_counter()
        runs = generate(
            checkpoint.model.eval(),
            self.vocabulary,
            [self.prompt_ids(prompt) for prompt in prompts],
            seeds=[stream_of(prompt, number) for prompt in prompts],
            sampling=Sampling(self.temperature, self.top_k, self._way.move_temperature),
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
    """The contestant that `MODEL`, `plain:MODEL`, `unchecked:MODEL` or `NAME=` before any of them means."""
    device = device or default_device()
    named, equals, source = given.partition("=")
    named, source = (named, source) if equals else ("", given)
    plain, unchecked = source.startswith(PLAIN), source.startswith(UNCHECKED)
    source = source.removeprefix(PLAIN).removeprefix(UNCHECKED)
    name = named or short_name(source) + (", plain" * plain or ", unchecked" * unchecked)
    folder = find_model() if source == "default" else home_folder(source)
    way = Way(
        ours=folder is not None,
        plain=plain,
        checked=not unchecked,
        move_temperature=move_temperature,
    )
    if folder is not None:
        engine, config = load_engine(folder), inspect(folder).config
        return Writer(name, fingerprint(str(folder)), config, engine, setup, way=way)
    checkpoint = home_checkpoint(source, device)
    if checkpoint is not None:
        model = engine_of(name, checkpoint) if device.type == "cpu" else checkpoint
        config = checkpoint.model.config
        return Writer(name, fingerprint(source), config, model, setup, way=way)
    if plain or unchecked:
        raise ReviserError(f"{source} is no model of ours, so it writes from left to right anyway")
    return load_contestant(source, setup, name=name, device=device)
