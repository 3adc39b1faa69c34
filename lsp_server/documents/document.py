"""The open documents, kept equal to the editor's change by change, in the editor's own positions.

A line ends at `\\n`, `\\r\\n` or `\\r` and nowhere else. Editors count columns in units of UTF-16, UTF-8 or
UTF-32; the rest of the server counts characters from the start of the document and never sees a unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reviser.core.buffer import Buffer
from reviser.core.edits import Edit as Edit  # noqa: PLC0414 - others import it from here

Encoding = Literal["utf-8", "utf-16", "utf-32"]


@dataclass(frozen=True, slots=True)
class EditorPosition:
    """A position in an editor's notation: a line, and a column in units of the agreed encoding."""

    line: int
    column: int


class EditorDocument:
    """One open document."""

    def __init__(self, uri: str, language: str, version: int, text: str, encoding: Encoding = "utf-16") -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.encoding: Encoding = encoding
        self._text: str | None = text
        self._buffer = Buffer(text)

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = self._buffer.text
        return self._text

    @property
    def length(self) -> int:
        return self._buffer.length

    def slice(self, start: int, end: int) -> str:
        """The characters from `start` to `end`."""
        return self._buffer.slice(start, end)

    def replace_all(self, text: str) -> Edit:
        """Replace the whole text; returns the edit."""
        change = Edit(0, self.text, text)
        self._text, self._buffer = text, Buffer(text)
        return change

    def replace(self, start: EditorPosition, end: EditorPosition, inserted: str) -> Edit:
        """Replace the text between two positions; returns the edit. The cost depends on the surroundings alone."""
        first, last = sorted((self.offset(start), self.offset(end)))
        removed = self._buffer.replace(first, last, inserted)
        self._text = None
        return Edit(first, removed, inserted)

    def offset(self, place: EditorPosition) -> int:
        """The offset of the character behind a position; positions outside the text are clamped to it."""
        if place.line >= self._buffer.line_count:
            return self._buffer.length
        content = self._buffer.line(place.line)
        characters = _characters(content, place.column, self.encoding)
        return self._buffer.line_start(place.line) + characters

    def place(self, offset: int) -> EditorPosition:
        """The position of a character offset; one inside a `\\r\\n` becomes the position before it."""
        line = self._buffer.line_of(offset)
        before = self._buffer.slice(self._buffer.line_start(line), offset)
        return EditorPosition(line, _units(before.removesuffix("\r"), self.encoding))


def _units(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _characters(line: str, column: int, encoding: Encoding) -> int:
    """The number of whole characters of `line` that fit in `column` units."""
    if encoding == "utf-32" or line.isascii():
        return min(column, len(line))
    if encoding == "utf-8":
        data = line.encode("utf-8", "surrogatepass")
        while column < len(data) and data[column] & 0xC0 == 0x80:
            column -= 1
        return len(data[:column].decode("utf-8", "surrogatepass"))
    data = line.encode("utf-16-le", "surrogatepass")
    if _cuts_pair(data, column):
        column -= 1
    return len(data[: 2 * column].decode("utf-16-le", "surrogatepass"))


def _cuts_pair(data: bytes, column: int) -> bool:
    """Whether a column lies between the two halves of a surrogate pair in UTF-16."""
    if not 0 < 2 * column < len(data):
        return False
    high, low = data[2 * column - 1], data[2 * column + 1]
    return 0xD8 <= high <= 0xDB and 0xDC <= low <= 0xDF


class UnknownDocument(KeyError):
    """A document that is not open was asked for."""


class Documents:
    """All open documents by their address."""

    def __init__(self) -> None:
        self._open: dict[str, EditorDocument] = {}
        self.encoding: Encoding = "utf-16"

    def open(self, uri: str, language: str, version: int, text: str) -> EditorDocument:
        self._open[uri] = EditorDocument(uri, language, version, text, self.encoding)
        return self._open[uri]

    def close(self, uri: str) -> None:
        self._open.pop(uri, None)

    def __getitem__(self, uri: str) -> EditorDocument:
        if uri not in self._open:
            raise UnknownDocument(uri)
        return self._open[uri]

    def get(self, uri: str) -> EditorDocument | None:
        return self._open.get(uri)

    def __iter__(self) -> Iterator[EditorDocument]:
        return iter(self._open.values())


def joined_change(before: str, changes: list[Edit], after: str) -> Edit:
    """Several changes, made one after the other, as one edit from the first to the last offset touched."""
    head = tail = length = len(before)
    for change in changes:
        head = min(head, change.start)
        tail = min(tail, length - change.end)
        length += change.growth
    return Edit(head, before[head : len(before) - tail], after[head : len(after) - tail])
