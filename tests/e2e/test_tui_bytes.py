"""The terminal editor at a terminal that sends what none should, and that goes away."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.terminal import BareTerminal
from tui.document.journal import leftovers, read_journal

SAVE, QUIT, FIND = b"\x13", b"\x11", b"\x06"


@pytest.fixture
def terminal() -> Iterator[BareTerminal]:
    terminal = BareTerminal()
    yield terminal
    terminal.end()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / "tui.toml").write_text("proofread = false\n")
    return home


def edit(terminal: BareTerminal, file: Path, home: Path) -> None:
    """Open a file in the editor."""
    terminal.run([sys.executable, "-m", "reviser", "tui", str(file)], REVISER_HOME=str(home))
    terminal.wait_until(lambda: file.name in terminal.drawn())


def test_bytes_that_are_no_characters_and_no_keys_end_nothing(
    terminal: BareTerminal, tmp_path: Path, home: Path
) -> None:
    file = tmp_path / "file.txt"
    edit(terminal, file, home)
    # A byte that UTF-8 does not have, half a character, and a key of a number that no character has.
    terminal.send(b"one\xfftwo\xc3three\x1b[1114112ufour" + SAVE)
    terminal.wait_until(file.exists)
    assert file.read_text("utf-8") == "one\ufffdtwo\ufffdthreefour"
    terminal.send(QUIT)
    terminal.wait_until(lambda: terminal.status is not None)
    assert terminal.status == 0


def test_pasted_text_that_is_not_marked_arrives_in_pieces(terminal: BareTerminal, tmp_path: Path, home: Path) -> None:
    line = "Nobody had told it that the garden would be wet until noon."
    text = f"{line}\n" * 700
    edit(terminal, tmp_path / "file.txt", home)
    terminal.send(text.replace("\n", "\r").encode())

    def changes() -> list[int]:
        found = [read_journal(path) for path in (home / "journal").glob("*.journal")]
        return [each.changes for each in found if each is not None and each.text == text]

    terminal.wait_until(changes)
    # Far fewer than characters or words.
    assert changes()[0] < 700


def test_when_its_terminal_is_gone_it_ends_and_keeps_the_text(
    terminal: BareTerminal, tmp_path: Path, home: Path
) -> None:
    edit(terminal, tmp_path / "file.txt", home)
    terminal.send(b"words" + FIND + b"never to be found " * 2000)
    terminal.go_away()
    terminal.wait_until(lambda: terminal.status is not None)
    assert [each.text for each in leftovers(home / "journal")] == ["words"]
