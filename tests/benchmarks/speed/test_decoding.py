"""The speed benchmark's summary: ratios, medians, and nulls for contestants that are not there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch

from benchmarks.speed.contestants.contest import CONTEXTS, EngineFacts, Shares, SpeedResult, Times, report
from benchmarks.speed.contestants.ours import Transformers
from tests.reviser.checkpoints.parts import toy_checkpoint

SHARES = Shares(overhead_share=0.08, preparation_share=0.03, attention_share=0.05, python_share=0.07)
FACTS = EngineFacts(bits=4, table_bits=8, level="neon", threads=2, weights_mb=90.0)


@dataclass
class Named:
    """A contestant whose times are given."""

    name: str
    instructions: str = "neon"
    step_bytes: int = 90_000_000

    def prefill(self, ids: Sequence[int]) -> None:
        raise AssertionError("nothing is measured here")

    def steps(self, count: int) -> float:
        raise AssertionError("nothing is measured here")


def times(step: float) -> Times:
    first = {length: [length * step / 4, length * step / 2, length * step] for length in CONTEXTS}
    return Times(first, [step, 3 * step, step / 2])


def summed(names: dict[str, float]) -> SpeedResult:
    contestants = [Named(name) for name in names]
    return SpeedResult(contestants, [*map(times, names.values())], SHARES, 36.0, FACTS)


def test_all_contestants() -> None:
    result = summed(
        {
            "Reviser int4": 0.004,
            "Reviser default": 0.002,
            "transformers fp32": 0.04,
            "llama.cpp Q4_0": 0.008,
            "llama.cpp Q8_0": 0.01,
        }
    )
    data = json.loads(json.dumps(result.to_dict()))
    assert round(data["ours_actions_per_s"]) == 250
    assert data["ratio_transformers"] == pytest.approx(10)
    assert data["ratio_llamacpp"] == pytest.approx(2)
    assert data["llamacpp_tokens_per_s"] == pytest.approx(125)
    assert round(data["bandwidth_share"], 6) == 0.625
    assert data["first_action_ms"] == {"32": 64.0, "512": 1024.0, "1500": 3000.0}
    assert (data["overhead_share"], data["threads"]) == (0.08, 2)
    assert data["contestants"]["llama.cpp Q8_0"]["first_token_ms"]["32"] == 160
    page = report(result)
    assert "GB/s of 36.0" in page
    (row,) = (line for line in page.splitlines() if "llama.cpp Q8_0" in line)
    shown = [cell.strip() for cell in row.strip("|").split("|")]
    assert shown[:8] == ["llama.cpp Q8_0", "neon", "100.0", "9.0", "200", "200", "200", "160"]
    assert "Against llama.cpp's fastest: 2.00 times" in page


def test_prefill_is_compared_with_the_faster_peer_at_each_length() -> None:
    contestants = [Named(name) for name in ("Reviser int4", "transformers fp32", "llama.cpp Q4_0")]
    measured = [times(0.004), times(0.04), times(0.008)]
    measured[1].first[1500] = [4.5]
    result = SpeedResult(contestants, measured, SHARES, 36.0, FACTS)
    assert result.prefill(512)[1] == "llama.cpp Q4_0"
    assert result.prefill(1500)[1] == "transformers fp32"
    page = report(result)
    assert "- Prefill of 512 tokens: 2.00 times llama.cpp Q4_0" in page
    assert "- Prefill of 1500 tokens: 1.50 times transformers fp32" in page


def test_missing_contestants_are_null() -> None:
    result = summed({"Reviser int4": 0.004})
    data = result.to_dict()
    assert data["transformers_tokens_per_s"] is data["llamacpp_tokens_per_s"] is None
    assert data["ratio_transformers"] is data["ratio_llamacpp"] is None
    assert report(result).count("not measured") == 5


def test_transformers_make_the_same_tokens_of_the_same_weights() -> None:
    pytest.importorskip("transformers")
    checkpoint = toy_checkpoint(seed=1)
    theirs = Transformers(checkpoint)
    theirs.prefill([3, 5, 7])
    assert theirs.steps(4) != 0
    ids = torch.tensor([[3, 5, 7]])
    with torch.no_grad():
        assert torch.allclose(theirs._model(ids).logits[0, -1], checkpoint.model.eval()(ids)[0, -1], atol=1e-4)
