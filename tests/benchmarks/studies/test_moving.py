"""What moves at several temperatures do: every setting on the same prompts, by the product's engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.studies.moving import main
from tests.benchmarks.tiny_reviser import base_and_shards


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    base_and_shards(tmp_path, "the thing in all. the tins, is a thin ill the " * 20, 3)
    return tmp_path


def test_each_temperature_has_its_row(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = parts / "moving.md"
    options = [str(parts / "base"), "--data", str(parts / "data")]
    options += ["--evaluator", str(parts / "base"), "--prompts", "2", "--write", str(page)]
    assert main([*options, "--temperatures", "0.9", "0.2", "0.9"]) == 0
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line]
    first, second, again = ([cell.strip() for cell in row] for row in rows[2:])
    assert (first[0], second[0]) == ("0.9", "0.2")
    assert first == again
    assert first != second
    shares = [float(cell.rstrip("%")) for cell in first[2:6]]
    assert sum(shares) == pytest.approx(100, abs=0.3)
    assert float(first[1].rstrip("%")) == pytest.approx(shares[0] + shares[1], abs=0.2)
    told = page.read_text()
    assert "--temperatures 0.9 0.2 0.9" in told
    assert told.count("| 0.9 ") == 2
