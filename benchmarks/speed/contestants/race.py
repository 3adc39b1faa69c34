"""A race: all contestants do the same work by turns for several rounds, so that other load affects all alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence

from benchmarks.speed.contestants.contest import SpeedContestant, prompt, timed
from benchmarks.speed.contestants.page import CONTEXTS, Times

LONG_ROUNDS = 3  # in which long prompts are read, too


def race(contestants: Sequence[SpeedContestant], vocab: int, rounds: int, steps: int) -> list[Times]:
    """Lets all contestants do the same work by turns for several rounds; returns the times of each."""
    results = [Times({length: [] for length in CONTEXTS}, []) for _ in contestants]
    short = prompt(CONTEXTS[0], vocab)
    gc.collect()
    for number in range(rounds + 1):
        for contestant, times in zip(contestants, results, strict=True):
            time.sleep(0.1)  # the last one's threads go to sleep
            contestant.prefill(short)
            contestant.steps(8)
            spent = contestant.steps(steps) / steps
            if number == 0:  # the first round warms up
                continue
            times.step.append(spent)
            for length in CONTEXTS if number <= LONG_ROUNDS else CONTEXTS[:1]:
                ids = prompt(length, vocab)
                times.first[length].append(timed(lambda: contestant.prefill(ids)))  # noqa: B023
    return results
