"""A text whose tokens are its characters, for editing by programs: it costs what Python's own strings cost."""

from __future__ import annotations

import sys
from array import array

from reviser.core.actions import Splice
from reviser.core.buffer import Buffer
from reviser.core.errors import ReviserError
from reviser.core.text import Extent, TextEdit, minimal_edit

_UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


class Characters:
    """Every character is a token, and its own number."""

    name = "characters"
    size = 0x110000
    # The halves of surrogate pairs are no characters.
    markers = frozenset(range(0xD800, 0xE000))

    def encode(self, text: str) -> list[int]:
        return list(map(ord, text))

    def token_bytes(self, token: int) -> bytes:
        return chr(token).encode("utf-8")


class CharacterLayer:
    """What a text layer is for tokens, for characters: the text, kept in step with its canvas."""

    def __init__(self, text: str) -> None:
        self._buffer = Buffer(text)

    @property
    def text(self) -> str:
        """The whole text, put together at the cost of its length."""
        return self._buffer.text

    def position(self, boundary: int) -> Extent:
        """Where a character starts, in every unit that editors count in."""
        return self._buffer.extent(boundary)

    def apply(self, splice: Splice) -> TextEdit | None:
        """Follow the canvas through `splice`; returns the edit of the text, None if no text changed."""
        start, end = splice.start, splice.start + len(splice.removed)
        removed, inserted = ("".join(map(chr, some)) for some in (splice.removed, splice.inserted))
        if removed == inserted:
            return None
        before = self._buffer.slice(start - 1, start)
        after = self._buffer.slice(end, end + 1)
        home = self._buffer.extent(start - len(before))
        self._buffer.replace(start, end, inserted)
        return minimal_edit(home, before, removed, inserted, after)


def code_points(text: str) -> array[int]:
    """The numbers of all characters; half a surrogate pair is refused."""
    try:
        return array("I", text.encode(_UTF_32))
    except UnicodeEncodeError:
        raise ReviserError("the text holds halves of surrogate pairs, which are no characters") from None
