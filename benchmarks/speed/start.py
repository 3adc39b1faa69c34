"""Processor time and memory of `reviser continue` up to its first action.

python -m benchmarks start [--rounds 9] [--model NAME] [--write docs/results/start.md] [--json]

Each round is a process of its own that reads a draft, loads the model, takes one action and prints the text; the
time is that of all its threads, from its start to its end, so that a busy machine changes it little. Modules are
compiled before, as they are when a package is installed, in a round that is not counted. Python with numpy alone,
which every run needs, is measured by turns with it.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.report.provenance import load, write_page
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.native import available

DRAFT = "The river rose in the night, and in the morning the bridge was gone. We"
ROUNDS = 9


@dataclass(frozen=True)
class ProcessCost:
    """The CPU seconds and the peak memory in megabytes of one process."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class StartTimes:
    """The minimum and the median over the rounds."""

    what: str
    least: float
    middle: float
    megabytes: float

    @classmethod
    def of(cls, what: str, rounds: Sequence[ProcessCost]) -> StartTimes:
        seconds = [one.seconds for one in rounds]
        memory = statistics.median(one.megabytes for one in rounds)
        return cls(what, min(seconds), statistics.median(seconds), memory)


# A process begins with the memory of the one that starts it, as the system counts it, so that one has to be small.
_LAUNCHER = """
import os, sys
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def spend(command: Sequence[str], compiled: Path) -> ProcessCost:
    """Runs a command to its end; `compiled` is the folder of its compiled modules."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    launched = subprocess.run(
        [sys.executable, "-S", "-c", _LAUNCHER, *command], stdout=subprocess.PIPE, env=environment, check=True
    )
    status, seconds, memory = launched.stdout.split()
    if int(status):
        raise ReviserError(f"`{shlex.join(command)}` ended with status {int(status)}")
    # Kilobytes, but bytes on macOS.
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return ProcessCost(float(seconds), int(memory) / unit)


def measure(rounds: int, model: str | None) -> list[StartTimes]:
    """Runs all commands by turns and returns the figures of each."""
    with tempfile.TemporaryDirectory() as folder:
        draft, compiled = Path(folder) / "draft.txt", Path(folder) / "compiled"
        draft.write_text(DRAFT, "utf-8")
        words = ["--model", model] if model else []
        one_action = ["continue", str(draft), "--max-actions", "1", "--seed", "1", *words]
        commands = {
            "reviser continue, one action": [sys.executable, "-m", "reviser", *one_action],
            "Python with numpy": [sys.executable, "-c", "import numpy"],
        }
        found: dict[str, list[ProcessCost]] = {what: [] for what in commands}
        for number in range(rounds + 1):
            for what, command in commands.items():
                spent = spend(command, compiled)
                if number:
                    found[what].append(spent)
    return [StartTimes.of(what, spent) for what, spent in found.items()]


def table(starts: Sequence[StartTimes]) -> str:
    lines = [
        "| | processor time, least (s) | median (s) | memory (MB) |",
        "| --- | ---: | ---: | ---: |",
        *(f"| {one.what} | {one.least:.3f} | {one.middle:.3f} | {one.megabytes:.0f} |" for one in starts),
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """Options of the measurement: model and rounds."""

    rounds: Annotated[int, Option("processes of each kind", least=1)] = ROUNDS
    model: Annotated[str | None, Option("name or folder of a model", default="the default one")] = None
    json: Annotated[bool, Option("print one JSON object, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file", metavar="OUT")] = None
    words: Words = ()


def run(chosen: StartOptions) -> None:
    starts = measure(chosen.rounds, chosen.model)
    print(json.dumps([*map(asdict, starts)]) if chosen.json else table(starts))
    if chosen.write:
        command = shlex.join(["python", "-m", "benchmarks", "start", *chosen.words])
        text = f"{(__doc__ or '').split(chr(10) * 2, 2)[2]}\n{table(starts)}"
        facts = {"Rounds": chosen.rounds, "Kernels": "native" if available() else "none", "Load": load()}
        write_page(chosen.write, "Start of a command", command, text, **facts)
