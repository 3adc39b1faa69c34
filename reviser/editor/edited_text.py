"""An editable text: the selection, undo and redo, and the region in which a run writes.

While a run is open, it is kept apart from the undo history. The history is recorded as if the region still held its
original text; the run's text lies on top. So the user can type and undo elsewhere while the model writes, and the run
can be played back and forth. When the run is closed it becomes one entry, undone in one step without the user's own
words. A discarded run becomes two entries: the run, and its reversal.

A revising run is reviewed when it is over. Its region is then split: each change is a patch of its own, reverted or
kept by the user, and between the patches the user may type. An edit inside a patch closes that patch: the run so far
becomes an entry below the edit, and the other patches stay open on top of it. Undoing that edit opens its patches
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from reviser.core.buffer import Buffer
from reviser.core.edits import Edit
from reviser.editor.region import Patch, Region

Kind = Literal["typing", "erasing", "deleting", "other"]


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection from `anchor`, where it began, to `cursor`; both are equal if nothing is selected."""

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
class UndoStep:
    """One undo step, in offsets of the text without an open run.

    Its changes are carried out in order, each in the text that the ones before it have left.
    """

    changes: tuple[Edit, ...]
    before: Selection
    after: Selection
    kind: Kind = "other"
    # The changes under review that this edit has closed, and where; their places are those before the edit.
    closed: tuple[Patch, ...] = ()
    region: Region | None = None
    # Whether the user made these changes, and not a run or another program.
    own: bool = True
    # Tells the text after this entry from others.
    state: object = field(default_factory=object)


