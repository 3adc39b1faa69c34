"""Training in stages: each call resumes where the last one ended, until its minutes are over or all is trained."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.reproduction.scales import Name, StagedScale, label
from benchmarks.reproduction.starts import InitialModel, initial_model, parameters
from reviser.checkpoints.folders import atomic_folder
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from training.trainer.metrics import MetricsLog, PlainView, read_metrics
from training.trainer.parallel import join_world
from training.trainer.run import Reporter
from training.trainer.settings import Settings

Say = Callable[[str], None]
_STATE = "state.pt"
_LATEST = "latest"


@dataclass(frozen=True)
class ModelPlaces:
    """The paths of one model in the folder of a reproduction."""

    out: Path
    name: Name

    @property
    def folder(self) -> Path:
        return self.out / "models" / self.name.lower()

    def of(self, budget: int) -> Path:
        # Named so that tables can call a model by its folder.
        return self.folder / f"{self.name.lower()}-{label(budget)}"

    def model(self, budget: int) -> Path:
        return self.of(budget) / "model"

    def record(self, budget: int) -> Path:
        return self.of(budget) / "training.json"


def trained(places: ModelPlaces, budget: int, scale: StagedScale) -> bool:
    """Whether the model of a budget exists; raises `ReviserError` if it has other settings."""
    path = places.record(budget)
    if not path.exists():
        return False
    kept = json.loads(path.read_text("utf-8"))
    if Settings.from_dict(kept["settings"]) != scale.settings_of(budget):
        raise ReviserError(f"{path.parent} was trained with other settings; name another folder")
    return True


def train(
    name: Name, scale: StagedScale, out: Path, corpus: Path, *, minutes: float | None = None, say: Say = print
) -> bool:
    """Trains a model at all budgets, the smallest first; returns whether all are done, False if the minutes were over
    before."""
    places = ModelPlaces(out, name)
    missing = [budget for budget in scale.budgets if not trained(places, budget, scale)]
    if not missing:
        say(f"{name} is trained already, at all budgets")
        return True
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    longest = scale.budgets[-1]
    if longest not in missing:
        raise ReviserError(
            f"{places.of(longest)} is trained, and {label(missing[0])} is not: that run branches off the longest "
            "one; name another folder"
        )
    # What training prints is not the result of this program.
    with contextlib.redirect_stdout(sys.stderr), join_world("none") as world:
        begun = initial_model(name, scale, scale.settings_of(longest), corpus, world)
        stages = _BudgetRuns(places, scale, begun, deadline, say)
        return all(stages.branch_off(b) and stages.run(b) for b in missing)


class _BudgetRuns:
    """One model's runs: the longest, and the last parts of the shorter ones, which branch off it."""

    def __init__(
        self, places: ModelPlaces, scale: StagedScale, begun: InitialModel, deadline: float | None, say: Say
    ) -> None:
        self._places = places
        self._scale = scale
        self._begun = begun
        self._deadline = deadline
        self._say = say

    def branch_off(self, budget: int) -> bool:
        """Trains the longest run to the step at which that of a budget branches off; returns False if time is up."""
        longest = self._scale.budgets[-1]
        if budget == longest or (self._places.of(budget) / _LATEST / _STATE).exists():
            return True
        return self.run(longest, until=self._scale.branch(budget))

    def run(self, budget: int, until: int | None = None) -> bool:
        """Trains the run of a budget to its end or to step `until`; returns False if time is up before."""
        trainer, scale = self._begun.trainer, self._scale
        folder = self._places.of(budget)
        folder.mkdir(parents=True, exist_ok=True)
        # One trainer serves all budgets, so that nothing is compiled twice.
        trainer.settings = self._settings(budget)
        self._go_to_start(budget)
        if until is not None and trainer.progress.step >= until:
            return True
        log = MetricsLog(folder / "metrics.jsonl", trainer.progress.step)
        reporter = Reporter(trainer, log, PlainView())
        self._say(
            f"{self._places.name}, {label(budget)}: from step {trainer.progress.step} to {until or scale.steps(budget)}"
        )
        began, measured, over = time.monotonic(), None, False
        for measured in trainer.steps():
            reporter.take(measured)
            over = self._deadline is not None and time.monotonic() > self._deadline
            if (over or trainer.progress.step == until) and trainer.done < 1:
                break
        if measured is not None and reporter.unreported:
            reporter.report(measured)
        log.close()
        self._count(folder, time.monotonic() - began)
        if trainer.done < 1:
            self._keep(folder / _LATEST)
            if trainer.progress.step == until:
                return True
            self._say(
                f"{self._places.name}, {label(budget)}: stopped at step {trainer.progress.step} "
                f"of {scale.steps(budget)}; the same command goes on"
            )
            return False
        self._finish(budget, folder)
        return True

    def _settings(self, budget: int) -> Settings:
        objective = self._begun.trainer.settings.objective
        return dataclasses.replace(self._scale.settings_of(budget), objective=objective)

    def _go_to_start(self, budget: int) -> None:
        folder, scale = self._places.of(budget), self._scale
        if (folder / _LATEST / _STATE).exists():
            self._restore(folder / _LATEST)
        elif budget != scale.budgets[-1]:
            # The longest run stands where this one leaves it.
            self._restore(self._places.of(scale.budgets[-1]) / _LATEST)

    def _keep(self, folder: Path) -> None:
        trainer = self._begun.trainer
        with atomic_folder(folder, replace=True) as made:
            torch.save({"model": trainer.model.state_dict(), **trainer.state()}, made / _STATE)

    def _restore(self, folder: Path) -> None:
        trainer = self._begun.trainer
        state = torch.load(folder / _STATE, map_location="cpu", weights_only=True)
        trainer.model.load_state_dict(state.pop("model"))
        trainer.restore(state)

    def _count(self, folder: Path, seconds: float) -> None:
        """Adds the seconds of this call to the total."""
        path = folder / "seconds.json"
        before = json.loads(path.read_text()) if path.exists() else 0.0
        write_atomically(path, json.dumps(before + seconds).encode())

    def _finish(self, budget: int, folder: Path) -> None:
        trainer = self._begun.trainer
        facts: dict[str, object] = {
            "settings": trainer.settings.to_dict(),
            "mixture": self._begun.mixture.to_dict(),
            "init": None,
            "name": self._places.name,
        }
        self._begun.save(folder / "model", facts)
        entries = [entry for entry in read_metrics(folder / "metrics.jsonl") if "loss" in entry]
        last = entries[-max(1, len(entries) // 10) :]
        weights = (folder / "model").glob("*.safetensors")
        record: dict[str, object] = {
            "steps": trainer.progress.step,
            "ids": trainer.progress.actions,
            "ids_per_s": sorted(entry["actions_per_s"] for entry in entries)[len(entries) // 2],
            "loss": sum(entry["loss"] for entry in last) / len(last),
            "weights_mb": round(sum(path.stat().st_size for path in weights) / 1e6, 1),
            "training_seconds": trainer.progress.seconds,
            "seconds": json.loads((folder / "seconds.json").read_text()),
            "parameters": parameters(trainer.model),
            "settings": self._scale.settings_of(budget).to_dict(),
        }
        write_atomically(self._places.record(budget), (json.dumps(record, indent=1) + "\n").encode())
        # What is finished needs no state to go on from.
        if (state := folder / _LATEST / _STATE).exists():
            state.unlink()
            state.parent.rmdir()
        self._say(f"{self._places.name}, {label(budget)}: done, loss {record['loss']:.3f}")
