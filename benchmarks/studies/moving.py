"""At which temperature a model should choose its moves: what several temperatures do to its texts.

    python -m benchmarks moving [MODEL] --data SHARDS --evaluator FOLDER [--prompts 200]
        [--temperatures 0.9 0.5 0.35 0.2] [--write docs/results/move-temperature.md]

Every setting continues the same held-out prompts with the same seed, as the continuation protocol says
(`benchmarks.protocol`). The table says where insertions begin that follow a move, other than at the end of the text: before a
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
from numpy.typing import NDArray

from benchmarks.contestants.continuation_models import load_contestant
from benchmarks.contestants.own_models import DecodingOptions, OwnModel
from benchmarks.measures import continuation
from benchmarks.protocol.records import Generation, Prompt
from benchmarks.protocol.runs import written_by
from benchmarks.protocol.setup import Setup, held_out_prompts
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.checkpoints.home import Checkpoint, load
from reviser.checkpoints.library import find_model, name_of
from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.actions import Insert, Move
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.decoding.rollout import seed
from reviser.scoring.loading import default_device, dtype_for
from training.data.boundaries import CLAUSE, boundary_classes, strength

SEED = 123
# The strengths of boundaries, from none to the end of a sentence.
_PLACES = ("within a word", "word", "clause", "sentence")


@dataclass(frozen=True)
class Found:
    """One setting's texts, and where its insertions began."""

    temperature: float
    landings: Counter[int]
    report: continuation.Report

    @property
    def tidy(self) -> float:
        """The share of landings before a clause or a sentence."""
        good = sum(count for place, count in self.landings.items() if place >= CLAUSE)
        return good / max(sum(self.landings.values()), 1)


def continue_all(
    model: str, prompts: Sequence[Prompt], setup: Setup, temperature: float, evaluator: Checkpoint
) -> Found:
    """Continue every prompt with moves at that temperature."""
    decoding = DecodingOptions(move_temperature=temperature)
    contestant = load_contestant(model, setup, name=f"{temperature:g}", decoding=decoding)
    if not isinstance(contestant, OwnModel):
        raise ReviserError(f"{model} is no model of ours, so it does not move")
    written = written_by(contestant, prompts, setup.seeds)
    classes = boundary_classes(contestant.tokenizer)
    landings: Counter[int] = Counter()
    for prompt, entry in zip(prompts, written, strict=True):
        landings += landings_of(contestant, prompt, entry, classes)
    scores = continuation.scores_of(prompts, written, evaluator)
    followed = continuation.walks_of(contestant, prompts, written)
    return Found(
        temperature, landings, continuation.report(contestant.name, written, scores, followed)
    )


def landings_of(
    contestant: OwnModel, prompt: Prompt, entry: Generation, classes: NDArray[np.uint8]
) -> Counter[int]:
    """The boundaries at which insertions begin that follow a move, other than at the end."""
    canvas, _ = seed(contestant.vocabulary, contestant.prompt_ids(prompt))
    found: Counter[int] = Counter()
    moved = False
    for id in entry.actions or ():
        action, place = canvas.action(id), _place(canvas, classes)
        if place is not None and moved and isinstance(action, Insert):
            found[place] += 1
        moved = isinstance(action, Move)
        canvas.apply(action)
    return found


def _place(canvas: Canvas, classes: NDArray[np.uint8]) -> int | None:
    """How strong the boundary is at which the cursor stands; None at the end of the text."""
    cursor = canvas.cursor
    if cursor == canvas.high:
        return None
    before, after = canvas.between(cursor - 1, cursor + 1)
    return strength(int(classes[before]), int(classes[after]))


def table(found: Sequence[Found]) -> str:
    columns = ("moves at", "before a clause or sentence", *reversed(_PLACES), "evalPPL")
    columns += ("repeated 4-grams", "tokens", "stop", "moves", "revised")
    rows = []
    for one in found:
        report = one.report
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
        tuple[float, ...], Option("temperatures of moves to compare", together=True)
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
    model = str(find_model(chosen.model))
    device = default_device()
    evaluator = load(chosen.evaluator, device=device, dtype=dtype_for(device))
    setup = Setup(prompts=chosen.prompts, seeds=(SEED,))
    prompts = held_out_prompts(chosen.data, evaluator.tokenizer, setup)
    found = []
    for temperature in chosen.temperatures:
        found.append(continue_all(model, prompts, setup, temperature, evaluator))
        print(table(found[-1:]), file=sys.stderr, flush=True)
    text = table(found)
    print(text)
    if chosen.write:
        facts = provenance(
            "python -m benchmarks moving --temperatures "
            + " ".join(f"{each:g}" for each in chosen.temperatures),
            Model=name_of(Path(model)),
            Data=f"{len(prompts)} prompts of {setup.prompt_tokens} GPT-2 tokens from {chosen.data.name}",
            Seed=SEED,
            Sampling=f"temperature {setup.temperature}, top-k {setup.top_k}, at most {setup.max_actions} "
            "actions; moves as told",
            Evaluator=chosen.evaluator.name,
        )
        chosen.write.write_text(
            f"# The temperature of moves\n\n{facts}\nWhere insertions begin that follow moves, other than at "
            f"the end of the text, and what the texts are like:\n\n{text}"
        )
