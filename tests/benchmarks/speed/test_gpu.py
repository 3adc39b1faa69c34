"""The measurement on a GPU, on the processor: all take part, and the page compares them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.speed import gpu
from benchmarks.speed.decoding import SpeedOptions, run
from reviser.checkpoints.home import save_checkpoint
from reviser.core.errors import ReviserError
from tests.reviser.checkpoints.parts import toy_checkpoint


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    lengths = (4, 8, 16)
    for module in ("benchmarks.speed.gpu", "benchmarks.speed.contestants.race"):
        monkeypatch.setattr(f"{module}.CONTEXTS", lengths)
    monkeypatch.setattr("benchmarks.speed.contestants.contest.LOWEST", 10)
    return str(save_checkpoint(tmp_path / "toy", toy_checkpoint(seed=1)))


def test_all_take_turns(model: str) -> None:
    result = gpu.measure(model, "cpu", rounds=1, steps=3)
    assert list(result.contestants) == [gpu.GRAPHS, gpu.PLAIN, gpu.TRANSFORMERS]
    rates = {name: row.actions_per_s for name, row in result.contestants.items()}
    assert min(rates.values()) > 0
    assert result.ratio_transformers == rates[gpu.GRAPHS] / rates[gpu.TRANSFORMERS]
    page = gpu.report(result)
    assert f"- Against transformers: {result.ratio_transformers:.2f} times" in page
    assert "first after 16 (ms)" in page


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu() -> None:
    with pytest.raises(ReviserError, match="no GPU"):
        run(SpeedOptions(device="cuda"))


def test_a_model_needs_a_device() -> None:
    with pytest.raises(ReviserError, match="--model is for --device"):
        run(SpeedOptions(model="default"))
