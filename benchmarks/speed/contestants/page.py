"""The figures of the measurement of speed, and how they are told: each beside instructions and the memory's rate."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.speed.contestants.contest import Contestant

CONTEXTS = (32, 512, 1500)


@dataclasses.dataclass
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


def summary(
    contestants: Sequence[Contestant],
    times: Sequence[Times],
    shares: dict[str, float],
    bandwidth: float,
    facts: dict[str, Any],
    memory: dict[str, float],
) -> dict[str, Any]:
    """All figures as JSON knows them; the first contestant is compared with the others."""
    ours = times[0]
    named = {one.name: spent for one, spent in zip(contestants, times, strict=True)}
    transformers = _fastest(named, "transformers")
    llama = _fastest(named, "llama.cpp")
    rate = ours.steps_per_s
    return {
        "ours_actions_per_s": rate,
        "transformers_tokens_per_s": transformers.steps_per_s if transformers else None,
        "llamacpp_tokens_per_s": llama.steps_per_s if llama else None,
        "ratio_transformers": rate / transformers.steps_per_s if transformers else None,
        "ratio_llamacpp": rate / llama.steps_per_s if llama else None,
        "prefill": {str(length): _prefill(ours, named, length) for length in CONTEXTS},
        **shares,
        "memory_bandwidth_gb_s": bandwidth / 1e9,
        "bandwidth_share": facts["weights_mb"] * 1e6 * rate / bandwidth,
        **memory,
        "first_action_ms": ours.first_ms(),
        **facts,
        "contestants": {
            one.name: {
                "instructions": one.instructions,
                "tokens_per_s": spent.steps_per_s,
                "read_gb_s": one.step_bytes * spent.steps_per_s / 1e9,
                "prefill_tokens_per_s": {
                    str(length): spent.prefill_per_s(length) for length in CONTEXTS
                },
                "first_token_ms": spent.first_ms(),
            }
            for one, spent in zip(contestants, times, strict=True)
        },
    }


def _fastest(named: dict[str, Times], start: str) -> Times | None:
    several = (times for name, times in named.items() if name.startswith(start))
    return max(several, key=lambda times: times.steps_per_s, default=None)


def _prefill(ours: Times, named: dict[str, Times], length: int) -> dict[str, Any]:
    """Our tokens a second, and how they compare with the faster of transformers and llama.cpp."""
    others = {
        name: times.prefill_per_s(length)
        for name, times in named.items()
        if name.startswith(("transformers", "llama.cpp"))
    }
    best = max(others, key=lambda name: others[name], default=None)
    rate = ours.prefill_per_s(length)
    ratio = rate / others[best] if best else None
    return {"tokens_per_s": rate, "ratio": ratio, "against": best}


def report(result: dict[str, Any]) -> str:
    bandwidth = result["memory_bandwidth_gb_s"]
    prefill = " | ".join(f"prefill of {length}, tokens/s" for length in CONTEXTS)
    first = " | ".join(f"first after {length} (ms)" for length in CONTEXTS)
    lines = [
        f"| | instructions | tokens/s | GB/s of {bandwidth:.1f} | {prefill} | {first} |",
        f"| --- | --- | ---: | ---: |{' ---: |' * (2 * len(CONTEXTS))}",
    ]
    for name, row in result["contestants"].items():
        cells = [
            name,
            row["instructions"],
            f"{row['tokens_per_s']:.1f}",
            f"{row['read_gb_s']:.1f}",
            *(f"{row['prefill_tokens_per_s'][str(length)]:.0f}" for length in CONTEXTS),
            *(f"{row['first_token_ms'][str(length)]:.0f}" for length in CONTEXTS),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *_comparisons(result), *_facts(result)]
    return "\n".join(lines) + "\n"


def _comparisons(result: dict[str, Any]) -> list[str]:
    told = [
        ("Against transformers", result["ratio_transformers"], ""),
        ("Against llama.cpp's fastest", result["ratio_llamacpp"], ""),
    ]
    for length, one in result["prefill"].items():
        told.append((f"Prefill of {length} tokens", one["ratio"], f" {one['against']}"))
    return [
        f"- {what}: {'not measured' if ratio is None else f'{ratio:.2f} times{whom}'}"
        for what, ratio, whom in told
    ]


def _facts(result: dict[str, Any]) -> list[str]:
    threads = result["threads"]
    return [
        f"- Share of an action outside the matrix products: {result['overhead_share']:.1%} "
        f"(outside the library: {result['python_share']:.1%}). The library's clocks count as products "
        f"those with weights, with the norm and rounding of their input "
        f"({result['preparation_share']:.1%}), and attention ({result['attention_share']:.1%}).",
        f"- Weights: {result['bits']} bits, embedding and output {result['table_bits']}; "
        f"{result['weights_mb']:.1f} MB read for each action, {result['bandwidth_share']:.0%} of the "
        f"{result['memory_bandwidth_gb_s']:.1f} GB/s that {threads} threads can read",
        f"- Resident memory: {result['rss_mb']:.0f} MB, of which the imports (torch) "
        f"{result['rss_imports_mb']:.0f} MB",
        f"- Instructions: {result['level']}; threads: {threads}",
    ]
