"""The find bar counts when nobody types, and gives up what would take for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Label

from reviser.editor.edited_text import Selection
from tests.tui.driving import drive, editor, notes, strike, until
from tui.app import EditorApp
from tui.document.searching import TextSearch

ENDLESS = "(a|aa)+$"


def told(app: EditorApp) -> str:
    return str(app.desk.find_bar.query_one("#found", Label).content)


def test_what_is_typed_at_once_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted, count = [], TextSearch.count

    def noted(search: TextSearch, *rest: object) -> object:
        counted.append(search.wanted)
        return count(search, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(TextSearch, "count", noted)
    words = "never twice the same"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+f")
        await strike(app, pilot, *words)
        await until(pilot, lambda: told(app) == "3 found")
        # A machine that is busy may let the pause pass between two keys.
        assert len(counted) < len(words) / 2
        assert counted[-1] == words
        assert app.sheet.draft.selection == Selection(1, 1 + len(words))

    drive(editor(tmp_path, f" {words}" * 3), script)


def test_a_pattern_that_would_take_for_ever_is_given_up(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+f", "alt+r", *ENDLESS)
        await until(pilot, lambda: told(app) == "takes too long .*")
        assert app.editor.search is None
        await pilot.press("enter")
        await until(pilot, lambda: f"looking for {ENDLESS} takes too long" in notes(app))
        await pilot.press("escape", "home", "x")
        assert app.sheet.draft.text == f"x{'a' * 60}!"
        await pilot.press("ctrl+f", *["backspace"] * len(ENDLESS), "a", "+")
        await until(pilot, lambda: told(app) == "1 found .*")

    drive(editor(tmp_path, f"{'a' * 60}!"), script)


def test_too_much_to_look_for_is_said(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+f")
        app.query_one("#find", Input).value = "too much " * 5000
        await until(pilot, lambda: told(app) == "too long")

    drive(editor(tmp_path, "text"), script)
