"""Random keys against a model made of plain strings: screen, file and undo always say the same as it."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from reviser.core.edits import Edit
from reviser.editor.edited_text import Selection
from tests.tui.driving import QUICK, Translator, drive, editor, strike, until
from tui.app import EditorApp
from tui.document.journal import leftovers, thrown_away
from tui.widgets.dialogs import QuestionDialog

CHARACTERS = ["a", "b", "漢", "é", " ", "\u00a0", "\u00ad", "\u2028"]
# How characters are shown that cannot be seen by themselves.
SHOWN = str.maketrans({"\u00a0": " ", "\u00ad": "·", "\u2028": "·"})
MOVES = ["left", "right", "shift+left", "shift+right", "ctrl+home", "ctrl+end", "ctrl+a"]
EDITS = ["enter", "tab", "backspace", "delete", "ctrl+d", "ctrl+x", "ctrl+c", "ctrl+v"]
HISTORY = ["ctrl+z", "ctrl+y", "ctrl+s"]
REVIEW = ["ctrl+e", "ctrl+e", "alt+a", "alt+r", "alt+down", "alt+up", "ctrl+k", "alt+d"]
ALL = (CHARACTERS, CHARACTERS, MOVES, EDITS, HISTORY, REVIEW, REVIEW)

keys = st.lists(st.one_of(*(st.sampled_from(each) for each in ALL)), max_size=60)
starts = st.sampled_from(["", "one two\nthree\n", "漢字 and\n\nmore"])


def translated(draft: str) -> str:
    """What the model of these tests makes of a line: words come, go, grow and stay, but not at its end, where the
    model begins."""
    return draft.replace("o", "uo").replace("a", "").replace("b", "x y").replace("漢", "é漢")


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
    # Where the changes of an open run stood before and after, in the text without it.
    pieces_before: list[int]
    pieces_after: list[int]
    # What was typed or erased, and where the next key would go on from.
    piece: str
    place: int
    # The changes under review that this closed, of those that were to be decided then.
    closed: list[Piece] = field(default_factory=list)
    items: list[Piece] = field(default_factory=list)


@dataclass(eq=False)
class Piece:
    """A change under review: at `at` of the text without the run, `shown` stands for `base`."""

    at: int
    base: str
    shown: str
    # What rejecting it gives back; the same as `base` until the run has become an entry.
    old: str
    open: bool = True

    @property
    def growth(self) -> int:
        return len(self.shown) - len(self.base)


@dataclass
class Plain:
    """An editor without buffers or offsets that shift: whole texts in its history, and a run's changes beside them."""

    now: State
    saved: str
    clipboard: str = ""
    undo: list[Entry] = field(default_factory=list)
    redo: list[Entry] = field(default_factory=list)
    sealed: bool = True
    # The changes of an open run, None without one; and all that were to be decided.
    pieces: list[Piece] | None = None
    items: list[Piece] = field(default_factory=list)
    parted: bool = False
    settled: bool = False
    depth: int = 0
    looked_at: int = 0

    def press(self, key: str) -> None:
        now = self.now
        low, high = sorted((now.anchor, now.cursor))
        if key in REVIEW:
            self.decide(key)
        elif key in HISTORY:
            self.history(key)
        elif key in CHARACTERS or key in ("enter", "tab"):
            text = {"enter": "\n", "tab": "\t"}.get(key, key)
            self.replace(low, high, text, "typing" if low == high else "other")
        elif key == "backspace":
            self.erase(low, high, max(0, low - 1), low, "erasing")
        elif key in ("delete", "ctrl+d"):
            self.erase(low, high, high, min(len(now.text), high + 1), "deleting")
        elif key in ("ctrl+c", "ctrl+x"):
            if low != high:
                self.clipboard = now.text[low:high]
                if key == "ctrl+x":
                    self.replace(low, high, "", "other")
        elif key == "ctrl+v":
            if self.clipboard:
                self.replace(low, high, self.clipboard, "other")
        else:
            self.move(key, low, high)

    def history(self, key: str) -> None:
        if key == "ctrl+s":
            self.saved, self.sealed = self.now.text, True
        elif key == "ctrl+z":
            self.take_back()
        elif self.redo:
            entry = self.redo.pop()
            self.undo.append(entry)
            if self.pieces is None:
                entry.closed = []
            elif entry.closed:
                self.pieces = [piece for piece in self.pieces if piece not in entry.closed]
            self.restore(entry.after, entry.pieces_after)

    def take_back(self) -> None:
        if self.pieces is not None and len(self.undo) <= self.depth:
            idle = not self.settled and not self.changed
            self.close()
            if idle:
                return
        if self.undo:
            self.redo.append(self.undo.pop())
            entry = self.redo[-1]
            self.restore(entry.before, entry.pieces_before)
            if entry.closed and self.pieces is not None and entry.items is self.items:
                self.pieces = sorted([*self.pieces, *entry.closed], key=lambda piece: piece.at)

    def restore(self, base: State, places: list[int]) -> None:
        """Go to a text of the history, with the open run in it."""
        for piece, place in zip(self.pieces or [], places, strict=bool(self.pieces)):
            piece.at = place
        self.now, self.sealed = self.shown(base), True

    # The run

    @property
    def changed(self) -> bool:
        return any(piece.shown != piece.base for piece in self.pieces or [])

    @property
    def places(self) -> list[int]:
        return [piece.at for piece in self.pieces or []]

    @property
    def undoable(self) -> int:
        return len(self.undo) + (self.pieces is not None and (self.changed or not self.settled))

    @property
    def open_pieces(self) -> list[Piece]:
        return [piece for piece in self.items if piece.open and piece in (self.pieces or [])]

    def place_of(self, piece: Piece) -> int:
        """Where a change stands in the text as it is."""
        before = (self.pieces or [])[: (self.pieces or []).index(piece)]
        return piece.at + sum(each.growth for each in before)

    def base(self, state: State) -> State:
        """The text without the run, with the same places in it."""
        text = state.text
        for piece in reversed(self.pieces or []):
            start = self.place_of(piece)
            text = text[:start] + piece.base + text[start + len(piece.shown) :]
        return State(text, self.base_place(state.anchor), self.base_place(state.cursor))

    def base_place(self, offset: int) -> int:
        for piece in reversed(self.pieces or []):
            start = self.place_of(piece)
            if offset > start:
                if offset < start + len(piece.shown):
                    return piece.at + min(offset - start, len(piece.base))
                return piece.at + len(piece.base) + offset - start - len(piece.shown)
        return offset

    def shown(self, base: State) -> State:
        """The text with the run in it, and places in the text without it as they are there."""
        text = base.text
        for piece in reversed(self.pieces or []):
            text = text[: piece.at] + piece.shown + text[piece.at + len(piece.base) :]
        return State(text, self.shown_place(base.anchor), self.shown_place(base.cursor))

    def shown_place(self, offset: int) -> int:
        for piece in reversed(self.pieces or []):
            if offset > piece.at:
                inside = offset - piece.at - len(piece.base)
                return self.place_of(piece) + max(len(piece.shown) + inside, 0)
        return offset

    def revise(self, app: EditorApp) -> None:
        """What ctrl+e does to the text, once the model is done; where changes are cut is the app's to say."""
        text = self.now.text
        start, end = sorted((self.now.anchor, self.now.cursor))
        if start == end:
            start, end = self.paragraph(start)
        if not text[start:end].strip():
            return
        self.close()
        lines = [line if not line.strip() else translated(line) for line in text[start:end].split("\n")]
        made = "\n".join(lines)
        self.redo.clear()
        self.depth, self.settled, self.looked_at, self.sealed = len(self.undo), False, 0, True
        review, selection = app.sheet.review, app.sheet.draft.selection
        self.parted = review is not None
        assert (made == text[start:end]) == (review is None)
        self.now = State(text[:start] + made + text[end:], selection.anchor, selection.cursor)
        self.pieces = [Piece(start, text[start:end], made, text[start:end])]
        self.items = []
        if review is not None:
            self.pieces = []
            for item in review.items:
                at = item.patch.start - sum(piece.growth for piece in self.pieces)
                self.pieces.append(Piece(at, item.old, item.new, item.old))
            self.items = list(self.pieces)
        assert self.base(self.now).text == text

    def paragraph(self, offset: int) -> tuple[int, int]:
        text = self.now.text
        start, end = text.rfind("\n", 0, offset) + 1, (text + "\n").find("\n", offset)
        if not text[start:end].strip():
            return offset, offset
        while start and text[text.rfind("\n", 0, start - 1) + 1 : start].strip():
            start = text.rfind("\n", 0, start - 1) + 1
        while end < len(text) and text[end : (text + "\n").find("\n", end + 1)].strip():
            end = (text + "\n").find("\n", end + 1)
        return start, end

    def close(self) -> None:
        """The run becomes one entry."""
        if self.pieces is None:
            return
        before = self.base(self.now)
        changed, self.pieces, self.sealed = self.changed, None, True
        if changed:
            self.undo.append(Entry(before, self.now, "other", [], [], "", 0))
            self.redo.clear()

    def enter(self) -> None:
        """The run so far becomes an entry; what is then put back is another."""
        before, changed = self.base(self.now), self.changed
        if changed or not self.settled:
            self.depth = len(self.undo) + changed
        for piece, place in [(each, self.place_of(each)) for each in self.pieces or []]:
            piece.at, piece.base = place, piece.shown
        self.settled = True
        if changed:
            self.undo.append(Entry(before, self.now, "other", [], [], "", 0))
            self.redo.clear()

    def current(self) -> Piece:
        found = self.open_pieces
        return next((p for p in found if self.items.index(p) >= self.looked_at), found[0])

    def decide(self, key: str) -> None:
        if not self.open_pieces:
            if key in ("ctrl+k", "alt+d") and not self.parted:
                self.close()
            return
        found = self.open_pieces
        if key in ("alt+down", "alt+up"):
            step = 1 if key == "alt+down" else -1
            beside = found[(found.index(self.current()) + step) % len(found)]
            self.looked_at = self.items.index(beside)
            return
        if key in ("alt+a", "alt+r"):
            found = [self.current()]
            self.looked_at = self.items.index(found[0])
        if key == "alt+d" or (key == "alt+r" and len(self.open_pieces) == 1):
            self.enter()
        for piece in found:
            piece.open = False
            if key in ("alt+r", "alt+d"):
                self.put_back(piece)
        if not self.open_pieces:
            self.close()

    def put_back(self, piece: Piece) -> None:
        start, now = self.place_of(piece), self.now
        change = Edit.between(piece.shown, piece.old, start)
        text = now.text[:start] + piece.old + now.text[start + len(piece.shown) :]
        self.now = State(text, change.follow(now.anchor), change.follow(now.cursor))
        if piece.shown != piece.old:
            closing = [index for index, entry in enumerate(self.redo) if entry.closed]
            del self.redo[: closing[-1] + 1 if closing else 0]
        piece.shown = piece.old

    # The user

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

    def settle(self, start: int, end: int) -> list[Piece]:
        """A change that is typed into is the user's; the run so far becomes an entry below that."""
        touched = []
        for piece in self.pieces or []:
            place = self.place_of(piece)
            if start <= place + len(piece.shown) and end >= place:
                touched.append(piece)
        if not touched or self.pieces is None:
            return []
        if not self.parted:
            self.close()
            return []
        self.enter()
        self.pieces = [piece for piece in self.pieces if piece not in touched]
        self.sealed = True
        return touched

    def replace(self, start: int, end: int, text: str, kind: str) -> None:
        if start == end and not text:
            return
        closed = self.settle(start, end)
        before, pieces_before = self.base(self.now), self.places
        piece = text if kind == "typing" else self.now.text[start:end]
        goes_on_at = self.base_place(end if kind == "erasing" else start)
        cursor = start + len(text)
        first = self.base_place(start)
        base = before.text[:first] + text + before.text[first + end - start :]
        for each in self.pieces or []:
            if each.at > first:
                each.at += len(text) - (end - start)
        self.now = State(self.now.text[:start] + text + self.now.text[end:], cursor, cursor)
        after = self.base(self.now)
        assert after.text == base
        self.redo.clear()
        place = first + len(text) if kind == "typing" else first
        last = self.undo[-1] if self.undo and not self.sealed else None
        if (
            last is not None
            and last.kind == kind != "other"
            and last.place == goes_on_at
            and "\n" not in piece
            and not (kind == "typing" and last.piece[-1].isspace() and not piece.isspace())
        ):
            last.after, last.piece, last.place = after, piece, place
            last.pieces_after = self.places
        else:
            places = self.places
            entry = Entry(before, after, kind, pieces_before, places, piece, place, closed, self.items)
            self.undo.append(entry)
        self.sealed = kind == "other"