class EditedText:
    """A text with its selection, its undo history and the region of its run."""

    def __init__(self, text: str = "") -> None:
        self.buffer = Buffer(text)
        self.selection = Selection()
        self.region: Region | None = None
        self.version = 0
        # Whether the change that observers are told of is the user's, made, undone or redone.
        self.own = True
        self.observers: list[Callable[[Edit], None]] = []
        self._undo: list[UndoStep] = []
        self._redo: list[UndoStep] = []
        self._sealed = True
        self._saved = self._state()

    @property
    def text(self) -> str:
        return self.buffer.text

    # The user's edits

    def edit(self, start: int, end: int, text: str, kind: Kind = "other", *, own: bool = True) -> None:
        """Replace `start` to `end` by `text`; the cursor goes behind it. The edit is the user's `own`, or another
        program's."""
        if start == end and not text:
            return
        closed = self._settle(start, end)
        base = self._to_base
        change = Edit(base(start), self.buffer.slice(start, end), text)
        before = self.selection.map(base)
        self._apply(Edit(start, change.old, text), own)
        self.selection = Selection.at(start + len(text))
        self._remember(change, before, kind, closed)
        self._undo[-1].own = own
        self._redo.clear()

    def edit_all(self, changes: Sequence[Edit]) -> None:
        """Carry out several changes, given by their offsets in the present text, as one step; the cursor keeps its
        place.
        """
        closed = self._settle_all(changes)
        before = self.selection.map(self._to_base)
        made = []
        # From the last to the first, so that none moves another.
        for change in sorted(changes, key=lambda one: one.start, reverse=True):
            made.append(Edit(self._to_base(change.start), change.old, change.new))
            self._apply(change, own=True)
            self.selection = self.selection.map(change.follow)
        if made:
            after = self.selection.map(self._to_base)
            self._undo.append(UndoStep(tuple(made), before, after, "other", closed, self.region))
            self._sealed = True
            self._redo.clear()

    def _settle(self, start: int, end: int) -> tuple[Patch, ...]:
        """Close what an edit touches: the run as a whole, or patches of a split region, which are returned."""
        if self.region is not None and not self.region.parted:
            self.region.part_before(start, end)
        region = self.region
        if region is None:
            return ()
        touched = tuple(patch for patch in region.patches if patch.touches(start, end))
        if not touched:
            region.mixed = region.mixed or (start <= region.end and end >= region.start)
        elif not region.parted:
            self.close_region()
            touched = ()
        else:
            self.settle_region()
            self.seal()
            for patch in touched:
                patch.open = False
            region.put([patch for patch in region.patches if patch.open])
        return touched

    def _settle_all(self, changes: Iterable[Edit]) -> tuple[Patch, ...]:
        closed = [patch for each in changes for patch in self._settle(each.start, each.end)]
        return tuple(closed)

    def _open_again(self, entry: UndoStep) -> None:
        """Open the patches that an undone edit had closed, unless their review is over."""
        region = self.region
        if entry.closed and region is not None and region is entry.region:
            for patch in entry.closed:
                patch.start, patch.open = region.from_base(patch.start), True
            region.put([*region.patches, *entry.closed])

    def become(self, text: str) -> None:
        """Replace the whole text by one edit of the parts that differ; the cursor keeps its place."""
        change = Edit.between(self.text, text)
        selection = self.selection.map(change.follow)
        self.edit(change.start, change.end, change.new, own=False)
        self.selection = selection

    def _remember(self, change: Edit, before: Selection, kind: Kind, closed: tuple[Patch, ...]) -> None:
        after = self.selection.map(self._to_base)
        last = self._undo[-1] if self._undo and not self._sealed else None
        joined = None if last is None or last.kind != kind else _join(last.changes, change, kind)
        if last is not None and joined is not None:
            last.changes, last.after = (joined,), after
        else:
            self._undo.append(UndoStep((change,), before, after, kind, closed, self.region))
        self._sealed = kind == "other"

    def seal(self) -> None:
        """Start a new undo step with what is typed next."""
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
        """Undo the last entry, or the open run if the user has typed nothing since; False if there is none."""
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
            self._apply(self._placed(change.inverse()), entry.own)
        self._open_again(entry)
        self.selection = entry.before.map(self._from_base)
        self._redo.append(entry)
        self.seal()
        return True

    def redo(self) -> bool:
        """Redo what was last undone; False if there is nothing."""
        if not self._redo:
            return False
        entry = self._redo.pop()
        entry.closed = self._settle_all([self._placed(change) for change in entry.changes])
        for change in entry.changes:
            self._apply(self._placed(change), entry.own)
        self.selection = entry.after.map(self._from_base)
        self._undo.append(entry)
        self.seal()
        return True

    # A run's region

    def open_region(self, start: int, end: int) -> Region:
        """Open a region for a run in place of `start` to `end`; one that is open is closed."""
        self.close_region()
        self.seal()
        self._redo.clear()
        original = self.buffer.slice(start, end)
        self.region = Region([Patch(start, original, original)], len(self._undo))
        return self.region

    def write_region(self, text: str) -> None:
        """Make the open region hold `text`, changing only what differs."""
        if self.region is not None:
            self.write_patch(self.region.patches[0], text)

    def change_region(self, change: Edit) -> None:
        """Make a change in the open region, given by its offset in the region's text."""
        if self.region is not None:
            patch = self.region.patches[0]
            self._change_patch(patch, change.moved(patch.start), change.apply_to(patch.written))

    def write_patch(self, patch: Patch, text: str) -> None:
        """Make a patch of the open region hold `text`."""
        if self.region is not None and patch.written != text:
            self._change_patch(patch, Edit.between(patch.written, text, patch.start), text)

    def _change_patch(self, patch: Patch, change: Edit, text: str) -> None:
        assert self.region is not None
        self._forget_closing()
        patch.written = text
        patches = self.region.patches
        for following in patches[patches.index(patch) + 1 :]:
            following.start += change.growth
        self._change_buffer(change, own=False)
        self.selection = self.selection.map(change.follow)

    def _forget_closing(self) -> None:
        """Drop the redo steps of edits in changes under review, because these changes are now others."""
        closing = [index for index, entry in enumerate(self._redo) if entry.closed]
        del self._redo[: closing[-1] + 1 if closing else 0]

    def part_region(self, parts: Sequence[Edit]) -> list[Patch]:
        """Split the region into a patch for each change, given by its offset in the region's text; the rest is free."""
        assert self.region is not None
        region, (whole,) = self.region, self.region.patches
        last = parts[-1]
        region.patches = [Patch(whole.start + part.start, part.old, part.new) for part in parts]
        region.original, region.parted = whole.original, True
        region.lead = parts[0].start
        region.tail = len(whole.written) - last.start - len(last.new)
        return region.patches

    def join_region(self) -> None:
        """Join a split region, in which the user has not typed, into one patch."""
        region = self.region
        if region is None or not region.parted or region.mixed:
            return
        written = self.buffer.slice(region.start, region.end)
        region.patches = [Patch(region.start, region.original, written)]
        region.lead = region.tail = 0
        region.parted = False

    def close_region(self) -> None:
        """Close the region: the run's text becomes one entry, the newest."""
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
        """Make an entry of the run's text so far; later changes in the region are a separate entry."""
        region = self.region
        if region is None:
            return
        saved = not self.modified
        if region.changed or not region.settled:
            self._enter(region)
            region.depth = len(self._undo)
        for patch in region.patches:
            patch.original = patch.written
        region.settled = True
        if saved:
            self._saved = self._state()

    def _enter(self, region: Region) -> None:
        """Make an entry of the region's text, if it differs from the original."""
        if not region.changed:
            return
        changes = tuple(
            Edit(patch.start, patch.original, patch.written)
            for patch in region.patches
            if patch.written != patch.original
        )
        entry = UndoStep(changes, self.selection.map(region.to_base), self.selection, own=False)
        if self._undo and _cancel_out(self._undo[-1].changes, changes):
            entry.state = self._undo[-2].state if len(self._undo) > 1 else None
        self._undo.append(entry)
        self._redo.clear()

    def reject_region(self) -> None:
        """Close the region of a run that has done nothing and restore the original, without an entry."""
        if self.region is not None:
            for patch in self.region.patches:
                self.write_patch(patch, patch.original)
            self.close_region()

    def discard_region(self) -> None:
        """Close the region and restore the original, as one entry on top of the run's."""
        if self.region is not None:
            originals = [(patch, patch.original) for patch in self.region.patches]
            self.settle_region()
            for patch, original in originals:
                self.write_patch(patch, original)
            self.close_region()

    # Saving

    @property
    def modified(self) -> bool:
        """Whether the text, by its history, differs from the saved one."""
        return self._state() != self._saved

    def mark_saved(self) -> None:
        self.seal()
        self._saved = self._state()

    def _state(self) -> tuple[object, tuple[str, ...]]:
        """A value that differs for each state of the text: the last entry, and the text of an open run."""
        top = self._undo[-1].state if self._undo else None
        region = self.region
        if region is None or not region.changed:
            return top, ()
        return top, tuple(patch.written for patch in region.patches)

    def _to_base(self, offset: int) -> int:
        return offset if self.region is None else self.region.to_base(offset)

    def _from_base(self, offset: int) -> int:
        return offset if self.region is None else self.region.from_base(offset)

    def _placed(self, change: Edit) -> Edit:
        return Edit(self._from_base(change.start), change.old, change.new)

    def _apply(self, change: Edit, own: bool) -> None:
        """Carry out a change outside the open region, which moves along."""
        self._change_buffer(change, own)
        for patch in self.region.patches if self.region is not None else ():
            if change.start < patch.start:
                patch.start += change.growth

    def _change_buffer(self, change: Edit, own: bool) -> None:
        removed = self.buffer.replace(change.start, change.end, change.new)
        if removed != change.old:
            raise AssertionError("a change does not fit the text it is made in")
        self.version += 1
        self.own = own
        for observer in self.observers:
            observer(change)


