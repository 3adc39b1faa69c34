"""A text layer whose tokens are single characters, for editing by programs; as cheap as Python's strings."""

from __future__ import annotations

import sys
from array import array

from reviser.core.actions import Splice
from reviser.core.buffer import Buffer
from reviser.core.errors import ReviserError
from reviser.core.text import Extent, TextEdit, minimal_edit

_UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


class Characters:
    """A tokenizer in which every character is a token, with its code point as id."""

    name = "characters"
    size = 0x110000
    # The halves of surrogate pairs are no characters.
    markers = frozenset(range(0xD800, 0xE000))

    def encode(self, text: str) -> list[int]:
        return list(map(ord, text))

    def token_bytes(self, token: int) -> bytes:
        return chr(token).encode("utf-8")


class CharacterLayer:
    """The text layer of a canvas of characters: the text, kept in step with its canvas."""

    def __init__(self, text: str) -> None:
        self._buffer = Buffer(text)

    @property
    def text(self) -> str:
        """The whole text; costs time in proportion to its length."""
        return self._buffer.text

    def position(self, boundary: int) -> Extent:
        """The position of a character in every unit that editors count in."""
        return self._buffer.extent(boundary)

    def apply(self, splice: Splice) -> TextEdit | None:
        """Update the text after a splice of the canvas; returns the edit of the text, None if no text changed."""
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
    """The code points of all characters; raises `ReviserError` for half a surrogate pair."""
    try:
        return array("I", text.encode(_UTF_32))
    except UnicodeEncodeError:
        raise ReviserError("the text holds halves of surrogate pairs, which are no characters") from None
