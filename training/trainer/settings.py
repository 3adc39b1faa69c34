"""The settings of a training run: the paper's presets and our own, as plain dataclasses."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from reviser.cli.options import Argument, Group, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import KINDS, PAPER_KINDS


@dataclass(frozen=True)
class Settings:
    """One run. Samples of at most `history` ids are packed into rows of `row_length`. `rows` is the number for one
    forward pass of all processes together; an optimizer step has `accumulate` passes. The run ends after `steps`,
    or, with `minutes`, when that time is over; the schedule then follows the clock, so the rate is annealed in
    both cases.
    """

    model: str
    history: Annotated[int, Option("longest history of a sample, in ids")] = 256
    row_length: Annotated[int, Option("ids in a row; several samples share one")] = 256
    rows: Annotated[int, Option("rows in a pass, those of all processes together")] = 64
    accumulate: Annotated[int, Option("passes in an optimizer step")] = 1
    steps: Annotated[int | None, Option("length of the run in optimizer steps")] = None
    minutes: Annotated[float | None, Option("length of the run in minutes instead; the schedule follows the clock")] = (
        None
    )
    peak_rate: Annotated[float, Option("learning rate after the warmup")] = 1e-4
    final_rate: Annotated[float, Option("learning rate at the end")] = 2e-5
    warmup_steps: Annotated[int, Option("steps in which the rate rises")] = 2000
    # Runs of several lengths then have their beginnings in common, and only their ends need be trained apart.
    cooldown: Annotated[
        float | None,
        Option("share of the run at its end in which the rate falls, after a plateau; by default a cosine"),
    ] = None
    betas: tuple[float, float] = (0.9, 0.95)
    epsilon: Annotated[float, Option("AdamW's epsilon")] = 1e-8
    weight_decay: Annotated[float, Option("AdamW's decay, of matrices alone")] = 0.1
    clip: Annotated[float, Option("largest norm of a gradient")] = 1.0
    dropout: Annotated[float, Option("share of the residual stream that is dropped; for a fresh model")] = 0.1
    ema: Annotated[float | None, Option("keep an average of the weights with this decay, and make it the result")] = (
        None
    )
    precision: Annotated[Literal["bf16", "fp32"], Option("bf16 (exact weights stay in fp32) or fp32")] = "bf16"
    compile: Annotated[bool, Option("do not compile the model")] = True
    objective: Annotated[
        Literal["reviser", "ar"], Option("reviser, or ar: every text from left to right, the matched baseline")
    ] = "reviser"
    operators: Annotated[str, Option("actions to learn beside Insert, Move and Stop, such as delete,span_delete")] = ""
    after_moves: Annotated[int, Option("how often a choice that directly follows a move counts in the loss")] = 1
    keep: Annotated[
        float, Option("hold the model to its base (--base) where a history is plain text, with this weight; 0 for not")
    ] = 0.0
    round_bits: Annotated[
        int | None, Option("end the run with weights rounded to 4 or 8 bits, as a quantised file has them")
    ] = None
    round_from: Annotated[float, Option("share of the run after which weights are rounded")] = 0.65
    seed: Annotated[int, Option("of fresh weights, samples and dropout")] = 0
    evaluate_every: Annotated[int, Option("steps between evaluations on --held-out")] = 500
    checkpoint_every: Annotated[int, Option("steps between checkpoints")] = 1000
    parallel: Annotated[Literal["none", "ddp", "fsdp"], Option("none, ddp or fsdp; start with torchrun")] = "none"
    # A run keeps its lanes for life, so that it sees the same rows when it goes on with another number of processes,
    # which must divide this one.
    lanes: Annotated[
        int | None, Option("streams of data, which the processes share; as many as a run begins with, unless said")
    ] = None

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.minutes is None):
            raise ReviserError("give a run either a number of steps or a number of minutes")
        if unknown := sorted(self.kinds - set(KINDS)):
            raise ReviserError(f"unknown kind of action: {', '.join(unknown)}")
        if self.round_bits not in (None, 4, 8) or not 0 <= self.round_from <= 1:
            raise ReviserError("weights are rounded to 4 or 8 bits, from a share of the run, 0 to 1")
        if self.round_bits and self.parallel == "fsdp":
            raise ReviserError("weights are not rounded in a run that shards them")
        if self.after_moves < 1:
            raise ReviserError("a choice after a move counts at least once")
        if self.cooldown is not None and not 0 < self.cooldown <= 1:
            raise ReviserError("the rate falls in a share of the run, above 0 and up to 1")
        if self.keep < 0:
            raise ReviserError("the weight of what is kept is 0 or more")
        if self.rows < 1 or self.accumulate < 1:
            raise ReviserError("a run needs at least one row and one pass for each step")
        if self.lanes is not None and (self.lanes < 1 or self.rows % self.lanes):
            raise ReviserError(f"{self.rows} rows cannot be dealt out to {self.lanes} lanes of data evenly")

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of actions that the model learns."""
        if self.objective == "ar":
            return frozenset({"insert", "stop"})
        return PAPER_KINDS | {name.strip() for name in self.operators.split(",") if name.strip()}

    def to_dict(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        fields = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(data) - fields):
            raise ReviserError(f"unknown training setting: {', '.join(unknown)}")
        return cls(**dict(data) | {"betas": tuple(data.get("betas", cls.betas))})


