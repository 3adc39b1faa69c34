"""DAgger beside plain supervision: the page is made from two real runs and the figures of what they led to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.contestants.editing_models import Revision
from benchmarks.studies.dagger import differences, main
from benchmarks.studies.revision_quality import main as measure
from benchmarks.studies.revision_quality import measured
from tests.training.dagger.test_run import every_step, folder, one_thread, words_of
from training.dagger.run import main as dagger
from training.edits.files import Edit

__all__ = ["every_step", "folder", "one_thread"]


@pytest.mark.usefixtures("every_step", "one_thread")
def test_two_runs_make_a_page(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {"DAgger": [], "plain": ["--plain"]}
    for name, more in runs.items():
        short = ("--updates", "2", "--episodes", "4")
        assert dagger(words_of(folder, tmp_path / name, *short, *more)) == 0
    models = [f"{name}={tmp_path / name / 'model'}" for name in runs]
    kept = ["--keep", str(tmp_path / "kept"), "--limit", "6"]
    assert measure([str(folder / "edits.jsonl"), *models, *kept]) == 0
    given = [str(tmp_path / "kept"), "--run", str(tmp_path / "DAgger")]
    out = tmp_path / "dagger.md"
    assert main([*given, "--beside", str(tmp_path / "plain"), "--write", str(out)]) == 0
    text = out.read_text()
    assert text.startswith("# DAgger beside plain supervision\n\n- Command: `python -m ")
    assert "- Data: edits.jsonl, 6 edits" in text
    assert "- Updates: 2 rounds of 2, the same for both; seed 0" in text
    assert "| DAgger less plain" in text
    # Before the first round and after each, of both.
    rows = [line for line in text.split("## Round by round")[1].split("## ")[0].split("\n") if line]
    assert [row.split("|")[2].strip() for row in rows if row.startswith("| DAgger")] == list("012")
    assert [row.split("|")[3].strip() for row in rows if row.startswith("| plain")] == list("024")
    assert "| 2 " in text.split("## Rollouts of DAgger")[1]
    assert "python -m training dagger tiny" in text.split("## How they were made")[1]
    capsys.readouterr()
    assert main([*given, "--beside", str(folder)]) == 2
    assert "no file" in capsys.readouterr().err
    (tmp_path / "kept" / "plain.json").unlink()
    assert main([*given, "--beside", str(tmp_path / "plain")]) == 2
    assert "no figures of plain" in capsys.readouterr().err
    settings = json.loads((tmp_path / "plain" / "settings.json").read_text())
    settings["dagger"]["updates"] = 3
    (tmp_path / "plain" / "settings.json").write_text(json.dumps(settings))
    assert main([*given, "--beside", str(tmp_path / "plain")]) == 2
    assert "different numbers of updates" in capsys.readouterr().err


def test_a_difference_is_that_of_the_same_edits() -> None:
    """Each edit is compared with itself: what both find easy or hard does not blur the difference."""
    edits = [Edit(f"one two {n}", f"one three {n}") for n in range(60)]
    done = [Revision(edit.after, 1, "stop") for edit in edits]

    def exact_on(numbers: set[int]) -> list[Revision]:
        return [
            Revision(edit.after if n in numbers else edit.before, 1, "stop")
            for n, edit in enumerate(edits)
        ]

    half, more = set(range(30)), set(range(36))
    worse = measured("worse", edits, exact_on(half), done, {})
    better = measured("better", edits, exact_on(more), done, {})
    found = {entry.what: entry for entry in differences(better, worse)}
    exact = found["exact matches"]
    assert exact.mean == pytest.approx(0.1)
    assert 0 < exact.low < 0.1 < exact.high < 0.2
    assert exact.said == "more"
    assert {entry.said for entry in differences(worse, better)} == {
        "less",
        "no difference is shown",
    }
    same = differences(better, replace(better, report=worse.report))
    assert all(np.allclose([entry.mean, entry.low, entry.high], 0) for entry in same)
