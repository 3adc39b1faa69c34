"""The parts of a long document in which next edits are looked for, with `\\n` as the only line ending."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import Final

from lsp_server.documents.surroundings import LINE_ENDING
from reviser.core.edits import Edit
from reviser.editor.excerpts import MOST, excerpt, whole_characters
from reviser.next_edits.following import RefusedEdit
from reviser.prose import Format

_OVERLAP: Final = 10_000
_AROUND: Final = 100


class NormalText:
    """A text with `\\n` as its only line ending; offsets are translated there and back."""

    def __init__(self, raw: str) -> None:
        self.text = whole_characters(LINE_ENDING.sub("\n", raw))
        self._raw_pairs = [found.start() for found in re.finditer("\r\n", raw)]
        self._pairs = [start - number for number, start in enumerate(self._raw_pairs)]

    def normal(self, offset: int) -> int:
        """The offset of a place of the raw text."""
        return offset - bisect_left(self._raw_pairs, offset)

    def raw(self, offset: int) -> int:
        """The offset in the raw text of a place."""
        return offset + bisect_left(self._pairs, offset)


def refused_edit(text: str, change: Edit) -> RefusedEdit:
    """A refused change of a text, whatever its line endings."""
    low = max(change.start - _AROUND, 0)
    around = NormalText(text[low : change.end + _AROUND])
    return RefusedEdit.of(around.text, Edit(around.normal(change.start - low), change.old, change.new))


def parts(text: str, near: int, format: Format) -> list[tuple[int, int]]:
    """The start and end of each part of a text, the nearest to `near` first: whole paragraphs that overlap a little.

    Most changes of the text leave the parts without them as they are.
    """
    if len(text) <= MOST:
        return [(0, len(text))]
    middles = [(start + end) // 2 for start, end in ranges_around(near, len(text), MOST - _OVERLAP)]
    return [excerpt(text, middle, format) for middle in middles]


def ranges_around(near: int, length: int, size: int) -> list[tuple[int, int]]:
    """The ranges of a size that make up a length, the nearest to `near` first."""
    ranges = pairwise([*range(0, length, size), length])
    return sorted(ranges, key=lambda one: max(one[0] - near, near - one[1], 0))
