"""The contestants of the speed benchmark: their interface, the race, and the figures and page that come of it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np

from benchmarks.report.tables import Table

SEED = 0
CAPACITY = 2048
LOWEST = 1000
"""Prompts leave out so many ids at both ends of a vocabulary, where special ones are."""


class SpeedContestant(Protocol):
    """A contestant of the speed benchmark: it reads a prompt, then generates tokens."""

    name: str
    instructions: str
    """The instruction set that its kernels use, in the words of its library."""
    step_bytes: int
    """Bytes of weights that one token reads."""

    def prefill(self, ids: Sequence[int]) -> None:
        """Reads a prompt and computes the scores of the next token."""

    def steps(self, count: int) -> float:
        """Seconds for that many tokens after the prompt."""


def prompt(length: int, vocab: int) -> list[int]:
    chance = np.random.default_rng(SEED)
    ids: list[int] = chance.integers(LOWEST, vocab - LOWEST, length).tolist()
    return ids


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


CONTEXTS = (32, 512, 1500)


@dataclass
class Times:
    """Seconds of each round: for the first token after a prompt of some length, and for a step."""

    first: dict[int, list[float]]
    step: list[float]

    def first_ms(self) -> dict[str, float]:
        return {str(n): statistics.median(times) * 1e3 for n, times in self.first.items()}

    @property
    def steps_per_s(self) -> float:
        return 1 / statistics.median(self.step)

    def prefill_per_s(self, length: int = CONTEXTS[1]) -> float:
        """Prompt tokens in a second."""
        return length / statistics.median(self.first[length])


@dataclass(frozen=True)
class Shares:
    """The shares of the parts of one action's time."""

    overhead_share: float
    """Outside the matrix products and attention."""
    preparation_share: float
    attention_share: float
    python_share: float


@dataclass(frozen=True)
class EngineFacts:
    """The weights and the settings of our engine."""

    bits: int
    table_bits: int
    level: str
    threads: int
    weights_mb: float


@dataclass(frozen=True)
class SpeedResult:
    """The times of all contestants; the first is ours, and is compared with the others."""

    contestants: Sequence[SpeedContestant]
    times: Sequence[Times]
    shares: Shares
    bandwidth_gb_s: float
    facts: EngineFacts

    @property
    def actions_per_s(self) -> float:
        return self.times[0].steps_per_s

    @property
    def bandwidth_share(self) -> float:
        return self.facts.weights_mb / 1e3 * self.actions_per_s / self.bandwidth_gb_s

    def fastest(self, start: str) -> float | None:
        """The tokens a second of the fastest contestant whose name starts so; None without one."""
        named = zip(self.contestants, self.times, strict=True)
        return max((times.steps_per_s for one, times in named if one.name.startswith(start)), default=None)

    def ratio(self, start: str) -> float | None:
        theirs = self.fastest(start)
        return None if theirs is None else self.actions_per_s / theirs

    def prefill(self, length: int) -> tuple[float | None, str | None]:
        """Our prompt tokens per second as a multiple of the fastest other program's, and its name."""
        others = {
            one.name: times.prefill_per_s(length)
            for one, times in zip(self.contestants, self.times, strict=True)
            if one.name.startswith(("transformers", "llama.cpp"))
        }
        best = max(others, key=lambda name: others[name], default=None)
        return (None, None) if best is None else (self.times[0].prefill_per_s(length) / others[best], best)

    def to_dict(self) -> dict[str, object]:
        """The JSON object that `--json` prints."""
        told = {length: self.prefill(length) for length in CONTEXTS}
        return {
            "ours_actions_per_s": self.actions_per_s,
            "transformers_tokens_per_s": self.fastest("transformers"),
            "llamacpp_tokens_per_s": self.fastest("llama.cpp"),
            "ratio_transformers": self.ratio("transformers"),
            "ratio_llamacpp": self.ratio("llama.cpp"),
            "prefill": {
                str(length): {
                    "tokens_per_s": self.times[0].prefill_per_s(length),
                    "ratio": told[length][0],
                    "against": told[length][1],
                }
                for length in CONTEXTS
            },
            **asdict(self.shares),
            "memory_bandwidth_gb_s": self.bandwidth_gb_s,
            "bandwidth_share": self.bandwidth_share,
            "first_action_ms": self.times[0].first_ms(),
            **asdict(self.facts),
            "contestants": {
                one.name: {
                    "instructions": one.instructions,
                    "tokens_per_s": times.steps_per_s,
                    "read_gb_s": one.step_bytes * times.steps_per_s / 1e9,
                    "prefill_tokens_per_s": {str(length): times.prefill_per_s(length) for length in CONTEXTS},
                    "first_token_ms": times.first_ms(),
                }
                for one, times in zip(self.contestants, self.times, strict=True)
            },
        }


def report(result: SpeedResult) -> str:
    columns = (
        *("", "instructions", "tokens/s", f"GB/s of {result.bandwidth_gb_s:.1f}"),
        *(f"prefill of {length}, tokens/s" for length in CONTEXTS),
        *(f"first after {length} (ms)" for length in CONTEXTS),
    )
    rows = tuple(
        (
            *(one.name, one.instructions, f"{times.steps_per_s:.1f}"),
            f"{one.step_bytes * times.steps_per_s / 1e9:.1f}",
            *(f"{times.prefill_per_s(length):.0f}" for length in CONTEXTS),
            *(f"{milliseconds:.0f}" for milliseconds in times.first_ms().values()),
        )
        for one, times in zip(result.contestants, result.times, strict=True)
    )
    told = [
        ("Against transformers", result.ratio("transformers"), ""),
        ("Against llama.cpp's fastest", result.ratio("llama.cpp"), ""),
        *((f"Prefill of {length} tokens", *result.prefill(length)) for length in CONTEXTS),
    ]
    lines = [
        f"- {what}: {'not measured' if ratio is None else f'{ratio:.2f} times {whom}'.rstrip()}"
        for what, ratio, whom in told
    ]
    return "\n".join([Table(columns, rows, names=2).markdown(), *lines, *_facts(result)]) + "\n"


def _facts(result: SpeedResult) -> list[str]:
    shares, facts = result.shares, result.facts
    return [
        f"- Share of an action outside the matrix products: {shares.overhead_share:.1%} "
        f"(outside the library: {shares.python_share:.1%}). The library's clocks count as products "
        f"those with weights, with the norm and rounding of their input "
        f"({shares.preparation_share:.1%}), and attention ({shares.attention_share:.1%}).",
        f"- Weights: {facts.bits} bits, embedding and output {facts.table_bits}; "
        f"{facts.weights_mb:.1f} MB read for each action, {result.bandwidth_share:.0%} of the "
        f"{result.bandwidth_gb_s:.1f} GB/s that {facts.threads} threads can read",
        f"- Instructions: {facts.level}; threads: {facts.threads}",
    ]


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
