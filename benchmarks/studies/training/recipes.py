"""Compares ways to train: short runs that differ in one setting, measured on the same held-out prompts.

    python -m benchmarks recipes --init BASE --data SHARDS --held-out SHARDS --out RUNS
        [--steps 100] [--only NAME …] [--accumulate 2] [--write docs/results/recipes.md]

BASE is a model folder, the start of every run and the evaluator of what it writes; the shards were made
with its tokenizer. A run that is already in RUNS is not trained again, nor measured twice on the same prompts: several
calls with other NAMEs can train beside each other, and one more makes the table of all.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from benchmarks.contestants.continuation_models import RealText, load_contestant
from benchmarks.contestants.own_models import DecodingOptions
from benchmarks.measures import continuation
from benchmarks.protocol.results import REAL
from benchmarks.protocol.runs import written_by
from benchmarks.protocol.setup import Setup, held_out_prompts
from benchmarks.report.provenance import provenance
from benchmarks.studies.training.short_runs import train_once
from reviser.checkpoints.home import load
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.scoring.loading import default_device, dtype_for
from training.samples.mixture import Mixture
from training.trainer.options import RunOptions
from training.trainer.settings import preset_settings

RECIPE = Path(__file__).parents[3] / "training" / "recipes" / "embedded.json"


@dataclass(frozen=True)
class Recipe:
    """One way to train: a mixture, and settings of the run that differ."""

    name: str
    mixture: Mixture
    changes: dict[str, object] = field(default_factory=dict)


def recipes() -> list[Recipe]:
    """The paper's policy at three strengths, ours one by one, the one we use, and that one changed."""
    ours = Mixture.load(RECIPE)

    def only(policy: str, **changes: Any) -> Mixture:
        nothing = {"plain": 0.0, "paper": 0.0, "structured": 0.0, "local": 0.0, "infill": 0.0}
        return replace(ours, **nothing | {policy: 1.0} | changes)

    def infill(share: float) -> Mixture:
        rest = (1 - share) / (ours.structured + ours.local)
        return replace(
            ours, infill=share, structured=rest * ours.structured, local=rest * ours.local
        )

    return [
        Recipe("left to right", Mixture(), {"objective": "ar", "history": 288}),
        *(Recipe(f"p(Delete) {p}", only("paper", p_delete=((1.0, p),))) for p in (0.8, 0.9, 0.95)),
        Recipe("structured", only("structured")),
        Recipe("local", only("local")),
        Recipe("ours", ours),
        Recipe("ours, no infill", infill(0.0)),
        Recipe("ours, infill 0.4", infill(0.4)),
        # As many moves as ours make, by pieces of another size.
        Recipe("ours, words", replace(ours, pieces=(5, 3, 2), revisions=3.5)),
        Recipe("ours, sentences", replace(ours, pieces=(0, 1, 3), revisions=8.0)),
        Recipe("ours, learning rate 2e-4", ours, {"peak_rate": 2e-4, "final_rate": 1e-5}),
        Recipe("ours, learning rate 8e-4", ours, {"peak_rate": 8e-4, "final_rate": 4e-5}),
    ]


def train_one(recipe: Recipe, chosen: RecipesOptions) -> Path:
    """Run the recipe, unless that was done; returns the folder of its model."""
    changes = {"accumulate": chosen.accumulate, **recipe.changes}
    if chosen.accumulate > 1:
        # The same batch in smaller passes, so that several runs find room on one GPU.
        changes["rows"] = preset_settings(chosen.preset).rows // chosen.accumulate
    options = RunOptions(
        preset=chosen.preset,
        data=chosen.data,
        out=chosen.out / recipe.name.replace(" ", "-").replace(",", ""),
        init=str(chosen.init),
        workers=chosen.workers,
        changes=changes,
    )
    return train_once(options, recipe.mixture, history=chosen.history, steps=chosen.steps)


