"""A change of a text by characters: what passes from sessions to the programs that show documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """`removed`, which stood at character `start`, gave way to `inserted`."""

    start: int
    removed: str
    inserted: str

    @classmethod
    def between(cls, old: str, new: str, start: int = 0) -> Change:
        """What turns `old`, which stands at `start`, into `new`, less what they share at both ends."""
        skip = shared_start(old, new)
        removed, inserted = old[skip:], new[skip:]
        keep = shared_start(removed[::-1], inserted[::-1])
        return cls(start + skip, removed[: len(removed) - keep], inserted[: len(inserted) - keep])

    @classmethod
    def at_cursor(cls, old: str, new: str, cursor: int) -> Change:
        """What turns `old` into `new`; where that could be in several places, the one that the cursor behind it tells."""
        change = cls.between(old, new)
        if change.removed and change.inserted:
            return change
        start, gone = cursor - len(change.inserted), len(change.removed)
        if start < 0 or old[:start] != new[:start] or old[start + gone :] != new[cursor:]:
            return change
        return cls(start, old[start : start + gone], new[start:cursor])

    @property
    def end(self) -> int:
        """Where the removed text ended."""
        return self.start + len(self.removed)

    @property
    def growth(self) -> int:
        return len(self.inserted) - len(self.removed)

    @property
    def core(self) -> Change:
        """The change less what it removes and inserts again at both ends."""
        return Change.between(self.removed, self.inserted, self.start)

    def inverse(self) -> Change:
        """The change that takes this one back."""
        return Change(self.start, self.inserted, self.removed)

    def moved(self, by: int) -> Change:
        """The same change where its text stands so many characters later."""
        return Change(self.start + by, self.removed, self.inserted)

    def apply_to(self, text: str) -> str:
        return text[: self.start] + self.inserted + text[self.end :]

    def follow(self, offset: int) -> int:
        """Where a place in the text is after the change; one inside what was removed goes to its start."""
        if offset <= self.start:
            return offset
        return offset + self.growth if offset >= self.end else self.start


def within(changes: Iterable[Change], start: int, end: int) -> tuple[Change, ...]:
    """Changes made one after the other, as changes of the part of the text from `start` to `end`.

    What they remove around that part they insert again, as where a `\\r\\n` is not to be cut; that is left out.
    """
    found = []
    for change in changes:
        left, right = max(start - change.start, 0), max(change.end - end, 0)
        removed = change.removed[left : len(change.removed) - right]
        inserted = change.inserted[left : len(change.inserted) - right]
        found.append(Change(change.start + left - start, removed, inserted))
        end += change.growth
    return tuple(found)


def with_all(text: str, changes: Iterable[Change]) -> str:
    """A text with changes made one after the other."""
    for change in changes:
        text = change.apply_to(text)
    return text


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


def minimal_change(text: str, start: int, removed: str, inserted: str) -> Change | None:
    """The change that turns `removed` at `start` into `inserted`, less what they share at both ends.

    `text` is the document before.
    """
    if removed == inserted:
        return None
    return placed_change(text, Change.between(removed, inserted, start))


def placed_change(text: str, change: Change) -> Change:
    """A change that never starts or ends inside a `\\r\\n` of `text`, where editors have no position."""
    low, high, middle = change.start, change.end, change.inserted
    if cuts_line_ending(text, low):
        low, middle = low - 1, "\r" + middle
    if cuts_line_ending(text, high):
        high, middle = high + 1, middle + "\n"
    return Change(low, text[low:high], middle)


def cuts_line_ending(text: str, boundary: int) -> bool:
    """Whether a place is between the two halves of a `\\r\\n`."""
    return 0 < boundary < len(text) and text[boundary - 1] == "\r" and text[boundary] == "\n"


def end_of_writing(text: str) -> int:
    """Where to write on at the end of a document: before the ending of its last line, which stays the last."""
    ending = next((one for one in ("\r\n", "\n", "\r") if text.endswith(one)), "")
    return len(text) - len(ending)
