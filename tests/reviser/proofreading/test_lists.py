"""Lists that grow: words that stay, and findings that are ignored."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reviser.core.errors import ReviserError
from reviser.proofreading.project.ignoring import IGNORE_FILE, IgnoredPlace, ignore, read_ignored
from reviser.proofreading.project.words import PROJECT_FILE, Words, add_word, project_folder


def test_a_word_is_added_once_and_the_list_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / PROJECT_FILE
    assert add_word(path, "Zeta,")
    assert path.read_text() == "Zeta\n"
    assert not add_word(path, "Zeta")
    path.write_bytes(b"# ours\r\nZeta\r\nlast")
    assert add_word(path, "recieve")
    assert path.read_bytes() == b"# ours\r\nZeta\r\nlast\r\nrecieve\r\n"
    assert Words.read(path).terms == {"Zeta", "last", "recieve"}
    assert [found.name for found in path.parent.iterdir()] == ["words.txt"]


def test_what_is_no_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReviserError, match="holds no word"):
        add_word(tmp_path / PROJECT_FILE, "…")
    assert not (tmp_path / PROJECT_FILE).exists()


def test_a_list_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / ".reviser").write_text("a file")
    with pytest.raises(ReviserError, match="cannot be made"):
        add_word(tmp_path / PROJECT_FILE, "word")


def test_writers_at_once_leave_a_whole_list(tmp_path: Path) -> None:
    path = tmp_path / PROJECT_FILE
    path.parent.mkdir()
    path.write_text("first\n")

    words = [f"word{number}x" for number in range(6)]
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(lambda word: add_word(path, word), words))
    assert sorted(path.read_text().split()) == sorted(["first", *words])


def test_a_finding_is_ignored_in_its_place_alone(tmp_path: Path) -> None:
    path = tmp_path / IGNORE_FILE
    text = "He said teh\nword twice. Then teh end."
    first = IgnoredPlace.of("a b.md", text, text.index("teh"), "teh", "the")
    second = IgnoredPlace.of("a b.md", text, text.rindex("teh"), "teh", "the")
    assert first != second
    ignore(path, first)
    ignore(path, first)
    assert read_ignored(path) == {first}
    assert len(path.read_text().splitlines()) == 2
    # Where the text stands does not matter.
    moved = "A line.\n\n" + text
    assert IgnoredPlace.of("a b.md", moved, moved.index("teh"), "teh", "the") == first


def test_the_folder_of_a_project(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "c.md"
    file.parent.mkdir(parents=True)
    assert project_folder(file, [tmp_path / "a"]) == tmp_path / "a"
    (tmp_path / "a" / "b" / ".git").mkdir()
    assert project_folder(file) == tmp_path / "a" / "b"
    (tmp_path / ".reviser").mkdir()
    assert project_folder(file, [tmp_path / "a"]) == tmp_path
