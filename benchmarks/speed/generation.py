"""How many actions a second batched generation makes on this device.

python -m benchmarks generation [--preset paper-100m] [--rows 512 1024] [--write docs/results/generation-speed.md]

Weights are random unless --model names a model folder; random ones practically never choose Stop, so
that every run is as long as it may be. A figure is that of a whole call of `generate`, from prompts as lists of
ids to results as lists of ids: reading prompts and recording graphs are in it.
"""

from __future__ import annotations

import json
import random
import shlex
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

import torch

from benchmarks.report.provenance import provenance
from reviser.cli.arguments import run_with
from reviser.cli.options import Option, Words
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.batch.scheduler import GeneratedRun, generate
from reviser.decoding.rollout import seed
from reviser.model import Reviser, preset, preset_names

PROMPT_TOKENS = 35
MAX_ACTIONS = 256
ROUNDS = 3
SEED = 0


@dataclass(frozen=True)
class Speed:
    """Calls of `generate` with so many rows: the median of their seconds and what they made."""

    rows: int
    runs: int
    actions: int
    seconds: float
    actions_per_s: float
    slowest: float
    fastest: float
    replayed_per_s: float


def random_model(name: str, device: torch.device) -> tuple[Reviser, Vocabulary]:
    torch.manual_seed(SEED)
    config = preset(name)
    with device:
        model = Reviser(config)
    operators = Vocabulary(0).size
    return model, Vocabulary(config.vocab_size - operators, kinds=PAPER_KINDS, name=name)


def measure(model: Reviser, vocabulary: Vocabulary, rows: int, batches: int, rounds: int = ROUNDS) -> Speed:
    """Continue random prompts, `batches` times as many as rows, several times over."""
    chooser = random.Random(SEED)
    tokens = [id for id in range(vocabulary.base_size) if id not in vocabulary.never_inserted]
    prompts = [chooser.choices(tokens, k=PROMPT_TOKENS) for _ in range(rows * batches)]
    spent, made = [], []
    # A first call that is not counted lets the device's libraries load.
    for number in range(-1, rounds):
        started = time.perf_counter()
        made = generate(
            model,
            vocabulary,
            prompts,
            seeds=[(number + 1) * len(prompts) + run for run in range(len(prompts))],
            max_actions=MAX_ACTIONS,
            rows=rows,
        )
        if number >= 0:
            spent.append((time.perf_counter() - started, sum(len(run.ids) for run in made)))
    speeds = [actions / seconds for seconds, actions in spent]
    return Speed(
        rows=rows,
        runs=len(prompts),
        actions=spent[-1][1],
        seconds=median(seconds for seconds, _ in spent),
        actions_per_s=median(speeds),
        slowest=min(speeds),
        fastest=max(speeds),
        replayed_per_s=_replay(vocabulary, prompts, made),
    )


def _replay(vocabulary: Vocabulary, prompts: Sequence[list[int]], made: Sequence[GeneratedRun]) -> float:
    """Actions a second when runs are carried out on canvases, which refuse invalid ones."""
    started = time.perf_counter()
    for prompt, run in zip(prompts, made, strict=True):
        canvas, _ = seed(vocabulary, prompt)
        for id in run.ids:
            canvas.apply(canvas.action(id))
    return sum(len(run.ids) for run in made) / (time.perf_counter() - started)


def report(speeds: Sequence[Speed]) -> str:
    head = (
        "| rows | runs | actions a run | seconds | actions/s | slowest to fastest | on canvases, actions/s |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    )
    lines = "".join(
        f"| {speed.rows} | {speed.runs} | {speed.actions / speed.runs:.1f} | {speed.seconds:.2f} "
        f"| {speed.actions_per_s:,.0f} | {speed.slowest:,.0f} to {speed.fastest:,.0f} "
        f"| {speed.replayed_per_s:,.0f} |\n"
        for speed in speeds
    )
    return (
        f"Prompts of {PROMPT_TOKENS} tokens, at most {MAX_ACTIONS} actions a run and as many as the "
        "model's context leaves, temperature 0.9, top-k 50.\nA call of `generate` makes all runs of a line: "
        "reading the prompts, recording the graphs, mask, sampling and\nthe ids' way back to the host "
        "are in the figure. Median of "
        f"{ROUNDS} calls after one that is not counted. The last column is\nthe replay of all ids on canvases, on "
        f"one core, which also proves every one of them valid.\n\n{head}{lines}"
    )


@dataclass(frozen=True, kw_only=True)
class GenerationOptions:
    """Which model writes, and how many runs at once."""

    preset: Annotated[str, Option("the model's shape", choices=tuple(preset_names()))] = "paper-100m"
    model: Annotated[Path | None, Option("a model folder, in the place of random weights")] = None
    rows: Annotated[tuple[int, ...], Option("runs at once", together=True)] = (256, 512, 1024)
    batches: Annotated[int, Option("so many runs for each row")] = 2
    json: Annotated[bool, Option("print JSON lines, no table")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        GenerationOptions, run, arguments, prog="python -m benchmarks generation", about=(__doc__ or "").splitlines()[0]
    )


def run(chosen: GenerationOptions) -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if chosen.model:
        from reviser.checkpoints.home import load

        checkpoint = load(chosen.model)
        model, vocabulary = checkpoint.model, checkpoint.vocabulary
    else:
        model, vocabulary = random_model(chosen.preset, device)
    precision = torch.bfloat16 if device.type == "cuda" else torch.float32
    model = model.to(device, precision).eval()
    speeds = []
    for rows in chosen.rows:
        speeds.append(measure(model, vocabulary, rows, chosen.batches))
        print(json.dumps(asdict(speeds[-1])), flush=True)
    if not chosen.json:
        print(report(speeds))
    if chosen.write:
        weights = f"{chosen.model}" if chosen.model else f"random, {chosen.preset}"
        facts = provenance(
            f"python -m benchmarks generation {shlex.join(chosen.words)}",
            Torch=torch.__version__,
            Weights=f"{weights}, {precision}".replace("torch.", ""),
            Seed=SEED,
        )
        chosen.write.write_text(f"# Speed of batched generation\n\n{facts}\n{report(speeds)}")
