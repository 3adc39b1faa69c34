"""The paper's comparison at a smaller scale: trains AR, Reviser, SEDD and MDLM alike, then measures all.

python -m benchmarks reproduce --scale lab --data TRAIN… --held-out TEXTS --out runs/lab

All four have the same trunk (layers, width, heads, MLP), see the same texts and as many ids, in batches of the same
size under the same schedule; AR, SEDD and MDLM see the very same rows. A Reviser's ids include its moves, as in the
paper. What is finished is kept in OUT, so a second call goes on where the first ended (`--train AR` does one part
alone); `--measure OUT` measures what a run has written by further evaluators, without its models. `--scale bench`,
`bench-small` and `bench-warm` are larger, with a fifth model and several budgets, and are carried out in stages, on
any machines and days (`benchmarks.reproduction`).
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, TypeVar

from benchmarks.protocol.records import Judgement, read_records, write_records
from benchmarks.protocol.results import (
    ArenaRow,
    MauveRow,
    MissingEntry,
    PerplexityRow,
    Reproduced,
    Reproduction,
    Results,
)
from benchmarks.protocol.runs import PlainBars, ProgressBars, RunCache, RunFolder
from benchmarks.protocol.setup import BUILTIN, Setup
from benchmarks.report.findings import NAMES, Name, findings
from benchmarks.report.provenance import surroundings
from benchmarks.reproduction.data import TrainingTexts
from benchmarks.reproduction.four_models import SCALES, ReproductionScale, model_folder, train_models, write_json
from benchmarks.reproduction.kept import KeptSuite
from benchmarks.sections.page import tables_of, write_report
from benchmarks.suite import Suite, SuitePlan, WrittenRuns, finite
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically

_RECORD = "reproduction.json"
BUILTIN_TEXTS = TrainingTexts()
# Scales that are carried out in stages, by `benchmarks.reproduction`, which is built of what is here.
STAGED = ("bench", "bench-small", "bench-warm", "bench-tiny")
STAGES = ("prepare", "train", "generate", "judge", "report", "cut", "join")
STAGED_NAMES = ("Reviser", "Reviser-ours", "AR", "SEDD", "MDLM")


@dataclass(frozen=True)
class Measures:
    """Evaluators, judges and features for MAUVE."""

    evaluators: Sequence[str] = ()
    judges: Sequence[str] = ()
    features: Sequence[str] = ()


def reproduce(
    scale: str | ReproductionScale,
    out: Path,
    texts: TrainingTexts = BUILTIN_TEXTS,
    further: Measures = Measures(),
    *,
    command: str = "",
    bars: ProgressBars | None = None,
) -> Reproduced:
    """Train the four models and measure them; returns, and leaves in `out`, everything that was found.

    They are measured by what the scale says, and by further measures.
    """
    chosen = SCALES[scale] if isinstance(scale, str) else scale
    shown = bars or PlainBars()
    # Where there is no package index, asking it again and again would only take time.
    os.environ.setdefault("PIP_RETRIES", "0")
    os.environ.setdefault("PIP_DEFAULT_TIMEOUT", "10")
    prompts, training = train_models(NAMES, chosen, out, texts, shown.say)
    trained = time.perf_counter()
    found: Reproduction = {
        "scale": scale if isinstance(scale, str) else "custom",
        "command": command,
        "training": training,
    }
    write_json(out / _RECORD, found)
    plan = SuitePlan(
        setup=dataclasses.replace(chosen.setup, data=str(prompts)),
        models=tuple(f"{name}={model_folder(out, name)}" for name in NAMES),
        evaluators=tuple(_resolved(out, name) for name in (*chosen.evaluators, *further.evaluators)),
        judges=tuple(_resolved(out, name) for name in (*chosen.judges, *further.judges)),
        features=(*chosen.features, *further.features),
    )
    with RunCache(out / "cache.sqlite") as cache:
        folder = RunFolder.start(out / "run", plan.to_dict())
        results = Suite(plan, folder, cache, shown).run()
    # Models may have been trained one by one, before this call.
    spent = sum(entry["seconds"] for entry in training.values()) + time.perf_counter() - trained
    found["seconds"] = round(spent, 1)
    return _concluded(out, folder, results, found)


def _concluded(out: Path, folder: RunFolder, results: Results, found: Reproduction) -> Reproduced:
    """Say what follows from results, there and in the report; returns all of it."""
    concluded: Reproduction = finite({**found, "findings": findings(results)})
    results = {**results, "reproduction": concluded}
    folder.write_json("results.json", results)
    write_report(folder)
    write_json(out / _RECORD, concluded)
    return {**concluded, "results": results}


def _resolved(out: Path, source: str) -> str:
    """An evaluator or judge, where it is named after a model that was trained here, as its folder."""
    head, mark, name = source.rpartition(":")
    return f"{head}{mark}{model_folder(out, name)}" if name in NAMES else source


def measure(out: Path, further: Measures, *, bars: ProgressBars | None = None) -> Reproduced:
    """Measure a reproduction's texts by what was not to be had when they were written."""
    folder = RunFolder.existing(out / "run")
    results: Results = folder.read_json("results.json")
    settings = results["settings"]
    plan = SuitePlan(
        Setup.from_dict(settings["setup"]),
        tuple(settings["models"]),
        tuple(further.evaluators),
        tuple(further.judges),
        both_ways=settings["both_ways"],
        features=tuple(further.features),
    )
    with RunCache(out / "cache.sqlite") as cache:
        suite = KeptSuite(plan, folder, cache, bars or PlainBars())
        kept = suite.written()
        new = Tables(
            suite.perplexities(kept), _further_arenas(suite, kept) if further.judges else [], suite.mauve(kept)
        )
    merged = merge(results, new, suite.missing)
    if new.perplexity or new.arena or new.mauve:
        asked = ", ".join((*further.evaluators, *further.judges, *further.features))
        place = surroundings()
        words = f"{asked} on {place['Hardware']}, {place['Date']}, commit {place['Commit']}"
        merged["provenance"] = merged["provenance"] | {"Measured later": words}
    record = out / _RECORD
    found: Reproduction = json.loads(record.read_text("utf-8")) if record.exists() else {}
    return _concluded(out, folder, merged, found)


