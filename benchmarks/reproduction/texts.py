"""The texts of trained models, stored so that judging needs nothing else and may run on another machine."""

from __future__ import annotations

import dataclasses
import gc
import json
from pathlib import Path

from benchmarks.protocol.records import Continuation, read_records, write_records
from benchmarks.protocol.results import REAL
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder, file_name
from benchmarks.reproduction.scales import NAMES, Name, StagedScale, label
from benchmarks.reproduction.training import ModelPlaces, trained
from benchmarks.suite import Suite, SuitePlan, finite
from reviser.core.errors import ReviserError


def run_folder(out: Path, budget: int) -> RunFolder:
    return RunFolder(out / "texts" / label(budget))


def has_written(folder: RunFolder, name: str, count: int) -> bool:
    """Whether all texts of a contestant exist."""
    path = folder.path / "generations" / f"{file_name(name)}.jsonl"
    return path.exists() and len(read_records(path, Continuation)) >= count


def generate(name: Name, scale: StagedScale, out: Path, prompts: Path, budget: int, bars: ProgressBars) -> bool:
    """Lets a model of a budget continue all prompts, unless that was done; returns False if it is not trained yet."""
    folder = run_folder(out, budget)
    places = ModelPlaces(out, name)
    setup = dataclasses.replace(scale.setup, data=str(prompts))
    plan = SuitePlan(setup, (f"{name}={places.model(budget)}",))
    suite_of = _Suites(plan, folder, out, bars)
    if not suite_of.missing((REAL, name)):
        bars.say(f"{name}, {label(budget)}: has written already")
        return True
    if not trained(places, budget, scale):
        bars.say(f"{name}, {label(budget)}: is not trained yet")
        return False
    if not places.model(budget).is_dir():
        raise ReviserError(f"{places.model(budget)} is not here: carry the model, or its texts")
    suite_of.write()
    return True


class _Suites:
    """The benchmark's suite for generating texts into the folder of a budget."""

    def __init__(self, plan: SuitePlan, folder: RunFolder, out: Path, bars: ProgressBars) -> None:
        self._plan = plan
        self._folder = folder
        self._out = out
        self._bars = bars

    def missing(self, names: tuple[str, ...]) -> list[str]:
        count = self._plan.setup.prompts * len(self._plan.setup.seeds)
        kept = sorted((self._folder.path / "prompts").glob("*.jsonl"))
        if kept:
            # Data may hold fewer texts than are asked for.
            count = sum(len(path.read_text("utf-8").splitlines()) for path in kept)
        return [name for name in names if not has_written(self._folder, name, count)]

    def write(self) -> None:
        with RunCache(self._out / "cache.sqlite") as cache:
            suite = Suite(self._plan, self._folder, cache, self._bars)
            for seed, prompts in suite.prompts.items():
                write_records(self._folder.file("prompts", f"{seed}.jsonl"), prompts)
            for written in suite.write():
                facts = finite(suite.facts_of(written))
                path = f"facts/{file_name(written.name)}.json"
                self._folder.write_json(path, json.loads(json.dumps(facts)))
        gc.collect()


def written_names(folder: RunFolder) -> list[Name]:
    """The models whose texts exist at this budget, in the order of tables."""
    generations = folder.path / "generations"
    return [name for name in NAMES if (generations / f"{file_name(name)}.jsonl").exists()]
