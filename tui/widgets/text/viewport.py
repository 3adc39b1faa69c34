"""The part of a sheet that is on the screen: its rows, the place of the cursor, and scrolling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.geometry import Offset, Size

from tui.sheet import Sheet
from tui.widgets.text.ghost_text import GhostBuffer
from tui.widgets.text.highlights import Highlight, Overlay
from tui.widgets.text.layout import Layout, Lines, ScreenRow

_MARGIN = 1
# Narrower widgets show no line numbers.
_ROOM_FOR_NUMBERS = 30


@dataclass(frozen=True, slots=True)
class Shape:
    """The size and layout options of a text on the screen."""

    size: Size
    line_numbers: bool
    word_wrap: bool
    tab_width: int


class Viewport:
    """The rows of a sheet that are shown. The sheet itself holds the scroll position."""

    def __init__(self, sheet: Sheet, shape: Callable[[], Shape], overlay: Callable[[Sheet], Overlay]) -> None:
        """`shape` and `overlay` are called for each frame: the size may change, and the overlay fades."""
        self.sheet = sheet
        self._shape = shape
        self._read_overlay = overlay
        self._overlay = Overlay()
        self._view = GhostBuffer(sheet.draft.buffer)
        self._view_for: object = None
        self._rows: list[ScreenRow] = []
        self._rows_for: object = None
        # At the last change of size: the sheet, the offset that had been at the top, and the one that was put there.
        self._settled: tuple[Sheet | None, int, int] = (None, 0, 0)

    # Geometry

    @property
    def width(self) -> int:
        return self._shape().size.width

    @property
    def height(self) -> int:
        return self._shape().size.height

    @property
    def gutter_width(self) -> int:
        if not self._shape().line_numbers or self.width < _ROOM_FOR_NUMBERS:
            return 0
        return max(3, len(str(self.sheet.draft.buffer.line_count))) + 2

    @property
    def text_width(self) -> int:
        """The cells of a row for text, without line numbers, the cursor's cell and the scrollbar."""
        return max(self.width - self.gutter_width - 2, 4)

    @property
    def view(self) -> GhostBuffer:
        """The text as on the screen, with ghost text."""
        self._read()
        return self._view

    @property
    def changes(self) -> Sequence[Highlight]:
        """The highlights of the changes under review."""
        self._read()
        return self._overlay.changes

    def _read(self) -> None:
        key = (id(self.sheet), self.sheet.draft.version)
        if key != self._view_for:
            self._overlay = self._read_overlay(self.sheet)
            self._view = GhostBuffer(self.sheet.draft.buffer, self._overlay.ghosts)
            self._view_for = key

    def read_again(self) -> None:
        """Compute the overlay again, because time has passed."""
        self._view_for = None

    @property
    def layout(self) -> Layout:
        """The layout of the view."""
        return self.layout_of(self.view)

    def layout_of(self, text: Lines) -> Layout:
        """The layout of another text at the same width."""
        shape = self._shape()
        return Layout(text, self.text_width if shape.word_wrap else None, shape.tab_width)

    def rows(self) -> list[ScreenRow]:
        """The rows on the screen, in offsets of the view."""
        sheet, view = self.sheet, self.view
        key = (id(sheet), sheet.draft.version, view.ghosts, sheet.top, self._shape())
        if key != self._rows_for:
            layout = self.layout
            first = layout.place(view.shown_before(min(sheet.top, sheet.draft.buffer.length)))
            self._rows = layout.from_place(first, max(self.height, 1))
            self._rows_for = key
        return self._rows

    @property
    def shown(self) -> tuple[int, int]:
        """The first and last offset of the text on the screen."""
        rows = self.rows()
        return self.view.real(rows[0].start), self.view.real(rows[-1].end)

    def screen_text(self) -> list[str]:
        """The text of each row on the screen, as printed, for tests."""
        return [place.row.shown for place in self.rows()]

    @property
    def cursor_place(self) -> Offset | None:
        """The position of the user's cursor on the widget; None if it is not on the screen."""
        offset = self.view.shown(self.sheet.draft.selection.cursor)
        for y, place in enumerate(self.rows()):
            if place.start <= offset <= place.end and (offset < place.end or place.last_of_line):
                return Offset(self.gutter_width + place.x_of(offset) - self.sheet.left, y)
        return None

    def offset_at(self, x: int, y: int) -> int:
        """The offset of the character at a position of the widget."""
        rows, view = self.rows(), self.view
        place = rows[max(0, min(y, len(rows) - 1))]
        if y >= len(rows):
            return view.real(place.end)
        return view.real(place.offset_at(x - self.gutter_width + self.sheet.left))

    # Scrolling

    def scroll_rows(self, count: int) -> None:
        """Scroll the view, not the cursor; the last row stays on the screen."""
        layout = self.layout
        first = layout.moved(self.rows()[0], count)
        self._put_on_top(layout, min(first, self._last_top(layout), key=_start), count)
        self.sheet.follows_model = False

    def scroll_to_share(self, share: float) -> None:
        """Scroll to a fraction of the text, from 0 to 1."""
        layout = self.layout
        wanted = layout.place(int(share * layout.buffer.length))
        self._put_on_top(layout, min(wanted, self._last_top(layout), key=_start))
        self.sheet.follows_model = False

    def _put_on_top(self, layout: Layout, place: ScreenRow, direction: int = -1) -> None:
        """Make a row the first on the screen, or the next one that does not begin inside a ghost."""
        view = self.view
        step = layout.following if direction > 0 else layout.preceding
        while view.in_ghost(place.start) and (other := step(place)) is not None:
            place = other
        self.sheet.top = view.real(place.start)

    def _last_top(self, layout: Layout) -> ScreenRow:
        last = layout.place(layout.buffer.length)
        return layout.moved(last, 1 - max(self.height, 1))

    def reveal(self, offset: int, *, margin: int = _MARGIN) -> None:
        """Scroll as little as necessary to show `offset`; if it is far away, to the middle."""
        layout, view = self.layout, self.view
        height = self.height
        if height <= 0:
            return
        margin = min(margin, (height - 1) // 2)
        place = layout.place(view.shown(offset))
        self._reveal_column(place, view.shown(offset))
        rows = self.rows()
        starts = [row.start for row in rows]
        if place.start in starts:
            y = starts.index(place.start)
            room_below = layout.following(place) is not None
            shift = min(y - margin, 0) or max(y - (height - 1 - margin * room_below), 0)
        elif place.start < starts[0]:
            shift = self._rows_between(layout, place, starts[0], -1) - margin
        else:
            shift = self._rows_between(layout, place, starts[-1], 1) + margin
        if abs(shift) > height:
            self._put_on_top(layout, layout.moved(place, -(height // 2)))
        elif shift:
            self._put_on_top(layout, layout.moved(rows[0], shift), shift)

    def _rows_between(self, layout: Layout, place: ScreenRow, edge: int, direction: int) -> int:
        """The number of rows that `place` is beyond the edge row; more than a screen counts as far."""
        current: ScreenRow | None = layout.place(edge)
        count = 0
        while current is not None and count <= self.height and current.start != place.start:
            current = layout.following(current) if direction > 0 else layout.preceding(current)
            count += 1
        return direction * (count if current is not None else self.height + 1)

    def _reveal_column(self, place: ScreenRow, offset: int) -> None:
        sheet = self.sheet
        if self._shape().word_wrap:
            sheet.left = 0
            return
        x = place.x_of(offset)
        if x < sheet.left:
            sheet.left = max(0, x - 8)
        elif x >= sheet.left + self.text_width:
            sheet.left = x - self.text_width + 8

    def follow_model(self) -> bool:
        """Show the model's cursor, or the current change of a review; False if the user has scrolled away."""
        run, review = self.sheet.open_run, self.sheet.review
        if not self.sheet.follows_model or (run is None and review is None):
            return False
        if review is not None:
            self.reveal(review.current.patch.end)
            self.reveal(review.current.patch.start)
        elif run is not None:
            self.reveal(run.region.start + max(run.current.cursor, 0), margin=2)
        return True

    def settle_top(self) -> None:
        """After a change of size, keep the same text at the top, and the followed cursor on the screen.

        What had to leave a small screen returns with a larger one, if the user has not scrolled since.
        """
        sheet = self.sheet
        if not self.height:
            return
        known, wanted, made = self._settled
        wanted = wanted if known is sheet and made == sheet.top else sheet.top
        layout = self.layout
        place = layout.place(self.view.shown_before(min(wanted, sheet.draft.buffer.length)))
        self._put_on_top(layout, min(place, self._last_top(layout), key=_start))
        if not self.follow_model():
            self.reveal(sheet.draft.selection.cursor)
        self._settled = sheet, wanted, sheet.top


def _start(place: ScreenRow) -> int:
    return place.start
