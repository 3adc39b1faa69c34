"""Actions a second of one history on a GPU: recorded graphs beside the plain model and transformers' `generate`.

python -m benchmarks speed --device cuda [--model NAME] [--rounds 7] [--write FILE]

All have the same weights, in bfloat16, and take turns in rounds; medians are reported. An action of ours is all of
it: scores, their way to the host, mask, sampling, the canvas and its text. A token of transformers is `generate`,
greedy, from which the reading of the prompt is counted out.
"""

from __future__ import annotations

import contextlib
import statistics
from dataclasses import dataclass

import torch

from benchmarks.speed.contestants.contest import SpeedContestant, timed
from benchmarks.speed.contestants.ours import Ours
from benchmarks.speed.contestants.page import CONTEXTS, Times
from benchmarks.speed.contestants.race import race
from benchmarks.speed.contestants.transformers_models import Transformers
from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.library import find_model, name_of
from reviser.core.errors import ReviserError
from reviser.model.graph_decoder import GraphDecoder
from reviser.model.torch_decoder import TorchDecoder
from reviser.session.engine import CAPACITY

NOTE = (__doc__ or "").split("\n\n", 2)[2]
GRAPHS = "Reviser, CUDA graphs"
PLAIN = "Reviser, plain"
TRANSFORMERS = "transformers"
STEPS = 128


@dataclass(frozen=True)
class GpuRow:
    """The figures of one contestant; `first_ms` by the length of the prompt, as in JSON."""

    actions_per_s: float
    read_gb_s: float
    first_ms: dict[str, float]


@dataclass(frozen=True)
class GpuResult:
    """All figures of a device."""

    model: str
    precision: str
    torch: str
    memory_gb_s: float
    contestants: dict[str, GpuRow]
    ratio_transformers: float | None


def measure(model: str | None, device: str, rounds: int, steps: int = STEPS) -> GpuResult:
    """Let all take turns on the device."""
    if device == "cuda" and not torch.cuda.is_available():
        raise ReviserError("torch finds no GPU here")
    folder = find_model(model)
    precision = torch.bfloat16 if device == "cuda" else torch.float32
    checkpoint = load(folder, device=device, dtype=precision)
    contestants = contestants_of(checkpoint)
    vocab = checkpoint.vocabulary.base_size
    times = race(contestants, vocab, rounds, steps)
    return summary(contestants, times, name_of(folder), precision, bandwidth(torch.device(device)))


def contestants_of(checkpoint: Checkpoint) -> list[SpeedContestant]:
    model = checkpoint.model.eval()
    capacity = min(model.config.context, CAPACITY)
    weights = sum(weight.nbytes for weight in model.parameters())
    instructions = "CUDA" if model.cos.is_cuda else "torch"
    made: list[SpeedContestant] = [
        Ours(
            *(kind(model, capacity), checkpoint.vocabulary, checkpoint.tokenizer, name),
            instructions=instructions,
            step_bytes=weights,
        )
        for kind, name in ((GraphDecoder, GRAPHS), (TorchDecoder, PLAIN))
    ]
    with contextlib.suppress(ImportError):
        made.append(Transformers(model, TRANSFORMERS))
    return made


def bandwidth(device: torch.device) -> float:
    """Bytes a second that the device can read, from a block no cache holds."""
    block = torch.ones(1 << 28 if device.type == "cuda" else 1 << 24, device=device)
    return block.nbytes / statistics.median(timed(lambda: block.sum().item()) for _ in range(9))


def summary(
    contestants: list[SpeedContestant], times: list[Times], model: str, precision: torch.dtype, rate: float
) -> GpuResult:
    rows = {
        one.name: GpuRow(
            actions_per_s=spent.steps_per_s,
            read_gb_s=one.step_bytes * spent.steps_per_s / 1e9,
            first_ms=spent.first_ms(),
        )
        for one, spent in zip(contestants, times, strict=True)
    }
    theirs = rows.get(TRANSFORMERS)
    return GpuResult(
        model=model,
        precision=str(precision).removeprefix("torch."),
        torch=torch.__version__,
        memory_gb_s=rate / 1e9,
        contestants=rows,
        ratio_transformers=rows[GRAPHS].actions_per_s / theirs.actions_per_s if theirs else None,
    )


def report(result: GpuResult) -> str:
    first = " | ".join(f"first after {length} (ms)" for length in CONTEXTS)
    lines = [
        f"| | actions/s | GB/s of {result.memory_gb_s:.0f} | {first} |",
        f"| --- | ---: | ---: |{' ---: |' * len(CONTEXTS)}",
    ]
    for name, row in result.contestants.items():
        firsts = " | ".join(f"{row.first_ms[str(length)]:.1f}" for length in CONTEXTS)
        lines.append(f"| {name} | {row.actions_per_s:.1f} | {row.read_gb_s:.1f} | {firsts} |")
    ratio = result.ratio_transformers
    told = "not measured" if ratio is None else f"{ratio:.2f} times"
    lines += ["", f"- Against transformers: {told}", f"- Weights: {result.precision}"]
    return "\n".join(lines) + "\n"
