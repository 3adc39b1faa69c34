"""Judged findings as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.findings.reading import FindingsOptions, read_findings, run
from reviser.core.errors import ReviserError

FILED = Path(__file__).parents[3] / "docs" / "results" / "findings.jsonl"
ONE = {
    "reading": "first",
    "project": "a",
    "kind": "article",
    "old": "a",
    "new": "an",
    "verdict": "right",
    "name": False,
}


def test_verdicts_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "judged.jsonl"
    others = [{"verdict": "wrong", "name": True}, {"kind": "spelling", "project": "b", "verdict": "taste"}]
    path.write_text("".join(json.dumps(ONE | other) + "\n" for other in ({}, *others)))
    run(FindingsOptions(judged=path, write=tmp_path / "page.md", words=("judged.jsonl",)))
    told = capsys.readouterr().out
    assert "| article  |     2 |     1 |     0 |     1 |       50 |" in told
    assert "| all      |     3 |     1 |     1 |     1 |       33 |" in told
    assert "3 findings in 2 projects; 1 of them respell a name." in told
    assert told in (tmp_path / "page.md").read_text()
    path.write_text(json.dumps(ONE | {"verdict": "fine"}))
    with pytest.raises(ReviserError, match="line 1: this is no finding"):
        read_findings(path)


def test_the_filed_findings_are_of_many_projects() -> None:
    found = read_findings(FILED)
    assert len(found) >= 150
    assert len({one["project"] for one in found}) >= 30
    assert all(one["old"] != one["new"] for one in found)
