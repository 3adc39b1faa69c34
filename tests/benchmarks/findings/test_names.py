"""Names in sentences: drawn from lists, put into sentences, and counted where a change touches them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.findings.names import SENTENCES, NamesOptions, drawn_from, run
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.proofreading.suggestion import Kind, Suggestion


def test_names_stand_in_sentences(tmp_path: Path) -> None:
    path = tmp_path / "packages.txt"
    path.write_text("knex\nh2o\nQt\nlib-immer\n\naxios\n")
    found = drawn_from(path, 10, 1)
    assert sorted(one.text[one.start : one.end] for one in found) == ["axios", "knex", "lib-immer"]
    assert found == drawn_from(path, 10, 1)
    assert len(drawn_from(path, 2, 1)) == 2
    with pytest.raises(ReviserError, match="packages"):
        drawn_from(tmp_path / "others.txt", 1, 1)
    assert all(one.count("{}") == 1 for some in SENTENCES.values() for one in some)


def test_a_change_counts_if_it_touches_the_name(tmp_path: Path) -> None:
    (tmp_path / "places.txt").write_text("Oslo\n")
    (one,) = drawn_from(tmp_path / "places.txt", 1, 1)

    def touched(edit: Edit) -> bool:
        return one.touched([Suggestion(edit, Kind.OTHER)]) is not None

    assert touched(Edit(one.start, "Oslo", "Slow"))
    assert touched(Edit(one.start + 1, "s", "d"))
    assert not touched(Edit(one.start, "", "the "))
    assert not touched(Edit(one.end, one.text[one.end : one.end + 1], ""))


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.txt"
    path.write_text("Anna\nMaria Berg\n")
    page = tmp_path / "page.md"
    run(NamesOptions(lists=(path,), count=2, found=tmp_path / "found.tsv", write=page, words=(str(path),)))
    table = capsys.readouterr().out
    assert "| people |     2 |       0 |" in table
    assert table in page.read_text()
    assert str(tmp_path) not in page.read_text()
    assert (tmp_path / "found.tsv").read_text() == ""
