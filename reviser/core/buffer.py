"""An editable text stored in chunks with an index of its lines: an edit costs the same in a large file as in a small
one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from reviser.core.text import Extent

# An edit rewrites one chunk, and what is asked next sums up over those between here and there.
_CHUNK = 8192

_LINE_ENDING = re.compile(r"\r\n|\r|\n")


class _Chunk:
    """A piece of the text; no `\\r\\n` is split between two chunks."""

    __slots__ = ("_extent", "_starts", "endings", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.endings = text.count("\n") + text.count("\r") - text.count("\r\n")
        self._starts: list[int] | None = None
        self._extent: Extent | None = None

    @property
    def starts(self) -> list[int]:
        """Where lines start in the chunk: behind each line ending."""
        if self._starts is None:
            self._starts = [found.end() for found in _LINE_ENDING.finditer(self.text)]
        return self._starts

    @property
    def extent(self) -> Extent:
        if self._extent is None:
            self._extent = Extent.of(self.text)
        return self._extent


class Buffer:
    """A text that is edited in place. Lines end at `\\n`, `\\r\\n` and `\\r`, and nowhere else."""

    def __init__(self, text: str = "") -> None:
        self._chunks = [_Chunk(piece) for piece in _pieces(text)]
        self._length = len(text)
        self._endings = sum(chunk.endings for chunk in self._chunks)
        # Where each chunk starts and how many line endings are before it, as far as was asked for since the last edit.
        self._offsets = [0]
        self._lines = [0]
        # The same in all units, which few ask for.
        self._extents = [Extent()]

    def _sum_up(self) -> None:
        """Add the end position of one more chunk to the index."""
        chunk = self._chunks[len(self._offsets) - 1]
        self._offsets.append(self._offsets[-1] + len(chunk.text))
        self._lines.append(self._lines[-1] + chunk.endings)

    @property
    def length(self) -> int:
        return self._length

    @property
    def line_count(self) -> int:
        """The number of lines, at least one: a text that ends with a line ending has an empty last line."""
        return self._endings + 1

    @property
    def text(self) -> str:
        """The whole text, joined from its chunks; costs time in proportion to its length."""
        return "".join([chunk.text for chunk in self._chunks])

    def slice(self, start: int, end: int) -> str:
        """The characters from `start` to `end`."""
        start, end = max(start, 0), min(end, self.length)
        if start >= end:
            return ""
        first, last = self._chunk_at(start), self._chunk_at(end - 1)
        if first == last:
            base = self._offsets[first]
            return self._chunks[first].text[start - base : end - base]
        parts = [chunk.text for chunk in self._chunks[first : last + 1]]
        parts[0] = parts[0][start - self._offsets[first] :]
        parts[-1] = parts[-1][: end - self._offsets[last]]
        return "".join(parts)

    def replace(self, start: int, end: int, new: str) -> str:
        """Replace the characters from `start` to `end` by `new`; returns the removed text."""
        if not 0 <= start <= end <= self.length:
            raise ValueError(f"there is no place {start} to {end} in a text of {self.length}")
        removed = self.slice(start, end)
        first, last = self._chunk_at(start), self._chunk_at(end)
        head = self._chunks[first].text[: start - self._offsets[first]]
        tail = self._chunks[last].text[end - self._offsets[last] :]
        merged = head + new + tail
        # The neighbours come in where chunks grow small or a line ending would be cut in two.
        while first > 0 and (len(merged) < _CHUNK // 4 or merged.startswith("\n")):
            first -= 1
            merged = self._chunks[first].text + merged
        while last + 1 < len(self._chunks) and (len(merged) < _CHUNK // 4 or merged.endswith("\r")):
            last += 1
            merged += self._chunks[last].text
        gone = self._chunks[first : last + 1]
        come = [_Chunk(piece) for piece in _pieces(merged)]
        self._chunks[first : last + 1] = come
        self._length += len(new) - len(removed)
        self._endings += sum(chunk.endings for chunk in come) - sum(chunk.endings for chunk in gone)
        del self._offsets[first + 1 :], self._lines[first + 1 :], self._extents[first + 1 :]
        return removed

    def line_of(self, offset: int) -> int:
        """The line number, from 0, of character `offset`."""
        index = self._chunk_at(offset)
        local = offset - self._offsets[index]
        return self._lines[index] + bisect_right(self._chunks[index].starts, local)

    def extent(self, offset: int) -> Extent:
        """The position of character `offset` in every unit that editors count in."""
        index = self._chunk_at(offset)
        while len(self._extents) <= index:
            self._extents.append(self._extents[-1] + self._chunks[len(self._extents) - 1].extent)
        head = self._chunks[index].text[: offset - self._offsets[index]]
        return self._extents[index] + Extent.of(head)

    def line_start(self, line: int) -> int:
        """The offset at which a line starts."""
        if line <= 0:
            return 0
        if line >= self.line_count:
            return self.length
        while self._lines[-1] < line:
            self._sum_up()
        index = bisect_right(self._lines, line - 1) - 1
        return self._offsets[index] + self._chunks[index].starts[line - 1 - self._lines[index]]

    def line_end(self, line: int) -> int:
        """The offset at which a line's text ends, before its line ending."""
        if line + 1 >= self.line_count:
            return self.length
        following = self.line_start(line + 1)
        return following - (2 if self.slice(following - 2, following) == "\r\n" else 1)

    def line(self, line: int) -> str:
        """The text of a line, without its ending."""
        return self.slice(self.line_start(line), self.line_end(line))

    def _chunk_at(self, offset: int) -> int:
        last = len(self._chunks)
        while self._offsets[-1] <= offset and len(self._offsets) <= last:
            self._sum_up()
        return min(bisect_right(self._offsets, offset) - 1, last - 1)


def _pieces(text: str) -> Iterator[str]:
    """Cut `text` into pieces of about a chunk's size; an empty text gives one empty piece."""
    start = 0
    while len(text) - start > 2 * _CHUNK:
        end = start + _CHUNK
        if text[end - 1] == "\r" and text[end] == "\n":
            end += 1
        yield text[start:end]
        start = end
    yield text[start:]
