"""A change of a text by characters: what passes from sessions to the programs that show documents."""

from __future__ import annotations

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

    def apply_to(self, text: str) -> str:
        return text[: self.start] + self.inserted + text[self.end :]

    def follow(self, offset: int) -> int:
        """Where a place in the text is after the change; one inside what was removed goes to its start."""
        if offset <= self.start:
            return offset
        return offset + self.growth if offset >= self.end else self.start


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
