"""Compares drafts: short runs whose steps back write other pieces, with and without being held to the base.

    python -m benchmarks drafts --init BASE --data SHARDS --out RUNS [--steps 100] [--only NAME …] [--texts FILE …]
        [--critic critic.gguf] [--write docs/results/drafts.md]

A draft is what a text looks like before a step back: the text without the piece that the step writes. The former pieces are words, clauses and
sentences wherever they are; optional pieces are those that the text can do without (`python -m training optional_pieces SHARDS`
must have found them). A further run, trained only if `--only` names it, also takes words back: it writes a worse word, goes back later, deletes it and
writes the better one (`python -m training worse_words SHARDS` must have found such words). All runs go on from the everyday openings by plain sampling, without the rules and the checks of `reviser continue`.
A run that is already in RUNS is not trained again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated

from benchmarks.contestants.continuation_models import load_contestant
from benchmarks.contestants.own_models import DecodingOptions
from benchmarks.everyday.command import load_reader, load_threshold
from benchmarks.everyday.contest import Figures, Outcome, Standing, judge, written
from benchmarks.everyday.critic import Critic
from benchmarks.everyday.prompts import openings
from benchmarks.measures.forgetting import Ratio, ratio_of, read, tokens_of
from benchmarks.protocol.runs import Bars, Cache
from benchmarks.protocol.setup import BUILTIN, Setup
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from benchmarks.studies.training.short_runs import train_once
from reviser.checkpoints.home import load
from reviser.checkpoints.importing import import_model
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.scoring.loading import default_device
from training.data.corpus import Corpus
from training.samples.mixture import Mixture
from training.samples.samples import check_texts
from training.trainer.options import RunOptions

RECIPES = Path(__file__).parents[3] / "training" / "recipes"
LENGTH = 145
KEEP = 2.0
# Of the samples with optional pieces, the share that takes words back instead.
CORRECTED = 0.3


@dataclass(frozen=True)
class Variant:
    """One way to make drafts: a mixture, and settings of the run that differ."""

    name: str
    mixture: Mixture
    changes: dict[str, object] = field(default_factory=dict)
    by_default: bool = True

    @property
    def folder(self) -> str:
        return self.name.replace(",", "").replace(" ", "-")


def variants() -> list[Variant]:
    """The embedded model's way to write first; then it is not held to its base, or has the former pieces, or both; last, it takes words back."""
    # Proofreading is left out: it is the same in all runs.
    optional = replace(Mixture.load(RECIPES / "writing.json"), edits=0.0)
    former = Mixture.load(RECIPES / "embedded.json")
    anywhere = replace(optional, elaborated=0.0, local=optional.elaborated, pieces=former.pieces)
    steps_back = optional.elaborated
    corrected = replace(
        optional,
        elaborated=round((1 - CORRECTED) * steps_back, 6),
        corrected=round(CORRECTED * steps_back, 6),
    )
    held: dict[str, object] = {"keep": KEEP}
    return [
        Variant("optional pieces, held to the base", optional, held),
        Variant("optional pieces", optional),
        Variant("former pieces, held to the base", anywhere, held),
        Variant("former pieces", anywhere),
        Variant(
            "optional pieces and corrected words",
            corrected,
            {"operators": "delete"},
            by_default=False,
        ),
    ]


def wanted(only: Sequence[str]) -> list[Variant]:
    """The variants that are named, or those that need no worse words."""
    return [one for one in variants() if (one.name in only if only else one.by_default)]


@dataclass(frozen=True, kw_only=True)
class DraftsOptions:
    """From what and on what the variants are trained, and who reads what they write."""

    init: Annotated[str, Option("start and reader: a GGUF file, a folder or a name")]
    data: Annotated[Path, Option("token shards with optional pieces, and worse words")]
    out: Annotated[Path, Option("folder of the runs")]
    preset: Annotated[str, Option("a preset of training")] = "smol"
    history: Annotated[int, Option("longest history of a sample, in ids")] = 1024
    steps: Annotated[int, Option("steps of each run")] = 100
    accumulate: Annotated[int, Option("passes that make one optimizer step")] = 1
    rows: Annotated[int | None, Option("rows of a pass", default="the preset's")] = None
    workers: Annotated[int, Option("threads that make batches")] = 8
    texts: Annotated[
        tuple[str, ...],
        Option("documents that nothing was trained on: what was forgotten", together=True),
    ] = ()
    each: Annotated[int | None, Option("only the first N openings of a kind", metavar="N")] = None
    seeds: Annotated[tuple[int, ...], Option("random seed of the sampling", together=True)] = (
        123,
        124,
    )
    temperature: Annotated[float, Option("sampling temperature")] = 0.7
    critic: Annotated[Path | None, Option("the critic's GGUF file", metavar="FILE")] = None
    only: Annotated[tuple[str, ...], Option("only these runs", metavar="NAME", together=True)] = ()
    train_only: Annotated[bool, Option("train, and measure nothing")] = False
    write: Annotated[Path | None, Option("also write the tables to this Markdown file")] = None
    words: Words = ()


def train_one(variant: Variant, chosen: DraftsOptions) -> Path:
    """Train a variant, unless that was done; returns the folder of its model."""
    changes: dict[str, object] = {"accumulate": chosen.accumulate, "after_moves": 3}
    if chosen.rows:
        changes["rows"] = chosen.rows
    options = RunOptions(
        preset=chosen.preset,
        data=chosen.data,
        out=chosen.out / variant.folder,
        init=chosen.init,
        workers=chosen.workers,
        changes=changes | variant.changes,
    )
    return train_once(options, variant.mixture, history=chosen.history, steps=chosen.steps)


