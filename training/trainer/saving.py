"""Checkpoints of a run: the model in its home format, and beside it what resuming needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import torch

from reviser.checkpoints.folders import made_whole
from reviser.checkpoints.home import Checkpoint, load, save
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from training.trainer.trainer import Trainer

LATEST = "latest"
RESULT = "model"
_STATE = "training.pt"
_SETTINGS = "settings.json"


class RunFacts(TypedDict):
    """What a run is, for its folder and for the model's own record."""

    settings: dict[str, Any]
    dagger: NotRequired[dict[str, Any]]
    mixture: dict[str, Any]
    init: str | None
    data: str
    edits: str | None
    mistakes: NotRequired[dict[str, Any] | None]
    command: str


def save_settings(out: Path, facts: RunFacts) -> None:
    """Write down what the run is, before its first step."""
    write_atomically(out / _SETTINGS, (json.dumps(facts, indent=2) + "\n").encode())


def check_out(out: Path, *, resumed: bool) -> None:
    """A run must not take the place of another's checkpoint or result: hours may be in them."""
    if not resumed and ((out / LATEST).exists() or (out / RESULT).exists()):
        raise ReviserError(
            f"{out} holds a run already: go on with --resume, or name another folder"
        )


def save_run(out: Path, trainer: Trainer, parts: Checkpoint, facts: RunFacts) -> None:
    """Replace the run's latest checkpoint, whole or not at all."""
    weights = gathered_weights(trainer)
    if not trainer.world.leads:
        trainer.world.wait()
        return
    with made_whole(out / LATEST, replace=True) as folder:
        _save_model(folder / "model", trainer, weights, parts, facts)
        torch.save(trainer.state(), folder / _STATE)
    trainer.world.wait()


def save_result(out: Path, trainer: Trainer, parts: Checkpoint, facts: RunFacts) -> Path:
    """The finished model (its average, if one was kept) in `out/model`."""
    weights = gathered_weights(trainer)
    target = out / RESULT
    if trainer.world.leads:
        if trainer.average is not None:
            weights = dict(trainer.average.state_dict())
        _save_model(target, trainer, weights, parts, facts, replace=True)
    trainer.world.wait()
    return target


def _save_model(
    folder: Path,
    trainer: Trainer,
    weights: dict[str, torch.Tensor],
    parts: Checkpoint,
    facts: RunFacts,
    *,
    replace: bool = False,
) -> None:
    from reviser.checkpoints.building import build_model

    model = build_model(trainer.model.config, weights)
    tokenizer = "gpt2" if parts.tokenizer_json is None else parts.tokenizer_json
    save(folder, model, parts.vocabulary, tokenizer, metadata=dict(facts), replace=replace)


def gathered_weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    """The model's weights, whole, on the CPU; sharded ones are put together by all processes."""
    weights = {}
    for name, value in trainer.model.state_dict().items():
        whole = value.full_tensor() if hasattr(value, "full_tensor") else value
        weights[name] = whole.detach().cpu()
    return weights


def resume(out: Path, trainer: Trainer) -> None:
    """Put a trainer where the run's latest checkpoint left off."""
    folder = out / LATEST
    if not folder.is_dir():
        raise ReviserError(f"{out} has no checkpoint to resume from")
    saved = load(folder / "model").model
    trainer.model.load_state_dict(saved.state_dict())
    state = torch.load(folder / _STATE, map_location="cpu", weights_only=True)
    trainer.restore(state)
