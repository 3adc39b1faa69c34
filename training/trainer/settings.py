"""Everything that decides a training run: the paper's presets and our own, as plain dataclasses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import KINDS, PAPER_KINDS


@dataclass(frozen=True)
class Settings:
    """One run. Samples of at most `history` ids are packed into rows of `row_length`. `rows` are those of all
    processes together, for one forward pass; an optimizer step takes `accumulate` of them. The run ends after
    `steps`, or, with `minutes`, when that time is over: the schedule then follows the clock, so that the run ends
    annealed either way.
    """

    model: str
    history: int = 256
    row_length: int = 256
    rows: int = 64
    accumulate: int = 1
    steps: int | None = None
    minutes: float | None = None
    peak_rate: float = 1e-4
    final_rate: float = 2e-5
    warmup_steps: int = 2000
    cooldown: float | None = None
    """The share of the run at its end in which the rate falls, in a line, after a plateau; None for a cosine. Runs of several
    lengths then have their beginnings in common, and only their ends need be trained apart."""
    betas: tuple[float, float] = (0.9, 0.95)
    epsilon: float = 1e-8
    weight_decay: float = 0.1
    clip: float = 1.0
    dropout: float = 0.1
    ema: float | None = None
    precision: Literal["bf16", "fp32"] = "bf16"
    compile: bool = True
    objective: Literal["reviser", "ar"] = "reviser"
    operators: str = ""
    """Actions to learn beside Insert, Move and Stop, with commas: `delete,span_delete` to revise."""
    after_moves: int = 1
    """How often a choice counts in the loss that directly follows a move: to move on, or to write here."""
    keep: float = 0.0
    """How much the divergence from the base's own distribution counts, where a history is a plain text; with 0 the text counts."""
    round_bits: int | None = None
    """The end of the run sees its weights rounded to so many bits (4 or 8), as a quantised file has them,
    and learns to live with that; tables are rounded to 8 at the least."""
    round_from: float = 0.65
    """The share of the run after which weights are rounded."""
    seed: int = 0
    evaluate_every: int = 500
    checkpoint_every: int = 1000
    parallel: Literal["none", "ddp", "fsdp"] = "none"
    lanes: int | None = None
    """How many streams the data is dealt out to. A run keeps its lanes for life, so that it sees the same rows when it
    goes on with another number of processes, which must divide this one. By default as many as it begins with."""

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


# What each setting that is an option means, for --help.
HELP = {
    "history": "longest history of a sample, in ids",
    "row_length": "ids in a row; several samples share one",
    "rows": "rows in a pass, those of all processes together",
    "accumulate": "passes in an optimizer step",
    "steps": "length of the run in optimizer steps",
    "minutes": "length of the run in minutes instead; the schedule follows the clock",
    "peak_rate": "learning rate after the warmup",
    "final_rate": "learning rate at the end",
    "warmup_steps": "steps in which the rate rises",
    "cooldown": "share of the run at its end in which the rate falls, after a plateau; by default a cosine",
    "epsilon": "AdamW's epsilon",
    "weight_decay": "AdamW's decay, of matrices alone",
    "clip": "largest norm of a gradient",
    "dropout": "share of the residual stream that is dropped; for a fresh model",
    "ema": "keep an average of the weights with this decay, and make it the result",
    "precision": "bf16 (exact weights stay in fp32) or fp32",
    "compile": "do not compile the model",
    "objective": "reviser, or ar: every text from left to right, the matched baseline",
    "operators": "actions to learn beside Insert, Move and Stop, such as delete,span_delete",
    "after_moves": "how often a choice that directly follows a move counts in the loss",
    "keep": "hold the model to its base (--base) where a history is plain text, with this weight; 0 for not",
    "round_bits": "end the run with weights rounded to 4 or 8 bits, as a quantised file has them",
    "round_from": "share of the run after which weights are rounded",
    "seed": "of fresh weights, samples and dropout",
    "evaluate_every": "steps between evaluations on --held-out",
    "checkpoint_every": "steps between checkpoints",
    "parallel": "none, ddp or fsdp; start with torchrun",
    "lanes": "streams of data, which the processes share; as many as a run begins with, unless said",
}

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
    """A preset with any of its settings changed; `steps` and `minutes` replace one another."""
    if name not in PRESETS:
        raise ReviserError(f"no training preset {name}: choose from {', '.join(PRESETS)}")
    chosen = dict(PRESETS[name])
    if changes.get("steps") is not None:
        chosen.pop("minutes", None)
    if changes.get("minutes") is not None:
        chosen.pop("steps", None)
    return Settings.from_dict(chosen | {k: v for k, v in changes.items() if v is not None})
