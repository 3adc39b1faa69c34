"""Benchmarks on batched generation: they run whole, and count what the runs did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.speed import generation


def test_speed_counts_all_actions_and_writes_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "speed.md"
    options = ["--preset", "tiny", "--rows", "2", "3", "--batches", "2", "--write", str(out)]
    assert generation.main(options) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    assert [(line["rows"], line["runs"]) for line in lines] == [(2, 4), (3, 6)]
    for line in lines:
        assert 0 < line["actions"] <= line["runs"] * (128 - 1 - generation.PROMPT_TOKENS)
        assert line["slowest"] <= line["actions_per_s"] <= line["fastest"]
    assert "| 3 | 6 |" in out.read_text()
    assert "- Weights: random, tiny, float32\n" in out.read_text()
