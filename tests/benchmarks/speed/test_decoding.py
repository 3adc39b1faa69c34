"""The speed benchmark's summary: ratios, medians, and nulls for contestants that are not there."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.speed.decoding import CONTEXTS, Times, _summary, report

SHARES = {
    "overhead_share": 0.08,
    "preparation_share": 0.03,
    "attention_share": 0.05,
    "python_share": 0.07,
}
FACTS = {"bits": 4, "table_bits": 8, "level": "neon", "threads": 2, "weights_mb": 90.0}
MEMORY = {"rss_mb": 300.0, "rss_imports_mb": 200.0}


def times(step: float) -> Times:
    first = {length: [length * step / 4, length * step / 2, length * step] for length in CONTEXTS}
    return Times(first, [step, 3 * step, step / 2])


def summary(names: dict[str, float]) -> dict[str, Any]:
    by_name = {name: times(step) for name, step in names.items()}
    return _summary(by_name, "Reviser int4", SHARES, 36e9, FACTS, MEMORY)


def test_all_contestants() -> None:
    result = summary(
        {
            "Reviser int4": 0.004,
            "transformers fp32": 0.04,
            "llama.cpp Q4_0": 0.008,
            "llama.cpp Q8_0": 0.01,
        }
    )
    assert round(result["ours_actions_per_s"]) == 250
    assert round(result["ratio_transformers"], 6) == 10
    assert round(result["ratio_llamacpp"], 6) == 2
    assert round(result["llamacpp_tokens_per_s"]) == 125
    assert round(result["bandwidth_share"], 6) == 0.625
    assert result["first_action_ms"] == {"32": 64.0, "512": 1024.0, "1500": 3000.0}
    assert json.loads(json.dumps(result)) == result
    assert "| llama.cpp Q8_0 | 100.0 | 200 |" in report(result)
    assert "Against llama.cpp's fastest: 2.00 times" in report(result)


def test_missing_contestants_are_null() -> None:
    result = summary({"Reviser int4": 0.004})
    for key in ("transformers_tokens_per_s", "llamacpp_tokens_per_s", "ratio_transformers"):
        assert result[key] is None
    assert result["ratio_llamacpp"] is None
    assert report(result).count("not measured") == 3
