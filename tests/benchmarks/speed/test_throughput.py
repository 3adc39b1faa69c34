"""Speed of training is that of real training steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.speed.throughput import Kernel, Throughput, kernel_table, main, table
from tests.benchmarks.tiny_reviser import base_and_shards


def test_measures_real_steps_for_each_number_of_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base_and_shards(tmp_path, "the thing in all the tins is a thin ill the " * 12, 12)
    words = ["tiny", "--data", str(tmp_path / "data"), "--init", str(tmp_path / "base")]
    out = tmp_path / "speed.md"
    assert main([*words, "--rows", "2", "4", "--steps", "3", "--write", str(out)]) == 0
    shown = capsys.readouterr().out.splitlines()
    found = [json.loads(line) for line in shown if line.startswith("{")]
    assert [entry["rows"] for entry in found] == [2, 4]
    for entry in found:
        assert entry["actions"] == entry["rows"] * entry["row_length"] * entry["steps"]
        assert entry["actions_per_s"] == pytest.approx(entry["actions"] / entry["seconds"])
    assert "benchmarks throughput tiny" in out.read_text()
    assert "| tiny" in out.read_text()


def test_says_what_is_wrong_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tiny", "--data", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.startswith("reviser: ")


def test_utilisation_is_six_operations_a_weight_and_action() -> None:
    speed = Throughput("x", 1, 10, 0.1, 2, 0.5, 20, 0.0, 1000, 6e6, 1.0)
    assert speed.actions_per_s == 40
    assert speed.mfu == pytest.approx(6 * 1000 * 40 / 6e6)
    assert "0.040" in table([speed])
    assert "| k " in kernel_table([Kernel("k", 1.0, 2)])
