"""Checkpoints of a PPO run: the model, and beside it the value head and what resuming needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import torch
from safetensors.torch import load_file, save_file

from reviser.checkpoints.folders import made_whole
from reviser.checkpoints.home import Checkpoint, load, save
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from training.ppo.tuner import Tuner
from training.trainer.saving import LATEST

_STATE = "training.pt"
_VALUE = "value.safetensors"
_SETTINGS = "settings.json"


class TuningFacts(TypedDict):
    """What a run is, for its folder and for the model's own record."""

    settings: dict[str, object]
    rewards: list[str]
    init: str
    data: str
    command: str


def save_facts(out: Path, facts: TuningFacts) -> None:
    """Write down what the run is, before its first iteration."""
    write_atomically(out / _SETTINGS, (json.dumps(facts, indent=2) + "\n").encode())


def read_facts(out: Path) -> TuningFacts:
    """What the run in `out` is, if it can be gone on with."""
    if not (out / LATEST).is_dir():
        raise ReviserError(f"{out} has no checkpoint to resume from")
    facts: TuningFacts = json.loads(read_utf8(out / _SETTINGS))
    return facts


def save_run(out: Path, tuner: Tuner, parts: Checkpoint, facts: TuningFacts) -> None:
    """Replace the run's latest checkpoint, whole or not at all."""
    with made_whole(out / LATEST, replace=True) as folder:
        _save_model(folder / "model", tuner, parts, facts)
        save_file(tuner.value.state_dict(), folder / _VALUE)
        torch.save(tuner.state(), folder / _STATE)


def save_result(out: Path, tuner: Tuner, parts: Checkpoint, facts: TuningFacts) -> Path:
    """The tuned model in `out/model`."""
    _save_model(out / "model", tuner, parts, facts, replace=True)
    return out / "model"


def _save_model(folder: Path, tuner: Tuner, parts: Checkpoint, facts: TuningFacts, *, replace: bool = False) -> None:
    tokenizer = "gpt2" if parts.tokenizer_json is None else parts.tokenizer_json
    save(folder, tuner.model, parts.vocabulary, tokenizer, metadata=dict(facts), replace=replace)


def resume(out: Path, tuner: Tuner) -> None:
    """Put a tuner where the run's latest checkpoint left off; its reference stays the first model."""
    folder = out / LATEST
    tuner.model.load_state_dict(load(folder / "model").model.state_dict())
    tuner.value.load_state_dict(load_file(folder / _VALUE))
    tuner.restore(torch.load(folder / _STATE, map_location="cpu", weights_only=True))
