"""The layout of a text: characters to cells and lines to rows at some width, computed only where it is shown.

A place in the view is an offset in the text, never a number of rows, so opening and scrolling cost what is on the
screen, however long the text and its lines are.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from rich.cells import get_character_cell_size, split_graphemes

# Longer lines are folded into units of this many characters, so that no row costs more than one unit.
FOLD = 2000

_NON_JOINER, _JOINER, _VARIATION = "\u200c", "\u200d", "\ufe0f"
# Invisible characters that belong to the character before them.
_INVISIBLE = (_NON_JOINER, _JOINER, _VARIATION)
_NO_BREAK = "\u00a0\u2007\u202f"
_STAND_IN = "·"


@dataclass(frozen=True, slots=True)
class Cell:
    """A character on the screen (with its combining marks): the text from `start` to `end`, at column `x`."""

    start: int
    end: int
    shown: str
    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a unit, in the unit's offsets; `cells` is None where each character fills one cell."""

    start: int
    end: int
    text: str
    cells: tuple[Cell, ...] | None

    @property
    def width(self) -> int:
        if self.cells is None:
            return len(self.text)
        return self.cells[-1].x + self.cells[-1].width if self.cells else 0

    def x_of(self, offset: int) -> int:
        """The column of the character at `offset`."""
        if self.cells is None:
            return offset - self.start
        return next((cell.x for cell in self.cells if cell.end > offset), self.width)

    def offset_at(self, x: int) -> int:
        """The offset of the character at column `x`; the row's end if there is none."""
        if self.cells is None:
            return min(self.start + max(x, 0), self.end)
        return next((cell.start for cell in self.cells if cell.x + cell.width > x), self.end)

    def each_cell(self) -> Iterator[Cell]:
        if self.cells is not None:
            yield from self.cells
            return
        for x, character in enumerate(self.text):
            yield Cell(self.start + x, self.start + x + 1, character, x, 1)

    @property
    def shown(self) -> str:
        """The row as printed."""
        return self.text if self.cells is None else "".join([cell.shown for cell in self.cells])


@lru_cache(maxsize=4096)
def wrap(text: str, width: int | None, tab: int) -> tuple[Row, ...]:
    """The rows of a unit in `width` cells, or one row if that is None; words are kept whole if they fit.

    A space may extend one cell beyond the width, where the cursor after the last word needs a place anyway.
    """
    if text.isascii() and text.isprintable():
        return _wrap_plain(text, width)
    return _wrap_cells(text, _cells(text, tab), width, tab)


def _wrap_plain(text: str, width: int | None) -> tuple[Row, ...]:
    rows = []
    start = 0
    while width is not None and len(text) - start > width:
        space = text.rfind(" ", start, start + width + 1)
        end = space + 1 if space >= start else start + width
        if end == len(text):
            break
        rows.append(Row(start, end, text[start:end], None))
        start = end
    rows.append(Row(start, len(text), text[start:], None))
    return tuple(rows)


def _wrap_cells(text: str, cells: list[Cell], width: int | None, tab: int) -> tuple[Row, ...]:
    rows = []
    first = 0
    while True:
        cut = len(cells) if width is None else _fitting(text, cells, first, width, tab)
        rows.append(_row(text, cells[first:cut], tab))
        if cut == len(cells):
            return tuple(rows)
        first = cut


def _fitting(text: str, cells: list[Cell], first: int, width: int, tab: int) -> int:
    """The index of the first cell that goes to the next row."""
    good = first
    x = 0
    for index in range(first, len(cells)):
        cell = cells[index]
        blank = cell.shown.isspace() and text[cell.start] not in _NO_BREAK
        size = tab - x % tab if text[cell.start] == "\t" else cell.width
        if x + (0 if blank else size) > width:
            return good if good > first else max(index, first + 1)
        x += size
        # A row may break behind a blank and around a wide character.
        wide_next = index + 1 < len(cells) and cells[index + 1].width == 2
        if blank or cell.width == 2 or wide_next:
            good = index + 1
    return len(cells)


def _row(text: str, cells: list[Cell], tab: int) -> Row:
    start, end = (cells[0].start, cells[-1].end) if cells else (len(text), len(text))
    placed = []
    x = 0
    for cell in cells:
        shown, width = cell.shown, cell.width
        if text[cell.start] == "\t":
            width = tab - x % tab
            shown = " " * width
        placed.append(Cell(cell.start, cell.end, shown, x, width))
        x += width
    return Row(start, end, text[start:end], tuple(placed))


def _cells(text: str, tab: int) -> list[Cell]:
    """The cells of a whole unit in one long row."""
    harmless = _with_letters_apart("".join([_shown_as(char) for char in text]))
    cells = []
    x = 0
    for start, end, measured in split_graphemes(harmless)[0]:
        shown, width = harmless[start:end], measured
        if text[start] == "\t":
            # Joiners after a tab are kept with it and not shown.
            width = tab - x % tab
            shown = " " * width
        elif width == 0:
            shown, width = f"◌{shown}", 1
        cells.append(Cell(start, end, shown, x, width))
        x += width
    return cells


def _shown_as(character: str) -> str:
    """A printable form of a character: a space as spaces of its width, and an unprintable one as a dot."""
    if character.isprintable() or character in _INVISIBLE:
        return character
    if unicodedata.category(character) == "Zs":
        return character if get_character_cell_size(character) > 1 else " "
    return _STAND_IN


