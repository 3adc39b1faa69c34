"""Runs with and without the check, on the same openings."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.speed.steps_back import main
from reviser.model.layout import Quantisation
from tests.lsp_server.models import save_tiny_model


def test_both_ways_have_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save_tiny_model(tmp_path / "tiny", quantisation=Quantisation(8))
    page = tmp_path / "page.md"
    options = ["--each", "1", "--actions", "16", "--evaluator", str(model), "--write", str(page)]
    assert main([str(model), *options]) == 0
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line]
    head, _, unchecked, checked = ([cell.strip() for cell in row] for row in rows)
    assert head[-1] == "evalPPL"
    assert unchecked[:3] == ["unchecked", "10", "160"]
    assert checked[:3] == ["checked", "10", "160"]
    assert unchecked[5:7] == ["–", "–"]
    assert int(checked[6]) > 0
    # How often a run goes back is no measure of the check, which tries more often.
    assert float(checked[4]) > 0 < float(unchecked[4])
    told = page.read_text()
    assert "--each 1 --actions 16" in told
    assert str(tmp_path) not in told
