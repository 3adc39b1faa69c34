"""DAgger beside plain supervision: what each became of one model in as many updates.

    python -m benchmarks dagger FIGURES --run DAGGER --beside PLAIN [--write FILE]

FIGURES is the folder that `python -m benchmarks revising … --keep` made; the models that the two runs led to are called there
as their folders are. The runs' metrics say how they fared in the states that they came by, round by round.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np

from benchmarks.report.tables import Table
from benchmarks.studies.revision_quality import (
    Measured,
    head,
    interval,
    kept_in,
    made_by,
    resamples,
    table,
)
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from training.trainer.metrics import Metrics, read_metrics

_COMPARED = {"exact": "exact matches", "sari": "SARI", "left_alone": "left alone"}


class Rates(TypedDict):
    """What is told of the settings of a run, which has more of them."""

    seed: int
    peak_rate: float
    final_rate: float


class PlanFacts(TypedDict):
    """The plan of a DAgger run, as its folder keeps it."""

    rounds: int
    updates: int
    episodes: int
    beta: float
    decay: float
    share: float


@dataclass(frozen=True)
class Run:
    """A run of `python -m training dagger`: what it was told, and its looks at held-out edits."""

    name: str
    settings: Rates
    plan: PlanFacts
    looks: list[Metrics]
    episodes: list[Metrics]

    @classmethod
    def read(cls, folder: Path) -> Run:
        try:
            told = json.loads(read_utf8(folder / "settings.json"))
            settings, plan = told["settings"], told["dagger"]
        except (ValueError, KeyError, TypeError):
            raise ReviserError(f"{folder} is not the folder of a DAgger run") from None
        entries = read_metrics(folder / "metrics.jsonl")
        return cls(
            folder.name,
            settings,
            plan,
            [entry for entry in entries if "held_out_visited_loss" in entry],
            [entry for entry in entries if "visited_right" in entry],
        )


@dataclass(frozen=True)
class Difference:
    """How much more one has than the other, edit by edit, and the middle 95 % of resamples."""

    what: str
    mean: float
    low: float
    high: float

    @property
    def said(self) -> str:
        if self.low > 0:
            return "more"
        return "less" if self.high < 0 else "no difference is shown"


def differences(one: Measured, other: Measured) -> list[Difference]:
    """Of two models on the same edits."""
    drawn = resamples(one.report.edits)
    found = []
    for name, what in _COMPARED.items():
        each = np.array(getattr(one, name)) - np.array(getattr(other, name))
        found.append(
            Difference(what, float(each.mean()), *interval(drawn @ each / one.report.edits))
        )
    return found


def course(runs: Sequence[Run]) -> str:
    """How each run fared on held-out edits, after each of its rounds."""
    columns = ("run", "rounds", "updates", "loss where it comes by", "exact", "left alone")
    rows = tuple(
        (
            run.name,
            str(look["round"]),
            str(look["step"]),
            f"{look['held_out_visited_loss']:.4f}",
            f"{look['held_out_exact']:.1%}",
            f"{look['held_out_left_alone']:.1%}",
        )
        for run in runs
        for look in run.looks
    )
    return Table(columns, rows).markdown()


def episodes(run: Run) -> str:
    """What the rollouts of a run were like."""
    columns = ("round", "oracle's share", "states", "right", "exact", "left alone", "seconds")
    rows = tuple(
        (
            str(entry["round"]),
            f"{entry['oracle_share']:.3f}",
            f"{entry['visited_states']:,}",
            f"{entry['visited_right']:.1%}",
            f"{entry['visited_exact']:.1%}",
            f"{entry['visited_left_alone']:.1%}",
            f"{entry['rollout_seconds']:.1f}",
        )
        for entry in run.episodes
    )
    return Table(columns, rows).markdown()


def page(run: Run, beside: Run, figures: Path, command: str) -> str:
    """A whole results file."""
    found = kept_in(figures)
    by_name = {entry.report.name: entry for entry in found}
    if missing := [name for name in (run.name, beside.name) if name not in by_name]:
        raise ReviserError(f"{figures} holds no figures of {', '.join(missing)}")
    rows = tuple(
        (
            d.what,
            f"{100 * d.mean:+.2f}",
            f"{100 * d.low:+.2f} to {100 * d.high:+.2f}",
            d.said,
        )
        for d in differences(by_name[run.name], by_name[beside.name])
    )
    compared = Table((f"{run.name} less {beside.name}", "points", "95 %", ""), rows)
    told = {
        "Updates": f"{run.plan['rounds']} rounds of {run.plan['updates']}, the same for both; seed {run.settings['seed']}",
        "Rates": f"{run.settings['peak_rate']} to {run.settings['final_rate']}",
        "Episodes": f"{run.plan['episodes']:,} in a round, the oracle's share {run.plan['beta']}, times "
        f"{run.plan['decay']} from round to round; {run.plan['share']:.0%} of the samples of edits",
    }
    facts = "".join(f"- {name}: {value}\n" for name, value in told.items())
    return "\n".join(
        (
            f"# DAgger beside plain supervision\n\n{head(command, found)}{facts}",
            table(entry.report for entry in found),
            compared.markdown(),
            f"## Round by round\n\n{course((beside, run))}",
            "Loss where it comes by: in the states that the model reaches by itself on held-out edits, against the oracle's labels.\n",
            f"## Rollouts of {run.name}\n\n{episodes(run)}",
            made_by(found),
        )
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Which two runs are compared."""

    figures: Annotated[Path, Argument("folder of figures of revising models")]
    run: Annotated[Path, Option("folder of the DAgger run")]
    beside: Annotated[Path, Option("folder of the plain run")]
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ComparisonOptions,
        run,
        arguments,
        prog="python -m benchmarks dagger",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: ComparisonOptions) -> None:
    tuned, beside = Run.read(chosen.run), Run.read(chosen.beside)
    for name in ("rounds", "updates"):
        if tuned.plan[name] != beside.plan[name]:
            raise ReviserError(f"the two runs have different numbers of {name}")
    command = f"python -m benchmarks dagger {shlex.join(chosen.words)}"
    text = page(tuned, beside, chosen.figures, command)
    print(text)
    if chosen.write:
        write_atomically(chosen.write, text.encode())
