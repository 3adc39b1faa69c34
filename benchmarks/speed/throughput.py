"""How fast models learn here: training as `reviser train` does it, for some steps, and what the time goes to.

    python -m benchmarks throughput PRESET --data SHARDS [--rows N …] [--init BASE] [--mixture FILE] [--kernels 20]

Weights are fresh where no --init is given, and nothing is kept. Compiling and the first steps are not counted. A
run of the paper's presets has the paper's batch, which is small for a large GPU: --rows measures larger ones too.
"""

from __future__ import annotations

import json
import shlex
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import torch

from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option, Words
from reviser.core.files import write_atomically
from training.data.corpus import Corpus
from training.samples.samples import Samples
from training.trainer.parallel import World, join_world
from training.trainer.run import check_history, loader_of, matrix_rate, mixture_of, starting_point
from training.trainer.settings import PRESETS, Settings, preset_settings
from training.trainer.trainer import Measured, Trainer

FIRST_STEPS = 5
PROFILED_STEPS = 3


@dataclass(frozen=True)
class Throughput:
    """Some steps of one run."""

    preset: str
    rows: int
    row_length: int
    dropout: float
    steps: int
    seconds: float
    actions: int
    waited: float
    parameters: int
    matrix_rate: float | None
    gigabytes: float | None

    @property
    def actions_per_s(self) -> float:
        return self.actions / self.seconds

    @property
    def mfu(self) -> float | None:
        """Model FLOPs utilisation, against a large bf16 product on the same device."""
        rate = self.matrix_rate
        return 6 * self.parameters * self.actions_per_s / rate if rate else None


@dataclass(frozen=True)
class Kernel:
    """A kernel's share of a step."""

    name: str
    milliseconds: float
    calls: float


def trainer_of(settings: Settings, chosen: ThroughputOptions, world: World) -> Trainer:
    """What `training.trainer.run` would begin with."""
    torch.manual_seed(settings.seed)
    torch.set_float32_matmul_precision("high")
    corpus = Corpus.open(chosen.data)
    tokenizer = chosen.tokenizer or corpus.tokenizer.name
    parts = starting_point(settings, tokenizer, chosen.init)
    check_history(settings.history, parts.model)
    mixture = mixture_of(settings, chosen.mixture)
    samples = Samples(corpus, parts.vocabulary, mixture, settings.seed)
    loader = loader_of(samples, settings, world, chosen.workers)
    return Trainer(settings, parts.model, loader, world, moves=parts.vocabulary.move_ids)


def measure(preset: str, trainer: Trainer, steps: int, kernels: int) -> tuple[Throughput, list[Kernel]]:
    device = trainer.world.device
    on_gpu = device.type == "cuda"
    taken = trainer.steps()
    for _ in range(FIRST_STEPS):
        next(taken)
    _finish(device)
    waited, began = trainer.source.waited, time.perf_counter()
    actions = sum(next(taken).actions for _ in range(steps))
    _finish(device)
    seconds = time.perf_counter() - began
    settings = trainer.settings
    result = Throughput(
        preset,
        settings.rows,
        settings.row_length,
        trainer.model.config.dropout,
        steps,
        seconds,
        actions,
        (trainer.source.waited - waited) / seconds,
        sum(weight.numel() for weight in trainer.model.parameters()),
        matrix_rate(device),
        torch.cuda.max_memory_allocated(device) / 2**30 if on_gpu else None,
    )
    return result, profile(taken, device)[:kernels] if kernels and on_gpu else []


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def profile(taken: Iterator[Measured], device: torch.device) -> list[Kernel]:
    """The kernels of a step, those that take longest first."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiled

    with profiled(activities=[ProfilerActivity.CUDA]) as watched:
        for _ in range(PROFILED_STEPS):
            next(taken)
        _finish(device)
    times: dict[str, list[float]] = defaultdict(list)
    for event in watched.events() or ():
        if "CUDA" in str(event.device_type):
            times[event.name].append(event.time_range.elapsed_us())
    found = [
        Kernel(name, sum(each) / 1000 / PROFILED_STEPS, len(each) / PROFILED_STEPS) for name, each in times.items()
    ]
    return sorted(found, key=lambda kernel: -kernel.milliseconds)


def table(results: Sequence[Throughput]) -> str:
    columns = (
        *("preset", "rows", "ids in a row", "dropout", "steps", "ms a step"),
        *("thousand actions/s", "MFU", "waiting for data", "GB"),
    )
    rows = [
        (
            entry.preset,
            str(entry.rows),
            str(entry.row_length),
            f"{entry.dropout:g}",
            str(entry.steps),
            f"{1000 * entry.seconds / entry.steps:.1f}",
            f"{entry.actions_per_s / 1000:.1f}",
            "" if entry.mfu is None else f"{entry.mfu:.3f}",
            f"{entry.waited:.1%}",
            "" if entry.gigabytes is None else f"{entry.gigabytes:.0f}",
        )
        for entry in results
    ]
    return Table(columns, tuple(rows)).markdown()


def kernel_table(kernels: Sequence[Kernel]) -> str:
    rows = [(kernel.name[:80], f"{kernel.milliseconds:.2f}", f"{kernel.calls:.0f}") for kernel in kernels]
    return Table(("kernel", "ms a step", "calls"), tuple(rows)).markdown()


@dataclass(frozen=True, kw_only=True)
class ThroughputOptions:
    """Which model is trained on what, and for how many steps."""

    preset: Annotated[str, Argument(choices=tuple(PRESETS))]
    data: Annotated[Path, Option("token shards")]
    tokenizer: Annotated[str | None, Option("gpt2, or the tokenizer.json the data was made with")] = None
    init: Annotated[str | None, Option("start from this model: a folder, a hub id or a GGUF file")] = None
    mixture: Annotated[Path | None, Option("JSON file; by default the paper's recipe")] = None
    history: Annotated[int | None, Option("longest history of a sample, in ids")] = None
    rows: Annotated[tuple[int, ...], Option("rows in a pass", default="as the preset", together=True)] = ()
    dropout: Annotated[float | None, Option("share that is dropped")] = None
    steps: Annotated[int, Option("steps to measure")] = 40
    workers: Annotated[int, Option("threads that make batches")] = 8
    kernels: Annotated[int, Option("list so many kernels of a GPU")] = 0
    write: Annotated[Path | None, Option("also write the tables to this Markdown file")] = None
    words: Words = ()


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        ThroughputOptions, run, arguments, prog="python -m benchmarks throughput", about=(__doc__ or "").splitlines()[0]
    )


def run(chosen: ThroughputOptions) -> None:
    results: list[Throughput] = []
    parts: list[str] = []
    for rows in chosen.rows or (None,):
        changes = {"history": chosen.history, "rows": rows, "dropout": chosen.dropout}
        settings = preset_settings(chosen.preset, steps=10**6, **changes)
        torch.compiler.reset()
        with join_world("none") as world:
            trainer = trainer_of(settings, chosen, world)
            found, kernels = measure(chosen.preset, trainer, chosen.steps, chosen.kernels)
        del trainer
        results.append(found)
        print(json.dumps(asdict(found) | {"actions_per_s": found.actions_per_s}), flush=True)
        if kernels:
            parts.append(f"\nWith {settings.rows} rows:\n\n{kernel_table(kernels)}")
    text = "\n".join((table(results), *parts))
    print(text)
    if chosen.write:
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "throughput", *chosen.words]),
            Torch=torch.__version__,
            Seed=settings.seed,
        )
        write_atomically(chosen.write, f"# Speed of training\n\n{facts}\n{text}\n".encode())
