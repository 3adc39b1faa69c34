"""Distributed checkpoints: each process writes and reads its own part of a run's state.

The format is torch's distributed checkpoint: a run of four processes can be resumed by two or one, sharded or not.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint import filesystem, state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from torch.distributed.tensor import DTensor, distribute_tensor

from reviser.core.errors import ReviserError
from training.trainer.trainer import Progress, StateDict, Trainer, TrainerState

SHARDS = "shards"
_PROGRESS = "progress.json"
# Names of weights instead of numbers, so that processes with other parts find theirs.
_BY_NAME = StateDictOptions(flatten_optimizer_state_dict=True)
_WHOLE = StateDictOptions(full_state_dict=True)


def save_shards(folder: Path, trainer: Trainer) -> None:
    """Writes the state of `trainer` into `folder`; all processes call this with the same folder."""
    state = _state(trainer)
    # Each process has random numbers of its own, under its own name.
    state[_chances(trainer)] = trainer.generators()
    with _quiet():
        state_dict_saver.save(state, checkpoint_id=str(folder / SHARDS), no_dist=trainer.world.size == 1)
    if trainer.world.leads:
        (folder / _PROGRESS).write_text(json.dumps(vars(trainer.progress)))


def has_shards(folder: Path) -> bool:
    return (folder / SHARDS).is_dir()


def load_shards(folder: Path, trainer: Trainer) -> None:
    """Restores `trainer` from `folder`, which any number of processes may have written."""
    known = _known(folder)
    state = _state(trainer)
    if not any(name.startswith("average.") for name in known):
        state.pop("average", None)
    own = _chances(trainer)
    if any(name.startswith(f"{own}.") for name in known):
        kept = trainer.generators()
        state[own] = {name: kept[name] for name in kept if f"{own}.{name}" in known}
    try:
        with _quiet():
            state_dict_loader.load(state, checkpoint_id=str(folder / SHARDS), no_dist=trainer.world.size == 1)
    except (RuntimeError, ValueError, KeyError) as error:
        told = str(error).strip().splitlines()
        raise ReviserError(f"{folder} is not a checkpoint of this run: {told[0] if told else error!r}") from None
    set_state_dict(
        trainer.shared,
        trainer.optimizer,
        model_state_dict=state["weights"],
        optim_state_dict=state["optimizer"],
        options=_BY_NAME,
    )
    trainer.progress = Progress(**json.loads((folder / _PROGRESS).read_text()))
    if own in state:
        trainer.restore_generators(state[own])
    else:
        # A process that was not there before: random numbers that no other has.
        torch.manual_seed(trainer.settings.seed + trainer.world.rank + 1000 * trainer.progress.step)


def load_whole(trainer: Trainer, weights: StateDict, state: TrainerState) -> None:
    """Restores a trainer with sharded weights from an unsharded checkpoint."""
    set_model_state_dict(trainer.model, weights, options=_WHOLE)
    set_optimizer_state_dict(trainer.shared, trainer.optimizer, _named(trainer, state["optimizer"]), options=_WHOLE)
    if trainer.average is not None and state["average"] is not None:
        for name, kept in trainer.average.items():
            assert isinstance(kept, DTensor)
            whole = state["average"][name].to(kept.device)
            kept.copy_(distribute_tensor(whole, kept.device_mesh, kept.placements))
    saved: Mapping[str, Any] = state["progress"]
    trainer.progress = Progress(**saved)
    torch.manual_seed(trainer.settings.seed + trainer.world.rank + 1000 * trainer.progress.step)


def _state(trainer: Trainer) -> StateDict:
    weights, optimizer = get_state_dict(trainer.shared, trainer.optimizer, options=_BY_NAME)
    state: StateDict = {"weights": weights, "optimizer": optimizer}
    if trainer.average is not None:
        state["average"] = trainer.average
    return state


def _chances(trainer: Trainer) -> str:
    return f"chances-{trainer.world.rank}"


def _known(folder: Path) -> set[str]:
    try:
        return set(filesystem.FileSystemReader(folder / SHARDS).read_metadata().state_dict_metadata)
    except OSError as error:
        raise ReviserError(f"{folder} cannot be read: {error.strerror or error}") from None


def _named(trainer: Trainer, numbered: StateDict) -> StateDict:
    """An optimizer's state, keyed by the names of weights instead of their numbers."""
    names = {weight: name for name, weight in trainer.shared.named_parameters()}
    groups = trainer.optimizer.param_groups
    order = [names[weight] for group in groups for weight in group["params"]]
    return {
        "state": {order[number]: kept for number, kept in numbered["state"].items()},
        "param_groups": [
            group | {"params": [order[number] for number in group["params"]]} for group in numbered["param_groups"]
        ],
    }


class _quiet(warnings.catch_warnings):  # noqa: N801
    """A context that suppresses torch's warnings about its internals and about processes without a GPU."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        warnings.simplefilter("ignore")
        return entered
