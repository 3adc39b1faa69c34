"""The figures of the speed benchmark, and their page, which also shows instruction sets and memory bandwidth."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.speed.contestants.contest import SpeedContestant

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
class Prefill:
    """Our prompt tokens per second, and those of the faster of transformers and llama.cpp."""

    tokens_per_s: float
    ratio: float | None
    against: str | None


@dataclass(frozen=True)
class ContestantRow:
    """The figures of one contestant; those by the length of a prompt have it as their key, as in JSON."""

    instructions: str
    tokens_per_s: float
    read_gb_s: float
    prefill_tokens_per_s: dict[str, float]
    first_token_ms: dict[str, float]


@dataclass(frozen=True)
class SpeedResult:
    """All figures; the first contestant is ours, and is compared with the others."""

    ours_actions_per_s: float
    transformers_tokens_per_s: float | None
    llamacpp_tokens_per_s: float | None
    prefill: dict[str, Prefill]
    shares: Shares
    memory_bandwidth_gb_s: float
    first_action_ms: dict[str, float]
    facts: EngineFacts
    contestants: dict[str, ContestantRow]

    @property
    def ratio_transformers(self) -> float | None:
        return self._ratio(self.transformers_tokens_per_s)

    @property
    def ratio_llamacpp(self) -> float | None:
        return self._ratio(self.llamacpp_tokens_per_s)

    @property
    def bandwidth_share(self) -> float:
        read_gb_s = self.facts.weights_mb / 1e3 * self.ours_actions_per_s
        return read_gb_s / self.memory_bandwidth_gb_s

    def _ratio(self, theirs: float | None) -> float | None:
        return None if theirs is None else self.ours_actions_per_s / theirs

    def to_dict(self) -> dict[str, object]:
        """The JSON object that `--json` prints."""
        return {
            "ours_actions_per_s": self.ours_actions_per_s,
            "transformers_tokens_per_s": self.transformers_tokens_per_s,
            "llamacpp_tokens_per_s": self.llamacpp_tokens_per_s,
            "ratio_transformers": self.ratio_transformers,
            "ratio_llamacpp": self.ratio_llamacpp,
            "prefill": {length: asdict(one) for length, one in self.prefill.items()},
            **asdict(self.shares),
            "memory_bandwidth_gb_s": self.memory_bandwidth_gb_s,
            "bandwidth_share": self.bandwidth_share,
            "first_action_ms": self.first_action_ms,
            **asdict(self.facts),
            "contestants": {name: asdict(row) for name, row in self.contestants.items()},
        }


def summary(
    contestants: Sequence[SpeedContestant], times: Sequence[Times], shares: Shares, bandwidth: float, facts: EngineFacts
) -> SpeedResult:
    """Compares the first contestant with the others; `bandwidth` is in bytes per second."""
    ours = times[0]
    named = {one.name: spent for one, spent in zip(contestants, times, strict=True)}
    transformers = _fastest(named, "transformers")
    llama = _fastest(named, "llama.cpp")
    return SpeedResult(
        ours_actions_per_s=ours.steps_per_s,
        transformers_tokens_per_s=transformers.steps_per_s if transformers else None,
        llamacpp_tokens_per_s=llama.steps_per_s if llama else None,
        prefill={str(length): _prefill(ours, named, length) for length in CONTEXTS},
        shares=shares,
        memory_bandwidth_gb_s=bandwidth / 1e9,
        first_action_ms=ours.first_ms(),
        facts=facts,
        contestants={
            one.name: ContestantRow(
                instructions=one.instructions,
                tokens_per_s=spent.steps_per_s,
                read_gb_s=one.step_bytes * spent.steps_per_s / 1e9,
                prefill_tokens_per_s={str(length): spent.prefill_per_s(length) for length in CONTEXTS},
                first_token_ms=spent.first_ms(),
            )
            for one, spent in zip(contestants, times, strict=True)
        },
    )


def _fastest(named: dict[str, Times], start: str) -> Times | None:
    several = (times for name, times in named.items() if name.startswith(start))
    return max(several, key=lambda times: times.steps_per_s, default=None)


def _prefill(ours: Times, named: dict[str, Times], length: int) -> Prefill:
    others = {
        name: times.prefill_per_s(length)
        for name, times in named.items()
        if name.startswith(("transformers", "llama.cpp"))
    }
    best = max(others, key=lambda name: others[name], default=None)
    rate = ours.prefill_per_s(length)
    return Prefill(rate, rate / others[best] if best else None, best)


def report(result: SpeedResult) -> str:
    prefill = " | ".join(f"prefill of {length}, tokens/s" for length in CONTEXTS)
    first = " | ".join(f"first after {length} (ms)" for length in CONTEXTS)
    lines = [
        f"| | instructions | tokens/s | GB/s of {result.memory_bandwidth_gb_s:.1f} | {prefill} | {first} |",
        f"| --- | --- | ---: | ---: |{' ---: |' * (2 * len(CONTEXTS))}",
    ]
    for name, row in result.contestants.items():
        cells = [
            name,
            row.instructions,
            f"{row.tokens_per_s:.1f}",
            f"{row.read_gb_s:.1f}",
            *(f"{row.prefill_tokens_per_s[str(length)]:.0f}" for length in CONTEXTS),
            *(f"{row.first_token_ms[str(length)]:.0f}" for length in CONTEXTS),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *_comparisons(result), *_facts(result)]
    return "\n".join(lines) + "\n"


def _comparisons(result: SpeedResult) -> list[str]:
    told = [
        ("Against transformers", result.ratio_transformers, ""),
        ("Against llama.cpp's fastest", result.ratio_llamacpp, ""),
    ]
    for length, one in result.prefill.items():
        told.append((f"Prefill of {length} tokens", one.ratio, f" {one.against}"))
    return [
        f"- {what}: {'not measured' if ratio is None else f'{ratio:.2f} times{whom}'}" for what, ratio, whom in told
    ]


def _facts(result: SpeedResult) -> list[str]:
    shares, facts = result.shares, result.facts
    return [
        f"- Share of an action outside the matrix products: {shares.overhead_share:.1%} "
        f"(outside the library: {shares.python_share:.1%}). The library's clocks count as products "
        f"those with weights, with the norm and rounding of their input "
        f"({shares.preparation_share:.1%}), and attention ({shares.attention_share:.1%}).",
        f"- Weights: {facts.bits} bits, embedding and output {facts.table_bits}; "
        f"{facts.weights_mb:.1f} MB read for each action, {result.bandwidth_share:.0%} of the "
        f"{result.memory_bandwidth_gb_s:.1f} GB/s that {facts.threads} threads can read",
        f"- Instructions: {facts.level}; threads: {facts.threads}",
    ]
