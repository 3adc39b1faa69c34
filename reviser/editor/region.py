"""The region of a text in which a run writes: one patch, or, during a review, one for each change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(eq=False)
class Patch:
    """A replacement in the text: from `start`, `written` stands in place of `original`."""

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
    """The region of a run: one patch, or, during a review, one for each change that the user has not typed into."""

    patches: list[Patch]
    # The number of undo entries when the run began; later ones are the user's, made during it.
    depth: int
    open: bool = True
    # Of a split region: the original text, and the number of characters before and after the changes.
    original: str = ""
    lead: int = 0
    tail: int = 0
    parted: bool = False
    # Whether the user has typed between the changes, so that the text is no longer the run's alone.
    mixed: bool = False
    # Whether the run is already an undo entry, and only later reversals lie on top.
    settled: bool = False
    # Called before an edit touches the one patch, to split it into changes, most of which then stay open.
    part: Callable[[], object] | None = None

    @property
    def start(self) -> int:
        return self.patches[0].start - self.lead

    @property
    def end(self) -> int:
        return self.patches[-1].end + self.tail

    @property
    def changed(self) -> bool:
        return any(patch.written != patch.original for patch in self.patches)

    def part_before(self, start: int, end: int) -> None:
        """Split into patches, if possible, before an edit that touches the run's text."""
        if self.part is not None and self.patches[0].touches(start, end):
            self.part()

    def put(self, patches: Iterable[Patch]) -> None:
        """Set the patches of a split region into which the user has typed."""
        self.patches = sorted(patches, key=lambda patch: patch.start)
        self.lead = self.tail = 0
        self.mixed = True

    def to_base(self, offset: int) -> int:
        """The offset of a place in the text with the patches' originals."""
        shift = 0
        for patch in self.patches:
            if offset <= patch.start:
                break
            if offset < patch.end:
                return min(offset, patch.start + len(patch.original)) - shift
            shift += patch.growth
        return offset - shift

    def from_base(self, offset: int) -> int:
        """The offset in the present text of a place in the text with the patches' originals."""
        for patch in self.patches:
            if offset <= patch.start:
                break
            offset = max(offset + patch.growth, patch.start)
        return offset

    def without(self, text: str) -> str:
        """`text`, which contains the region, with the originals in place."""
        for patch in reversed(self.patches):
            text = text[: patch.start] + patch.original + text[patch.end :]
        return text