def _further_arenas(suite: KeptSuite, kept: Sequence[WrittenRuns]) -> list[ArenaRow]:
    """More arenas, whose judgements join those that the run's folder holds."""
    path = suite.folder.path / "judgements.jsonl"
    old = read_records(path, Judgement) if path.exists() else []
    rows = suite.arenas(kept)
    new = read_records(path, Judgement)
    judges = {entry.judge for entry in new}
    write_records(path, [*(entry for entry in old if entry.judge not in judges), *new])
    return rows


@dataclass(frozen=True)
class Tables:
    """Rows of results that were measured later."""

    perplexity: Sequence[PerplexityRow] = ()
    arena: Sequence[ArenaRow] = ()
    mauve: Sequence[MauveRow] = ()


_Row = TypeVar("_Row", bound=Mapping[str, object])


def merge(old: Results, new: Tables, missing: list[MissingEntry]) -> Results:
    """Old results with new rows added, or put in the place of the same rows; what was missing may not be now."""
    merged = old.copy()
    merged["perplexity"] = _joined(old["perplexity"], finite(new.perplexity), "contestant", "evaluator")
    merged["arena"] = _joined(old["arena"], finite(new.arena), "first", "second", "judge")
    merged["mauve"] = _joined(old["mauve"], finite(new.mauve), "contestant", "features")
    sources = (
        {f"evalPPL under {row['evaluator']}" for row in new.perplexity}
        | {f"an arena judged by {row['judge']}" for row in new.arena}
        | {f"MAUVE with {row['features']} features" for row in new.mauve}
    )
    still = [entry for entry in old["missing"] if entry["what"] not in sources]
    merged["missing"] = [*still, *(entry for entry in missing if entry not in still)]
    return merged


def _joined(old: Sequence[_Row], new: Sequence[_Row], *keys: str) -> list[_Row]:
    """Rows of both; of those with the same values of `keys`, the last."""
    return list({tuple(row[key] for key in keys): row for row in (*old, *new)}.values())


def summary(found: Reproduced) -> str:
    """What was found, for people."""
    lines = [
        f"{name}: {entry['ids']:,} ids, loss {entry['loss']:.3f}, {entry['seconds']:.0f} s"
        for name, entry in found.get("training", {}).items()
    ]
    words = {True: "holds", False: "does not hold", None: "open"}
    for entry in found.get("findings", ()):
        lines.append(f"{words[entry['holds']]:>13}  {entry['measure']}: {entry['claim']}")
    missing = found["results"]["missing"] if "results" in found else ()
    lines += [f"without {entry['what']}: {entry['why']}" for entry in missing]
    return "\n".join(lines)


