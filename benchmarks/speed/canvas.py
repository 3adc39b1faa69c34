"""The cost of an edit near the cursor, measured on canvases of different lengths.

python -m benchmarks canvas [--write docs/results/canvas-cost.md]
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.report.provenance import write_page
from benchmarks.report.tables import Table
from reviser.cli.options import Option
from reviser.core.actions import Action, Delete, Insert, Move
from reviser.core.canvas import Canvas
from reviser.core.text import TextLayer
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ACTIONS = 20_000
ROUNDS = 5
SEED = 0


@dataclass(frozen=True)
class ActionCost:
    """Microseconds for one action, on a canvas of `tokens` tokens."""

    tokens: int
    apply: float
    undo: float
    mask: float
    text: float


def measure(tokens: int, actions: int = ACTIONS, rounds: int = ROUNDS) -> ActionCost:
    """The best of several rounds of random edits around the middle of the canvas."""
    tokenizer = Gpt2Tokenizer()
    chooser = random.Random(SEED)
    content = [chooser.randrange(50_000) for _ in range(tokens)]
    canvas = Canvas(Vocabulary.gpt2(), content, cursor=tokens // 2)
    layer = TextLayer(tokenizer, content)
    layer.position(canvas.cursor)
    best = [float("inf")] * 4
    for _ in range(rounds):
        script = _script(chooser, actions)
        spent = _round(canvas, layer, script)
        best = [min(old, new) for old, new in zip(best, spent, strict=True)]
    return ActionCost(tokens, *(seconds / actions * 1e6 for seconds in best))


def _script(chooser: random.Random, actions: int) -> list[Action]:
    """Random edits at most a few hundred tokens away from their start."""
    script: list[Action] = []
    for _ in range(actions // 4):
        distance = 2 ** chooser.randrange(7)
        script += [Insert(chooser.randrange(50_000)), Move(-distance), Delete(), Move(distance)]
    return script


def _round(canvas: Canvas, layer: TextLayer, script: list[Action]) -> tuple[float, ...]:
    clock = time.perf_counter
    started = clock()
    splices = [splice for action in script for splice in canvas.apply(action)]
    applied = clock()
    for _ in script:
        canvas.valid_actions()
    masked = clock()
    for splice in splices:
        layer.apply(splice)
    shown = clock()
    undone = [splice for _ in script for splice in canvas.undo()]
    back = clock()
    for splice in undone:
        layer.apply(splice)
    return applied - started, back - shown, masked - applied, shown - masked


def report(costs: list[ActionCost]) -> str:
    rows = tuple((f"{one:,}", *(f"{each:.2f}" for each in others)) for one, *others in map(astuple, costs))
    table = Table(("tokens", "apply", "undo", "mask", "text layer"), rows, names=0).markdown()
    first, last = costs[0], costs[-1]
    growth = (last.apply + last.undo + last.mask + last.text) / (first.apply + first.undo + first.mask + first.text)
    return (
        f"Microseconds for one action, best of {ROUNDS} rounds of {ACTIONS:,} actions.\n\n{table}\n"
        f"From {first.tokens:,} to {last.tokens:,} tokens the cost of all four together grows "
        f"{growth:.2f} times.\n"
    )


@dataclass(frozen=True, kw_only=True)
class CanvasOptions:
    """Options of the measurement: the output file."""

    json: Annotated[bool, Option("print JSON, nothing else")] = False
    write: Annotated[Path | None, Option("also write the result to this Markdown file", metavar="OUT")] = None


def run(chosen: CanvasOptions) -> None:
    costs = [measure(size) for size in SIZES]
    result = report(costs)
    print(json.dumps([asdict(cost) for cost in costs]) if chosen.json else result)
    if chosen.write:
        command = f"python -m benchmarks canvas --write {chosen.write}"
        title = "Cost of an edit by length of the canvas"
        write_page(chosen.write, title, command, result, Seed=SEED, Data="random GPT-2 tokens")
