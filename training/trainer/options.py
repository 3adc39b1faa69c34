"""The options of a training run: data, output folder and initial model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from reviser.cli.options import Argument, Group, Option, Words
from training.trainer.settings import PRESETS, Settings, preset_settings


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
