"""Typing while a revision is watched or looked through: it replaces nothing, and undo opens again what it closed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from reviser.editor.edited_text import Selection
from tests.tui.driving import drive, until
from tests.tui.runs.test_revise import BETTER, CHANGES, TEXT, corrected, review_in, revise, shown_run
from tui.app import EditorApp

WHOLE = Selection(0, len(TEXT))
ALL_OPEN = [True, True, True, True]


def open_changes(app: EditorApp) -> list[bool]:
    return [item.open for item in review_in(app).items]


# Over a slow line, Alt+A arrives as Escape and the letter.
@pytest.mark.parametrize("keys", [["x"], ["escape", "a"]])
def test_a_letter_replaces_nothing_of_what_was_selected_for_revision(tmp_path: Path, keys: list[str]) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await revise(app, pilot, WHOLE)
        assert draft.selection.empty
        await pilot.press(*keys)
        assert draft.text == BETTER + keys[-1]
        assert open_changes(app) == ALL_OPEN
        await pilot.press("ctrl+z")
        assert (draft.text, open_changes(app)) == (BETTER, ALL_OPEN)
        await pilot.press("alt+d")
        assert draft.text == TEXT

    drive(corrected(tmp_path), script)


def test_what_is_selected_while_the_model_revises_is_so_no_more_in_the_review(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        app.editor.select(Selection.at(TEXT.index("sat")))
        await pilot.press("ctrl+e")
        await until(pilot, lambda: "dog" in app.sheet.draft.text)
        await pilot.press("ctrl+a")
        shown_run(app).speed = 0
        await until(pilot, lambda: app.sheet.review is not None)
        assert app.sheet.draft.selection.empty

    drive(corrected(tmp_path, speed=8), script)


@pytest.mark.parametrize("key", ["x", "delete", "ctrl+x", "enter"])
def test_undo_opens_the_changes_again_that_replacing_everything_closed(tmp_path: Path, key: str) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft, with_cat = app.sheet.draft, BETTER.replace("dog", "cat", 1)
        await revise(app, pilot, WHOLE)
        await pilot.press("alt+r", "ctrl+a", key)
        assert len(draft.text) <= 1
        assert app.sheet.review is None
        await pilot.press("ctrl+z")
        assert draft.text == with_cat
        assert open_changes(app) == [False, True, True, True]
        assert "change 2 of 4" in app.desk.status_line.said[0]
        await pilot.press("ctrl+y")
        assert (len(draft.text) <= 1, app.sheet.review) == (True, None)
        await pilot.press("ctrl+z", "alt+r")
        # What was typed in place of other changes than there are now cannot be typed again.
        assert draft.redoable == 0
        await pilot.press("alt+d")
        assert draft.text == TEXT
        for text in (with_cat.replace("a mat", "the mat"), with_cat, TEXT):
            await pilot.press("ctrl+z")
            assert draft.text == text

    drive(corrected(tmp_path), script)


def test_undo_opens_a_change_again_that_was_typed_into(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await revise(app, pilot, WHOLE)
        app.editor.select(Selection.at(BETTER.index("sad") + 1))
        await pilot.press("x", "y")
        assert open_changes(app) == [True, True, False, True]
        await pilot.press("alt+r")
        assert draft.text == BETTER.replace("dog", "cat", 1).replace("sad", "sxyad")
        await pilot.press("ctrl+z")
        assert draft.text == BETTER.replace("dog", "cat", 1)
        assert open_changes(app) == [False, True, True, True]
        await pilot.press("alt+down", "alt+r")
        assert draft.text == BETTER.replace("dog", "cat", 1).replace("sad", "glad")
        await pilot.press("ctrl+k", "ctrl+z", "ctrl+z")
        assert draft.text == TEXT

    drive(corrected(tmp_path), script)


def test_typing_into_the_last_open_change_is_no_decision_about_it(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await revise(app, pilot, WHOLE)
        await pilot.press("alt+a", "alt+r", "alt+a")
        app.editor.select(Selection.at(BETTER.index("was near") + 4))
        await pilot.press("x")
        assert app.sheet.review is None
        await pilot.press("ctrl+z")
        assert open_changes(app) == [False, False, False, True]
        await pilot.press("alt+r")
        wanted = BETTER.replace("on a mat", "on the mat").replace("was near", "is near")
        assert (draft.text, app.sheet.review) == (wanted, None)

    drive(corrected(tmp_path), script)


def test_typing_while_the_model_revises_stops_it_and_leaves_its_changes_to_decide(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        app.editor.select(WHOLE)
        await pilot.press("ctrl+e")
        await until(pilot, lambda: "dog" in draft.text)
        await pilot.press("x")
        assert draft.text == TEXT.replace("cat", "dog", 1) + "x"
        assert [(item.old, item.new, item.open) for item in review_in(app).items] == [(*CHANGES[0], True)]
        assert not shown_run(app).writing
        await pilot.press("alt+r")
        assert draft.text == TEXT + "x"

    drive(corrected(tmp_path, speed=8), script)