def check(app: EditorApp, plain: Plain) -> None:
    now, draft, area = plain.now, app.sheet.draft, app.editor
    assert draft.text == now.text
    assert draft.selection == Selection(now.anchor, now.cursor)
    assert (draft.undoable, draft.redoable) == (plain.undoable, len(plain.redo))
    text = now.text
    # Old text stands before the new; it is shown, and is not there.
    for piece in reversed(plain.open_pieces):
        place = plain.place_of(piece)
        text = text[:place] + piece.old + text[place:]
    # A wide character fills two cells, so it counts twice for the tabs behind it.
    wide = re.sub("[漢字]", "\\g<0>\x00", text.translate(SHOWN))
    lines = [line.expandtabs(4).replace("\x00", "").rstrip() for line in wide.split("\n")]
    if len(lines) <= area.size.height and max(map(len, lines)) < area.viewport.text_width // 2:
        seen = [area.render_line(y).text for y in range(len(lines))]
        assert [row[:5] for row in seen] == [f"{number:3}  " for number in range(1, len(lines) + 1)]
        assert [row[5:].rstrip() for row in seen] == lines


def batches(pressed: list[str]) -> Iterator[list[str]]:
    """Keys that are struck at once; the model is waited for."""
    batch: list[str] = []
    for key in pressed:
        batch.append(key)
        if key == "ctrl+e" or len(batch) == 12:
            yield batch
            batch = []
    if batch:
        yield batch


