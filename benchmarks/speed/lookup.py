"""What prompt lookup would gain: to guess the next actions from what the text has said already, and verify them in one pass.

python -m benchmarks lookup [--runs 4] [--actions 120] [--guess 4] [--write FILE]

A guess is what followed the last place where the same three (else two) ids stood. One pass of the model reads the guesses and says which of them
it would have chosen itself: the run is the same, action by action, with any sampler and seed. So the passes that a run would take follow
from the run itself, and they are counted in runs that were made without guesses. What a pass of several ids costs beside an
action is measured here, on one thread, in the processor's time. A pass also chooses among the scores of each id, which is not counted.
The texts are openings of mails and of READMEs of the everyday benchmark, continued by the model.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from benchmarks.everyday.prompts import openings
from benchmarks.report.provenance import provenance
from benchmarks.report.tables import Table
from reviser.cli.arguments import run_with
from reviser.cli.options import Option
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.sampler import Sampler
from reviser.native import NativeBatch, NativeDecoder
from reviser.proofreading.overtyping import OvertypingRules
from reviser.session.engine import Engine, load_engine

KINDS = ("mail", "readme")
LOOKED_FOR = (3, 2)
"""Ids that must have stood together before, at first and then."""
_HISTORY = 128
_ROUNDS = 5


@dataclass(frozen=True, kw_only=True)
class Options:
    """How many runs to look at, and how many actions to guess."""

    model: Annotated[str | None, Option("the model; the default one if not given")] = None
    runs: Annotated[int, Option("of each kind of text, greedy and sampled", least=1)] = 4
    actions: Annotated[int, Option("of a run, at the most", least=1)] = 120
    guess: Annotated[int, Option("actions that are guessed at once", least=1)] = 4
    seed: Annotated[int, Option("of the first run that is sampled")] = 0
    write: Annotated[Path | None, Option("also write the page to this file")] = None


@dataclass(frozen=True)
class Passes:
    """What runs would have taken: actions, passes, guesses and right ones; and the time beside one action a pass."""

    actions: int
    passes: int
    guessed: int
    right: int
    cost: float

    @property
    def gain(self) -> float:
        return self.actions / self.cost


def guesses(history: Sequence[int], most: int) -> list[int]:
    """What followed the last place where the end of the history stood before."""
    for size in LOOKED_FOR:
        end = list(history[-size:])
        for start in range(len(history) - size - 1, -1, -1):
            if list(history[start : start + size]) == end:
                return list(history[start + size : start + size + most])
    return []


def passes(history: Sequence[int], given: int, most: int) -> Iterator[tuple[int, int]]:
    """How many ids each pass would guess, and how many of them rightly, until all behind `given` are there."""
    place = given
    while place < len(history):
        guess = guesses(history[:place], min(most, len(history) - place - 1))
        right = 0
        while right < len(guess) and guess[right] == history[place + right]:
            right += 1
        yield len(guess), right
        place += right + 1


def counted(
    runs: Sequence[tuple[Sequence[int], int]], most: int, cost: Callable[[int], float]
) -> Passes:
    """All passes of some runs; `cost` says what a pass of so many ids takes beside an action."""
    every = [one for history, given in runs for one in passes(history, given, most)]
    return Passes(
        sum(len(history) - given for history, given in runs),
        len(every),
        sum(guessed for guessed, _ in every),
        sum(right for _, right in every),
        sum(cost(1 + guessed) for guessed, _ in every),
    )


def costs(decoder: NativeDecoder, vocabulary: Vocabulary, most: int) -> list[float]:
    """What a pass of 1 to `most` ids takes beside an action of one; the least of some rounds, by turns."""
    rules = OvertypingRules(vocabulary)
    ids = [1 + number * 37 % 1000 for number in range(_HISTORY + most)]
    best = [float("inf")] * (most + 1)
    with NativeBatch(decoder, 1, _HISTORY + most) as batch:
        batch.read([0], [ids[:_HISTORY]])
        decoder.truncate(0)
        decoder.prefill(ids[:_HISTORY])
        for _ in range(_ROUNDS):
            for size in range(most + 1):
                batch.truncate(0, _HISTORY)
                decoder.truncate(_HISTORY)
                began = time.process_time()
                if size == 0:
                    decoder.decode(ids[_HISTORY])
                else:
                    some = ids[_HISTORY : _HISTORY + size]
                    batch.outlooks([0], [some], [some], rules)
                best[size] = min(best[size], time.process_time() - began)
    # A pass without guesses is an action as it is today.
    return [0.0, 1.0, *(one / best[0] for one in best[2:])]


def made(engine: Engine, kind: str, sampled: bool, chosen: Options) -> list[tuple[list[int], int]]:
    """Histories of runs, and how many ids of each were given."""
    found = []
    for number, opening in enumerate(openings([kind], chosen.runs)):
        sampler = Sampler(seed=chosen.seed + number) if sampled else Sampler.greedy()
        run = engine.session(opening.text).continue_(sampler, max_actions=chosen.actions)
        for _ in run:
            pass
        found.append((run.rollout.history, run.rollout.seeded))
    return found


def measure(chosen: Options) -> None:
    engine = load_engine(chosen.model, threads=1)
    policy = engine.policy
    if not isinstance(policy, ModelPolicy) or not isinstance(policy.decoder, NativeDecoder):
        raise ReviserError("this model does not run in the native library")
    rows = []
    runs = {
        (kind, sampled): made(engine, kind, sampled, chosen)
        for kind in KINDS
        for sampled in (False, True)
    }
    beside = costs(policy.decoder, policy.vocabulary, chosen.guess + 1)
    for (kind, sampled), some in runs.items():
        one = counted(some, chosen.guess, beside.__getitem__)
        rows.append(
            (
                kind,
                "sampled" if sampled else "greedy",
                *(str(number) for number in (one.actions, one.passes, one.guessed, one.right)),
                f"{one.gain:.2f}",
            )
        )
    columns = ("text", "choosing", "actions", "passes", "guesses", "right", "gain")
    shown = ", ".join(f"{size}: {cost:.2f}" for size, cost in enumerate(beside) if size)
    table = f"{Table(columns, tuple(rows)).markdown()}\nA pass of so many ids takes so many times an action: {shown}\n"
    print(table)
    if chosen.write:
        facts = provenance(
            shlex.join(["python", "-m", "benchmarks", "lookup", *sys.argv[2:]]),
            Model=engine.name,
            Seed=chosen.seed,
            Instructions=policy.decoder.level,
        )
        note = (__doc__ or "").split("\n\n", 2)[2]
        page = f"# What prompt lookup would gain\n\n{facts}\n{note}\n{table}"
        write_atomically(chosen.write, page.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    about = (__doc__ or "").splitlines()[0]
    return run_with(Options, measure, arguments, prog="python -m benchmarks lookup", about=about)