def table(reports: Sequence[continuation.Report]) -> str:
    lines = [
        "| run | evalPPL | median | against left to right | distinct-2 | repeated 4-grams | tokens | stop | moves | revised |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    baseline = next((entry.ppl for entry in reports if entry.name == "left to right"), None)
    for entry in reports:
        ratio = f"{entry.ppl / baseline:.2f}" if baseline else ""
        lines.append(
            f"| {entry.name} | {entry.ppl:.1f} | {entry.median_ppl:.1f} | {ratio} | {entry.distinct_2:.3f} "
            f"| {entry.repeated_4:.3f} | {entry.tokens:.0f} | {entry.stopped:.0%} | {entry.moves:.1%} "
            f"| {entry.revised:.0%} |"
        )
    return "\n".join(lines) + "\n"


def compare(chosen: RecipesOptions) -> list[continuation.Report]:
    wanted = [recipe for recipe in recipes() if not chosen.only or recipe.name in chosen.only]
    models = [(recipe.name, train_one(recipe, chosen)) for recipe in wanted]
    device = default_device()
    evaluator = load(chosen.init, device=device, dtype=dtype_for(device))
    setup = Setup(prompts=chosen.prompts, seeds=(chosen.seed,))
    prompts = held_out_prompts(chosen.held_out, evaluator.tokenizer, setup)
    real = written_by(RealText(), prompts, setup.seeds)
    reports = [continuation.report(REAL, real, continuation.scores_of(prompts, real, evaluator))]
    for name, folder in models:
        kept = folder.parent / f"report-{chosen.prompts}-{chosen.seed}.json"
        if not kept.is_file():
            decoding = DecodingOptions(rows=chosen.batch)
            contestant = load_contestant(str(folder), setup, name=name, decoding=decoding)
            written = written_by(contestant, prompts, setup.seeds)
            scores = continuation.scores_of(prompts, written, evaluator)
            followed = continuation.walks_of(contestant, prompts, written)
            measured = continuation.report(name, written, scores, followed)
            write_atomically(kept, json.dumps(asdict(measured)).encode())
            print(json.dumps(asdict(measured)), flush=True)
        reports.append(continuation.Report(**json.loads(kept.read_text())))
    return reports


@dataclass(frozen=True, kw_only=True)
class RecipesOptions:
    """From what and on what the recipes are trained and measured."""

    init: Annotated[Path, Option("model folder: start and evaluator")]
    data: Annotated[Path, Option("token shards to train on")]
    held_out: Annotated[Path, Option("token shards to measure on")]
    out: Annotated[Path, Option("folder of the runs")]
    preset: Annotated[str, Option("a preset of training")] = "smol"
    history: Annotated[int, Option("longest history of a sample, in ids")] = 1024
    steps: Annotated[int, Option("steps of each run")] = 100
    accumulate: Annotated[int, Option("passes that make one optimizer step")] = 1
    workers: Annotated[int, Option("threads that make batches")] = 8
    prompts: Annotated[int, Option("how many prompts")] = 500
    seed: Annotated[int, Option("random seed of the sampling")] = 123
    batch: Annotated[int, Option("texts at a time")] = 512
    only: Annotated[
        tuple[str, ...], Option("only these recipes", metavar="NAME", together=True)
    ] = ()
    write: Annotated[Path | None, Option("also write the table to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        RecipesOptions,
        run,
        arguments,
        prog="python -m benchmarks recipes",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: RecipesOptions) -> None:
    known = {recipe.name for recipe in recipes()}
    if unknown := sorted(set(chosen.only) - known):
        raise ReviserError(f"there is no recipe {', '.join(unknown)}: {', '.join(sorted(known))}")
    reports = compare(chosen)
    print(table(reports))
    if chosen.write:
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "recipes", *chosen.words]),
            Seed=chosen.seed,
            Training=f"{chosen.preset} from {chosen.init.name}, {chosen.steps} steps each",
            Data=f"{chosen.data.name}; prompts of 35 GPT-2 tokens from {chosen.held_out.name}",
            Sampling="temperature 0.9, top-k 50, at most 256 actions, or 145 tokens from left to right",
            Evaluator=chosen.init.name,
        )
        chosen.write.write_text(f"# Ways to train, in short runs\n\n{facts}\n{table(reports)}")
