"""Random keys against a model made of plain strings: screen, file and undo always say the same as it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.tui.driving import drive, editor, strike, until
from tui.app import EditorApp
from tui.document import Selection

CHARACTERS = ["a", "b", "漢", "é", " "]
MOVES = ["left", "right", "shift+left", "shift+right", "ctrl+home", "ctrl+end", "ctrl+a"]
EDITS = ["enter", "tab", "backspace", "delete", "ctrl+x", "ctrl+c", "ctrl+v"]
HISTORY = ["ctrl+z", "ctrl+y", "ctrl+s"]

keys = st.lists(
    st.one_of(*(st.sampled_from(each) for each in (CHARACTERS, CHARACTERS, MOVES, EDITS, HISTORY))),
    max_size=60,
)
starts = st.sampled_from(["", "one two\nthree\n", "漢字 and\n\nmore"])


@dataclass
class State:
    text: str
    anchor: int = 0
    cursor: int = 0


@dataclass
class Entry:
    before: State
    after: State
    kind: str
    # What was typed or erased, and where the next key would go on from.
    piece: str
    place: int


@dataclass
class Plain:
    """An editor in forty lines: no buffers, no offsets that shift, whole texts in its history."""

    now: State
    saved: str
    clipboard: str = ""
    undo: list[Entry] = field(default_factory=list)
    redo: list[Entry] = field(default_factory=list)
    sealed: bool = True

    def press(self, key: str) -> None:
        now = self.now
        low, high = sorted((now.anchor, now.cursor))
        if key in CHARACTERS or key in ("enter", "tab"):
            text = {"enter": "\n", "tab": "\t"}.get(key, key)
            self.replace(low, high, text, "typing" if low == high else "other")
        elif key == "backspace":
            self.erase(low, high, max(0, low - 1), low, "erasing")
        elif key == "delete":
            self.erase(low, high, high, min(len(now.text), high + 1), "deleting")
        elif key in ("ctrl+c", "ctrl+x"):
            if low != high:
                self.clipboard = now.text[low:high]
                if key == "ctrl+x":
                    self.replace(low, high, "", "other")
        elif key == "ctrl+v":
            if self.clipboard:
                self.replace(low, high, self.clipboard, "other")
        elif key == "ctrl+s":
            self.saved, self.sealed = now.text, True
        elif key == "ctrl+z" and self.undo:
            self.redo.append(self.undo.pop())
            self.now, self.sealed = self.redo[-1].before, True
        elif key == "ctrl+y" and self.redo:
            self.undo.append(self.redo.pop())
            self.now, self.sealed = self.undo[-1].after, True
        elif key not in HISTORY:
            self.move(key, low, high)

    def move(self, key: str, low: int, high: int) -> None:
        now, end = self.now, len(self.now.text)
        selecting = key.startswith("shift+")
        arrow = key.removeprefix("shift+")
        if arrow in ("left", "right"):
            target = max(0, now.cursor - 1) if arrow == "left" else min(end, now.cursor + 1)
            if low != high and not selecting:
                target = low if arrow == "left" else high
            anchor = now.anchor if selecting else target
        else:
            anchor, target = {"ctrl+home": (0, 0), "ctrl+end": (end, end), "ctrl+a": (0, end)}[key]
        self.now = State(now.text, anchor, target)
        self.sealed = True

    def erase(self, low: int, high: int, start: int, end: int, kind: str) -> None:
        if low != high:
            self.replace(low, high, "", "other")
        elif start != end:
            self.replace(start, end, "", kind)

    def replace(self, start: int, end: int, text: str, kind: str) -> None:
        if start == end and not text:
            return
        before = self.now
        cursor = start + len(text)
        self.now = State(before.text[:start] + text + before.text[end:], cursor, cursor)
        self.redo.clear()
        piece = text if kind == "typing" else before.text[start:end]
        place = cursor if kind == "typing" else start
        goes_on_at = end if kind == "erasing" else start
        last = self.undo[-1] if self.undo and not self.sealed else None
        if (
            last is not None
            and last.kind == kind != "other"
            and last.place == goes_on_at
            and "\n" not in piece
            and not (kind == "typing" and last.piece[-1].isspace() and not piece.isspace())
        ):
            last.after, last.piece, last.place = self.now, piece, place
        else:
            self.undo.append(Entry(before, self.now, kind, piece, place))
        self.sealed = kind == "other"


def check(app: EditorApp, plain: Plain) -> None:
    now, draft, area = plain.now, app.sheet.draft, app.editor
    assert draft.text == now.text
    assert draft.selection == Selection(now.anchor, now.cursor)
    assert (draft.undoable, draft.redoable) == (len(plain.undo), len(plain.redo))
    lines = [line.expandtabs(4).rstrip() for line in now.text.replace("漢", "漢\x00").split("\n")]
    # A wide character fills two cells, so it counts twice for the tabs behind it.
    lines = [line.replace("\x00", "") for line in lines]
    if len(lines) <= area.size.height and max(map(len, lines)) < area.text_width // 2:
        seen = [area.render_line(y).text for y in range(len(lines))]
        assert [row[:5] for row in seen] == [f"{number:3}  " for number in range(1, len(lines) + 1)]
        assert [row[5:].rstrip() for row in seen] == lines


def try_keys(start: str, pressed: list[str]) -> None:
    folder = Path(tempfile.mkdtemp())
    path = folder / "file.txt"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        plain = Plain(State(start), start)
        app.copy_to_clipboard("")
        for at in range(0, len(pressed), 12):
            batch = pressed[at : at + 12]
            await strike(app, pilot, *batch)
            for key in batch:
                plain.press(key)
            await until(pilot, lambda: not app.workers._workers)
            check(app, plain)
        await strike(app, pilot, "ctrl+s")
        await until(pilot, lambda: not app.sheet.modified)
        assert path.read_bytes() == plain.now.text.replace("\n", "\r\n").encode()
        final = plain.now.text
        await strike(app, pilot, *["ctrl+z"] * len(plain.undo))
        assert app.sheet.draft.text == start
        assert app.sheet.draft.undoable == 0
        await strike(app, pilot, *["ctrl+y"] * (len(plain.undo) + len(plain.redo)))
        done = len(plain.redo)
        assert app.sheet.draft.redoable == 0
        await strike(app, pilot, *["ctrl+z"] * done)
        assert app.sheet.draft.text == final

    # Line endings that the file has throughout are kept for what is typed.
    text = start.replace("\n", "\r\n") if "\n" in start else "x\r\n"
    app = editor(folder, text)
    if "\n" not in start:
        app.sheet.draft.edit(0, 2, start)
        app.sheet.draft._undo.clear()
        app.sheet.draft.select(Selection.at(0))
        app.sheet.draft.mark_saved()
    drive(app, script, (90, 40))


@settings(max_examples=12, deadline=None)
@given(starts, keys)
def test_screen_file_and_undo_agree_with_plain_text(start: str, pressed: list[str]) -> None:
    try_keys(start, pressed)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(starts, keys)
def test_screen_file_and_undo_agree_with_plain_text_at_length(
    start: str, pressed: list[str]
) -> None:
    try_keys(start, pressed)
