"""Sentences that are corrected by several processes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks.proofreading.lines import run
from reviser.cli.options import run_with
from reviser.proofreading.guard.calibration import SHIPPED

main = partial(run_with, run)


def test_lines_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVISER_THREADS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    lines = [f"Sentence {n}." for n in range(150)]
    source = tmp_path / "own.txt"
    source.write_text("".join(f"{line}\n" for line in lines))
    out = tmp_path / "out"
    given = [str(source), "--correctors=unchanged", f"--out={out}", "--processes=2"]
    assert main(given) == 0
    assert (out / "unchanged" / "own.txt").read_text().splitlines() == lines


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "name at least one file"),
        (["none.txt", "--processes=0"], "--processes must be at least 1"),
        (["none.txt", "--correctors=nobody"], "there is no corrector nobody"),
    ],
)
def test_mistakes_are_said(given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(given) == 2
    assert message in capsys.readouterr().err


def test_another_calibration_may_be_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same coefficients the same lines are made; with others that refuse all changes but sure ones, others."""
    monkeypatch.setenv("REVISER_THREADS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    text = "She have three brother and he like to plays with them in the park every day."
    source = tmp_path / "own.txt"
    source.write_text(f"{text}\n")
    shipped = json.loads(SHIPPED.read_text())
    (tmp_path / "same.json").write_text(json.dumps(shipped))
    (tmp_path / "strict.json").write_text(json.dumps(shipped | {"intercept": -20.0}))
    names = ["reviser", *(f"calibration:{tmp_path / name}.json" for name in ("same", "strict"))]
    out = tmp_path / "out"
    given = [str(source), f"--correctors={','.join(names)}", f"--out={out}", "--processes=1"]
    assert main(given) == 0
    made = {name: (out / name / "own.txt").read_text() for name in ("reviser", "same", "strict")}
    assert made["same"] == made["reviser"] != made["strict"]
