"""The drawing of a text's rows: line numbers, the text with its highlights, and the scrollbar."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.widgets.text.highlights import Highlight, around_ghosts, run_highlights
from tui.widgets.text.layout import ScreenRow
from tui.widgets.text.styles import TextStyles
from tui.widgets.text.viewport import Viewport

_KEPT_ROWS = 2000


class Painter:
    """The painter of a viewport's rows, in the styles of one theme."""

    def __init__(self, viewport: Viewport, styles: TextStyles) -> None:
        self.styles = styles
        self._viewport = viewport
        # Rows without cursor, selection or run look the same until the theme changes.
        self._plain: dict[object, Strip] = {}

    def line(self, y: int, now: float, matches: Sequence[tuple[int, int]], *, focused: bool) -> Strip:
        """Row `y` of the widget at the time `now`; `matches` are the matches of a search."""
        rows, width = self._viewport.rows(), self._viewport.width
        bar = self._scrollbar(y, rows)
        if y >= len(rows):
            return Strip([*Strip.blank(width - 1, self.styles.base), bar])
        place = rows[y]
        gutter = self._gutter(place)
        highlights = self._highlights(place, now, matches, focused)
        if highlights:
            return self._assemble(gutter, self._painted(place, highlights), bar)
        key = (gutter, place.row.text, self._viewport.sheet.left, bar, width)
        if (strip := self._plain.get(key)) is None:
            if len(self._plain) >= _KEPT_ROWS:
                self._plain.clear()
            body = [Segment(place.row.shown, self.styles.base)]
            strip = self._plain[key] = self._assemble(gutter, body, bar)
        return strip

    def _assemble(self, gutter: Segment, body: list[Segment], bar: Segment) -> Strip:
        left = self._viewport.sheet.left
        room = self._viewport.width - self._viewport.gutter_width - 1
        visible = Strip(body).crop(left, left + room).adjust_cell_length(room, self.styles.base)
        return Strip([gutter, *visible, bar])

    def _gutter(self, place: ScreenRow) -> Segment:
        width = self._viewport.gutter_width
        if not width:
            return Segment("")
        draft = self._viewport.sheet.draft
        here = draft.buffer.line_of(draft.selection.cursor) == place.line
        number = str(place.line + 1) if place.first_of_line else ""
        style = self.styles.gutter_here if here else self.styles.gutter
        return Segment(f"{number:>{width - 2}}  ", style)

    def _painted(self, place: ScreenRow, highlights: list[Highlight]) -> list[Segment]:
        """The segments of a row with highlights."""
        row, unit = place.row, place.unit
        segments = []
        if row.cells is None:
            edges = {place.start, place.end}
            for start, end, _ in highlights:
                edges |= {start, end}
            cuts = sorted(edge for edge in edges if place.start <= edge <= place.end)
            for start, end in pairwise(cuts):
                text = row.text[start - place.start : end - place.start]
                segments.append(Segment(text, self._highlighted(highlights, start, end)))
        else:
            for cell in row.cells:
                style = self._highlighted(highlights, unit + cell.start, unit + cell.end)
                segments.append(Segment(cell.shown, style))
        if place.last_of_line:
            segments.append(Segment(" ", self._highlighted(highlights, place.end, place.end + 1)))
        return segments

    def _highlighted(self, highlights: list[Highlight], start: int, end: int) -> Style:
        style = self.styles.base
        for first, last, highlight in highlights:
            if first < end and last > start:
                style += highlight
        return style

    def _highlights(
        self, place: ScreenRow, now: float, matches: Sequence[tuple[int, int]], focused: bool
    ) -> list[Highlight]:
        """The highlights of a row, the lowest first; a line ending counts as one character wide."""
        styles, sheet, view = self.styles, self._viewport.sheet, self._viewport.view
        selection, changes = sheet.draft.selection, self._viewport.changes
        start, end = place.start, place.end + place.last_of_line
        low, high = view.real(start), view.real(place.end) + 1
        highlights: list[Highlight] = [
            (first, last, styles.mistake) for first, last in sheet.mistakes.spans_between(low, high)
        ]
        highlights += [(first, last, styles.match) for first, last in matches]
        if changes:
            highlights += _meeting(changes, low, high)
        elif sheet.review is None and (run := sheet.open_run):
            highlights += run_highlights(run, styles, now, low, high)
        if not selection.empty:
            highlights.append((selection.start, selection.end, styles.selection))
        mine = styles.cursor if focused else styles.resting
        highlights.append((selection.cursor, selection.cursor + 1, mine))
        if view.ghosts:
            here = _meeting(highlights, low, high)
            highlights = [piece for highlight in here for piece in around_ghosts(view, highlight)]
            highlights += [
                (first + ghost.lead, last - ghost.bare, ghost.style) for first, last, ghost in view.spans(start, end)
            ]
        return _meeting(highlights, start, end)

    def _scrollbar(self, y: int, rows: list[ScreenRow]) -> Segment:
        length, height = self._viewport.view.length, self._viewport.height
        if rows[0].start == 0 and rows[-1].end == length:
            return Segment(" ", self.styles.base)
        shown = max(1, rows[-1].end - rows[0].start)
        size = min(height, max(1, round(height * shown / max(length, 1))))
        room = max(1, length - shown)
        top = round((height - size) * min(1.0, rows[0].start / room))
        if top <= y < top + size:
            return Segment("▐", self.styles.thumb)
        return Segment(" ", self.styles.track)


def _meeting(highlights: Sequence[Highlight], start: int, end: int) -> list[Highlight]:
    """The highlights that overlap a part of the text."""
    return [highlight for highlight in highlights if highlight[0] < end and highlight[1] > start]
