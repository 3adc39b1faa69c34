"""The whole program at several settings of its dial, with a verdict on each change that it makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.proofreading.calibration import dial

RIGHT = {
    "before": "Yesterday I recieved a letter from teh bank.",
    "after": "Yesterday I received a letter from the bank.",
}
# The corrected text keeps one of the two mistakes, so correcting it counts as wrong.
HALF = {
    "before": "Tomorow she will visit her freind in Boston.",
    "after": "Tomorrow she will visit her freind in Boston.",
}
FINISHED = {"text": "The committee met on Monday and discussed the budget for next year."}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    pairs = "".join(f"{json.dumps(one)}\n" for one in (RIGHT, HALF))
    (tmp_path / "own.jsonl").write_text(pairs, "utf-8")
    (tmp_path / "good.jsonl").write_text(f"{json.dumps(FINISHED)}\n", "utf-8")
    return tmp_path


def run(files: Path, *words: str) -> int:
    texts = ("--pairs", str(files / "own.jsonl"), "--finished", str(files / "good.jsonl"))
    return dial.main([*texts, "--sets", "none", *words])


def test_every_change_that_is_made_gets_a_verdict(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = files / "page.md"
    assert run(files, "--at", "0.5,1", "--write", str(page)) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines()[2:]]
    assert [row[:4] for row in rows] == [
        ["0.5", "own", "2", "4"],
        ["0.5", "good-finished", "1", "0"],
        ["1", "own", "2", "0"],
        ["1", "good-finished", "1", "0"],
    ]
    assert rows[0][4].startswith("75 % (")
    assert [row[5] for row in rows] == ["0.0 %", "100.0 %", "100.0 %", "100.0 %"]
    text = page.read_text("utf-8")
    assert printed in text
    assert "python -m benchmarks dial --pairs own.jsonl --finished good.jsonl" in text
    assert "own (2 texts), good-finished (1 texts)" in text


@pytest.mark.parametrize(("given", "said"), [("high", "numbers with commas"), ("0.5,1.2", "from 0 to 1")])
def test_a_setting_is_a_number_from_0_to_1(
    files: Path, given: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(files, "--at", given) == 2
    assert said in capsys.readouterr().err
