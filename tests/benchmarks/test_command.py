"""`reviser bench`, run as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PAPER_TRAJECTORIES


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reviser", "bench", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_flops_prints_json_and_a_table() -> None:
    result = bench("flops", "--json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert rows[0] == {
        "method": "AR",
        "variant": "baseline",
        "gflops": 15.939,
        "multiplier": 1.0,
    }
    assert len(rows) == 27
    table = bench("flops").stdout
    assert table.count("same") == 27
    assert "to the letter" in table


def test_flops_of_recorded_runs() -> None:
    result = bench("flops", "--trajectories", PAPER_TRAJECTORIES, "--model", "paper-300m")
    assert result.returncode == 0, result.stderr
    assert "26 layers" in result.stdout
    assert bench("flops", "--model", "paper-300m").returncode == 2


def test_stats_prints_json_and_a_table() -> None:
    result = bench("stats", PAPER_TRAJECTORIES, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["backward_revision_fraction"] == 1
    assert "Mean insertion relative position" in bench("stats", PAPER_TRAJECTORIES).stdout


@pytest.mark.parametrize("content", ["[]", "{", '[{"action_ids": [50290]}]'])
def test_stats_of_a_bad_file_end_in_one_sentence(content: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    result = bench("stats", path)
    assert result.returncode == 2
    assert result.stderr.startswith("reviser: ")
    assert result.stderr.count("\n") == 1
