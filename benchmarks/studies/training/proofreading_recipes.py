"""Compares ways to teach proofreading: short runs that differ in one setting, measured on the same sentences.

    python -m benchmarks proofreading_recipes train --init BASE --data SHARDS --mistakes TABLE --out RUNS [--steps 150] [--only NAME …]
    python -m benchmarks proofreading_recipes correct --out RUNS --files several.txt jfleg-dev.txt
    python -m benchmarks proofreading_recipes score --out RUNS --pairs several.jsonl --yes [--write docs/results/proofreading-recipes.md]

The three stages may run on different machines: the first wants a GPU, the second many cores, and the third the public sets and
ERRANT. What a run has made already is not made again. `several.jsonl` is made by `python -m training mistakes make` from texts that no
run has seen, `several.txt` holds its texts with mistakes, one on each line.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from benchmarks.proofreading import lines, sets
from benchmarks.proofreading.command import get_sets
from benchmarks.proofreading.measure import Result, measured, measured_kinds
from benchmarks.proofreading.mistakes import read_mistakes
from benchmarks.proofreading.scores import Interval
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from benchmarks.studies.training.short_runs import train_once
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from training.edits.mistakes.kinds import Recipe
from training.samples.mixture import Mixture
from training.trainer.metrics import read_metrics
from training.trainer.options import RunOptions

RECIPES = Path(__file__).parents[3] / "training" / "recipes"
STAGES = ("train", "correct", "score")
JFLEG = "jfleg-dev"
_OF_LETTERS = ("spelling", "case", "split", "joined", "apostrophe", "hyphen", "doubled")


@dataclass(frozen=True)
class Variant:
    """One way to teach proofreading: what it shows, which mistakes it makes up, and settings of the run that differ."""

    name: str
    mixture: Mixture
    recipe: Recipe
    changes: dict[str, object] = field(default_factory=dict)
    longer: float = 1.0
    """How many times as many steps as the other runs."""

    @property
    def folder(self) -> str:
        return self.name.replace(",", "").replace(" ", "-")


def variants() -> list[Variant]:
    """The recipe of the embedded model, and that one changed in one place each."""
    # Real edits are left out: they need a corpus of their own, and are the same in all runs.
    shown = replace(Mixture.load(RECIPES / "proofreading.json"), real_edits=0.0)
    made = Recipe.load(RECIPES / "mistakes.json")
    letters = {kind: made.shares[kind] for kind in _OF_LETTERS}
    equal = dict.fromkeys(made.shares, 1.0)

    def changed(name: str, **changes: Any) -> Variant:
        return Variant(name, shown, replace(made, **changes))

    return [
        Variant("as it is", shown, made),
        Variant("from the end backward", replace(shown, overtype=0.0), made),
        changed("clean 0.1", clean=0.1),
        changed("clean 0.6", clean=0.6),
        changed("mistakes of letters alone", shares=letters),
        Variant("learning rate 8e-4", shown, made, {"peak_rate": 8e-4, "final_rate": 4e-5}),
        changed("few mistakes", rates=(0.02, 0.04)),
        changed("many mistakes", rates=(0.12, 0.2, 0.3)),
        Variant("half the steps", shown, made, longer=0.5),
        Variant("twice the steps", shown, made, longer=2.0),
        Variant("learning rate 2e-4", shown, made, {"peak_rate": 2e-4, "final_rate": 1e-5}),
        changed("all kinds alike", shares=equal),
    ]


@dataclass(frozen=True, kw_only=True)
class VariantOptions:
    """Which stage of which runs, from what and on what."""

    stage: Annotated[str, Argument(choices=STAGES)]
    out: Annotated[Path, Option("folder of the runs")]
    init: Annotated[
        str | None, Option("train: the model to start from", default="random weights")
    ] = None
    data: Annotated[Path | None, Option("train: token shards of good texts")] = None
    mistakes: Annotated[Path | None, Option("train: the table of mistakes")] = None
    preset: Annotated[str, Option("a preset of training")] = "smol"
    history: Annotated[int, Option("longest history of a sample, in ids")] = 512
    steps: Annotated[int, Option("steps of a run")] = 150
    workers: Annotated[int, Option("threads that make batches")] = 8
    files: Annotated[
        tuple[Path, ...],
        Option("correct: sentences, one on each line", metavar="FILE", together=True),
    ] = ()
    processes: Annotated[int, Option("correct: how many at once")] = 4
    pairs: Annotated[
        Path | None, Option("score: JSON lines with before and after", metavar="FILE")
    ] = None
    yes: Annotated[bool, Option("score: accept the licence of JFLEG, and measure on it")] = False
    only: Annotated[tuple[str, ...], Option("only these runs", metavar="NAME", together=True)] = ()
    write: Annotated[Path | None, Option("score: also write the table to this file")] = None
    words: Words = ()


def train_one(variant: Variant, chosen: VariantOptions) -> None:
    """Run a variant, unless that was done."""
    if chosen.data is None or chosen.mistakes is None:
        raise ReviserError("to train, name --data and --mistakes")
    out = chosen.out / variant.folder
    out.mkdir(parents=True, exist_ok=True)
    recipe = out / "recipe.json"
    recipe.write_text(json.dumps(variant.recipe.to_dict()))
    options = RunOptions(
        preset=chosen.preset,
        data=chosen.data,
        out=out,
        mistakes=chosen.mistakes,
        recipe=recipe,
        init=chosen.init,
        workers=chosen.workers,
        changes={"operators": "delete", **variant.changes},
    )
    steps = max(2, round(chosen.steps * variant.longer))
    train_once(options, variant.mixture, history=chosen.history, steps=steps)


def correct(wanted: Sequence[Variant], chosen: VariantOptions) -> None:
    """Let the runs that are trained correct the files."""
    if not chosen.files:
        raise ReviserError("name the files of sentences to be corrected with --files")
    for variant in wanted:
        model = chosen.out / variant.folder / "model"
        target = _lines_of(chosen, variant)
        files = tuple(file for file in chosen.files if not (target / file.name).is_file())
        if model.is_dir() and files:
            name = f"model:{variant.folder}={model}"
            lines.run(
                lines.LinesOptions(
                    files=files,
                    correctors=name,
                    out=target.parent,
                    processes=chosen.processes,
                )
            )


def _lines_of(chosen: VariantOptions, variant: Variant) -> Path:
    return chosen.out / "lines" / variant.folder


@dataclass(frozen=True)
class Measured:
    """What a run reached."""

    variant: Variant
    steps: int
    actions: int
    loss: float
    pairs: Result
    jfleg: Result | None


def score(wanted: Sequence[Variant], chosen: VariantOptions) -> list[Measured]:
    """Measure what the runs made of the sentences."""
    if chosen.pairs is None:
        raise ReviserError("name the texts with known mistakes with --pairs")
    own = read_mistakes(chosen.pairs)
    public = None
    if chosen.yes:
        get_sets(agreed=True)
        public = sets.read_set(JFLEG)
    found = []
    for variant in wanted:
        folder = _lines_of(chosen, variant)
        if not (folder / f"{own.name}.txt").is_file():
            continue
        name = f"file:{variant.folder}={folder}"
        entries = [
            entry
            for entry in read_metrics(chosen.out / variant.folder / "metrics.jsonl")
            if "loss" in entry
        ]
        last = entries[-max(1, len(entries) // 5) :]
        found.append(
            Measured(
                variant,
                int(entries[-1]["step"]),
                int(entries[-1]["actions"]),
                sum(entry["loss"] for entry in last) / len(last),
                measured_kinds(own, name, 0),
                measured(public, name, 0) if public is not None else None,
            )
        )
    if not found:
        raise ReviserError(f"{chosen.out} has no corrected {own.name}.txt")
    return found


def table(found: Sequence[Measured]) -> str:
    """One row for each run."""
    titles = ("run", "steps", "million actions", "loss", "precision", "recall", "F0.5")
    rows = tuple(_row(one) for one in found)
    return Table((*titles, "left alone", "JFLEG dev, GLEU"), rows).markdown()


def _row(one: Measured) -> tuple[str, ...]:
    assert one.pairs.f is not None
    f = one.pairs.f
    gleu = one.jfleg.gleu if one.jfleg is not None else None
    return (
        one.variant.name,
        str(one.steps),
        f"{one.actions / 1e6:.1f}",
        f"{one.loss:.3f}",
        _percent(f.precision),
        _percent(f.recall),
        _percent(f.f, interval=True),
        _percent(one.pairs.left_alone),
        _percent(gleu, interval=True),
    )


def _percent(value: Interval | None, *, interval: bool = False) -> str:
    if value is None:
        return "–"
    shown = f"{100 * value.value:.1f}"
    return f"{shown} ({100 * value.low:.1f} to {100 * value.high:.1f})" if interval else shown


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        VariantOptions,
        run,
        arguments,
        prog="python -m benchmarks proofreading_recipes",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: VariantOptions) -> None:
    known = variants()
    names = [variant.name for variant in known]
    if unknown := sorted(set(chosen.only) - set(names)):
        raise ReviserError(f"there is no run {', '.join(unknown)}: {', '.join(names)}")
    wanted = [variant for variant in known if not chosen.only or variant.name in chosen.only]
    if chosen.stage == "train":
        for variant in wanted:
            train_one(variant, chosen)
    elif chosen.stage == "correct":
        correct(wanted, chosen)
    else:
        found = score(wanted, chosen)
        print(table(found))
        if chosen.write:
            _write(found, chosen)


def _write(found: Sequence[Measured], chosen: VariantOptions) -> None:
    facts = provenance(
        shlex.join(["python", "-m", "benchmarks", "proofreading_recipes", *chosen.words]),
        Runs="`train` and `correct` of the same command",
    )
    text = f"# Ways to teach proofreading, in short runs\n\n{facts}\n{table(found)}"
    assert chosen.write is not None
    write_atomically(chosen.write, text.encode())
    told = [asdict(one.variant) for one in found]
    write_atomically(chosen.out / "variants.json", json.dumps(told, default=str).encode())
