"""Parts of documents with `\\n` as the only line ending, in which next edits are looked for."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from lsp_server.documents.surroundings import LINE_ENDING
from reviser.core.edits import Edit
from reviser.editor.excerpts import whole_characters
from reviser.next_edits.following import RefusedEdit

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