def forgotten(folder: Path, chosen: DraftsOptions) -> list[Ratio]:
    """How many times the base's perplexity a run has on texts that no training saw, for each of the files."""
    if not chosen.texts:
        return []
    device = default_device()
    base, model = import_model(chosen.init), load(folder, device=device)
    base.model.to(device).float()
    model.model.float()
    found = []
    for source in chosen.texts:
        texts = tokens_of(source, base, texts=60, given=35, longest=256)
        if not texts:
            raise ReviserError(f"{source} has no document of 70 tokens")
        known = read(base, texts, 35, insertions=True)
        found.append(ratio_of(read(model, texts, 35, insertions=False), known))
    return found


def compare(chosen: DraftsOptions) -> tuple[Outcome, dict[str, list[Ratio]]]:
    """Train all that is wanted, let it write, and look at what it wrote."""
    chosen_ones = wanted(chosen.only)
    # Before the first run, and not when its turn comes, hours later.
    for variant in chosen_ones:
        if not (chosen.out / variant.folder / "model").is_dir():
            check_texts(Corpus.open(chosen.data), variant.mixture)
    models = {variant.name: train_one(variant, chosen) for variant in chosen_ones}
    if chosen.train_only:
        return Outcome([], []), {}
    base = Setup()
    setup = Setup(
        data="everyday",
        seeds=chosen.seeds,
        total_tokens=base.prompt_tokens + LENGTH,
        max_actions=LENGTH * 7 // 4,
        temperature=chosen.temperature,
    )
    bars = Bars()
    with Cache(chosen.out / "cache.sqlite") as cache:
        contestants = [
            load_contestant(str(model), setup, name=name, decoding=DecodingOptions())
            for name, model in models.items()
        ]
        reader = load_reader(chosen.init)
        threshold = load_threshold(reader, BUILTIN, cache, bars)
        given = openings(each=chosen.each)
        outcome = written(contestants, given, setup, reader, threshold, cache, bars)
        if chosen.critic and len(contestants) > 1:
            judge(outcome, given, Critic.load(chosen.critic), cache, bars)
    kept = {name: forgotten(model, chosen) for name, model in models.items()}
    data = {
        "figures": [asdict(entry) for entry in outcome.figures],
        "standings": [asdict(entry) for entry in outcome.standings],
        "forgotten": {name: [asdict(one) for one in each] for name, each in kept.items()},
        "runs": [asdict(run) for run in outcome.runs],
    }
    write_atomically(chosen.out / "drafts.json", json.dumps(data, ensure_ascii=False).encode())
    return outcome, kept


def tables(outcome: Outcome, kept: dict[str, list[Ratio]], sources: Sequence[str]) -> str:
    """What the runs wrote and forgot, and what the critic prefers."""
    names = [Path(source).name.partition(".")[0] for source in sources]
    heads = ("run", "perplexity", "repeated", "stopped", "moves", "steps back", "takes back")
    rows = [_row(entry, kept[entry.contestant]) for entry in outcome.figures]
    joins = ("joins", "broken joins", "broken runs")
    text = Table((*heads, *joins, *names), tuple(rows)).markdown()
    if outcome.standings:
        columns = ("first", "second", "first is preferred", "wins", "ties", "losses")
        text += "\n" + Table(columns, tuple(map(_standing, outcome.standings))).markdown()
    return text


def _row(entry: Figures, kept: Sequence[Ratio]) -> tuple[str, ...]:
    broken = entry.broken_joins / entry.joins if entry.joins else 0.0
    runs = entry.broken_runs
    return (
        entry.contestant,
        f"{entry.perplexity:.1f}",
        f"{entry.repeated_4:.1%}",
        f"{entry.stopped:.0%}",
        f"{entry.moves or 0.0:.1%}",
        f"{entry.steps_back or 0.0:.0%}",
        f"{entry.takes_back or 0.0:.0%}",
        f"{entry.joins}",
        f"{broken:.1%}",
        f"{runs.share:.1%} ({runs.low:.1%} to {runs.high:.1%})" if runs else "–",
        *map(str, kept),
    )


def _standing(entry: Standing) -> tuple[str, ...]:
    rate = entry.win_rate
    share = f"{rate.share:.1%} ({rate.low:.1%} to {rate.high:.1%})"
    return entry.first, entry.second, share, str(entry.wins), str(entry.ties), str(entry.losses)


_EXPLAINED = """Runs differ in the pieces that a step back writes, and in whether they are held to the base where a text is written from left to right.
They go on from the everyday openings by plain sampling, without rules and checks. Perplexity is that of the continuations under the
base; takes back is the share of the runs that delete something they wrote; a join is broken where what follows an insertion is stranger than 98 % of the places of real text; the last columns are perplexities of texts that no run saw,
read from left to right, as multiples of the base's.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        DraftsOptions,
        run,
        arguments,
        prog="python -m benchmarks drafts",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: DraftsOptions) -> None:
    known = {variant.name for variant in variants()}
    if unknown := sorted(set(chosen.only) - known):
        raise ReviserError(f"there is no run {', '.join(unknown)}: {', '.join(sorted(known))}")
    outcome, kept = compare(chosen)
    if chosen.train_only:
        return
    text = tables(outcome, kept, chosen.texts)
    print(text)
    if chosen.write:
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "drafts", *chosen.words]),
            Seeds=", ".join(map(str, chosen.seeds)),
            Training=f"{chosen.preset} from {Path(chosen.init).name}, {chosen.steps} steps each",
            Data=f"{chosen.data.name}; the everyday openings",
            **({"Critic": chosen.critic.name} if chosen.critic else {}),
        )
        page = f"# Drafts for steps back, in short runs\n\n{facts}\n{_EXPLAINED}\n{text}"
        write_atomically(chosen.write, page.encode())
