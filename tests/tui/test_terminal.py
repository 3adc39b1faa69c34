"""Keys that come at once do what they do one by one; no bytes are too strange."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.driving import drive, editor, strike, until
from tui.app import EditorApp
from tui.terminal import KeyBurst, TerminalInput

# What the parts of sequences are made of, and what belongs to none.
SEQUENCES = [b"\x1b", b"[", b"<", b"200~", b"201~", b";", b":", b"9", b"1114112", b"u", b"M", b"R"]
CHARACTERS = [b"a", b"\xff", b"\xc3", b"\xe6\xbc", b"\x00", b"?2048;1$y", b"48;0;0;0;0t"]
PIECES = st.sampled_from([*SEQUENCES, *CHARACTERS])


@given(st.lists(PIECES | st.binary(max_size=3), max_size=30))
def test_no_bytes_stop_the_reading(pieces: list[bytes]) -> None:
    terminal = TerminalInput()
    for piece in pieces:
        terminal.take(piece)
    # What ends a paste, and a sequence of any length, is behind it.
    terminal.take(b"\x1b[201~" + b"a" * 40)
    (end,) = terminal.take(b"z")
    assert isinstance(end, events.Key)
    assert end.key == "z"


def test_wrong_bytes_lose_nothing_around_them() -> None:
    (burst,) = TerminalInput().take(b"a\xffb\x1b[1114112uc\xc3d")
    assert isinstance(burst, KeyBurst)
    assert [key.character for key in burst.keys] == ["a", "\ufffd", "b", "c", "\ufffd", "d"]


KEYS = (
    *("w", "o", " ", " ", "a", "enter", "r", "left", "X", "ctrl+z", "ctrl+z", "a", "tab", "b", "home", "delete"),
    *("ctrl+f", "t", "e"),
)


def key(name: str) -> events.Key:
    return events.Key(name, name if len(name) == 1 else None)


def test_a_burst_does_what_its_keys_do(tmp_path: Path) -> None:
    ended = []

    for at_once in (False, True):

        async def script(app: EditorApp, pilot: Pilot[None], at_once: bool = at_once) -> None:
            if at_once:
                app.post_message(KeyBurst([key(name) for name in KEYS]))
                await strike(app, pilot)
            else:
                await strike(app, pilot, *KEYS)
            field = app.query_one("#find", Input)
            await until(pilot, lambda: field.value == "te")
            ended.append((app.sheet.draft.text, app.sheet.draft.undoable))

        drive(editor(tmp_path, "some text to test"), script)
    assert ended[0] == ended[1]


def test_text_that_is_pasted_as_keys_is_one_change(tmp_path: Path) -> None:
    typed = [key(name) for name in [*"one two", "enter", "tab", *"three 漢"] * 100]

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        app.post_message(KeyBurst(typed))
        await until(pilot, lambda: draft.text)
        assert draft.text == "one two\n\tthree 漢" * 100
        assert (draft.version, draft.undoable) == (1, 1)
        await pilot.press("ctrl+f")
        field = app.focused
        assert isinstance(field, Input)
        app.post_message(KeyBurst([*typed[:7], *typed[9:16]]))
        await until(pilot, lambda: field.value)
        assert field.value == "one twothree 漢"

    drive(editor(tmp_path, ""), script)