def _join(entered: tuple[Edit, ...], new: Edit, kind: Kind) -> Edit | None:
    """Two changes merged, if the second continues the first and begins no new word or line; else None."""
    last = entered[-1]
    if kind == "typing" and not new.old and new.start == last.start + len(last.new):
        begins_word = last.new[-1:].isspace() and not new.new.isspace()
        if begins_word or "\n" in new.new:
            return None
        return Edit(last.start, last.old, last.new + new.new)
    if kind == "erasing" and new.start + len(new.old) == last.start and "\n" not in new.old:
        return Edit(new.start, new.old + last.old, "")
    if kind == "deleting" and new.start == last.start and "\n" not in new.old:
        return Edit(last.start, last.old + new.old, "")
    return None


def _cancel_out(done: Sequence[Edit], undone: Sequence[Edit]) -> bool:
    """Whether changes exactly undo others; both are given from left to right."""
    if len(done) != len(undone):
        return False
    shift = 0
    for change, inverse in zip(done, undone, strict=True):
        if inverse != Edit(change.start - shift, change.new, change.old):
            return False
        shift += change.growth
    return True


def paragraph_at(buffer: Buffer, offset: int) -> Selection:
    """The lines around a place, up to the nearest blank lines."""
    here = buffer.line_of(offset)
    if not buffer.line(here).strip():
        return Selection.at(offset)
    first = last = here
    while first > 0 and buffer.line(first - 1).strip():
        first -= 1
    while last + 1 < buffer.line_count and buffer.line(last + 1).strip():
        last += 1
    return Selection(buffer.line_start(first), buffer.line_end(last))
