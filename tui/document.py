"""A text under edit: the selection, undo and redo, and the region in which a run writes.

A run is kept apart from the history of edits for as long as it is open. The history is written as if the
region still held its original text; what the run has made of it lies on top. So the user can type and
undo elsewhere while the model writes, the run can go back and forth at will, and when it is closed
it becomes one entry, undone in one step without the user's own words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tui.buffer import Buffer

Kind = Literal["typing", "erasing", "deleting", "other"]


@dataclass(frozen=True, slots=True)
class Change:
    """At `start`, `removed` gave way to `inserted`."""

    start: int
    removed: str
    inserted: str

    @property
    def growth(self) -> int:
        return len(self.inserted) - len(self.removed)

    def inverse(self) -> Change:
        return Change(self.start, self.inserted, self.removed)

    def follow(self, offset: int) -> int:
        """Where a place in the text is after the change; one inside what was removed goes to its start."""
        if offset <= self.start:
            return offset
        return max(self.start, offset - len(self.removed)) + len(self.inserted) * (
            offset >= self.start + len(self.removed)
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """From where the selecting began to where the cursor is; the same place if nothing is selected."""

    anchor: int = 0
    cursor: int = 0

    @classmethod
    def at(cls, offset: int) -> Selection:
        return cls(offset, offset)

    @property
    def start(self) -> int:
        return min(self.anchor, self.cursor)

    @property
    def end(self) -> int:
        return max(self.anchor, self.cursor)

    @property
    def empty(self) -> bool:
        return self.anchor == self.cursor

    def map(self, place: Callable[[int], int]) -> Selection:
        return Selection(place(self.anchor), place(self.cursor))


@dataclass(eq=False)
class Entry:
    """One step of undo, in the coordinates of the text without an open run."""

    change: Change
    before: Selection
    after: Selection
    kind: Kind = "other"


@dataclass(eq=False)
class Region:
    """Where a run writes: from `start`, `written` stands in the place of `original`."""

    start: int
    original: str
    written: str
    # How many entries there were when the run began; the ones above are the user's, made during it.
    depth: int
    selection: Selection
    open: bool = True

    @property
    def end(self) -> int:
        return self.start + len(self.written)

    @property
    def growth(self) -> int:
        return len(self.written) - len(self.original)

    def touches(self, start: int, end: int) -> bool:
        return start <= self.end and end >= self.start

    def to_base(self, offset: int) -> int:
        """A place in the text as if the region held its original."""
        if offset <= self.start:
            return offset
        if offset >= self.end:
            return offset - self.growth
        return min(offset, self.start + len(self.original))

    def from_base(self, offset: int) -> int:
        """A place in the text as it is."""
        return offset if offset <= self.start else max(offset + self.growth, self.start)


class Draft:
    """A text, what is selected in it, and how it came to be."""

    def __init__(self, text: str = "") -> None:
        self.buffer = Buffer(text)
        self.selection = Selection()
        self.region: Region | None = None
        self.version = 0
        self.observers: list[Callable[[Change], None]] = []
        self._undo: list[Entry] = []
        self._redo: list[Entry] = []
        self._sealed = True
        self._saved = self._state()

    @property
    def text(self) -> str:
        return self.buffer.text

    # The user's edits

    def edit(self, start: int, end: int, text: str, kind: Kind = "other") -> None:
        """Put `text` in the place of `start` to `end`; the cursor goes behind it."""
        if start == end and not text:
            return
        if self.region is not None and self.region.touches(start, end):
            self.close_region()
        base = self._to_base
        change = Change(base(start), self.buffer.slice(start, end), text)
        before = self.selection.map(base)
        self._apply(Change(start, change.removed, text))
        self.selection = Selection.at(start + len(text))
        self._remember(change, before, kind)
        self._redo.clear()

    def become(self, text: str) -> None:
        """Make this the whole text, by one edit of what differs; the cursor stays where it was."""
        start, removed, inserted = difference(self.text, text)
        change = Change(start, removed, inserted)
        selection = self.selection.map(change.follow)
        self.edit(start, start + len(removed), inserted)
        self.selection = selection

    def _remember(self, change: Change, before: Selection, kind: Kind) -> None:
        after = self.selection.map(self._to_base)
        last = self._undo[-1] if self._undo and not self._sealed else None
        joined = None if last is None or last.kind != kind else _join(last.change, change, kind)
        if last is not None and joined is not None:
            last.change, last.after = joined, after
        else:
            self._undo.append(Entry(change, before, after, kind))
        self._sealed = kind == "other"

    def seal(self) -> None:
        """What is typed from here on is undone by itself."""
        self._sealed = True

    def select(self, selection: Selection) -> None:
        """Move the cursor, with or without a selection."""
        self.seal()
        self.selection = selection.map(lambda offset: max(0, min(offset, self.buffer.length)))

    @property
    def undoable(self) -> int:
        return len(self._undo) + (self.region is not None)

    @property
    def redoable(self) -> int:
        return len(self._redo)

    def undo(self) -> bool:
        """Take back the last entry, or the open run if the user has typed nothing since; False: nothing to do."""
        region = self.region
        if region is not None and len(self._undo) <= region.depth:
            self.close_region()
            if region.written == region.original:
                return True  # it had not written anything yet
        if not self._undo:
            return False
        entry = self._undo.pop()
        self._apply(self._placed(entry.change.inverse()))
        self.selection = entry.before.map(self._from_base)
        self._redo.append(entry)
        self.seal()
        return True

    def redo(self) -> bool:
        """Do again what was last undone; False if there is nothing."""
        if not self._redo:
            return False
        entry = self._redo.pop()
        self._apply(self._placed(entry.change))
        self.selection = entry.after.map(self._from_base)
        self._undo.append(entry)
        self.seal()
        return True

    # A run's region

    def open_region(self, start: int, end: int) -> Region:
        """Begin a run that writes in the place of `start` to `end`; one that is open is closed."""
        self.close_region()
        self.seal()
        self._redo.clear()
        original = self.buffer.slice(start, end)
        self.region = Region(start, original, original, len(self._undo), self.selection)
        return self.region

    def write_region(self, text: str) -> None:
        """Make the open region hold `text`; only what differs is changed."""
        region = self.region
        if region is None or region.written == text:
            return
        start, removed, inserted = difference(region.written, text)
        change = Change(region.start + start, removed, inserted)
        region.written = text
        self._change_buffer(change)
        self.selection = self.selection.map(change.follow)

    def close_region(self) -> None:
        """End the run: what it wrote becomes one entry, as if made just now."""
        region = self.region
        if region is None:
            return
        saved = not self.modified
        region.open = False
        self.region = None
        if region.growth or region.written != region.original:
            change = Change(region.start, region.original, region.written)
            before = self.selection.map(region.to_base)
            self._undo.append(Entry(change, before, self.selection))
            self._redo.clear()
        self.seal()
        if saved:
            self._saved = self._state()

    def reject_region(self) -> None:
        """End the run and give back the original; no entry is left."""
        if self.region is not None:
            self.write_region(self.region.original)
            self.close_region()

    # Saving

    @property
    def modified(self) -> bool:
        """Whether the text differs, by its history, from what was last saved."""
        return self._state() != self._saved

    def mark_saved(self) -> None:
        self.seal()
        self._saved = self._state()

    def _state(self) -> tuple[Entry | None, str | None]:
        top = self._undo[-1] if self._undo else None
        region = self.region
        changed = region is not None and region.written != region.original
        return top, region.written if region is not None and changed else None

    def _to_base(self, offset: int) -> int:
        return offset if self.region is None else self.region.to_base(offset)

    def _from_base(self, offset: int) -> int:
        return offset if self.region is None else self.region.from_base(offset)

    def _placed(self, change: Change) -> Change:
        return Change(self._from_base(change.start), change.removed, change.inserted)

    def _apply(self, change: Change) -> None:
        """Carry out a change outside the open region, which moves along."""
        self._change_buffer(change)
        region = self.region
        if region is not None and change.start < region.start:
            region.start += change.growth
            region.selection = region.selection.map(change.follow)

    def _change_buffer(self, change: Change) -> None:
        end = change.start + len(change.removed)
        removed = self.buffer.replace(change.start, end, change.inserted)
        if removed != change.removed:
            raise AssertionError("a change does not fit the text it is made in")
        self.version += 1
        for observer in self.observers:
            observer(change)


def _join(last: Change, new: Change, kind: Kind) -> Change | None:
    """Both changes as one, if the second goes on where the first ended and no word or line begins."""
    if kind == "typing" and not new.removed and new.start == last.start + len(last.inserted):
        begins_word = last.inserted[-1:].isspace() and not new.inserted.isspace()
        if begins_word or "\n" in new.inserted:
            return None
        return Change(last.start, last.removed, last.inserted + new.inserted)
    if kind == "erasing" and new.start + len(new.removed) == last.start and "\n" not in new.removed:
        return Change(new.start, new.removed + last.removed, "")
    if kind == "deleting" and new.start == last.start and "\n" not in new.removed:
        return Change(last.start, last.removed + new.removed, "")
    return None


def difference(old: str, new: str) -> tuple[int, str, str]:
    """Where two texts begin to differ, what goes there, and what comes."""
    start = _shared(old, new)
    keep = _shared(old[start:][::-1], new[start:][::-1])
    return start, old[start : len(old) - keep], new[start : len(new) - keep]


def _shared(one: str, other: str) -> int:
    """How many characters two texts share from their start, found by halving: comparing slices is quick."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
