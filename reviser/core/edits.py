"""Edits of a text in characters: the form in which changes go from the model to the programs that show documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A replacement in a text: `old`, which starts at character `start`, becomes `new`."""

    start: int
    old: str
    new: str

    @classmethod
    def between(cls, old: str, new: str, start: int = 0) -> Edit:
        """The smallest edit that turns `old`, which starts at character `start`, into `new`."""
        skip = shared_start(old, new)
        removed, inserted = old[skip:], new[skip:]
        keep = shared_start(removed[::-1], inserted[::-1])
        return cls(start + skip, removed[: len(removed) - keep], inserted[: len(inserted) - keep])

    @classmethod
    def at_cursor(cls, old: str, new: str, cursor: int) -> Edit:
        """The edit that turns `old` into `new`. Where several places are possible (a repeated character), it is the one
        that ends at `cursor`."""
        change = cls.between(old, new)
        if change.old and change.new:
            return change
        start, gone = cursor - len(change.new), len(change.old)
        if start < 0 or old[:start] != new[:start] or old[start + gone :] != new[cursor:]:
            return change
        return cls(start, old[start : start + gone], new[start:cursor])

    @property
    def end(self) -> int:
        """The offset at which the removed text ended."""
        return self.start + len(self.old)

    @property
    def growth(self) -> int:
        return len(self.new) - len(self.old)

    @property
    def core(self) -> Edit:
        """The same edit without the text that it removes and inserts again at both ends."""
        return Edit.between(self.old, self.new, self.start)

    def inverse(self) -> Edit:
        """The edit that undoes this one."""
        return Edit(self.start, self.new, self.old)

    def moved(self, by: int) -> Edit:
        """The same edit with its start shifted `by` characters."""
        return Edit(self.start + by, self.old, self.new)

    def apply_to(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]

    def follow(self, offset: int) -> int:
        """The new offset of a place in the text after the edit; a place inside the removed text moves to its start."""
        if offset <= self.start:
            return offset
        return offset + self.growth if offset >= self.end else self.start


def within(changes: Iterable[Edit], start: int, end: int) -> tuple[Edit, ...]:
    """Edits made one after the other, reduced to the part of the text from `start` to `end`.

    An edit may reach beyond that part if it removes and inserts the same text there, such as half of a `\\r\\n`; this
    text is left out.
    """
    found = []
    for change in changes:
        left, right = max(start - change.start, 0), max(change.end - end, 0)
        removed = change.old[left : len(change.old) - right]
        inserted = change.new[left : len(change.new) - right]
        found.append(Edit(change.start + left - start, removed, inserted))
        end += change.growth
    return tuple(found)


def with_all(text: str, changes: Iterable[Edit]) -> str:
    """The text after edits made one after the other."""
    for change in changes:
        text = change.apply_to(text)
    return text


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after the edits, which must not overlap and whose offsets all refer to `text` before any of them."""
    pieces, place = [], 0
    for edit in sorted(edits):
        if edit.start < place:
            raise ValueError("the edits overlap")
        pieces += [text[place : edit.start], edit.new]
        place = edit.end
    return "".join([*pieces, text[place:]])


def shared_start(one: str, other: str) -> int:
    """The length of the common prefix of two texts, found by bisection, since comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def minimal_change(text: str, start: int, removed: str, inserted: str) -> Edit | None:
    """The smallest edit that turns `removed` at `start` into `inserted`; None if they are equal.

    `text` is the document before.
    """
    if removed == inserted:
        return None
    return placed_change(text, Edit.between(removed, inserted, start))


def placed_change(text: str, change: Edit) -> Edit:
    """The edit, widened where it would start or end inside a `\\r\\n` of `text`, where editors have no position."""
    low, high, middle = change.start, change.end, change.new
    if cuts_line_ending(text, low):
        low, middle = low - 1, "\r" + middle
    if cuts_line_ending(text, high):
        high, middle = high + 1, middle + "\n"
    return Edit(low, text[low:high], middle)


def cuts_line_ending(text: str, boundary: int) -> bool:
    """Whether an offset is between the two halves of a `\\r\\n`."""
    return 0 < boundary < len(text) and text[boundary - 1] == "\r" and text[boundary] == "\n"


def end_of_writing(text: str) -> int:
    """The offset where writing continues at the end of a document: before the final line ending, which is kept."""
    ending = next((one for one in ("\r\n", "\n", "\r") if text.endswith(one)), "")
    return len(text) - len(ending)
