"""What commands say of their progress: in a pipe a line now and then, and nothing in quick runs."""

from __future__ import annotations

import time

import pytest

from reviser.cli import progress


def test_a_pipe_gets_lines_of_long_runs_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.working("reading") as tell:
        tell("sentence 1 of 9")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.01)
    said = ""
    with progress.counting("checking", 3) as counting:
        for number in range(3):
            counting.tell(f"checking, sentence {number} of 3")
            while f"sentence {number} of 3 ({number} of 3 files done)" not in said:
                time.sleep(0.01)
                said += capsys.readouterr().err
            counting.advance()
    assert all(line.startswith("reviser: checking") for line in said.splitlines())
    capsys.readouterr()
    time.sleep(0.05)
    assert capsys.readouterr().err == ""