def _with_letters_apart(text: str) -> str:
    """A text of the same length in which joiners join only pictures; terminals draw joined letters in cells of their
    own.
    """
    if _JOINER not in text:
        return text
    return "".join(
        _NON_JOINER if char == _JOINER and not _is_picture(before) else char for before, char in pairwise(f" {text}")
    )


def _is_picture(character: str) -> bool:
    """Whether a character is a symbol, or a modifier of the symbol before it."""
    return character == _VARIATION or unicodedata.category(character) in ("So", "Sk")


@dataclass(frozen=True, slots=True)
class ScreenRow:
    """A row of the screen: the start of its unit, its index in the unit, and its line."""

    unit: int
    index: int
    row: Row
    line: int
    first_of_line: bool
    last_of_line: bool

    @property
    def start(self) -> int:
        return self.unit + self.row.start

    @property
    def end(self) -> int:
        return self.unit + self.row.end

    def x_of(self, offset: int) -> int:
        return self.row.x_of(offset - self.unit)

    def offset_at(self, x: int) -> int:
        """The offset at column `x`, kept on this row."""
        offset = self.row.offset_at(x)
        if offset == self.row.end and not self.last_of_line and self.row.end > self.row.start:
            cells = self.row.cells
            offset = cells[-1].start if cells else self.row.end - 1
        return self.unit + offset


class Lines(Protocol):
    """The interface of a text that can be laid out."""

    @property
    def length(self) -> int: ...
    @property
    def line_count(self) -> int: ...
    def slice(self, start: int, end: int) -> str: ...
    def line_of(self, offset: int) -> int: ...
    def line_start(self, line: int) -> int: ...
    def line_end(self, line: int) -> int: ...


class Layout:
    """The layout of a text at some width."""

    def __init__(self, buffer: Lines, width: int | None, tab: int = 4) -> None:
        self.buffer = buffer
        self.width = width
        self.tab = tab

    def place(self, offset: int) -> ScreenRow:
        """The row that shows `offset`."""
        buffer = self.buffer
        line = buffer.line_of(offset)
        start, end = buffer.line_start(line), buffer.line_end(line)
        # An offset inside a line ending is shown at the line's end.
        inside = min(offset, end) - start
        unit = start + min(inside, max(end - start - 1, 0)) // FOLD * FOLD
        rows = self._rows(unit, end)
        index = bisect_right(rows, min(offset, end) - unit, key=lambda row: row.start) - 1
        return self._make(unit, index, rows, line, start, end)

    def following(self, place: ScreenRow) -> ScreenRow | None:
        """The row below; None at the end."""
        end = self.buffer.line_end(place.line)
        rows = self._rows(place.unit, end)
        start = self.buffer.line_start(place.line)
        if place.index + 1 < len(rows):
            return self._make(place.unit, place.index + 1, rows, place.line, start, end)
        if place.end < end:
            return self.place(place.end)
        if place.line + 1 < self.buffer.line_count:
            return self.place(self.buffer.line_start(place.line + 1))
        return None

    def preceding(self, place: ScreenRow) -> ScreenRow | None:
        """The row above; None at the start."""
        if place.start == 0 and place.first_of_line:
            return None
        if place.first_of_line:
            return self.place(self.buffer.line_end(place.line - 1))
        return self.place(place.start - 1)

    def from_place(self, place: ScreenRow, count: int) -> list[ScreenRow]:
        """Up to `count` rows, beginning with `place`."""
        places: list[ScreenRow] = []
        current: ScreenRow | None = place
        while current is not None and len(places) < count:
            places.append(current)
            current = self.following(current)
        return places

    def moved(self, place: ScreenRow, rows: int) -> ScreenRow:
        """The row `rows` rows below, or above if negative, as far as there are rows."""
        step = self.following if rows > 0 else self.preceding
        for _ in range(abs(rows)):
            other = step(place)
            if other is None:
                break
            place = other
        return place

    def next_character(self, offset: int) -> int:
        """The offset behind the character at `offset`, its combining marks included."""
        place = self.place(offset)
        if offset >= self.buffer.line_end(place.line):
            return min(self.buffer.line_start(place.line + 1), self.buffer.length)
        local = offset - place.unit
        return place.unit + next(cell.end for cell in place.row.each_cell() if cell.end > local)

    def previous_character(self, offset: int) -> int:
        """The offset of the character before `offset`."""
        line = self.buffer.line_of(offset)
        if offset == self.buffer.line_start(line):
            return self.buffer.line_end(line - 1) if line else 0
        place = self.place(offset - 1)
        local = offset - 1 - place.unit
        return place.unit + next(cell.start for cell in place.row.each_cell() if cell.end > local)

    def _rows(self, unit: int, line_end: int) -> tuple[Row, ...]:
        return wrap(self.buffer.slice(unit, min(unit + FOLD, line_end)), self.width, self.tab)

    def _make(self, unit: int, index: int, rows: tuple[Row, ...], line: int, start: int, end: int) -> ScreenRow:
        row = rows[index]
        return ScreenRow(
            unit,
            index,
            row,
            line,
            first_of_line=unit == start and index == 0,
            last_of_line=index == len(rows) - 1 and unit + row.end == end,
        )
