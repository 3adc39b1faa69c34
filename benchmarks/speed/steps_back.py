"""The cost and benefit of checking steps back: runs with `--check-steps-back` beside the same runs without.

    python -m benchmarks steps_back [MODEL] [--evaluator MODEL] [--each 2] [--actions 128] [--seed 1]
        [--write docs/results/steps-back.md]

Both continue the openings of the everyday benchmark, in turn, with the same seeds, on the engine that the product runs on. An
evaluator, which may be a GGUF file of a language model, reads what was written from left to right.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from benchmarks.everyday.prompts import openings
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from benchmarks.studies.suggestions import load_model
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.files import write_atomically
from reviser.decoding.left_to_right import READABLE, left_to_right
from reviser.decoding.sampler import Sampler
from reviser.decoding.stepping_back import CheckedRollout
from reviser.session.engine import Engine
from reviser.session.session import Generation


@dataclass
class Tally:
    """The runs of one way, added up."""

    name: str
    seconds: float = 0.0
    actions: int = 0
    back: int = 0
    made: int = 0
    refused: int = 0
    written: list[tuple[str, str]] = field(default_factory=list)

    def add(self, run: Generation, seconds: float, prompt: str) -> None:
        rollout = run.rollout
        ids = rollout.history[rollout.seeded :]
        moves = rollout.canvas.vocabulary.move_ids
        # Moves in a row are one step.
        backward = [id in moves and (id - moves.start) % 2 == 1 for id in ids]
        self.seconds += seconds
        self.actions += len(ids)
        self.back += sum(
            now and not before for before, now in zip([False, *backward], backward, strict=False)
        )
        if isinstance(rollout, CheckedRollout):
            self.made += rollout.made
            self.refused += rollout.refused
        self.written.append((prompt, run.written))


def measure(engine: Engine, each: int, actions: int, seed: int) -> tuple[Tally, Tally]:
    """Continue every opening both ways, in turn."""
    tallies = Tally("unchecked"), Tally("checked")
    for number, opening in enumerate(openings(each=each)):
        for tally in tallies:
            session = engine.session(opening.text)
            run = session.continue_(
                Sampler(seed=seed + number),
                max_actions=actions,
                check_steps_back=tally is tallies[1],
            )
            began = time.perf_counter()
            for _ in run:
                pass
            tally.add(run, time.perf_counter() - began, opening.text)
    return tallies


def perplexity(evaluator: Engine, written: Sequence[tuple[str, str]]) -> float:
    """How unlikely an evaluator finds each token that was written, after all before it."""
    reading = left_to_right(evaluator.policy)
    total, count = 0.0, 0
    for prompt, text in written:
        given = evaluator.tokenizer.encode(prompt)
        tokens = evaluator.tokenizer.encode(prompt + text)[: READABLE - 1]
        last = len(tokens) - len(given)
        if last > 0:
            total -= sum(reading.chances([evaluator.policy.vocabulary.start_id, *tokens], last))
            count += last
    return math.exp(total / max(count, 1))


def table(tallies: Sequence[Tally], evaluator: Engine | None) -> str:
    columns = ["steps back", "runs", "actions", "actions/s", "steps back in 100", "made", "refused"]
    rows = []
    for tally in tallies:
        checked = bool(tally.made or tally.refused)
        row = [
            tally.name,
            str(len(tally.written)),
            str(tally.actions),
            f"{tally.actions / tally.seconds:.1f}" if tally.seconds else "–",
            f"{100 * tally.back / max(tally.actions, 1):.1f}",
            str(tally.made) if checked else "–",
            str(tally.refused) if checked else "–",
        ]
        if evaluator is not None:
            row.append(f"{perplexity(evaluator, tally.written):.2f}")
        rows.append(tuple(row))
    if evaluator is not None:
        columns.append("evalPPL")
    return Table(tuple(columns), tuple(rows)).markdown()


@dataclass(frozen=True, kw_only=True)
class StepsBackOptions:
    """Which model writes, from how many openings."""

    model: Annotated[str, Argument("a model, or NAME=MODEL")] = "default"
    evaluator: Annotated[str | None, Option("a model that reads what was written")] = None
    each: Annotated[int, Option("openings of each of ten kinds")] = 2
    actions: Annotated[int, Option("of a run at the most")] = 128
    seed: Annotated[int, Option("of the first run")] = 1
    write: Annotated[Path | None, Option("also write a Markdown file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        StepsBackOptions,
        run,
        arguments,
        prog="python -m benchmarks steps_back",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: StepsBackOptions) -> None:
    name, engine = load_model(chosen.model)
    tallies = measure(engine, chosen.each, chosen.actions, chosen.seed)
    reader = load_model(chosen.evaluator) if chosen.evaluator else None
    text = table(tallies, reader and reader[1])
    print(text)
    if chosen.write:
        facts = {
            "Model": name,
            "Data": f"{len(tallies[0].written)} openings of the everyday benchmark",
            "Seeds": f"{chosen.seed} and on",
            "Sampling": f"as reviser continue does by default, at most {chosen.actions} actions",
            "Evaluator": reader[0] if reader else "none",
        }
        command = f"python -m benchmarks steps_back --each {chosen.each} --actions {chosen.actions} --seed {chosen.seed}"
        page = f"# Steps back, checked or not\n\n{provenance(command, **facts)}\n{text}"
        write_atomically(chosen.write, page.encode())
