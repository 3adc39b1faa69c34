"""Checkpoints of a run: the model in its home format and the state for resuming."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NotRequired, TypedDict

import torch

from reviser.checkpoints.folders import atomic_folder
from reviser.checkpoints.home import Checkpoint, load, save
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from training.trainer.distributed import has_shards, load_shards, load_whole, save_shards
from training.trainer.parallel import World
from training.trainer.trainer import Trainer

LATEST = "latest"
RESULT = "model"
_STATE = "training.pt"
_SETTINGS = "settings.json"


class RunFacts(TypedDict):
    """The facts of a run that are saved in its folder and in the model's metadata."""

    settings: dict[str, object]
    dagger: NotRequired[dict[str, object]]
    mixture: dict[str, object]
    init: str | None
    data: str
    edits: str | None
    mistakes: NotRequired[dict[str, object] | None]
    command: str


def save_settings(out: Path, facts: RunFacts) -> None:
    """Saves the settings of the run before its first step."""
    write_atomically(out / _SETTINGS, (json.dumps(facts, indent=2) + "\n").encode())


def check_out(out: Path, *, resumed: bool) -> None:
    """Raises `ReviserError` if a new run would overwrite another run's checkpoint or result."""
    if not resumed and ((out / LATEST).exists() or (out / RESULT).exists()):
        raise ReviserError(f"{out} holds a run already: go on with --resume, or name another folder")


def save_run(out: Path, trainer: Trainer, parts: Checkpoint, facts: RunFacts) -> None:
    """Replaces the run's latest checkpoint atomically."""
    weights = gathered_weights(trainer)
    with _made_together(out / LATEST, trainer.world) as folder:
        if trainer.world.size > 1:
            save_shards(folder, trainer)
        else:
            torch.save(trainer.state(), folder / _STATE)
        if trainer.world.leads:
            _save_model(folder / "model", trainer, weights, parts, facts)
        trainer.world.wait()
    trainer.world.wait()


@contextmanager
def _made_together(target: Path, world: World) -> Iterator[Path]:
    """A temporary folder into which all processes write; it is renamed to `target` if the leader's block succeeds."""
    if not world.leads:
        yield target.parent / world.broadcast("")
        return
    with atomic_folder(target, replace=True) as folder:
        world.broadcast(folder.name)
        yield folder


def has_checkpoint(out: Path) -> bool:
    return (out / LATEST).is_dir()


def tidy(out: Path) -> None:
    """Removes the incomplete files of a run that was killed while saving.

    If it was killed between two renames, the previous checkpoint is still whole and gets its name back.
    """
    for aside in sorted(out.glob(f".{LATEST}.*.old")):
        if not has_checkpoint(out) and (aside / LATEST).is_dir():
            (aside / LATEST).replace(out / LATEST)
        shutil.rmtree(aside, ignore_errors=True)
    for half in out.glob(f".{LATEST}.*.tmp"):
        shutil.rmtree(half, ignore_errors=True)


def lanes_of(out: Path) -> int | None:
    """The number of lanes in the saved settings of a run; None if they have none."""
    try:
        settings = json.loads((out / _SETTINGS).read_text("utf-8"))["settings"]
    except (OSError, ValueError, KeyError):
        return None
    lanes: int | None = settings.get("lanes")
    return lanes


def save_result(out: Path, trainer: Trainer, parts: Checkpoint, facts: RunFacts) -> Path:
    """Saves the finished model (the average of its weights, if kept) in `out/model`; returns that folder."""
    weights = gathered_weights(trainer)
    if trainer.average is not None:
        weights |= _gathered(trainer.average, trainer.world)
    target = out / RESULT
    if trainer.world.leads:
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
    """The model's whole weights on the CPU; all processes take part in gathering sharded ones for the leader."""
    return _gathered(trainer.model.state_dict(), trainer.world)


def _gathered(tensors: dict[str, torch.Tensor], world: World) -> dict[str, torch.Tensor]:
    weights = {}
    for name, value in tensors.items():
        whole = value.full_tensor() if hasattr(value, "full_tensor") else value
        if world.leads:
            weights[name] = whole.detach().cpu()
    return weights


def resume(out: Path, trainer: Trainer) -> None:
    """Restores a trainer from the run's latest checkpoint."""
    folder = out / LATEST
    if not folder.is_dir():
        raise ReviserError(f"{out} has no checkpoint to resume from")
    if has_shards(folder):
        load_shards(folder, trainer)
        return
    weights = load(folder / "model").model.state_dict()
    state = torch.load(folder / _STATE, map_location="cpu", weights_only=True)
    if trainer.world.kind == "fsdp":
        load_whole(trainer, weights, state)
        return
    trainer.model.load_state_dict(weights)
    trainer.restore(state)
