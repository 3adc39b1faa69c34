"""What a shortlist for the output table would gain: rough scores of all ids at first, exact ones for those that can be among the highest.

python -m benchmarks shortlist [--runs 3] [--actions 60] [--write FILE]

The output table is a third of what an action reads. Rough scores come from a smaller table. An id is scored exactly, too, if its rough score and
a bound of its error reach the k-th highest exact score, k being what the sampler asks for. Weights are stored by panels of eight ids, so
one such id costs a whole panel. Smaller tables: the upper halves of the bytes; four bits in groups of 32 columns; the same, but
with the 32 columns whose inputs are largest left as they are. Bounds: the inequality of Cauchy and Schwarz for whole rows and for
groups of columns, which always hold, and seven standard deviations of an error that is spread evenly, which holds nearly always.

Final states are worked out from the scores of every action in continued openings of the everyday benchmark. Times are those of the thread,
the least of several rounds by turns: of one layer with the table in eight and in four bits, and of a step of the whole model.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.everyday.prompts import openings
from benchmarks.report.provenance import load, provenance
from benchmarks.report.tables import Table
from reviser.checkpoints.description import describe, quantised_arrays
from reviser.checkpoints.library import find_model
from reviser.cli.arguments import run_with
from reviser.cli.options import Option
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.sampler import Sampler
from reviser.model import ModelConfig, Reviser
from reviser.model.layout import GROUP, Bits
from reviser.model.quantised import dequantise, quantise, quantise_model
from reviser.native import NativeDecoder
from reviser.session.engine import Engine, load_engine

Array = NDArray[np.float32]

PANEL = 8
KEPT_COLUMNS = 32
DEVIATIONS = 7.0
_ROUNDS = 15
_STEPS = 16
_HISTORY = 32


@dataclass(frozen=True, kw_only=True)
class Options:
    """How many runs to look at, and how many ids a sampler wants."""

    model: Annotated[str | None, Option("the model; the default one if not given")] = None
    runs: Annotated[int, Option("openings that are continued", least=1)] = 3
    actions: Annotated[int, Option("of a run, at the most", least=1)] = 60
    top_k: Annotated[int, Option("ids whose scores must be exact", least=1)] = 50
    seed: Annotated[int, Option("of the first run")] = 0
    write: Annotated[Path | None, Option("also write the page to this file")] = None


@dataclass(frozen=True)
class Rough:
    """A smaller table: what its rows stand for, the columns in which it is not exact, and bytes of one row."""

    name: str
    rows: Array
    columns: NDArray[np.int64]
    row_bytes: float


@dataclass(frozen=True)
class Kept:
    """What a bound leaves to be scored exactly, on average over steps; `missed` are ids that it should have left and did not."""

    ids: float
    panels: float
    missed: int


def upper_halves(codes: NDArray[np.int8], scales: Array) -> Rough:
    """Of a byte 16 h + l, with l from 0 to 15, its upper half stands for 16 h + 7.5."""
    rows = ((codes >> 4).astype(np.float32) * 16 + 7.5) * scales[:, None]
    return Rough("upper halves", rows, np.arange(codes.shape[1]), codes.shape[1] / 2)


def in_groups(table: Array, kept: NDArray[np.int64]) -> Rough:
    """Four bits, with some columns as they are."""
    columns = np.setdiff1d(np.arange(table.shape[1]), kept)
    part = torch.from_numpy(np.ascontiguousarray(table[:, columns]))
    rows = table.copy()
    rows[:, columns] = dequantise(quantise(part, 4), len(columns)).numpy()
    name = f"4 bits, {len(kept)} columns in 8" if len(kept) else "4 bits in groups"
    return Rough(name, rows, columns, len(kept) + len(columns) * (0.5 + 2 / GROUP))


def bounds(table: Array, rough: Rough, states: Array) -> Iterator[tuple[str, Array]]:
    """How far a rough score can be from the exact one, by steps and ids."""
    error = (table - rough.rows)[:, rough.columns]
    inputs = states[:, rough.columns]
    sizes = np.linalg.norm(error, axis=1)
    whole = np.linalg.norm(inputs, axis=1)[:, None] * sizes
    yield "always, rows", whole
    padding = -len(rough.columns) % GROUP
    of_rows = np.linalg.norm(
        np.pad(error, ((0, 0), (0, padding))).reshape(len(table), -1, GROUP), axis=2
    )
    of_inputs = np.linalg.norm(
        np.pad(inputs, ((0, 0), (0, padding))).reshape(len(states), -1, GROUP), axis=2
    )
    yield "always, groups", of_inputs @ of_rows.T
    yield f"{DEVIATIONS:.0f} deviations", whole * np.float32(DEVIATIONS / len(rough.columns) ** 0.5)


def kept(exact: Array, rough: Array, bound: Array, top_k: int) -> Kept:
    """Ids whose rough score and bound reach the k-th highest exact score, and panels that hold one."""
    lowest = np.partition(exact, -top_k, axis=1)[:, -top_k, None]
    chosen = rough + bound >= lowest
    panels = np.pad(chosen, ((0, 0), (0, -exact.shape[1] % PANEL))).reshape(len(exact), -1, PANEL)
    missed = int(((exact >= lowest) & ~chosen).sum())
    return Kept(float(chosen.sum(1).mean()), float(panels.any(2).sum(1).mean()), missed)


def final_states(table: Array, scores: Array) -> Array:
    """The states whose products with the table are these scores."""
    some = np.linspace(0, len(table) - 1, 4 * table.shape[1]).astype(int)
    found, *_ = np.linalg.lstsq(
        table[some].astype(np.float64), scores[:, some].T.astype(np.float64), rcond=None
    )
    return np.ascontiguousarray(found.T, dtype=np.float32)


def seen_scores(engine: Engine, policy: ModelPolicy, chosen: Options) -> Array:
    """The scores of every action of some runs."""
    found = []
    for number, opening in enumerate(openings(["mail", "readme"], chosen.runs)[: chosen.runs]):
        run = engine.session(opening.text).continue_(
            Sampler(seed=chosen.seed + number), max_actions=chosen.actions
        )
        for _ in run:
            pass
        history, seeded = run.rollout.history, run.rollout.seeded
        for end in range(seeded, len(history)):
            found.append(policy.scores(history[:end], run.rollout.canvas).copy())
    return np.array(found)


def step_time(decoder: NativeDecoder) -> float:
    """Seconds of the thread for one step, on average over some."""
    decoder.truncate(0)
    decoder.prefill(range(1, _HISTORY + 1))
    decoder.decode(5)
    began = time.thread_time()
    for id in range(_STEPS):
        decoder.decode(100 + id)
    return (time.thread_time() - began) / _STEPS


def one_layer(config: ModelConfig, table_bits: Bits) -> NativeDecoder:
    """A decoder like the model's, with a single layer of random weights."""
    torch.manual_seed(0)
    small = ModelConfig.from_dict({**config.to_dict(), "layers": 1})
    tensors = quantise_model(Reviser(small), 4, table_bits)
    return NativeDecoder.from_quantised(small, tensors, threads=1, capacity=128)