def try_keys(start: str, pressed: list[str]) -> None:
    folder = Path(tempfile.mkdtemp())
    path = folder / "file.txt"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        plain = Plain(State(start), start)
        app.copy_to_clipboard("")
        for batch in batches(pressed):
            await strike(app, pilot, *batch)
            for key in batch:
                if key != "ctrl+e":
                    plain.press(key)
            if batch[-1] == "ctrl+e":
                await until(pilot, lambda: app.sheet.run is None or not app.sheet.run.writing)
                plain.revise(app)
            await until(pilot, lambda: not app.workers._workers)
            check(app, plain)
        await strike(app, pilot, "ctrl+s")
        await until(pilot, lambda: not app.sheet.modified)
        assert path.read_bytes() == plain.now.text.replace("\n", "\r\n").encode()
        for key, count in (("ctrl+z", plain.undoable), ("ctrl+y", 100)):
            await strike(app, pilot, *[key] * count)
            for _ in range(count):
                plain.press(key)
            check(app, plain)
            assert key == "ctrl+y" or (app.sheet.draft.text, plain.undoable) == (start, 0)

    # Line endings that the file has throughout are kept for what is typed.
    text = start.replace("\n", "\r\n") if "\n" in start else "x\r\n"
    load = Translator(translated).load
    app = editor(folder, text, replace(QUICK, max_actions=500), load=load)
    if "\n" not in start:
        app.sheet.draft.edit(0, 2, start)
        app.sheet.draft._undo.clear()
        app.sheet.draft.select(Selection.at(0))
        app.sheet.draft.mark_saved()
    drive(app, script, (90, 40))


