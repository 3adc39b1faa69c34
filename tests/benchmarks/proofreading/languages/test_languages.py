"""The measurement of other languages beside badly spelt English, with the embedded model."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.proofreading.languages import command
from benchmarks.proofreading.languages.sets import (
    FOREIGN,
    Half,
    foreign_paragraphs,
    foreign_sentences,
    misspelt_sentences,
)


def test_the_sets_are_large_and_their_halves_differ() -> None:
    for language in FOREIGN:
        halves = [foreign_sentences(language, half) for half in Half]
        assert sum(map(len, halves)) >= 50
        assert not set(halves[0]) & set(halves[1])
        assert " ".join(halves[0]) == " ".join(foreign_paragraphs(language, Half.SEEN))
    english = [one for half in Half for one in misspelt_sentences(half)]
    assert len(english) >= 50
    assert all(one.typed != one.meant for one in english)


def test_the_page_says_what_was_told_and_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FOREIGN", {"nl": "Dutch"})
    monkeypatch.setattr(command, "foreign_sentences", lambda *given: foreign_sentences(*given)[:4])
    monkeypatch.setattr(command, "foreign_paragraphs", lambda *given: foreign_paragraphs(*given)[:1])
    monkeypatch.setattr(command, "misspelt_sentences", lambda half: misspelt_sentences(half)[:2])
    page = tmp_path / "languages.md"
    assert command.main(["--write", str(page)]) == 0
    text = page.read_text()
    assert "| Dutch    | held out |         4 |    4 |       0 |          1 |       0 |" in text
    assert "python -m benchmarks languages" in text
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| seen ")]
    (row,) = rows
    _, sentences, told, changed, meant, made, right = row
    assert int(sentences) == int(told) == int(changed) == 2
    assert 0 < int(right) <= min(int(made), int(meant))
