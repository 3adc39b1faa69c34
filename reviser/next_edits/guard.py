"""The guard of next edits: the places of a document that may be changed, whatever proposes the change.

Words are changed in prose alone: code, addresses, commands and what else a format protects stay, and so does the
structure of the document. Marks may be changed as the person changed them elsewhere, since lists and headings are
made of them, but not in code. Whoever changed an address himself may have other addresses changed alike; that is
for `reviser.next_edits.following` to decide.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from reviser.core.edits import Edit, apply_edits
from reviser.prose import Format, Paragraph, paragraphs, same_structure

_WORDS = re.compile(r"\w")
_WHOLE_WORDS = re.compile(r"\w+")


class NextEditGuard:
    """Decides which changes may be made in one text."""

    def __init__(self, text: str, format: Format) -> None:
        self._text = text
        self._format = format
        self._segments = sorted(
            (segment.start, segment.end, number, paragraph)
            for paragraph in paragraphs(text, format)
            for number, segment in enumerate(paragraph.segments)
        )
        self._starts = [start for start, *_ in self._segments]

    def allows(self, change: Edit) -> bool:
        """Whether a change may be made, considered by itself."""
        core = change.core
        if is_of_words(change):
            found = self._segment(core.start)
            return found is not None and core.end <= found[1] and not self._is_protected(found, core)
        line_start = self._text.rfind("\n", 0, core.start) + 1
        line_end = self._text.find("\n", core.end)
        line_end = len(self._text) if line_end < 0 else line_end
        at = bisect_right(self._starts, line_end) - 1
        if at < 0 or self._segments[at][1] < line_start:
            return False
        found = self._segment(core.start)
        return found is None or core.end > found[1] or not self._is_protected(found, core)

    def safe(self, changes: Sequence[Edit]) -> list[Edit]:
        """The changes without overlaps, of which those of words keep the document's structure."""
        of_words = [change for change in changes if is_of_words(change)]
        bad = set(of_words) - set(self._keeping(of_words))
        return [change for change in changes if change not in bad]

    def _keeping(self, changes: Sequence[Edit]) -> list[Edit]:
        if not changes or same_structure(self._text, apply_edits(self._text, changes), self._format):
            return list(changes)
        if len(changes) == 1:
            return []
        middle = len(changes) // 2
        return [*self._keeping(changes[:middle]), *self._keeping(changes[middle:])]

    def _segment(self, place: int) -> tuple[int, int, int, Paragraph] | None:
        """The segment of prose that a place is in, or at an end of."""
        at = bisect_right(self._starts, place) - 1
        return self._segments[at] if at >= 0 and place <= self._segments[at][1] else None

    @staticmethod
    def _is_protected(found: tuple[int, int, int, Paragraph], core: Edit) -> bool:
        start, _, number, paragraph = found
        place = paragraph.starts[number] + core.start - start
        return paragraph.touches_protected(place, place + len(core.old))


def is_of_words(change: Edit) -> bool:
    """Whether a change inserts, removes or alters words, and not marks and spaces alone."""
    core = change.core
    if not _WORDS.search(core.old + core.new):
        return False
    return _WHOLE_WORDS.findall(change.old) != _WHOLE_WORDS.findall(change.new)