def times(decoder: NativeDecoder) -> tuple[float, float, float]:
    """The least seconds of a step: one layer and the table in eight bits, in four, and the whole model."""
    with one_layer(decoder.config, 8) as eight, one_layer(decoder.config, 4) as four:
        decoders = (eight, four, decoder)
        rounds = [[step_time(one) for one in decoders] for _ in range(_ROUNDS)]
    return tuple(min(one) for one in zip(*rounds, strict=True))


def measure(chosen: Options) -> None:
    engine = load_engine(chosen.model, threads=1)
    policy = engine.policy
    if not isinstance(policy, ModelPolicy) or not isinstance(policy.decoder, NativeDecoder):
        raise ReviserError("this model does not run in the native library")
    description = describe(find_model(chosen.model))
    if description.quantisation is None or not description.config.tied:
        raise ReviserError("a quantised model is needed, whose output table is its embedding")
    arrays = quantised_arrays(description, description.quantisation)
    codes, scales = arrays["embedding.weight.codes"], arrays["embedding.weight.row_scales"]
    table = codes.astype(np.float32) * scales[:, None]
    scores = seen_scores(engine, policy, chosen)
    states = final_states(table, scores)
    exact = states @ table.T
    largest = np.argsort(-np.square(states[::2]).mean(0))[:KEPT_COLUMNS]
    rows = []
    for rough in (
        upper_halves(codes, scales),
        in_groups(table, np.array([], dtype=np.int64)),
        in_groups(table, largest),
    ):
        near = states @ rough.rows.T
        for name, bound in bounds(table, rough, states):
            found = kept(exact, near, bound, chosen.top_k)
            read = len(table) * rough.row_bytes + found.panels * PANEL * table.shape[1]
            figures = (
                f"{found.ids:,.0f}",
                f"{found.panels:,.0f}",
                str(found.missed),
                f"{read / 1e6:.1f}",
            )
            rows.append((rough.name, name, f"{(near - exact).std():.2f}", *figures))
    columns = ("smaller table", "bound", "error of a score", "ids", "panels", "missed", "MB a step")
    shown = (
        Table(columns, tuple(rows), names=2).markdown()
        + "\n"
        + _in_words(table, exact, times(policy.decoder))
    )
    print(shown)
    if chosen.write:
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "shortlist", *sys.argv[2:]]),
            Model=engine.name,
            Seed=chosen.seed,
            Instructions=policy.decoder.level,
            Load=load(),
        )
        note = (__doc__ or "").split("\n\n", 2)[2]
        page = f"# What a shortlist for the output table would gain\n\n{facts}\n{note}\n{shown}"
        write_atomically(chosen.write, page.encode())


def _in_words(table: Array, exact: Array, seconds: tuple[float, float, float]) -> str:
    eight, four, whole = (1e6 * one for one in seconds)
    return (
        f"- Steps: {len(exact)}; ids: {len(table)} in {-(-len(table) // PANEL)} panels, {table.size / 1e6:.1f} MB; "
        f"spread of the scores: {exact.std():.2f}\n"
        f"- One layer and the table: {eight:.0f} µs with the table in 8 bits, {four:.0f} µs in 4 bits; a step of the whole model: "
        f"{whole:.0f} µs\n"
        f"- A step without any exact score would take {100 * (eight - four) / whole:.1f} % less\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    about = (__doc__ or "").splitlines()[0]
    return run_with(Options, measure, arguments, prog="python -m benchmarks shortlist", about=about)
