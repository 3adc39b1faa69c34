"""The measurement of a server: every document is written, and what is told adds up."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.speed.serving import Tally, main, table


def test_a_server_is_measured_beside_the_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    words = ["--documents", "1", "3", "--actions", "2", "--rounds", "1", "--rows", "4"]
    assert main([*words, "--write", str(page)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("over HTTP") == 2
    text = page.read_text("utf-8")
    assert "- Command: `python -m benchmarks serving --documents 1 3" in text
    assert "- Load: " in text
    assert shown.strip() in text


def test_speeds_are_of_all_documents_and_beside_the_engines() -> None:
    tallies = [Tally("engine", 1, 2.0, 1.0, 100), Tally("over HTTP", 8, 4.0, None, 800)]
    first, second = table(tallies).rows
    assert first == ("engine", "1", "50.0", "1.00", "10.0")
    assert second == ("over HTTP", "8", "200.0", "4.00", "–")