# The paper trains on 30 billion actions: 64 rows of 256, or 16 rows of 512 four times over.
_PAPER_ACTIONS = 30_000_000_000

PRESETS: dict[str, dict[str, object]] = {
    "paper-100m": {
        "model": "paper-100m",
        "history": 256,
        "rows": 64,
        "steps": _PAPER_ACTIONS // (64 * 256),
        "peak_rate": 1e-4,
        "final_rate": 2e-5,
    },
    "paper-300m": {
        "model": "paper-300m",
        "history": 512,
        "row_length": 512,
        "rows": 16,
        "accumulate": 4,
        "steps": _PAPER_ACTIONS // (64 * 512),
        "peak_rate": 1e-5,
        "final_rate": 1e-6,
    },
    "smol": {
        "model": "smol",
        "history": 512,
        "row_length": 1024,
        "rows": 128,
        "minutes": 20.0,
        "peak_rate": 6e-4,
        "final_rate": 6e-5,
        "warmup_steps": 100,
        "dropout": 0.0,
    },
    # The paper's architecture at a third of its size, for 20 ids a weight.
    "paper-small": {
        "model": "paper-small",
        "history": 256,
        "rows": 256,
        "steps": 10_682,
        "peak_rate": 1e-3,
        "final_rate": 1e-4,
        "warmup_steps": 100,
        "dropout": 0.0,
    },
    "tiny": {
        "model": "tiny",
        "history": 64,
        "row_length": 128,
        "rows": 8,
        "steps": 50,
        "peak_rate": 1e-3,
        "final_rate": 1e-4,
        "warmup_steps": 5,
        "dropout": 0.0,
        "precision": "fp32",
        "compile": False,
        "evaluate_every": 25,
        "checkpoint_every": 25,
    },
}


def preset_settings(name: str, **changes: Any) -> Settings:
    """A preset with some settings overridden; `steps` and `minutes` replace each other."""
    if name not in PRESETS:
        raise ReviserError(f"no training preset {name}: choose from {', '.join(PRESETS)}")
    chosen = dict(PRESETS[name])
    if changes.get("steps") is not None:
        chosen.pop("minutes", None)
    if changes.get("minutes") is not None:
        chosen.pop("steps", None)
    return Settings.from_dict(chosen | {k: v for k, v in changes.items() if v is not None})


class Rates(Protocol):
    """The settings that determine the learning rate."""

    @property
    def peak_rate(self) -> float: ...
    @property
    def final_rate(self) -> float: ...
    @property
    def warmup_steps(self) -> int: ...


def learning_rate(settings: Rates, step: int, progress: float) -> float:
    """The rate at `step`, when the share `progress` (0 to 1) of the run is done.

    With a `cooldown`, the rate falls only during that last share of the run.
    """
    cooldown: float | None = getattr(settings, "cooldown", None)
    done = min(max(progress, 0.0), 1.0)
    height = 0.5 * (1 + math.cos(math.pi * done)) if cooldown is None else min(1.0, (1 - done) / cooldown)
    rate = settings.final_rate + (settings.peak_rate - settings.final_rate) * height
    if step < settings.warmup_steps:
        return rate * (step + 1) / settings.warmup_steps
    return rate


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a training run."""

    preset: Annotated[str, Argument(choices=tuple(PRESETS))]
    data: Annotated[Path, Option("token shards (reviser tokenise)")]
    out: Annotated[Path, Option("folder of the run")]
    held_out: Annotated[Path | None, Option("token shards to evaluate on")] = None
    edits: Annotated[Path | None, Option("shards of edits, for a mixture that has some")] = None
    mistakes: Annotated[Path | None, Option("table of mistakes to be put into texts")] = None
    mistakes_in: Annotated[Path | None, Option("token shards of those texts", default="--data")] = None
    next_edits: Annotated[Path | None, Option("shards of next edits, to be blended with edits")] = None
    recipe: Annotated[Path | None, Option("JSON file: how often each kind of mistake")] = None
    base: Annotated[str | None, Option("the model that --keep holds the run to", default="--init")] = None
    held_out_edits: Annotated[Path | None, Option("shards of edits to evaluate on")] = None
    tokenizer: Annotated[str | None, Option("gpt2, or the tokenizer.json that the data was made with")] = None
    init: Annotated[str | None, Option("start from this model: a folder, a hub id or a GGUF file")] = None
    mixture: Annotated[Path | None, Option("JSON file; by default the paper's recipe")] = None
    resume: Annotated[bool, Option("resume from the run's last checkpoint")] = False
    elastic: Annotated[bool, Option("resume from the last checkpoint if there is one, else start: for restarts")] = (
        False
    )
    workers: Annotated[int, Option("threads that make batches")] = 2
    changes: Annotated[Mapping[str, Any], Group(Settings, without=("model", "betas"))] = field(default_factory=dict)
    words: Words = ()

    def settings(self) -> Settings:
        """The preset with the settings that the options override."""
        return preset_settings(self.preset, **self.changes)
