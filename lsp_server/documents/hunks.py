"""The changes of a revision: each is kept or reverted by the user, and follows the user's edits around it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from reviser.core.edits import Edit, placed_change
from reviser.core.hunks import changed_words

_ENDS_LINE = re.compile(r"[\r\n]\Z").search
_STARTS_LINE = re.compile(r"[\r\n]").match


@dataclass(eq=False)
class Hunk:
    """One change of a run: `new` stands at offset `start`, where `old` stood before.

    It is `hidden` if the old text seems to stand there nevertheless, as where one of two equal words was removed.
    """

    start: int
    old: str
    new: str
    id: str = ""
    kept: bool = False
    hidden: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.new)

    def follow(self, change: Edit) -> bool:
        """Move with a change of the document; False if the change touches this hunk's own text."""
        low, high = change.start, change.end
        if low == high == self.start == self.end:
            # Whole lines above or below stand beside the gap; other text fills it.
            before = _ENDS_LINE(change.new)
            self.start += change.growth if before else 0
            return bool(before or _STARTS_LINE(change.new))
        if high <= self.start:
            self.start += change.growth
            return True
        return low >= self.end

    def shows_old(self, text: str, low: int, high: int) -> bool:
        """Whether the document shows the old text again between two offsets."""
        skips = range(min(len(self.old) - len(self.new), self.start - low) + 1)
        places = (self.start - skip for skip in skips if self.old.startswith(self.new, skip))
        return any(text.startswith(self.old, place, high) for place in places)


class Hunks:
    """The changes of one run that wait for a decision, in their order in the document.

    There were `total` at first, of which `restored` have been reverted. `original` is what the run revised, as it was
    before; it now is from offset `start` to `end` of the document.
    """

    def __init__(self, hunks: Iterable[Hunk], start: int, end: int, original: str) -> None:
        self._hunks = list(hunks)
        self._start, self._end = start, end
        self._original = original
        self.total = len(self._hunks)
        self.restored = 0

    def __iter__(self) -> Iterator[Hunk]:
        return iter(self._hunks)

    def __len__(self) -> int:
        return len(self._hunks)

    @property
    def pending(self) -> list[Hunk]:
        """The hunks that the user has not decided about."""
        return [hunk for hunk in self._hunks if not hunk.kept]

    def follow(self, change: Edit) -> None:
        """Move with a change of the document; hunks that the change touches become the user's own and are forgotten."""
        core = change.core
        if core.old or core.new:
            self._hunks = [hunk for hunk in self._hunks if hunk.follow(core)]
            self._follow(core)

    def _follow(self, change: Edit) -> None:
        if change.end < self._start:
            self._start += change.growth
            self._end += change.growth
        elif change.start <= self._end:
            # Also at the edge: editors report an undo there.
            self._start = min(self._start, change.start)
            self._end = max(self._end, change.end) + change.growth

    def check(self, text: str) -> None:
        """Forget hunks that do not stand where they should, or were undone: the document is right.

        A hunk may look as if it still stood there, as where a full stop was inserted before another and the editor took
        out the other one. If the text is the original again, all hunks are undone.
        """
        low, high = self._start, self._end
        undone = text[low:high] == self._original
        self._hunks = [
            hunk
            for hunk in self._hunks
            if not undone
            and text.startswith(hunk.new, hunk.start)
            and (hunk.hidden or not hunk.shows_old(text, low, high))
        ]

    def forget(self, hunks: Collection[Hunk]) -> None:
        self._hunks = [hunk for hunk in self._hunks if hunk not in hunks]

    def restoration(self, text: str, chosen: Collection[Hunk]) -> Edit:
        """The one edit of a document that reverts some hunks."""
        hunks = [hunk for hunk in self._hunks if hunk in chosen]
        first, last = hunks[0].start, hunks[-1].end
        parts: list[str] = []
        end = first
        for hunk in hunks:
            parts += [text[end : hunk.start], hunk.old]
            end = hunk.end
        return placed_change(text, Edit(first, text[first:last], "".join(parts)))

    def put_back(self, chosen: Collection[Hunk]) -> None:
        """Forget these hunks, which have been reverted, and move those behind them."""
        growth = 0
        for hunk in self._hunks:
            hunk.start += growth
            if hunk in chosen:
                growth += len(hunk.old) - len(hunk.new)
                self.restored += 1
        self._end += growth
        self.forget(chosen)


def hunks_between(start: int, old: str, new: str) -> list[Hunk]:
    """The changes from one text to another, which starts at `start`; adjacent changed words are one hunk."""
    changes = changed_words(old, [Edit.between(old, new)])
    return [Hunk(start + one.start, one.old, one.new) for one in changes]


def joined(hunks: Iterable[Hunk]) -> Iterator[Hunk]:
    """The same changes, with those that touch merged."""
    last: Hunk | None = None
    for hunk in hunks:
        if last is not None and last.end == hunk.start:
            last.old += hunk.old
            last.new += hunk.new
            continue
        if last is not None:
            yield last
        last = hunk
    if last is not None:
        yield last
