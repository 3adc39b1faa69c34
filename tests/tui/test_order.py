"""Keys that come at once are taken in their order, whichever of them open a dialog, a field or end the editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.driving import drive, editor, until
from tests.tui.widgets.test_dialogs import alone, burst
from tui.app import EditorApp
from tui.widgets.dialogs import Palette, QuestionDialog


@pytest.mark.parametrize("before", [[], ["ctrl+f", "c"], ["ctrl+l"]])
def test_what_comes_behind_the_key_that_quits_is_for_nobody(tmp_path: Path, before: list[str]) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press(*before)
        burst(app, "ctrl+q", *"xyz", "enter")
        app.post_message(events.Paste("pasted"))
        await until(pilot, lambda: app._exit)
        assert (app.sheet.draft.text, app.sheet.draft.undoable) == ("text", 0)

    drive(editor(tmp_path, "text"), script)
    assert (tmp_path / "file.txt").read_text() == "text"


def test_what_comes_before_the_key_that_quits_is_in_the_text_and_what_comes_behind_is_not(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        burst(app, *"abc", "ctrl+q", *"xyz")
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        await pilot.press("escape")
        await alone(app, pilot)
        assert app.sheet.draft.text == "abctext"
        burst(app, *"d", "ctrl+q", "alt+s", *"xyz")
        await until(pilot, lambda: app._exit)
        assert app.sheet.draft.text == "abcdtext"

    drive(editor(tmp_path, "text"), script)
    assert (tmp_path / "file.txt").read_text() == "abcdtext"


def test_the_palette_takes_what_comes_behind_its_key(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        burst(app, *"abc", "ctrl+p", *"wra")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        field = app.screen.query_one(Input)
        await until(pilot, lambda: field.value == "wra")
        assert app.sheet.draft.text == "abctext"

    drive(editor(tmp_path, "text"), script)


def test_all_of_what_is_looked_for_is_replaced(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        burst(app, "ctrl+r", *"text", "tab", *"word", "alt+a", "shift+tab", "end", "x")
        await until(pilot, lambda: app.screen.query_one("#find", Input).value == "textx")
        assert app.sheet.draft.text == "a word, the words"

    drive(editor(tmp_path, "a text, the texts"), script)
