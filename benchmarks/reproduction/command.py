"""The stages of a reproduction, one by one or all: prepare, train, generate, judge, report; cut and join carry them.

python -m benchmarks reproduce --scale bench --stage train --model AR --minutes 9 --data SHARDS --held-out TEXTS
--out OUT

What was done is never done again: a stage goes on where it ended, on another machine too, once OUT was carried
there.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.protocol.runs import PlainBars, ProgressBars
from benchmarks.report.provenance import surroundings
from benchmarks.reproduction.data import TrainingTexts, prepare
from benchmarks.reproduction.judging import ReproductionJudges, judge, say_missing
from benchmarks.reproduction.page import page
from benchmarks.reproduction.scales import NAMES, Name, StagedScale, label
from benchmarks.reproduction.slices import MEGABYTE, cut, join
from benchmarks.reproduction.texts import generate, run_folder
from benchmarks.reproduction.training import ModelPlaces, train
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically

STAGES = ("prepare", "train", "generate", "judge", "report")
_LOG = "stages.jsonl"


@dataclass(frozen=True)
class StageOptions:
    """What is asked of one call."""

    out: Path
    texts: TrainingTexts
    stages: tuple[str, ...] = STAGES
    models: tuple[Name, ...] = NAMES
    minutes: float | None = None
    init: str | None = None
    tokenizer: str | None = None
    critic: Path | None = None
    evaluators: Sequence[str] = ()
    features: Sequence[str] = ()
    slice_megabytes: int = 15
    write: Path | None = None
    command: str = ""


def carry_out(options: StageOptions, scale: StagedScale, bars: ProgressBars | None = None) -> bool:
    """Do the stages that are asked for; False if time was up before all were done."""
    shown = bars or PlainBars()
    # Where there is no package index, asking it again and again would only take time.
    os.environ.setdefault("PIP_RETRIES", "0")
    os.environ.setdefault("PIP_DEFAULT_TIMEOUT", "10")
    options.out.mkdir(parents=True, exist_ok=True)
    deadline = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    stages = _Stages(options, scale, shown, deadline)
    for stage in options.stages:
        began = time.monotonic()
        done = getattr(stages, stage)()
        _note(options, stage, done, time.monotonic() - began)
        if not done:
            return False
    return True


class _Stages:
    """Each method is a stage; it says whether it is done."""

    def __init__(self, options: StageOptions, scale: StagedScale, bars: ProgressBars, deadline: float | None) -> None:
        self._options = options
        self._scale = scale
        self._bars = bars
        self._deadline = deadline

    def prepare(self) -> bool:
        self._prepared()
        return True

    def _prepared(self) -> tuple[Path, Path]:
        options, scale = self._options, self._scale
        tokenizer = options.tokenizer or ("gpt2" if not scale.warm else None)
        if tokenizer is None:
            tokenizer = _tokenizer_of(options)
        folder = options.out / "data"
        return prepare(folder, options.texts, scale.setup, scale.workers, self._bars.say, tokenizer)

    def train(self) -> bool:
        corpus, _ = self._prepared()
        for name in self._options.models:
            left = self._left()
            if left is not None and left <= 0:
                return False
            options = self._options
            if not train(
                *(name, self._scale, options.out, corpus), init=options.init, minutes=left, say=self._bars.say
            ):
                return False
        return True

    def generate(self) -> bool:
        prompts = self._prompts()
        done = True
        for name in self._options.models:
            for budget in self._scale.budgets:
                left = self._left()
                if left is not None and left <= 0:
                    self._bars.say("time is up; the same command goes on")
                    return False
                done &= generate(name, self._scale, self._options.out, prompts, budget, self._bars)
        return done

    def _prompts(self) -> Path:
        """The texts to be continued, which may have been carried here without those to train on."""
        kept = self._options.out / "data" / "held-out.jsonl"
        return kept if kept.exists() else self._prepared()[1]

    def judge(self) -> bool:
        options = self._options
        chosen = ReproductionJudges(options.critic, options.evaluators, options.features)
        judged = 0
        for budget in self._scale.budgets:
            if not (run_folder(options.out, budget).path / "generations").is_dir():
                self._bars.say(f"there are no texts at {label(budget)} yet")
                continue
            say_missing(judge(self._scale, options.out, budget, chosen, self._bars), self._bars)
            judged += 1
        if not judged:
            raise ReviserError(f"{options.out} holds no texts to judge")
        return True

    def report(self) -> bool:
        options = self._options
        text = page(options.out, self._scale, _head(options.out))
        target = options.write or options.out / "report.md"
        write_atomically(target, text.encode())
        self._bars.say(f"wrote {target}")
        return True

    def cut(self) -> bool:
        size = self._options.slice_megabytes * MEGABYTE
        for name in self._options.models:
            folder = ModelPlaces(self._options.out, name).folder
            if folder.is_dir():
                count = cut(folder, self._options.out / "slices" / name.lower(), size)
                self._bars.say(f"{name}: {count} slices")
        return True

    def join(self) -> bool:
        for name in self._options.models:
            slices = self._options.out / "slices" / name.lower()
            if slices.is_dir():
                count = join(slices, ModelPlaces(self._options.out, name).folder)
                self._bars.say(f"{name}: {counted(count, 'file')}")
        return True

    def _left(self) -> float | None:
        """Minutes until time is up."""
        return None if self._deadline is None else (self._deadline - time.monotonic()) / 60


def _tokenizer_of(options: StageOptions) -> str:
    """The tokenizer of the model to start from, where that is a folder of ours."""
    found = Path(options.init or "") / "tokenizer.json"
    if options.init is None or not found.is_file():
        raise ReviserError("name the tokenizer.json of the model to start from: --tokenizer (or give token shards)")
    return str(found)


def _note(options: StageOptions, stage: str, done: bool, seconds: float) -> None:
    """Keep what was done where and when: a table may come from several machines."""
    entry = {"stage": stage, "models": options.models, "done": done, "seconds": round(seconds, 1)}
    entry |= {"command": options.command} | surroundings()
    with (options.out / _LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _head(out: Path) -> str:
    """Every stage that led here: its command, machine, date and commit."""
    path = out / _LOG
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    told: dict[str, float] = {}
    for entry in map(json.loads, lines):
        where = f"{entry['Hardware']}, {entry['Date']}, commit {entry['Commit']}"
        key = f"- {entry['stage']}: `{entry['command']}` ({where})"
        told[key] = told.get(key, 0.0) + entry["seconds"]
    return "\n".join(f"{key}: {seconds / 60:.1f} minutes" for key, seconds in told.items())
