"""How surely a model should choose where to go: what moves at several temperatures do to its texts.

    python -m benchmarks moving [MODEL] --data SHARDS --evaluator FOLDER [--prompts 200]
        [--temperatures 0.9 0.5 0.35 0.2] [--write docs/results/move-temperature.md]

Every setting continues the same held-out prompts, with the seeds of the prompts' numbers, on the engine that
the product runs on. Told are where insertions begin that follow a step back or forth, other than at the end: before a
sentence, before a clause, before a word or within one; and how likely and how varied the texts are.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measures import continuation
from benchmarks.protocol.setup import Setup
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.checkpoints.home import load
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.actions import Action, Insert, Move
from reviser.core.canvas import Canvas
from reviser.decoding.rollout import Rollout, Sampler, seed
from reviser.session.engine import Engine, load_engine
from training.data.boundaries import CLAUSE, boundary_classes, strength
from training.data.corpus import Corpus

TEMPERATURE = Setup.temperature
TOP_K = Setup.top_k
FIRST_SEED = 123_000
# The strengths of boundaries, from none to the end of a sentence.
_PLACES = ("within a word", "word", "clause", "sentence")


@dataclass(frozen=True)
class Found:
    """One setting's texts, and where its insertions began."""

    temperature: float
    landings: Counter[int]
    written: list[continuation.Written]

    @property
    def tidy(self) -> float:
        """The share of landings before a clause or a sentence."""
        good = sum(count for place, count in self.landings.items() if place >= CLAUSE)
        return good / max(sum(self.landings.values()), 1)


def continue_all(
    engine: Engine, prompts: Sequence[continuation.Prompt], temperature: float
) -> Found:
    """Continue every prompt with moves at that temperature."""
    classes = boundary_classes(engine.tokenizer)
    landings: Counter[int] = Counter()
    written = []
    for number, prompt in enumerate(prompts):
        canvas, history = seed(engine.policy.vocabulary, prompt.tokens)
        sampler = Sampler(
            TEMPERATURE, TOP_K, seed=FIRST_SEED + number, move_temperature=temperature
        )
        run = Rollout(engine.policy, canvas, history, sampler)
        actions: list[Action] = []
        while True:
            place = _place(canvas, classes)
            step = next(run, None)
            if step is None:
                break
            if place is not None and isinstance(step.action, Insert) and actions:
                landings[place] += isinstance(actions[-1], Move)
            actions.append(step.action)
        tokens = canvas.tokens[len(prompt.tokens) :]
        ending = "stop" if run.ending == "stop" else "limit"
        written.append(continuation.Written(prompt, tokens, actions, ending))
    return Found(temperature, landings, written)


def _place(canvas: Canvas, classes: NDArray[np.uint8]) -> int | None:
    """How strong the boundary is at which the cursor stands; None at the end of the text."""
    cursor = canvas.cursor
    if cursor == canvas.high:
        return None
    before, after = canvas.between(cursor - 1, cursor + 1)
    return strength(int(classes[before]), int(classes[after]))


def table(found: Sequence[Found], reports: Sequence[continuation.Report]) -> str:
    columns = ("moves at", "before a clause or sentence", *reversed(_PLACES), "evalPPL")
    columns += ("repeated 4-grams", "tokens", "stop", "moves", "revised")
    rows = []
    for one, report in zip(found, reports, strict=True):
        total = max(sum(one.landings.values()), 1)
        shares = (one.landings[place] / total for place in reversed(range(len(_PLACES))))
        rows.append(
            (
                f"{one.temperature:g}",
                f"{one.tidy:.1%}",
                *(f"{share:.1%}" for share in shares),
                f"{report.ppl:.2f}",
                f"{report.repeated_4:.4f}",
                f"{report.tokens:.0f}",
                f"{report.stopped:.1%}",
                f"{report.moves:.1%}",
                f"{report.revised:.1%}",
            )
        )
    return Table(columns, tuple(rows)).markdown()


@dataclass(frozen=True, kw_only=True)
class MovingOptions:
    """Which model continues which prompts, and at which temperatures it moves."""

    model: Annotated[str | None, Argument("as for reviser continue --model")] = None
    data: Annotated[Path, Option("token shards of held-out texts")]
    evaluator: Annotated[Path, Option("folder of a language model")]
    prompts: Annotated[int, Option("how many prompts")] = 200
    temperatures: Annotated[
        tuple[float, ...], Option("at which moves are chosen", together=True)
    ] = (0.9, 0.5, 0.35, 0.2)
    write: Annotated[Path | None, Option("also write the table to this Markdown file")] = None


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        MovingOptions,
        run,
        arguments,
        prog="python -m benchmarks moving",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: MovingOptions) -> None:
    engine = load_engine(chosen.model)
    prompts = continuation.prompts_of(Corpus.open(chosen.data), chosen.prompts)
    found, reports = [], []
    evaluator = load(chosen.evaluator, dtype=torch.float32)
    for temperature in chosen.temperatures:
        one = continue_all(engine, prompts, temperature)
        scores = continuation.scores_of(one.written, evaluator.model, evaluator.tokenizer)
        found.append(one)
        reports.append(continuation.report(f"{temperature:g}", one.written, scores, 0.0))
        print(table(found[-1:], reports[-1:]), file=sys.stderr, flush=True)
    text = table(found, reports)
    print(text)
    if chosen.write:
        facts = provenance(
            "python -m benchmarks moving --temperatures "
            + " ".join(f"{each:g}" for each in chosen.temperatures),
            Model=engine.name,
            Data=f"{len(prompts)} prompts of 35 tokens from {chosen.data.name}",
            Seeds=f"{FIRST_SEED} and on, one for each prompt",
            Sampling=f"temperature {TEMPERATURE}, top-k {TOP_K}, at most 256 actions; moves as told",
            Evaluator=chosen.evaluator.name,
        )
        chosen.write.write_text(
            f"# How surely to choose where to go\n\n{facts}\nWhere insertions begin that follow moves, other than at "
            f"the end of the text, and what the texts are like:\n\n{text}"
        )
