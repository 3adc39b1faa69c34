"""The paper's comparison: trains AR, Reviser by the paper's and by our recipe, SEDD and MDLM alike, then measures all.

    python -m benchmarks reproduce --scale lab --data SHARDS --held-out TEXTS --out OUT
    python -m benchmarks reproduce --scale bench --stage train --model AR --minutes 9 --data SHARDS --held-out TEXTS
        --out OUT

All have the same trunk (layers, width, heads, MLP), see the same texts and as many ids, in batches of the same size
under the same schedule; AR, SEDD and MDLM see the very same rows. A Reviser's ids include its moves, as in the paper.
The stages are prepare, train, generate, judge and report, one by one or all. What was done is never done
again: a stage goes on where it ended, on another machine too, once OUT was carried there.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from benchmarks.protocol.runs import PlainBars, ProgressBars
from benchmarks.protocol.setup import BUILTIN
from benchmarks.report.provenance import surroundings
from benchmarks.reproduction.data import prepare
from benchmarks.reproduction.judging import ReproductionJudges, judge, say_missing
from benchmarks.reproduction.page import page
from benchmarks.reproduction.scales import MILLION, NAMES, SCALES, Name, StagedScale, label
from benchmarks.reproduction.texts import generate, run_folder
from benchmarks.reproduction.training import train
from reviser.cli.options import Option, Words
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically

STAGES = ("prepare", "train", "generate", "judge", "report")
_LOG = "stages.jsonl"


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Options of a reproduction: scale, data, and the stages to run."""

    scale: Annotated[str, Option("size of the models and data", choices=tuple(SCALES))] = "smoke"
    out: Annotated[Path | None, Option("folder of the reproduction")] = None
    data: Annotated[tuple[str, ...], Option("texts or token shards", together=True)] = (BUILTIN,)
    held_out: Annotated[str | None, Option("texts to be continued; by default a tenth of the data")] = None
    stage: Annotated[tuple[str, ...], Option("these stages alone", choices=STAGES, together=True)] = ()
    model: Annotated[tuple[str, ...], Option("these models alone", choices=NAMES, together=True)] = ()
    prompts: Annotated[int | None, Option("prompts for each seed")] = None
    budgets: Annotated[
        tuple[int, ...], Option("these budgets alone, in million ids", metavar="COUNT", together=True)
    ] = ()
    minutes: Annotated[float | None, Option("stop after so many minutes; the same command continues")] = None
    critic: Annotated[Path | None, Option("file of the critic, a GGUF")] = None
    evaluator: Annotated[tuple[str, ...], Option("another evaluator")] = ()
    features: Annotated[tuple[str, ...], Option("other features for MAUVE")] = ()
    write: Annotated[Path | None, Option("write the report to this Markdown file")] = None
    words: Words = ()


def run(chosen: ReproduceOptions) -> None:
    """Runs the stages of a reproduction."""
    scale = SCALES[chosen.scale]
    if chosen.prompts:
        scale = dataclasses.replace(scale, setup=dataclasses.replace(scale.setup, prompts=chosen.prompts))
    if chosen.budgets:
        scale = scale.with_budgets([count * MILLION for count in chosen.budgets])
    done = carry_out(chosen, scale)
    print("done" if done else "not done yet: the same command goes on")


def carry_out(options: ReproduceOptions, scale: StagedScale, bars: ProgressBars | None = None) -> bool:
    """Runs the requested stages; returns False if time was up before all were done."""
    shown = bars or PlainBars()
    # Where there is no package index, asking it again and again would only take time.
    os.environ.setdefault("PIP_RETRIES", "0")
    os.environ.setdefault("PIP_DEFAULT_TIMEOUT", "10")
    deadline = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    stages = _Stages(options, scale, shown, deadline)
    for stage in options.stage or STAGES:
        began = time.monotonic()
        done = getattr(stages, stage)()
        stages.note(stage, done, time.monotonic() - began)
        if not done:
            return False
    return True


class _Stages:
    """The stages of a reproduction; each method is a stage and returns whether it is done."""

    def __init__(
        self, options: ReproduceOptions, scale: StagedScale, bars: ProgressBars, deadline: float | None
    ) -> None:
        self._options = options
        self._out = options.out or Path("runs") / f"reproduce-{options.scale}"
        self._out.mkdir(parents=True, exist_ok=True)
        self._models = cast("tuple[Name, ...]", options.model) or NAMES
        self._scale = scale
        self._bars = bars
        self._deadline = deadline

    def prepare(self) -> bool:
        self._prepared()
        return True

    def _prepared(self) -> tuple[Path, Path]:
        options, scale = self._options, self._scale
        return prepare(self._out / "data", options.data, options.held_out, scale.setup, scale.workers, self._bars.say)

    def train(self) -> bool:
        corpus, _ = self._prepared()
        for name in self._models:
            left = self._left()
            if left is not None and left <= 0:
                return False
            if not train(name, self._scale, self._out, corpus, minutes=left, say=self._bars.say):
                return False
        return True

    def generate(self) -> bool:
        prompts = self._prompts()
        done = True
        for name in self._models:
            for budget in self._scale.budgets:
                left = self._left()
                if left is not None and left <= 0:
                    self._bars.say("time is up; the same command goes on")
                    return False
                done &= generate(name, self._scale, self._out, prompts, budget, self._bars)
        return done

    def _prompts(self) -> Path:
        """The file of prompts, which may be present without the training data."""
        kept = self._out / "data" / "held-out.jsonl"
        return kept if kept.exists() else self._prepared()[1]

    def judge(self) -> bool:
        options = self._options
        chosen = ReproductionJudges(options.critic, options.evaluator, options.features)
        judged = 0
        for budget in self._scale.budgets:
            if not (run_folder(self._out, budget).path / "generations").is_dir():
                self._bars.say(f"there are no texts at {label(budget)} yet")
                continue
            say_missing(judge(self._scale, self._out, budget, chosen, self._bars), self._bars)
            judged += 1
        if not judged:
            raise ReviserError(f"{self._out} holds no texts to judge")
        return True

    def report(self) -> bool:
        text = page(self._out, self._scale, _head(self._out))
        target = self._options.write or self._out / "report.md"
        write_atomically(target, text.encode())
        self._bars.say(f"wrote {target}")
        return True

    def _left(self) -> float | None:
        """The minutes left; None without a limit."""
        return None if self._deadline is None else (self._deadline - time.monotonic()) / 60

    def note(self, stage: str, done: bool, seconds: float) -> None:
        """Records where and when a stage ran, since a table may come from several machines."""
        command = shlex.join(["python", "-m", "benchmarks", "reproduce", *self._options.words])
        entry = {"stage": stage, "models": self._models, "done": done, "seconds": round(seconds, 1)}
        with (self._out / _LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry | {"command": command} | surroundings()) + "\n")


def _head(out: Path) -> str:
    """The provenance of every stage so far: command, machine, date and commit."""
    path = out / _LOG
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    told: dict[str, float] = {}
    for entry in map(json.loads, lines):
        where = f"{entry['Hardware']}, {entry['Date']}, commit {entry['Commit']}"
        key = f"- {entry['stage']}: `{entry['command']}` ({where})"
        told[key] = told.get(key, 0.0) + entry["seconds"]
    return "\n".join(f"{key}: {seconds / 60:.1f} minutes" for key, seconds in told.items())
