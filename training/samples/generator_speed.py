"""How fast the compiled trajectory generator is, policy by policy.

python -m training generator --bench
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from reviser.cli.arguments import run_with
from reviser.cli.options import Option
from reviser.core.vocabulary import Vocabulary
from training.samples.generator import Generator, Texts
from training.samples.obfuscation import LOCAL, PAPER, PLAIN, RICH, STRUCTURED, Task


@dataclass(frozen=True, kw_only=True)
class GeneratorOptions:
    """How much is generated."""

    bench: Annotated[bool, Option("measure the speed, which is all that this command does")] = False
    length: Annotated[int, Option("tokens in a text")] = 1500
    count: Annotated[int, Option("texts in a round")] = 400
    rounds: Annotated[int, Option("of which the best counts")] = 5


def measured(length: int, count: int, rounds: int) -> str:
    """Actions per second on one core, for each policy, on random tokens."""
    random = np.random.default_rng(0)
    vocabulary = Vocabulary.gpt2(("swap", "span_delete", "span_move", "span_copy", "replace"))
    size = vocabulary.base_size
    # One token in 12 ends a clause and one in 24 a sentence, about as in English prose.
    classes = random.choice(
        np.array([0, 1, 5, 9], np.uint8), size=size, p=[0.25, 0.625, 0.0833, 0.0417]
    )
    rows = [f"texts of {length} tokens, best of {rounds}; actions per second and core:"]
    tries = [
        ("plain", PLAIN, 0.8, 0),
        ("paper, p(Delete) 0.80", PAPER, 0.8, 0),
        ("paper, p(Delete) 0.95", PAPER, 0.95, 0),
        ("structured", STRUCTURED, 0.8, 0),
        ("local", LOCAL, 0.8, 0),
        ("infill, paper 0.80", PAPER, 0.8, length // 4),
        ("infill, structured", STRUCTURED, 0.8, length // 4),
        ("rich (not compiled)", RICH, 0.8, 0),
    ]
    for label, kind, p_delete, given in tries:
        some = max(count // 100, 2) if kind == RICH else count
        texts = random.integers(0, size - 1, size=(some, length)).tolist()
        task = Task(kind, given, given, p_delete)
        batch = Texts.of(texts, [task] * some)
        generate = Generator(vocabulary, classes, 4 * length + 16)
        names = np.arange(some, dtype=np.uint64)
        best, made = float("inf"), 0
        for _ in range(rounds):
            started = time.perf_counter()
            histories = generate(batch, names)
            best = min(best, time.perf_counter() - started)
            made = int(histories.counted.sum())
        rows.append(f"  {label:<24}{made / best:>14,.0f}   {made / some:,.0f} actions a text")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        GeneratorOptions,
        run,
        arguments,
        prog="python -m training generator",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: GeneratorOptions) -> None:
    print(measured(chosen.length, chosen.count, chosen.rounds))
