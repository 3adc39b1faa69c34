"""Training runs in figures: how long, how fast and how far each went, from the files it left.

    python -m benchmarks training_runs RUN… --where "an H200, commit 1234" [--write FILE]

RUN is the folder of a run, with its settings.json and metrics.jsonl. A run does not say where it took
place, so that is said here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, TypedDict

from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from training.trainer.metrics import Metrics, read_metrics

# How many rows show a run's course.
PARTS = 10


class Rounding(TypedDict, total=False):
    """What is asked of the settings of a run, which has more of them; older runs have none of these."""

    round_bits: int | None
    round_from: float


@dataclass(frozen=True)
class TrainingRun:
    """What a run was told to do, and what it wrote down step by step."""

    name: str
    command: str
    settings: Rounding
    steps: list[Metrics]
    evaluations: list[Metrics]

    @classmethod
    def read(cls, folder: Path) -> TrainingRun:
        try:
            described = json.loads(read_utf8(folder / "settings.json"))
            command, settings = described["command"], described["settings"]
        except (ValueError, KeyError, TypeError):
            raise ReviserError(f"{folder} is not the folder of a training run") from None
        entries = read_metrics(folder / "metrics.jsonl")
        steps = [entry for entry in entries if "loss" in entry]
        if not steps:
            raise ReviserError(f"{folder} has no step in its metrics")
        evaluations = [entry for entry in entries if "held_out_loss" in entry]
        return cls(folder.name, command, settings, steps, evaluations)

    def figures(self) -> tuple[str, ...]:
        last = self.steps[-1]
        exact, rounded = self._speeds()
        used = [step["mfu"] for step in self.steps if "mfu" in step]
        waited = max(step["waited_share"] for step in self.steps[1:] or self.steps)
        return (
            self.name,
            f"{last['seconds'] / 60:.1f}",
            f"{last['step']:,}",
            f"{last['actions'] / 1e6:.1f}",
            f"{exact / 1000:.1f}" if exact else "",
            f"{rounded / 1000:.1f}" if rounded else "",
            f"{median(used):.3f}" if used else "",
            f"{waited:.1%}",
            f"{self.evaluations[-1]['held_out_loss']:.3f}" if self.evaluations else "",
        )

    def _speeds(self) -> tuple[float, float]:
        """The usual actions a second before and after weights are rounded; 0 where there was no such part."""
        end = self.steps[-1]["seconds"]
        rounds = self.settings.get("round_bits") is not None
        share = self.settings.get("round_from", 1.0) if rounds else 1.0
        # The first steps wait for kernels and caches; entries next to the change hold some of both.
        exact = [s["actions_per_s"] for s in self.steps if 0.02 < s["seconds"] / end < share - 0.01]
        after = [s["actions_per_s"] for s in self.steps if s["seconds"] / end > share + 0.01]
        return median(exact or [0.0]), median(after or [0.0])

    def course(self) -> Table:
        """The mean loss in each tenth of the run."""
        end = self.steps[-1]["seconds"]
        rows = []
        for part in range(PARTS):
            low, high = part / PARTS, (part + 1) / PARTS
            within = [s for s in self.steps if low < s["seconds"] / end <= high]
            if within:
                loss = sum(s["loss"] for s in within) / len(within)
                rows.append(
                    (f"{low:.0%} to {high:.0%}", f"{loss:.3f}", f"{within[-1]['rate']:.1e}")
                )
        return Table(("part of the run", "loss", "rate at its end"), tuple(rows))


def page(runs: Sequence[TrainingRun]) -> str:
    columns = (
        "run", "minutes", "steps", "million actions", "thousand actions/s", "with rounded weights",
        "MFU", "most waiting", "held-out loss",
    )  # fmt: skip
    table = Table(columns, tuple(run.figures() for run in runs))
    parts = [f"{table.markdown()}"]
    for run in runs:
        parts.append(f"## {run.name}\n\n`{run.command}`\n\n{run.course().markdown()}")
    return "\n".join(parts)


@dataclass(frozen=True, kw_only=True)
class CourseOptions:
    """Which runs are told of."""

    runs: Annotated[tuple[Path, ...], Argument("folder of a run", metavar="RUN")]
    where: Annotated[str, Option("hardware and commit of the runs")]
    title: Annotated[str, Option("of the Markdown file")] = "Training runs"
    write: Annotated[Path | None, Option("also write the tables to this Markdown file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        CourseOptions,
        run,
        arguments,
        prog="python -m benchmarks training_runs",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: CourseOptions) -> None:
    text = page([TrainingRun.read(folder) for folder in chosen.runs])
    print(text)
    if chosen.write:
        command = f"python -m benchmarks training_runs {' '.join(map(str, chosen.runs))} --where …"
        facts = provenance(command, **{"Trained on": chosen.where})
        write_atomically(chosen.write, f"# {chosen.title}\n\n{facts}\n{text}".encode())
