"""The cursor's movements by characters, words, rows and pages, and the selections of double clicks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from reviser.core.buffer import Buffer
from reviser.editor.edited_text import Selection
from tui.widgets.text.viewport import Viewport

# The farthest distance, in characters, at which a word's end or a search result is looked for.
REACH = 4000
_INDENTED = 200
# Marks that belong to the character before them and are erased before it.
_JOINERS = "\u200c\u200d"
_VERTICAL = ("up", "down", "page_up", "page_down")


class Movements:
    """The targets of cursor movements in a viewport."""

    def __init__(self, viewport: Viewport) -> None:
        self._viewport = viewport
        # The column that moving up and down keeps to, also across shorter rows.
        self._goal: int | None = None

    @property
    def _buffer(self) -> Buffer:
        return self._viewport.sheet.draft.buffer

    def forget_goal(self) -> None:
        """Let the next movement up or down start from the cursor's own column."""
        self._goal = None

    @staticmethod
    def keeps_goal(where: str) -> bool:
        """Whether a movement leads up or down."""
        return where in _VERTICAL

    def target(self, where: str, cursor: int) -> int:
        """The offset to which a movement leads from the cursor."""
        if where in _VERTICAL:
            return self._vertical(where, cursor)
        layout = self._viewport.layout_of(self._buffer)
        ways: dict[str, Callable[[], int]] = {
            "left": lambda: layout.previous_character(cursor),
            "right": lambda: layout.next_character(cursor),
            "word_left": lambda: self._word_left(cursor),
            "word_right": lambda: self._word_right(cursor),
            "row_start": lambda: self._row_start(cursor),
            "row_end": lambda: self._row_end(cursor),
            "start": lambda: 0,
            "end": lambda: self._buffer.length,
        }
        return ways[where]()

    def erasing_target(self, where: str, cursor: int) -> int:
        """The offset up to which a key erases: Backspace removes the last mark of a combined character alone."""
        before = self._buffer.slice(cursor - 1, cursor)
        if where == "left" and before and (unicodedata.combining(before) or before in _JOINERS):
            return cursor - 1
        return self.target(where, cursor)

    def _word_left(self, cursor: int) -> int:
        before = self._buffer.slice(cursor - REACH, cursor)
        found = re.search(r"\w+\W*\Z", before)
        return cursor - (len(before) - found.start() if found else len(before))

    def _word_right(self, cursor: int) -> int:
        after = self._buffer.slice(cursor, cursor + REACH)
        found = re.match(r"\W*\w+", after)
        return cursor + (found.end() if found else len(after))

    def _row_end(self, cursor: int) -> int:
        """The row's end; if the cursor is there, the line's."""
        view = self._viewport.view
        place = self._viewport.layout.place(view.shown(cursor))
        end = view.real(place.offset_at(1 << 30))
        return self._buffer.line_end(place.line) if cursor == end else end

    def _row_start(self, cursor: int) -> int:
        """The row's start; from there the line's; in an indented line, its first word and its start in turn."""
        view = self._viewport.view
        place = self._viewport.layout.place(view.shown(cursor))
        start = view.real(place.start)
        if cursor != start and not place.first_of_line:
            return start
        line_start = self._buffer.line_start(place.line)
        line = self._buffer.slice(line_start, line_start + _INDENTED)
        first_word = line_start + len(line) - len(line.lstrip(" \t"))
        first_word = min(first_word, self._buffer.line_end(place.line))
        return line_start if cursor == first_word else first_word

    def _vertical(self, where: str, cursor: int) -> int:
        layout, view = self._viewport.layout, self._viewport.view
        cursor = view.shown(cursor)
        place = layout.place(cursor)
        if self._goal is None:
            self._goal = place.x_of(cursor)
        page = max(self._viewport.height - 2, 1)
        rows = {"up": -1, "down": 1, "page_up": -page, "page_down": page}[where]
        other = layout.moved(place, rows)
        # A row that is all ghost leads back to where the cursor is.
        while view.shown(view.real(other.offset_at(self._goal))) == cursor:
            further = layout.moved(other, -1 if rows < 0 else 1)
            if further.start == other.start:
                return 0 if rows < 0 else self._buffer.length
            other = further
        return view.real(other.offset_at(self._goal))

    def line_at(self, offset: int) -> Selection:
        """The line around a place, with its ending."""
        line = self._buffer.line_of(offset)
        return Selection(self._buffer.line_start(line), self._buffer.line_start(line + 1))

    def word_at(self, offset: int) -> Selection:
        """The word around a place; an empty selection between words."""
        line = self.line_at(offset)
        text = self._buffer.slice(max(line.start, offset - REACH), offset)
        before = re.search(r"\w*\Z", text)
        after = re.match(r"\w*", self._buffer.slice(offset, min(line.end, offset + REACH)))
        start = offset - len(before.group() if before else "")
        return Selection(start, offset + len(after.group() if after else ""))
