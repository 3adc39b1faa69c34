"""What a crash has left behind: offered, restored, discarded, and had back from the trash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Label

from tests.tui.driving import QUICK, drive, editor, notes, toy_engine, until
from tests.tui.test_editing import answer, choose
from tui.app import EditorApp
from tui.document.journal import TRASH_DAYS, Journal, leftovers, sweep_trash, thrown_away
from tui.widgets.dialogs import ChoiceDialog, QuestionDialog
from tui.widgets.rows import Rows

TYPED = "text typed"


def crash(folder: Path) -> None:
    """Type into a file and die."""

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+end", *" typed")
        app.autosave.flush_journals()
        # A process that dies lets go of its locks and leaves its files.
        for sheet in app.sheets:
            assert isinstance(sheet._journal, Journal)
            assert sheet._journal._held is not None
            sheet._journal._held.file.close()

    drive(editor(folder, "text"), script)


def again(folder: Path, *names: str) -> EditorApp:
    """The editor, started anew."""
    files = [folder / name for name in names]
    return EditorApp(files, QUICK, load=toy_engine, journals=folder / "journals")


def test_typing_into_the_recovery_dialog_discards_nothing(tmp_path: Path) -> None:
    crash(tmp_path)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        await pilot.press(*"dear reader, later I shall discard and restore")
        assert isinstance(app.screen, QuestionDialog)
        assert len(leftovers(tmp_path / "journals")) == 1
        await pilot.press("enter")
        await until(pilot, lambda: app.sheet.draft.text == TYPED)

    drive(again(tmp_path, "file.txt"), script)


def test_a_text_of_another_file_does_not_stand_in_the_way(tmp_path: Path) -> None:
    crash(tmp_path)
    (tmp_path / "other.txt").write_text("other")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "Unsaved changes of file.txt" in notes(app))
        await pilot.press("x")
        assert (app.sheet.draft.text, len(app.screen_stack)) == ("xother", 1)
        # It is asked about when its own file is opened.
        await pilot.press("ctrl+o")
        await answer(pilot, app, str(tmp_path / "file.txt"))
        await choose(pilot, app, "l")
        assert app.sheet.draft.text == "text"
        await app.run_action("recover")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.sheet.draft.text == TYPED)

    drive(again(tmp_path, "other.txt"), script)


def test_what_was_discarded_can_be_had_back_for_some_days(tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    crash(tmp_path)

    async def discard(app: EditorApp, pilot: Pilot[None]) -> None:
        await choose(pilot, app, "d")
        await until(pilot, lambda: not leftovers(journals))

    drive(again(tmp_path, "file.txt"), discard)
    (thrown,) = thrown_away(journals)
    assert (thrown.text, thrown.path) == (TYPED, tmp_path / "file.txt")

    async def recover(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.pause()
        assert len(app.screen_stack) == 1
        await app.run_action("recover")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.focused)
        line, _ = app.screen.query_one(Rows).lines[0]
        assert line.startswith("file.txt · discarded ")
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.sheet.draft.text == TYPED)
        assert app.sheet.modified
        await pilot.press("ctrl+z")
        assert app.sheet.draft.text == "text"

    drive(again(tmp_path, "file.txt"), recover)
    assert len(thrown_away(journals)) == 1
    sweep_trash(journals)
    assert len(thrown_away(journals)) == 1
    old = thrown.at - (TRASH_DAYS + 1) * 24 * 3600
    os.utime(thrown.journal, (old, old))
    drive(again(tmp_path, "file.txt"), lambda app, pilot: pilot.pause())
    assert thrown_away(journals) == []


def test_a_journal_that_cannot_be_read_is_kept_for_those_who_can(tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    (journals / "1-a.journal").write_bytes(b"{broken\nwords that someone typed")
    assert leftovers(journals) == []
    kept = journals / "trash" / "1-a.journal"
    assert kept.read_bytes() == b"{broken\nwords that someone typed"
    assert thrown_away(journals) == []


def test_nothing_to_recover_is_said(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await app.run_action("recover")
        await until(pilot, lambda: "nothing to recover" in notes(app))

    drive(editor(tmp_path, "text"), script)


def another_editor(path: Path, journals: Path) -> subprocess.Popen[str]:
    """A process that has a file open, until it is killed."""
    code = f"""
import time
from pathlib import Path
from tui.document.locked_files import OpenMark
mark = OpenMark(Path({str(journals)!r}), Path({str(path)!r}))
print("open", flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


@pytest.mark.parametrize("locks", [True, False])
def test_a_file_that_is_open_in_another_editor_says_so_until_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: bool
) -> None:
    if not locks:
        monkeypatch.setitem(sys.modules, "fcntl", None)
    # It goes by another name to the same file.
    (tmp_path / "link.txt").symlink_to(tmp_path / "file.txt")
    other = another_editor(tmp_path / "link.txt", tmp_path / "journals")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: f"open in another editor too (process {other.pid})" in notes(app))
        assert app.sheet.label == "file.txt (open twice)"
        # One can write all the same.
        await pilot.press("x", "ctrl+s")
        assert (tmp_path / "file.txt").read_text() == "xtext"
        other.kill()
        other.wait()
        app.autosave.look_at_disk()
        assert app.sheet.label == "file.txt"

    try:
        drive(editor(tmp_path, "text"), script)
    finally:
        other.kill()
        other.wait()
    if locks:
        assert list((tmp_path / "journals").iterdir()) == []


def test_two_names_of_one_file_are_one_tab(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("text")
    assert len(again(tmp_path, "file.txt", "file.txt").sheets) == 1


@pytest.mark.parametrize("typed", [False, True])
def test_a_text_that_has_changed_since_is_not_replaced_unasked(tmp_path: Path, typed: bool) -> None:
    crash(tmp_path)
    if not typed:
        (tmp_path / "file.txt").write_text("text of others")
    there = "xtext" if typed else "text of others"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        if typed:
            app.sheet.draft.edit(0, 0, "x")
        await choose(pilot, app, "r")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        reason = "You have typed into file.txt" if typed else "Another program has changed file.txt"
        assert reason in str(app.screen.query(Label).first().render())
        await choose(pilot, app, "a")
        await until(pilot, lambda: len(app.sheets) == 2)
        assert [sheet.draft.text for sheet in app.sheets] == [there, TYPED]
        assert app.sheet.label == "file.txt (recovered) •"

    drive(again(tmp_path, "file.txt"), script)


def test_a_text_that_has_changed_since_can_be_replaced_and_had_back(tmp_path: Path) -> None:
    crash(tmp_path)
    (tmp_path / "file.txt").write_text("text of others")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        # Also where it is not open yet.
        await choose(pilot, app, "r")
        await choose(pilot, app, "i")
        await until(pilot, lambda: app.sheet.draft.text == TYPED)
        assert len(app.sheets) == 1
        await pilot.press("ctrl+z")
        assert app.sheet.draft.text == "text of others"

    drive(again(tmp_path), script)