@settings(max_examples=8, deadline=None)
@given(starts, keys)
def test_screen_file_and_undo_agree_with_plain_text(start: str, pressed: list[str]) -> None:
    try_keys(start, pressed)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(starts, keys)
def test_screen_file_and_undo_agree_with_plain_text_at_length(start: str, pressed: list[str]) -> None:
    try_keys(start, pressed)


OPENERS = ["ctrl+o", "alt+w", "ctrl+g", "f12", "f1", "ctrl+s", "ctrl+p", "ctrl+q", "recover", "ask"]
ANSWERS = ["enter", "escape", "tab", "left", "right", "up", "down", "alt+c", "alt+s", "alt+l", "q"]
bursts = st.lists(
    st.lists(st.one_of(*(st.sampled_from(each) for each in (OPENERS, ANSWERS, CHARACTERS))), min_size=1, max_size=8),
    max_size=8,
)


def try_dialogs(typed: list[list[str]]) -> None:
    """Bursts of keys into dialogs: nobody waits for ever, and no text is lost unless it was said so."""
    folder = Path(tempfile.mkdtemp())
    journals = folder / "journals"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        questions = [("keep", "Later"), ("lose", "Discard")]
        for batch in typed:
            for key in batch:
                if key == "recover":
                    await app.run_action("recover")
                elif key == "ask":
                    app.run_worker(app.prompts.ask("Which?", questions))
                else:
                    app.post_message(events.Key(key, key if len(key) == 1 else None))
            await pilot.pause()
            if app._exit:
                return
            assert len(leftovers(journals)) + len(thrown_away(journals)) == 1
        for _ in range(100):
            if len(app.screen_stack) > 1:
                await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1 and not app.workers._workers)
        app.desk.focus(app.editor)
        before = app.sheet.draft.text
        await pilot.press("ctrl+end", "z")
        assert app.sheet.draft.text == f"{before}z"

    app = editor(folder, "text")
    journals.mkdir(exist_ok=True)
    header = json.dumps({"path": str(folder / "other.txt"), "bytes": 3})
    (journals / "1-a.journal").write_text(f'{header}\nold\n[0, 0, "new "]\n')
    drive(app, script)


