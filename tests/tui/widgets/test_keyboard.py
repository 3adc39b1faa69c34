"""What is typed arrives whole: every character that a terminal sends, in the text and in fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.driving import drive, editor
from tui.app import EditorApp
from tui.widgets.keyboard import written_by

# A family, Persian, French, a word that may be hyphenated, Hebrew with a mark of direction, and a line of a poem.
TYPED = "👩\u200d👩\u200d👧 می\u200cخواهم «\u00a0oui\u202f!\u00a0» co\u00adop \u05d0\u200f! a\u2028b\u2029c \U0001fae9"


def keys_of(sent: str) -> list[events.Key]:
    """The keys that Textual makes of what a terminal sends."""
    return [event for event in XTermParser().feed(sent) if isinstance(event, events.Key)]


def send(app: EditorApp, sent: str) -> None:
    for key in keys_of(sent):
        app.post_message(key)


@given(st.characters(exclude_categories=["Cc", "Cs"]))
def test_every_character_that_a_file_can_hold_is_written(character: str) -> None:
    written = "".join(written_by(key) or "" for key in keys_of(character))
    assert written == ("" if "\ue000" <= character < "\ue080" else character)


def test_controls_are_commands() -> None:
    controls = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]
    keys = [key for control in controls for key in keys_of(control)]
    assert len(keys) >= len(controls) - 1  # Escape waits for what follows it
    assert [written_by(key) for key in keys] == [None] * len(keys)


# F13, both without and with Shift; the 5 of the number pad, a letter with Alt and with Super.
@pytest.mark.parametrize("sent", ["\x1b[57376u", "\x1b[57376;2u", "\x1b[57427~", "\x1b[97;9u"])
def test_keys_without_a_character_write_nothing(sent: str) -> None:
    assert [written_by(key) for key in keys_of(sent)] == [None]


def test_what_is_typed_is_in_the_text_and_in_the_file(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        send(app, TYPED)
        await pilot.pause()
        assert app.sheet.draft.text == TYPED
        await pilot.press("ctrl+s")
        assert (tmp_path / "file.txt").read_text() == TYPED
        while app.sheet.draft.undoable:
            await pilot.press("ctrl+z")
        assert app.sheet.draft.text == ""

    drive(editor(tmp_path, ""), script)


def test_backspace_takes_a_joiner_by_itself(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        send(app, "می\u200c👩\u200d👧")
        for left in ("می\u200c", "می", "م"):
            await pilot.press("backspace")
            assert app.sheet.draft.text == left

    drive(editor(tmp_path, ""), script)


def test_what_is_typed_and_pasted_into_fields_replaces_all_of_it(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+r")
        send(app, "a\u200db")
        await pilot.pause()
        await pilot.press("tab")
        send(app, TYPED)
        app.post_message(events.Paste("x\u2028y\u0085z\nnot this"))
        await pilot.pause()
        assert app.screen.query_one("#replace", Input).value == TYPED + "x\u2028y\u0085z"
        await pilot.press("alt+q", "alt+a")
        assert app.sheet.draft.text == TYPED + "x\u2028y\u0085z"

    drive(editor(tmp_path, "a\u200db"), script)


@pytest.mark.parametrize("sent", ["a\rb", "a\nb", "a\x1b[13;2ub"])
def test_lines_end_with_whatever_a_terminal_sends_for_that(tmp_path: Path, sent: str) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        send(app, sent)
        await pilot.pause()
        assert app.sheet.draft.text == "a\nb"

    drive(editor(tmp_path, ""), script)