def page(found: Reproduced) -> str:
    """The file of results: where they come from, and all tables of the report."""
    results = found["results"]
    facts = {
        "Command": f"`{found.get('command', '')}`",
        **results["provenance"],
        "Seeds": ", ".join(map(str, results["settings"]["setup"]["seeds"])),
        "Minutes": round(found.get("seconds", 0) / 60, 1),
    }
    head = "".join(f"- {name}: {value}\n" for name, value in facts.items())
    return f"# The paper's comparison, reproduced\n\n{head}\n{tables_of(results)}"


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """How large a reproduction is, and what it is trained and measured on."""

    scale: Annotated[str, Option("size of the models and data", choices=(*SCALES, *STAGED))] = "smoke"
    out: Annotated[Path | None, Option("folder of the reproduction")] = None
    data: Annotated[tuple[str, ...], Option("texts or token shards", together=True)] = (BUILTIN,)
    held_out: Annotated[str | None, Option("texts to be continued; by default a tenth of the data")] = None
    steps: Annotated[int | None, Option("training steps of each model")] = None
    train: Annotated[
        tuple[Name, ...], Option("train these alone, as a part of the whole", choices=NAMES, together=True)
    ] = ()
    prompts: Annotated[int | None, Option("prompts for each seed")] = None
    evaluator: Annotated[tuple[str, ...], Option("another evaluator")] = ()
    judge: Annotated[tuple[str, ...], Option("another judge")] = ()
    features: Annotated[tuple[str, ...], Option("other features for MAUVE")] = ()
    measure: Annotated[Path | None, Option("measure what a run has written", metavar="OUT")] = None
    write: Annotated[Path | None, Option("also write the tables to this Markdown file")] = None
    stage: Annotated[tuple[str, ...], Option("bench: these stages alone", choices=STAGES, together=True)] = ()
    model: Annotated[tuple[str, ...], Option("bench: these models alone", choices=STAGED_NAMES, together=True)] = ()
    budgets: Annotated[
        tuple[int, ...], Option("bench: these budgets alone, in million ids", metavar="COUNT", together=True)
    ] = ()
    minutes: Annotated[float | None, Option("bench: stop after so many minutes; the same command continues")] = None
    init: Annotated[str | None, Option("bench-warm: what all models start from")] = None
    tokenizer: Annotated[str | None, Option("bench-warm: its tokenizer.json, for texts")] = None
    critic: Annotated[Path | None, Option("bench: file of the critic, a GGUF")] = None
    slice_mb: Annotated[int, Option("bench: megabytes of a slice, for --stage cut")] = 15
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    words: Words = ()


def run_stages(chosen: ReproduceOptions) -> None:
    """A reproduction in stages (`benchmarks.reproduction`), which is made of parts of this one."""
    staged = import_module("benchmarks.reproduction.command")
    scales = import_module("benchmarks.reproduction.scales")
    options = staged.StageOptions(
        chosen.out or Path("runs") / f"reproduce-{chosen.scale}",
        TrainingTexts(chosen.data, chosen.held_out),
        chosen.stage or staged.STAGES,
        chosen.model or scales.NAMES,
        chosen.minutes,
        chosen.init,
        chosen.tokenizer,
        chosen.critic,
        chosen.evaluator,
        chosen.features,
        chosen.slice_mb,
        chosen.write,
        shlex.join(["python", "-m", "benchmarks", "reproduce", *chosen.words]),
    )
    scale = scales.SCALES[chosen.scale]
    if chosen.prompts:
        scale = dataclasses.replace(scale, setup=dataclasses.replace(scale.setup, prompts=chosen.prompts))
    if chosen.budgets:
        scale = scale.with_budgets([count * scales.MILLION for count in chosen.budgets])
    if chosen.steps or chosen.train or chosen.measure or chosen.judge:
        raise ReviserError("--steps, --train, --measure and --judge are not for this scale")
    done = staged.carry_out(options, scale)
    print("done" if done else "not done yet: the same command goes on")


def run(chosen: ReproduceOptions) -> None:
    if chosen.scale in STAGED:
        run_stages(chosen)
        return
    if any((chosen.stage, chosen.model, chosen.budgets, chosen.minutes, chosen.init, chosen.critic)):
        raise ReviserError(f"--stage and the like are for the scales {', '.join(STAGED)}")
    scale = SCALES[chosen.scale].changed(chosen.steps, chosen.prompts)
    out = chosen.out or Path("runs") / f"reproduce-{chosen.scale}"
    measures = Measures(chosen.evaluator, chosen.judge, chosen.features)
    texts = TrainingTexts(chosen.data, chosen.held_out)
    if chosen.measure is not None:
        found = measure(chosen.measure, measures)
    elif chosen.train:
        _, training = train_models(chosen.train, scale, out, texts, PlainBars().say)
        found = {"training": training}
    else:
        command = shlex.join(["python", "-m", "benchmarks", "reproduce", *chosen.words])
        found = reproduce(scale, out, texts, measures, command=command)
    if chosen.write and "results" in found:
        write_atomically(chosen.write, page(found).encode())
    print(json.dumps(found) if chosen.json else summary(found))