@settings(max_examples=7, deadline=None)
@given(bursts)
def test_bursts_into_dialogs_leave_nobody_waiting(typed: list[list[str]]) -> None:
    try_dialogs(typed)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(bursts)
def test_bursts_into_dialogs_leave_nobody_waiting_at_length(typed: list[list[str]]) -> None:
    try_dialogs(typed)


typed_first = st.lists(st.one_of(*(st.sampled_from(each) for each in (CHARACTERS, MOVES, EDITS, HISTORY))), max_size=12)
typed_later = st.lists(st.sampled_from([*CHARACTERS, *EDITS, "ctrl+q", "pasted"]), max_size=6)


def try_quitting(start: str, pressed: list[str], later: list[str]) -> None:
    """Keys around the one that quits, all at once: those before it are in the text, those behind it are not."""
    folder = Path(tempfile.mkdtemp())

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        plain = Plain(State(start), start)
        app.copy_to_clipboard("")
        for key in [*pressed, "ctrl+q", *later]:
            key_or_text = events.Key(key, key if len(key) == 1 else None)
            app.post_message(events.Paste(key) if key == "pasted" else key_or_text)
        for key in pressed:
            plain.press(key)
        await until(pilot, lambda: app._exit or isinstance(app.screen, QuestionDialog))
        await pilot.pause()
        assert app.sheet.draft.text == plain.now.text
        assert app._exit or app.sheet.modified
        assert (folder / "file.txt").read_bytes().decode() == plain.saved

    drive(editor(folder, start), script)


@settings(max_examples=8, deadline=None)
@given(starts, typed_first, typed_later)
def test_nothing_lands_in_the_text_behind_the_key_that_quits(start: str, pressed: list[str], later: list[str]) -> None:
    try_quitting(start, pressed, later)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(starts, typed_first, typed_later)
def test_nothing_lands_in_the_text_behind_the_key_that_quits_at_length(
    start: str, pressed: list[str], later: list[str]
) -> None:
    try_quitting(start, pressed, later)
