"""`reviser bench`, run as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.tiny_reviser import tiny_reviser
from tests.conftest import PAPER_TRAJECTORIES, ROOT


def bench(
    *arguments: str | Path, env: dict[str, str] | None = None, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reviser", "bench", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | (env or {}), cwd=cwd
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose models are tiny: a Reviser as default, and a stand-in for SmolLM2."""
    folder = tmp_path_factory.mktemp("home")
    tiny_reviser(folder / "models" / "default")
    tiny_reviser(folder / "models" / "smollm2", kinds=frozenset({"insert", "stop"}), seed=5)
    return {
        "REVISER_HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(ROOT),
    }


def test_alone_it_measures_the_default_model(home: dict[str, str], tmp_path: Path) -> None:
    result = bench(env=home, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = [line for line in result.stdout.splitlines() if line.startswith("| ")]
    assert [row.split("|")[1].strip() for row in rows[2:]] == ["real text", "default", "smollm2"]
    (folder,) = (tmp_path / "runs").iterdir()
    assert str(folder.relative_to(tmp_path) / "report.html") in result.stderr
    for name in ("report.html", "report.md", "results.json", "trajectories/default.html"):
        assert (folder / name).stat().st_size


def test_a_run_with_its_own_protocol_and_its_report(home: dict[str, str], tmp_path: Path) -> None:
    options = ["--prompts", "3", "--seed", "7", "--seed", "8", "--max-actions", "12"]
    options += ["--total-tokens", "40", "--out", str(tmp_path / "run"), "--both-ways"]
    result = bench("run", "default", "base=smollm2", *options, "--json", env=home)
    # Six texts are too few for MAUVE; that is said, and by the exit status too.
    assert result.returncode == 1, result.stderr
    assert result.stderr.strip() == (
        "the hub cannot be reached, so the built-in texts are used (--data names others)"
    )
    results = json.loads(result.stdout)
    assert results["folder"] == str(tmp_path / "run")
    assert [entry["name"] for entry in results["contestants"]] == ["real text", "default", "base"]
    assert results["settings"]["setup"]["seeds"] == [7, 8]
    assert results["contestants"][1]["statistics"]["trajectories"] == 6
    assert [entry["what"] for entry in results["missing"]] == ["MAUVE with minilm features"]
    (tmp_path / "run" / "report.html").unlink()
    again = bench("report", tmp_path / "run")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "run" / "report.html").stat().st_size
    refused = bench("run", "default", *options, env=home)
    assert refused.returncode == 2
    assert "other settings" in refused.stderr


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
