"""A text under edit: the selection, undo and redo, and the region in which a run writes.

A run is kept apart from the history of edits for as long as it is open. The history is written as if the
region still held its original text; what the run has made of it lies on top. So the user can type and
undo elsewhere while the model writes, the run can go back and forth at will, and when it is closed
it becomes one entry, undone in one step without the user's own words. A run that is discarded becomes
two: the run, and taking it back.

A run that revises is looked through when it is over. Its region is then parted: each change is a patch of
its own, put back or left as the user says, and between the patches the text is free for typing. An
edit inside a patch settles that one: the run so far becomes an entry below the edit, and the other
patches stay open on top of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from reviser.core.buffer import Buffer
from reviser.core.edits import Change

Kind = Literal["typing", "erasing", "deleting", "other"]


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
    """One step of undo, in the coordinates of the text without an open run.

    Its changes are carried out one after the other, each in the text that the ones before have left.
    """

    changes: tuple[Change, ...]
    before: Selection
    after: Selection
    kind: Kind = "other"
    # Tells the text after this entry from others.
    state: object = field(default_factory=object)


@dataclass(eq=False)
class Patch:
    """From `start`, `written` stands in the place of `original`."""

    start: int
    original: str
    written: str
    # Whether the user has not yet typed into it.
    open: bool = True

    @property
    def end(self) -> int:
        return self.start + len(self.written)

    @property
    def growth(self) -> int:
        return len(self.written) - len(self.original)

    def touches(self, start: int, end: int) -> bool:
        return start <= self.end and end >= self.start


@dataclass(eq=False)
class Region:
    """Where a run writes: one patch, or, while its changes are looked through, one for each of them."""

    patches: list[Patch]
    # How many entries there were when the run began; the ones above are the user's, made during it.
    depth: int
    open: bool = True
    # Of a parted region: what the one patch replaced, and how much lies around the changes.
    original: str = ""
    lead: int = 0
    tail: int = 0
    parted: bool = False
    # Whether the user has typed among the changes, so that the text is not the run's alone any more.
    mixed: bool = False
    # Whether the run is already an entry, and only what was put back since lies on top.
    settled: bool = False

    @property
    def start(self) -> int:
        return self.patches[0].start - self.lead

    @property
    def end(self) -> int:
        return self.patches[-1].end + self.tail

    @property
    def changed(self) -> bool:
        return any(patch.written != patch.original for patch in self.patches)

    def to_base(self, offset: int) -> int:
        """A place in the text as if the patches held their originals."""
        shift = 0
        for patch in self.patches:
            if offset <= patch.start:
                break
            if offset < patch.end:
                return min(offset, patch.start + len(patch.original)) - shift
            shift += patch.growth
        return offset - shift

    def from_base(self, offset: int) -> int:
        """A place in the text as it is."""
        for patch in self.patches:
            if offset <= patch.start:
                break
            offset = max(offset + patch.growth, patch.start)
        return offset

    def without(self, text: str) -> str:
        """`text`, in which the region lies, with the originals in it."""
        for patch in reversed(self.patches):
            text = text[: patch.start] + patch.original + text[patch.end :]
        return text


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
        self._settle(start, end)
        base = self._to_base
        change = Change(base(start), self.buffer.slice(start, end), text)
        before = self.selection.map(base)
        self._apply(Change(start, change.removed, text))
        self.selection = Selection.at(start + len(text))
        self._remember(change, before, kind)
        self._redo.clear()

    def edit_all(self, changes: Sequence[Change]) -> None:
        """Carry out several changes, given by their places in the text as it is, as one step; the cursor stays in its place."""
        for change in changes:
            self._settle(change.start, change.end)
        before = self.selection.map(self._to_base)
        made = []
        # From the last to the first, so that none moves another.
        for change in sorted(changes, key=lambda one: one.start, reverse=True):
            made.append(Change(self._to_base(change.start), change.removed, change.inserted))
            self._apply(change)
            self.selection = self.selection.map(change.follow)
        if made:
            after = self.selection.map(self._to_base)
            self._undo.append(Entry(tuple(made), before, after))
            self._sealed = True
            self._redo.clear()

    def _settle(self, start: int, end: int) -> None:
        """Let the user have what an edit touches: the run as a whole, or the patches of a parted region."""
        region = self.region
        if region is None:
            return
        rest = [patch for patch in region.patches if not patch.touches(start, end)]
        if len(rest) == len(region.patches):
            region.mixed |= start <= region.end and end >= region.start
            return
        for patch in region.patches:
            patch.open = patch in rest
        if not rest or not region.parted:
            self.close_region()
            return
        self.settle_region()
        region.patches, region.lead, region.tail = rest, 0, 0
        region.mixed = True

    def become(self, text: str) -> None:
        """Make this the whole text, by one edit of what differs; the cursor stays where it was."""
        change = Change.between(self.text, text)
        selection = self.selection.map(change.follow)
        self.edit(change.start, change.end, change.inserted)
        self.selection = selection

    def _remember(self, change: Change, before: Selection, kind: Kind) -> None:
        after = self.selection.map(self._to_base)
        last = self._undo[-1] if self._undo and not self._sealed else None
        joined = None if last is None or last.kind != kind else _join(last.changes, change, kind)
        if last is not None and joined is not None:
            last.changes, last.after = (joined,), after
        else:
            self._undo.append(Entry((change,), before, after, kind))
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
        region = self.region
        return len(self._undo) + (region is not None and (region.changed or not region.settled))

    @property
    def redoable(self) -> int:
        return len(self._redo)

    def undo(self) -> bool:
        """Take back the last entry, or the open run if the user has typed nothing since; False: nothing to do."""
        region = self.region
        if region is not None and len(self._undo) <= region.depth:
            idle = not region.changed and not region.settled
            self.close_region()
            if idle:
                return True  # it had not written anything yet
        if not self._undo:
            return False
        entry = self._undo.pop()
        for change in reversed(entry.changes):
            self._apply(self._placed(change.inverse()))
        self.selection = entry.before.map(self._from_base)
        self._redo.append(entry)
        self.seal()
        return True

    def redo(self) -> bool:
        """Do again what was last undone; False if there is nothing."""
        if not self._redo:
            return False
        entry = self._redo.pop()
        for change in entry.changes:
            self._apply(self._placed(change))
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
        self.region = Region([Patch(start, original, original)], len(self._undo))
        return self.region

    def write_region(self, text: str) -> None:
        """Make the open region hold `text`; only what differs is changed."""
        if self.region is not None:
            self.write_patch(self.region.patches[0], text)

    def change_region(self, change: Change) -> None:
        """Make a change in the open region, given by its place in what the region holds."""
        if self.region is not None:
            patch = self.region.patches[0]
            self._change_patch(patch, change.moved(patch.start), change.apply_to(patch.written))

    def write_patch(self, patch: Patch, text: str) -> None:
        """Make a patch of the open region hold `text`."""
        if self.region is not None and patch.written != text:
            self._change_patch(patch, Change.between(patch.written, text, patch.start), text)

    def _change_patch(self, patch: Patch, change: Change, text: str) -> None:
        assert self.region is not None
        patch.written = text
        patches = self.region.patches
        for following in patches[patches.index(patch) + 1 :]:
            following.start += change.growth
        self._change_buffer(change)
        self.selection = self.selection.map(change.follow)

    def part_region(self, parts: Sequence[Change]) -> list[Patch]:
        """Make a patch of each change, given by its place in what the region holds; the rest is free."""
        assert self.region is not None
        region, (whole,) = self.region, self.region.patches
        last = parts[-1]
        region.patches = [
            Patch(whole.start + part.start, part.removed, part.inserted) for part in parts
        ]
        region.original, region.parted = whole.original, True
        region.lead = parts[0].start
        region.tail = len(whole.written) - last.start - len(last.inserted)
        return region.patches

    def join_region(self) -> None:
        """Make one patch again of a parted region in which the user has not typed."""
        region = self.region
        if region is None or not region.parted or region.mixed:
            return
        written = self.buffer.slice(region.start, region.end)
        region.patches = [Patch(region.start, region.original, written)]
        region.lead = region.tail = 0
        region.parted = False

    def close_region(self) -> None:
        """End the run: what it wrote becomes one entry, as if made just now."""
        region = self.region
        if region is None:
            return
        saved = not self.modified
        region.open = False
        self.region = None
        self._enter(region)
        self.seal()
        if saved:
            self._saved = self._state()

    def settle_region(self) -> None:
        """Make an entry of what the run has written so far; what becomes of its text from here on is another."""
        region = self.region
        if region is None:
            return
        saved = not self.modified
        self._enter(region)
        for patch in region.patches:
            patch.original = patch.written
        region.depth = len(self._undo)
        region.settled = True
        if saved:
            self._saved = self._state()

    def _enter(self, region: Region) -> None:
        """Make an entry of what the region holds, if that is not what was there before."""
        if not region.changed:
            return
        changes = tuple(
            Change(patch.start, patch.original, patch.written)
            for patch in region.patches
            if patch.written != patch.original
        )
        entry = Entry(changes, self.selection.map(region.to_base), self.selection)
        if self._undo and _cancel_out(self._undo[-1].changes, changes):
            entry.state = self._undo[-2].state if len(self._undo) > 1 else None
        self._undo.append(entry)
        self._redo.clear()

    def reject_region(self) -> None:
        """End a run that has done nothing and give back the original; no entry is left."""
        if self.region is not None:
            for patch in self.region.patches:
                self.write_patch(patch, patch.original)
            self.close_region()

    def discard_region(self) -> None:
        """End the run and give back the original, as one entry on top of the run's."""
        if self.region is not None:
            originals = [(patch, patch.original) for patch in self.region.patches]
            self.settle_region()
            for patch, original in originals:
                self.write_patch(patch, original)
            self.close_region()

    # Saving

    @property
    def modified(self) -> bool:
        """Whether the text differs, by its history, from what was last saved."""
        return self._state() != self._saved

    def mark_saved(self) -> None:
        self.seal()
        self._saved = self._state()

    def _state(self) -> tuple[object, tuple[str, ...]]:
        """What tells this text from others: the last entry, and what an open run has made of it."""
        top = self._undo[-1].state if self._undo else None
        region = self.region
        if region is None or not region.changed:
            return top, ()
        return top, tuple(patch.written for patch in region.patches)

    def _to_base(self, offset: int) -> int:
        return offset if self.region is None else self.region.to_base(offset)

    def _from_base(self, offset: int) -> int:
        return offset if self.region is None else self.region.from_base(offset)

    def _placed(self, change: Change) -> Change:
        return Change(self._from_base(change.start), change.removed, change.inserted)

    def _apply(self, change: Change) -> None:
        """Carry out a change outside the open region, which moves along."""
        self._change_buffer(change)
        for patch in self.region.patches if self.region is not None else ():
            if change.start < patch.start:
                patch.start += change.growth

    def _change_buffer(self, change: Change) -> None:
        removed = self.buffer.replace(change.start, change.end, change.inserted)
        if removed != change.removed:
            raise AssertionError("a change does not fit the text it is made in")
        self.version += 1
        for observer in self.observers:
            observer(change)


def _join(entered: tuple[Change, ...], new: Change, kind: Kind) -> Change | None:
    """Both changes as one, if the second goes on where the first ended and no word or line begins."""
    last = entered[-1]
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


def _cancel_out(done: Sequence[Change], undone: Sequence[Change]) -> bool:
    """Whether changes, given from left to right, take back exactly what others, so given, have done."""
    if len(done) != len(undone):
        return False
    shift = 0
    for change, inverse in zip(done, undone, strict=True):
        if inverse != Change(change.start - shift, change.inserted, change.removed):
            return False
        shift += change.growth
    return True


def paragraph_at(buffer: Buffer, offset: int) -> Selection:
    """The lines around a place, as far as none of them is blank."""
    here = buffer.line_of(offset)
    if not buffer.line(here).strip():
        return Selection.at(offset)
    first = last = here
    while first > 0 and buffer.line(first - 1).strip():
        first -= 1
    while last + 1 < buffer.line_count and buffer.line(last + 1).strip():
        last += 1
    return Selection(buffer.line_start(first), buffer.line_end(last))
