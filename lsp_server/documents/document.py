"""The text that editors have open, kept equal to theirs change by change, in their own positions.

A line ends at `\\n`, `\\r\\n` or `\\r` and nowhere else. Editors count columns in units of UTF-16, UTF-8 or
UTF-32; the rest of the server counts characters from the start of the document and never sees a unit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_ENDING = re.compile(r"\r\n|\r|\n")
_ENDINGS = "\r\n"


@dataclass(frozen=True, slots=True)
class Place:
    """A position as an editor says it: a line, and a column in units of the agreed encoding."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Change:
    """`removed`, which stood at character `start`, gave way to `inserted`."""

    start: int
    removed: str
    inserted: str

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
        skip = _shared(self.removed, self.inserted)
        removed, inserted = self.removed[skip:], self.inserted[skip:]
        keep = _shared(removed[::-1], inserted[::-1])
        return Change(
            self.start + skip, removed[: len(removed) - keep], inserted[: len(inserted) - keep]
        )

    def apply_to(self, text: str) -> str:
        return text[: self.start] + self.inserted + text[self.end :]


class Document:
    """One open document, as a list of lines with their endings; the last line has none."""

    def __init__(
        self, uri: str, language: str, version: int, text: str, encoding: Encoding = "utf-16"
    ) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.encoding: Encoding = encoding
        self._text: str | None = None
        self._lines: list[str] = []
        self._starts: list[int] = []
        self._set(text)

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    @property
    def length(self) -> int:
        return self._line_starts()[-1] + len(self._lines[-1])

    def replace_all(self, text: str) -> Change:
        """Take over a whole new text."""
        change = Change(0, self.text, text)
        self._set(text)
        return change

    def replace(self, start: Place, end: Place, inserted: str) -> Change:
        """Take over one change; only the lines it touches, and their neighbours, are looked at."""
        (first, left), (last, right) = sorted((self._clamp(start), self._clamp(end)))
        offset = self._line_starts()[first] + left
        removed = self._between(first, left, last, right)
        # A change can join a \r with a \n across its edges, so the neighbours are split anew too.
        low, high = max(first - 1, 0), min(last + 1, len(self._lines) - 1)
        before = "".join(self._lines[low:first]) + self._lines[first][:left]
        after = self._lines[last][right:] + "".join(self._lines[last + 1 : high + 1])
        fresh = list(_split(before + inserted + after))
        if high < len(self._lines) - 1:
            fresh.pop()  # what follows starts a line of its own
        self._lines[low : high + 1] = fresh
        self._text = None
        del self._starts[low:]
        return Change(offset, removed, inserted)

    def offset(self, place: Place) -> int:
        """The character that a position stands before; positions outside the text are drawn into it."""
        line, index = self._clamp(place)
        return self._line_starts()[line] + index

    def place(self, offset: int) -> Place:
        """The position before a character; inside a `\\r\\n` there is none, so it is the one before it."""
        starts = self._line_starts()
        line = bisect_right(starts, offset) - 1
        text = self._lines[line]
        index = min(offset - starts[line], len(text.rstrip(_ENDINGS)))
        return Place(line, _units(text[:index], self.encoding))

    def _set(self, text: str) -> None:
        self._lines = list(_split(text))
        self._text = text
        self._starts = []

    def _clamp(self, place: Place) -> tuple[int, int]:
        """The line and the character in it; columns beyond the line's end mean its end."""
        if place.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        line = self._lines[place.line]
        content = line.rstrip(_ENDINGS)
        return place.line, _characters(content, place.column, self.encoding)

    def _between(self, first: int, left: int, last: int, right: int) -> str:
        if first == last:
            return self._lines[first][left:right]
        whole = self._lines[first + 1 : last]
        return self._lines[first][left:] + "".join(whole) + self._lines[last][:right]

    def _line_starts(self) -> list[int]:
        """Where each line starts; those before the last change are still known."""
        known = len(self._starts)
        if known < len(self._lines):
            first = self._starts[-1] + len(self._lines[known - 1]) if known else 0
            rest = self._lines[known:-1]
            self._starts += accumulate((len(line) for line in rest), initial=first)
        return self._starts


def _split(text: str) -> Iterator[str]:
    """Lines with their endings, and then the rest, which has none and may be empty."""
    end = 0
    for found in _ENDING.finditer(text):
        yield text[end : found.end()]
        end = found.end()
    yield text[end:]


def _units(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _characters(line: str, column: int, encoding: Encoding) -> int:
    """How many whole characters of `line` fit in `column` units."""
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
    """Whether a column stands between the two halves of a character in UTF-16."""
    if not 0 < 2 * column < len(data):
        return False
    high, low = data[2 * column - 1], data[2 * column + 1]
    return 0xD8 <= high <= 0xDB and 0xDC <= low <= 0xDF


class UnknownDocument(KeyError):
    """A document that is not open here."""


class Documents:
    """All open documents by their address."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self.encoding: Encoding = "utf-16"

    def open(self, uri: str, language: str, version: int, text: str) -> Document:
        self._open[uri] = Document(uri, language, version, text, self.encoding)
        return self._open[uri]

    def close(self, uri: str) -> None:
        self._open.pop(uri, None)

    def __getitem__(self, uri: str) -> Document:
        if uri not in self._open:
            raise UnknownDocument(uri)
        return self._open[uri]

    def get(self, uri: str) -> Document | None:
        return self._open.get(uri)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._open.values())


def joined_change(before: str, changes: list[Change], after: str) -> Change:
    """One change for several, made one after the other: all between the first and the last place touched."""
    head = tail = length = len(before)
    for change in changes:
        head = min(head, change.start)
        tail = min(tail, length - change.end)
        length += change.growth
    return Change(head, before[head : len(before) - tail], after[head : len(after) - tail])


def minimal_change(text: str, start: int, removed: str, inserted: str) -> Change | None:
    """The change that turns `removed` at `start` into `inserted`, less what they share at both ends.

    `text` is the document before.
    """
    if removed == inserted:
        return None
    return placed_change(text, Change(start, removed, inserted).core)


def placed_change(text: str, change: Change) -> Change:
    """A change that never starts or ends inside a `\\r\\n` of `text`, where editors have no position."""
    low, high, middle = change.start, change.end, change.inserted
    if _inside_line_ending(text, low):
        low, middle = low - 1, "\r" + middle
    if _inside_line_ending(text, high):
        high, middle = high + 1, middle + "\n"
    return Change(low, text[low:high], middle)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    size = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        size += 1
    return size


def _inside_line_ending(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and text[offset - 1] == "\r" and text[offset] == "\n"
