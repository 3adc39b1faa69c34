"""Files keep their bytes, changes by others are noticed, and a crash loses nothing that was flushed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.editor.edited_text import EditedText
from tui.document.disk import OpenFile, plain_newlines
from tui.document.journal import Journal, digest, leftovers, read_journal
from tui.settings import TuiSettings

contents = st.sampled_from(
    [
        b"",
        b"plain\n",
        b"no newline",
        b"one\r\ntwo\r\n",
        b"old\rmac\r",
        b"mixed\r\nends\nhere\r",
        "Grüße 漢字 👩‍💻\u2028\x0c\n".encode(),
        "﻿with mark\n".encode(),
        "wide\r\n".encode("utf-16"),
    ]
)


@settings(max_examples=40, deadline=None)
@given(contents, st.booleans())
def test_an_untouched_file_is_saved_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, undo: bool
) -> None:
    path = tmp_path_factory.mktemp("disk") / "file.txt"
    path.write_bytes(content)
    file, text = OpenFile.open(path)
    draft = EditedText(text)
    if undo:
        draft.edit(0, 0, "typed\n")
        draft.undo()
    file.save(draft.text)
    assert path.read_bytes() == content
    assert not file.changed_on_disk()


def test_typed_lines_take_the_files_line_ending(tmp_path: Path) -> None:
    path = tmp_path / "dos.txt"
    path.write_bytes("\ufeffone\r\ntwo".encode())
    file, text = OpenFile.open(path)
    file.save(text + plain_newlines("\r\nthree\nfour"))
    assert path.read_bytes() == "\ufeffone\r\ntwo\r\nthree\r\nfour".encode()
    assert file.description == "UTF-8 with mark CRLF"


def test_a_change_by_others_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("one")
    file, _ = OpenFile.open(path)
    assert not file.changed_on_disk()
    path.write_text("two!")
    assert file.changed_on_disk()
    assert file.read_again() == "two!"
    assert not file.changed_on_disk()
    path.unlink()
    assert file.changed_on_disk()


def test_a_new_file_and_another_name(tmp_path: Path) -> None:
    file, text = OpenFile.open(tmp_path / "new.txt")
    assert text == ""
    file.save("hello\n")
    file.save("hello\n", tmp_path / "other.txt")
    assert file.path == tmp_path / "other.txt"
    assert (tmp_path / "other.txt").read_text() == "hello\n"
    with pytest.raises(ReviserError, match="no folder"):
        OpenFile.open(tmp_path / "missing" / "file.txt")


def test_a_killed_editor_leaves_what_it_had_flushed(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from reviser.editor.edited_text import EditedText
from tui.document.journal import Journal
draft, journal = EditedText("bäse 👩‍💻\\n"), Journal(Path({str(tmp_path)!r}))
journal.begin(Path("/somewhere/file.txt"), draft.text)
draft.observers.append(journal.note)
draft.edit(0, 0, "one ")
draft.edit(2, 6, "漢\\n")
journal.flush(lambda: draft.text)
draft.edit(0, 0, "lost")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    (leftover,) = leftovers(tmp_path)
    assert leftover.text == "on漢\nse 👩‍💻\n"
    assert leftover.path == Path("/somewhere/file.txt")
    assert leftover.changes == 2
    leftover.discard()
    assert leftovers(tmp_path) == []


def test_a_journal_in_use_is_not_offered_and_an_ended_one_is_gone(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(None, "text")
    journal.note(Edit(0, "", "x"))
    journal.flush(lambda: "xtext")
    imports = "from pathlib import Path\nfrom tui.document.journal import leftovers\n"
    check = f"{imports}print(len(leftovers(Path({str(tmp_path)!r}))))"
    seen = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert seen.stdout == "0\n"
    assert len(list(tmp_path.iterdir())) == 1
    journal.end()
    assert list(tmp_path.iterdir()) == []


def test_a_journal_cut_short_gives_what_is_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(None, "text")
    journal.note(Edit(0, "", "first "))
    journal.note(Edit(0, "", "second "))
    journal.flush(lambda: "second first text")
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    journal.end()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        texts = [leftover.text for leftover in leftovers(tmp_path)]
        assert texts in ([], ["first text"], ["second first text"])
        path.unlink(missing_ok=True)


def test_settings_say_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "tui.toml"
    assert TuiSettings.load(path) == TuiSettings()
    path.write_text('theme = "light"\ntemperature = 1\n[keys]\nsave = "f2"\n')
    loaded = TuiSettings.load(path)
    assert (loaded.theme, loaded.temperature, loaded.keys) == ("light", 1, {"save": "f2"})
    for content, complaint in {
        "theme = 3": "theme cannot be 3",
        'theme = "pink"': "theme must be one of",
        "wrap = 1": "wrap cannot be 1",
        "speed = true": "speed cannot be True",
        "colour = 1": "no setting colour",
        "theme": "not valid TOML",
        "tab_width = 0": "start at 1",
    }.items():
        path.write_text(content)
        with pytest.raises(ReviserError, match=complaint):
            TuiSettings.load(path)


def test_the_journal_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    journal = Journal(folder)
    journal.begin(None, "secret")
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0
    journal.end()


def test_a_journal_of_many_changes_stays_short(tmp_path: Path) -> None:
    draft, journal = EditedText("text"), Journal(tmp_path)
    journal.begin(tmp_path / "file.txt", draft.text)
    draft.observers.append(journal.note)
    for number in range(5000):
        draft.edit(draft.buffer.length, draft.buffer.length, f" {number}")
        if number % 7 == 0:
            journal.flush(lambda: draft.text)
    journal.flush(lambda: draft.text)
    (path,) = tmp_path.iterdir()
    assert path.read_bytes().count(b"\n") < 1010
    leftover = read_journal(path)
    assert leftover is not None
    assert (leftover.text, leftover.changes, leftover.base) == (draft.text, 5000, digest("text"))
    # The shorter one is this editor's, too.
    assert leftovers(tmp_path) == []
    journal.end()
    assert list(tmp_path.iterdir()) == []
