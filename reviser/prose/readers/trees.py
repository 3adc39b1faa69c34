"""Syntax trees by tree-sitter, with byte offsets converted to characters of the document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from reviser.prose.readers.extra import load
from reviser.prose.source import Line, Span


class Tree:
    """The syntax tree of some lines of a document, possibly without their markers."""

    def __init__(self, grammar: str, lines: Sequence[Line], entry: str = "language") -> None:
        self._lines = lines
        # Grammars take a NUL for the end, and some know no other line ending than \n.
        encoded = [line.text.replace("\0", "\1").encode("utf-8", "replace") for line in lines]
        self._starts = [0, *accumulate(len(data) + 1 for data in encoded)]
        self._ascii = [len(data) == len(line.text) for data, line in zip(encoded, lines, strict=True)]
        self._encoded = encoded
        self._offsets: tuple[int, list[int]] = (-1, [])
        self.data = b"\n".join([*encoded, b""])
        parser = load("tree_sitter", "prose").Parser(_language(grammar, entry))
        self.root = parser.parse(self.data).root_node

    def place(self, byte: int) -> tuple[int, int]:
        """The line and the column, both from 0, of a byte offset in `data`."""
        number = min(bisect_right(self._starts, byte) - 1, len(self._lines) - 1)
        column = min(byte - self._starts[number], len(self._encoded[number]))
        if not self._ascii[number]:
            if self._offsets[0] != number:
                self._offsets = (number, _character_offsets(self._lines[number].text))
            column = bisect_right(self._offsets[1], column) - 1
        return number, column

    def offset(self, byte: int) -> int:
        """The offset in the document of a byte offset in `data`."""
        if not self._lines:
            return 0
        number, column = self.place(byte)
        return self._lines[number].start + column

    def span(self, start: int, end: int) -> Span:
        return Span(self.offset(start), self.offset(end))

    def pieces(self, start: int, end: int) -> list[Line]:
        """The lines between two byte offsets in `data`; the first and the last are cut there."""
        first, left = self.place(start)
        last, right = self.place(end)
        if first == last:
            return [self._lines[first].cut(left, right)]
        inner = self._lines[first + 1 : last]
        return [self._lines[first].cut(left), *inner, self._lines[last].cut(0, right)]

    def lines_of(self, node: Any) -> Sequence[Line]:
        """The whole lines of a node."""
        return self._lines[self.place(node.start_byte)[0] : self.place(node.end_byte)[0] + 1]

    def text_of(self, node: Any) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def walk(self, wanted: frozenset[str]) -> Iterator[Any]:
        """All nodes of these kinds, in order, without those inside of another one or of what is no code."""
        cursor = self.root.walk()
        while True:
            node = cursor.node
            if node.type in wanted:
                yield node
            elif not node.is_error and cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return


def _character_offsets(text: str) -> list[int]:
    """The byte offsets of the characters of a text in UTF-8, and of its end."""
    return [0, *accumulate(len(character.encode("utf-8", "replace")) for character in text)]


@cache
def _language(grammar: str, entry: str) -> Any:
    module = load(f"tree_sitter_{grammar}", "prose")
    return load("tree_sitter", "prose").Language(getattr(module, entry)())
