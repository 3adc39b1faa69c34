"""An edit of a text by characters: what passes from the model to the programs that show documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """`new` in the place of `old`, which stands at character `start`."""

    start: int
    old: str
    new: str

    @classmethod
    def between(cls, old: str, new: str, start: int = 0) -> Edit:
        """What turns `old`, which stands at `start`, into `new`, less what they share at both ends."""
        skip = shared_start(old, new)
        removed, inserted = old[skip:], new[skip:]
        keep = shared_start(removed[::-1], inserted[::-1])
        return cls(start + skip, removed[: len(removed) - keep], inserted[: len(inserted) - keep])

    @classmethod
    def at_cursor(cls, old: str, new: str, cursor: int) -> Edit:
        """What turns `old` into `new`; where that could be in several places, the one that the cursor behind it
        tells."""
        change = cls.between(old, new)
        if change.old and change.new:
            return change
        start, gone = cursor - len(change.new), len(change.old)
        if start < 0 or old[:start] != new[:start] or old[start + gone :] != new[cursor:]:
            return change
        return cls(start, old[start : start + gone], new[start:cursor])

    @property
    def end(self) -> int:
        """Where the removed text ended."""
        return self.start + len(self.old)

    @property
    def growth(self) -> int:
        return len(self.new) - len(self.old)

    @property
    def core(self) -> Edit:
        """The change less what it removes and inserts again at both ends."""
        return Edit.between(self.old, self.new, self.start)

    def inverse(self) -> Edit:
        """The change that takes this one back."""
        return Edit(self.start, self.new, self.old)

    def moved(self, by: int) -> Edit:
        """The same edit where its text stands so many characters later."""
        return Edit(self.start + by, self.old, self.new)

    def apply_to(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]

    def follow(self, offset: int) -> int:
        """Where a place in the text is after the change; one inside what was removed goes to its start."""
        if offset <= self.start:
            return offset
        return offset + self.growth if offset >= self.end else self.start


def within(changes: Iterable[Edit], start: int, end: int) -> tuple[Edit, ...]:
    """Changes made one after the other, as changes of the part of the text from `start` to `end`.

    What they remove around that part they insert again, as where a `\\r\\n` is not to be cut; that is left out.
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
    """A text with changes made one after the other."""
    for change in changes:
        text = change.apply_to(text)
    return text


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after the edits, whose places are all those of `text`; they must not overlap."""
    pieces, place = [], 0
    for edit in sorted(edits):
        if edit.start < place:
            raise ValueError("the edits overlap")
        pieces += [text[place : edit.start], edit.new]
        place = edit.end
    return "".join([*pieces, text[place:]])


def shared_start(one: str, other: str) -> int:
    """How many characters two texts share from their start, found by halving: comparing slices is quick."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def minimal_change(text: str, start: int, removed: str, inserted: str) -> Edit | None:
    """The change that turns `removed` at `start` into `inserted`, less what they share at both ends.

    `text` is the document before.
    """
    if removed == inserted:
        return None
    return placed_change(text, Edit.between(removed, inserted, start))


def placed_change(text: str, change: Edit) -> Edit:
    """A change that never starts or ends inside a `\\r\\n` of `text`, where editors have no position."""
    low, high, middle = change.start, change.end, change.new
    if cuts_line_ending(text, low):
        low, middle = low - 1, "\r" + middle
    if cuts_line_ending(text, high):
        high, middle = high + 1, middle + "\n"
    return Edit(low, text[low:high], middle)


def cuts_line_ending(text: str, boundary: int) -> bool:
    """Whether a place is between the two halves of a `\\r\\n`."""
    return 0 < boundary < len(text) and text[boundary - 1] == "\r" and text[boundary] == "\n"


def end_of_writing(text: str) -> int:
    """Where to write on at the end of a document: before the ending of its last line, which stays the last."""
    ending = next((one for one in ("\r\n", "\n", "\r") if text.endswith(one)), "")
    return len(text) - len(ending)
