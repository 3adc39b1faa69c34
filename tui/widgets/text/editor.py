"""The widget that shows a sheet and takes keys and mouse: your cursor, and the model's beside it."""

from __future__ import annotations

import asyncio
import re
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker

from tui.commands import TEXT_COMMANDS
from tui.document.disk import plain_newlines
from tui.document.draft import Kind, Selection
from tui.document.searching import Search
from tui.sheet import Sheet
from tui.widgets.text.ghosts import Ghost, Haunted
from tui.widgets.text.highlights import (
    Highlight,
    around_ghosts,
    losses,
    old_texts,
    review_highlights,
    run_highlights,
)
from tui.widgets.text.layout import Layout, Lines, Place
from tui.widgets.text.styles import TextStyles

_WORD_REACH = 4000
_MARGIN = 1
_KEPT_ROWS = 2000
# With one of these a key is a command, also where the terminal sends a character with it.
_MODIFIERS = {"alt", "ctrl", "super", "meta", "hyper"}


class Editor(Widget, can_focus=True):
    """Shows one sheet at a time; what happens to its text is the draft's business."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "editor--gutter",
        "editor--gutter-here",
        "editor--cursor",
        "editor--cursor-resting",
        "editor--selection",
        "editor--match",
        "editor--mistake",
        "editor--region",
        "editor--fresh",
        "editor--model",
        "editor--erased",
        "editor--old",
        "editor--new",
        "editor--old-here",
        "editor--new-here",
        "editor--trail",
        "editor--track",
        "editor--thumb",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        each.binding
        for command in TEXT_COMMANDS
        for each in (command, command.selects)
        if each is not None
    ]

    line_numbers: reactive[bool] = reactive(True)
    word_wrap: reactive[bool] = reactive(True)
    tab_width: reactive[int] = reactive(4)

    @dataclass
    class Changed(Message):
        """The text, the selection or the view is another."""

        editor: Editor

    def __init__(self, sheet: Sheet, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sheet = sheet
        self.search: Search | None = None
        # Read by tests in place of the time.
        self.clock: Callable[[], float] = time.monotonic
        # The moment that is drawn: one for all rows, so that they fit together.
        self._now = 0.0
        self._moment = 0
        self._view = Haunted(sheet.draft.buffer)
        self._changes: list[Highlight] = []
        self._view_for: object = None
        self._goal: int | None = None
        self._rows: list[Place] = []
        self._rows_for: object = None
        self._selecting: Callable[[int], Selection] | None = None
        self._dragging_thumb = False
        # When the size changed last: of which sheet, what had been at the top, and what was put there.
        self._settled: tuple[Sheet | None, int, int] = (None, 0, 0)
        # The dialog that a command of this widget has opened last.
        self._asking: Screen[object] | None = None
        self._matches: list[tuple[int, int]] = []
        self._text_styles: TextStyles | None = None
        # Rows without cursor, selection or run look the same until the theme changes.
        self._plain: dict[object, Strip] = {}

    @property
    def sheet(self) -> Sheet:
        return self._sheet

    def show(self, sheet: Sheet) -> None:
        """Show another sheet, where it was last looked at."""
        self._sheet = sheet
        self._goal = None
        self._changed()

    # Geometry

    @property
    def gutter_width(self) -> int:
        if not self.line_numbers or self.size.width < 30:
            return 0
        return max(3, len(str(self._sheet.draft.buffer.line_count))) + 2

    @property
    def text_width(self) -> int:
        """The cells of a row that text may fill: beside it are numbers, the cursor's cell and the scrollbar."""
        return max(self.size.width - self.gutter_width - 2, 4)

    @property
    def view(self) -> Haunted:
        """The text as it is on the screen, with what is shown and is not there."""
        key = (id(self._sheet), self._sheet.draft.version, self._moment)
        if key != self._view_for:
            ghosts, self._changes = self._ghosts_and_changes()
            self._view = Haunted(self._sheet.draft.buffer, ghosts)
            self._view_for = key
        return self._view

    def _ghosts_and_changes(self) -> tuple[list[Ghost], list[Highlight]]:
        """What is not there any more and can still be seen, and what of a review is there."""
        bare = self.app.no_color
        if review := self._sheet.review:
            return old_texts(review, self.text_styles, bare), review_highlights(
                review, self.text_styles
            )
        run = self._sheet.open_run
        if run is None or not run.erased:
            return [], []
        return losses(run, self.text_styles, self._now, bare), []

    @property
    def layout_now(self) -> Layout:
        return self._layout(self.view)

    def _layout(self, text: Lines) -> Layout:
        width = self.text_width if self.word_wrap else None
        return Layout(text, width, self.tab_width)

    def rows(self) -> list[Place]:
        """The rows on the screen, in the places of the view."""
        sheet, view = self._sheet, self.view
        key = (
            id(sheet),
            sheet.draft.version,
            view.ghosts,
            sheet.top,
            self.size,
            self.word_wrap,
            self.line_numbers,
            self.tab_width,
        )
        if key != self._rows_for:
            layout = self._layout(view)
            first = layout.place(view.shown_before(min(sheet.top, sheet.draft.buffer.length)))
            self._rows = layout.from_place(first, max(self.size.height, 1))
            self._rows_for = key
        return self._rows

    @property
    def cursor_place(self) -> Offset | None:
        """Where the user's cursor is on the widget; None if it is out of sight."""
        offset = self.view.shown(self._sheet.draft.selection.cursor)
        for y, place in enumerate(self.rows()):
            if place.start <= offset <= place.end and (offset < place.end or place.last_of_line):
                return Offset(self.gutter_width + place.x_of(offset) - self._sheet.left, y)
        return None

    def scroll_rows(self, count: int) -> None:
        """Scroll the view, not the cursor; the last row stays on the screen."""
        layout = self.layout_now
        first = layout.moved(self.rows()[0], count)
        self._put_on_top(layout, min(first, self._last_top(layout), key=_start), count)
        self._sheet.follows_model = False
        self._changed()

    def _put_on_top(self, layout: Layout, place: Place, direction: int = -1) -> None:
        """Let a row be the first on the screen, or the next that does not begin inside a ghost."""
        view = self.view
        step = layout.following if direction > 0 else layout.preceding
        while view.in_ghost(place.start) and (other := step(place)) is not None:
            place = other
        self._sheet.top = view.real(place.start)

    def _last_top(self, layout: Layout) -> Place:
        last = layout.place(layout.buffer.length)
        return layout.moved(last, 1 - max(self.size.height, 1))

    def reveal(self, offset: int, *, margin: int = _MARGIN) -> None:
        """Scroll as little as it takes to show `offset`; far away, to the middle."""
        layout, view = self.layout_now, self.view
        height = self.size.height
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
        self.refresh()

    def _rows_between(self, layout: Layout, place: Place, edge: int, direction: int) -> int:
        """How many rows `place` is beyond the edge row; more than a screen counts as far."""
        current: Place | None = layout.place(edge)
        count = 0
        while current is not None and count <= self.size.height and current.start != place.start:
            current = layout.following(current) if direction > 0 else layout.preceding(current)
            count += 1
        return direction * (count if current is not None else self.size.height + 1)

    def _reveal_column(self, place: Place, offset: int) -> None:
        sheet = self._sheet
        if self.word_wrap:
            sheet.left = 0
            return
        x = place.x_of(offset)
        if x < sheet.left:
            sheet.left = max(0, x - 8)
        elif x >= sheet.left + self.text_width:
            sheet.left = x - self.text_width + 8

    # Drawing

    @property
    def text_styles(self) -> TextStyles:
        if self._text_styles is None:
            self._text_styles = TextStyles.of(self)
        return self._text_styles

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._text_styles = None
        self._view_for = None
        self._plain.clear()

    def render_line(self, y: int) -> Strip:
        rows = self.rows()
        styles, width = self.text_styles, self.size.width
        if y >= len(rows):
            blank = Strip.blank(width - 1, styles.base)
            return Strip([*blank, self._scrollbar(y, rows)])
        place = rows[y]
        gutter, bar, highlights = (
            self._gutter(place),
            self._scrollbar(y, rows),
            self._highlights(place),
        )
        if highlights:
            return self._assemble(gutter, self._painted(place, highlights), bar)
        key = (gutter, place.row.text, self._sheet.left, bar, width)
        if (strip := self._plain.get(key)) is None:
            if len(self._plain) >= _KEPT_ROWS:
                self._plain.clear()
            body = [Segment(place.row.shown, styles.base)]
            strip = self._plain[key] = self._assemble(gutter, body, bar)
        return strip

    def _assemble(self, gutter: Segment, body: list[Segment], bar: Segment) -> Strip:
        left, room = self._sheet.left, self.size.width - self.gutter_width - 1
        visible = (
            Strip(body).crop(left, left + room).adjust_cell_length(room, self.text_styles.base)
        )
        return Strip([gutter, *visible, bar])

    def _gutter(self, place: Place) -> Segment:
        width = self.gutter_width
        if not width:
            return Segment("")
        here = self._sheet.draft.buffer.line_of(self._sheet.draft.selection.cursor) == place.line
        number = str(place.line + 1) if place.first_of_line else ""
        style = self.text_styles.gutter_here if here else self.text_styles.gutter
        return Segment(f"{number:>{width - 2}}  ", style)

    def _painted(self, place: Place, highlights: list[Highlight]) -> list[Segment]:
        """A row with highlights on it."""
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
        style = self.text_styles.base
        for first, last, highlight in highlights:
            if first < end and last > start:
                style += highlight
        return style

    def _highlights(self, place: Place) -> list[Highlight]:
        """What is painted on a row, the lowest highlight first; a line's ending is one character wide."""
        styles, sheet, view = self.text_styles, self._sheet, self.view
        selection = sheet.draft.selection
        start, end = place.start, place.end + place.last_of_line
        low, high = view.real(start), view.real(place.end) + 1
        highlights: list[Highlight] = [
            (first, last, styles.mistake) for first, last in sheet.mistakes.spans_between(low, high)
        ]
        highlights += [(first, last, styles.match) for first, last in self._matches]
        if self._changes:
            highlights += [
                highlight
                for highlight in self._changes
                if highlight[0] < high and highlight[1] > low
            ]
        elif sheet.review is None and (run := sheet.open_run):
            highlights += run_highlights(run, styles, self._now, low, high)
        if not selection.empty:
            highlights.append((selection.start, selection.end, styles.selection))
        mine = styles.cursor if self.has_focus else styles.resting
        highlights.append((selection.cursor, selection.cursor + 1, mine))
        if view.ghosts:
            here = [
                highlight for highlight in highlights if highlight[0] < high and highlight[1] > low
            ]
            highlights = [piece for highlight in here for piece in around_ghosts(view, highlight)]
            highlights += [
                (first, last, ghost.style) for first, last, ghost in view.spans(start, end)
            ]
        return [
            highlight for highlight in highlights if highlight[0] < end and highlight[1] > start
        ]

    def _scrollbar(self, y: int, rows: list[Place]) -> Segment:
        length, height = self.view.length, self.size.height
        if rows[0].start == 0 and rows[-1].end == length:
            return Segment(" ", self.text_styles.base)
        shown = max(1, rows[-1].end - rows[0].start)
        size = min(height, max(1, round(height * shown / max(length, 1))))
        room = max(1, length - shown)
        top = round((height - size) * min(1.0, rows[0].start / room))
        on_thumb = top <= y < top + size
        return (
            Segment("▐", self.text_styles.thumb)
            if on_thumb
            else Segment(" ", self.text_styles.track)
        )

    def screen_text(self) -> list[str]:
        """The text of each row on the screen, as printed, for those who compare."""
        return [place.row.shown for place in self.rows()]

    # Changes

    def _changed(self) -> None:
        self._pass_time()
        self._find_matches()
        self.refresh()
        if self.has_focus and (place := self.cursor_place) is not None:
            # Input methods open their window where the terminal's own cursor is.
            self.app.cursor_position = self.content_region.offset + place
        self.post_message(self.Changed(self))

    def _find_matches(self) -> None:
        self._matches = []
        if self.search is None or not self.size.height:
            return
        rows, view = self.rows(), self.view
        start = max(0, view.real(rows[0].start) - _WORD_REACH)
        text = self._sheet.draft.buffer.slice(start, view.real(rows[-1].end) + _WORD_REACH)
        self._matches = [(start + a, start + b) for a, b in self.search.matches_in(text)]

    def look_again(self) -> None:
        """The text was changed by other hands: the model's, or the disk's."""
        self._pass_time()
        self._follow_model()
        self._changed()

    def _follow_model(self) -> bool:
        """Show the model's cursor, or the change that is decided on; False if the user looks elsewhere."""
        run, review = self._sheet.open_run, self._sheet.review
        if not self._sheet.follows_model or (run is None and review is None):
            return False
        if review is not None:
            self.reveal(review.current.patch.end)
            self.reveal(review.current.patch.start)
        elif run is not None:
            self.reveal(run.region.start + max(run.current.cursor, 0), margin=2)
        return True

    def fade(self) -> None:
        """Draw what fades as it looks now."""
        self._pass_time()
        self.refresh()

    def _pass_time(self) -> None:
        self._now = self.clock()
        self._moment += 1

    def on_resize(self, event: events.Resize) -> None:
        self._settle_top()
        self._changed()

    def watch_line_numbers(self) -> None:
        self._settle_top()

    def watch_word_wrap(self) -> None:
        self._settle_top()

    def _settle_top(self) -> None:
        """Rows begin elsewhere now; keep what was at the top there, and on the screen what is followed.

        What had to leave a small screen comes back with a large one, if nobody has scrolled since.
        """
        sheet = self._sheet
        if not self.size.height:
            return
        known, wanted, made = self._settled
        wanted = wanted if known is sheet and made == sheet.top else sheet.top
        layout = self.layout_now
        place = layout.place(self.view.shown_before(min(wanted, sheet.draft.buffer.length)))
        self._put_on_top(layout, min(place, self._last_top(layout), key=_start))
        if not self._follow_model():
            self.reveal(sheet.draft.selection.cursor)
        self._settled = sheet, wanted, sheet.top

    def on_focus(self) -> None:
        self._changed()

    def on_blur(self) -> None:
        self.refresh()

    def select(self, selection: Selection, *, keep_goal: bool = False) -> None:
        """Move the cursor and show it."""
        self._sheet.draft.select(selection)
        self._after_own(keep_goal=keep_goal)

    def type(self, text: str, kind: Kind = "other") -> None:
        """Put text in the place of the selection."""
        draft = self._sheet.draft
        draft.edit(draft.selection.start, draft.selection.end, text, kind)
        self._after_own()

    def _after_own(self, *, keep_goal: bool = False) -> None:
        if not keep_goal:
            self._goal = None
        self._sheet.follows_model = False
        self.reveal(self._sheet.draft.selection.cursor)
        self._changed()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    # Keys

    async def on_key(self, event: events.Key) -> None:
        """Type, or carry out what the key is bound to.

        Both happen here, so that keys that come faster than they are handled keep their order. A key that
        means nothing now ends here too: further on it could meet what the keys behind it have begun.
        """
        asking = self._asking is not None and self.app.screen is self._asking
        if asking or isinstance(self.app.focused, Input):
            # A key before this one has opened a field or a dialog, and this one is meant for that.
            event.stop()
            await self.app.on_event(events.Key(event.key, event.character))
            return
        text = {"enter": "\n", "tab": "\t"}.get(event.key)
        if text is None and event.is_printable and not _MODIFIERS & set(event.key.split("+")):
            text = event.character
        bound = None if text is not None else self.screen.active_bindings.get(event.key)
        event.stop()
        event.prevent_default()
        if text is not None:
            self.type(text, "typing" if self._sheet.draft.selection.empty else "other")
        elif bound is not None and bound.enabled:
            working = set(self.app.workers)
            await self.app.run_action(bound.binding.action, bound.node)
            await self._let_begin([w for w in self.app.workers if w not in working])

    async def _let_begin(self, commands: list[Worker[object]]) -> None:
        """Wait until commands that have begun are done or have asked what they want to know.

        An app that ends waits for this widget, and its commands go on until then: it must not wait for them.
        """
        while self.app.is_running and not all(command.is_finished for command in commands):
            if self.app.focused not in (self, None):
                self._asking = self.app.screen if self.app.screen is not self.screen else None
                return
            await asyncio.sleep(0)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if text := plain_newlines(event.text):
            self.type(text)

    def action_move(self, where: str, selecting: bool = False) -> None:
        """Move the cursor; with `selecting`, the selection goes along."""
        selection = self._sheet.draft.selection
        vertical = where in ("up", "down", "page_up", "page_down")
        if not selecting and not selection.empty and where in ("left", "right"):
            # The arrows leave a selection at the side they point to.
            self.select(Selection.at(selection.start if where == "left" else selection.end))
            return
        target = self._vertical(where) if vertical else self._target(where, selection.cursor)
        anchor = selection.anchor if selecting else target
        self.select(Selection(anchor, target), keep_goal=vertical)

    def _target(self, where: str, cursor: int) -> int:
        """Where a movement along the text leads."""
        buffer = self._sheet.draft.buffer
        layout = self._layout(buffer)
        ways: dict[str, Callable[[], int]] = {
            "left": lambda: layout.previous_character(cursor),
            "right": lambda: layout.next_character(cursor),
            "word_left": lambda: self._word_left(cursor),
            "word_right": lambda: self._word_right(cursor),
            "row_start": lambda: self._row_start(cursor),
            "row_end": lambda: self._row_end(cursor),
            "start": lambda: 0,
            "end": lambda: buffer.length,
        }
        return ways[where]()

    def _word_left(self, cursor: int) -> int:
        before = self._sheet.draft.buffer.slice(cursor - _WORD_REACH, cursor)
        found = re.search(r"\w+\W*\Z", before)
        return cursor - (len(before) - found.start() if found else len(before))

    def _word_right(self, cursor: int) -> int:
        after = self._sheet.draft.buffer.slice(cursor, cursor + _WORD_REACH)
        found = re.match(r"\W*\w+", after)
        return cursor + (found.end() if found else len(after))

    def _row_end(self, cursor: int) -> int:
        """The row's end; from there the line's."""
        view = self.view
        place = self._layout(view).place(view.shown(cursor))
        end = view.real(place.offset_at(1 << 30))
        return self._sheet.draft.buffer.line_end(place.line) if cursor == end else end

    def _row_start(self, cursor: int) -> int:
        """The row's start; from there the line's; from its first word and back, where it is indented."""
        view = self.view
        place = self._layout(view).place(view.shown(cursor))
        start = view.real(place.start)
        if cursor != start and not place.first_of_line:
            return start
        line_start = self._sheet.draft.buffer.line_start(place.line)
        line = self._sheet.draft.buffer.slice(line_start, line_start + 200)
        first_word = line_start + len(line) - len(line.lstrip(" \t"))
        first_word = min(first_word, self._sheet.draft.buffer.line_end(place.line))
        return line_start if cursor == first_word else first_word

    def _vertical(self, where: str) -> int:
        layout, view = self.layout_now, self.view
        cursor = view.shown(self._sheet.draft.selection.cursor)
        place = layout.place(cursor)
        if self._goal is None:
            self._goal = place.x_of(cursor)
        page = max(self.size.height - 2, 1)
        rows = {"up": -1, "down": 1, "page_up": -page, "page_down": page}[where]
        other = layout.moved(place, rows)
        # A row that is all ghost leads back to where the cursor is.
        while view.shown(view.real(other.offset_at(self._goal))) == cursor:
            further = layout.moved(other, -1 if rows < 0 else 1)
            if further.start == other.start:
                return 0 if rows < 0 else self._sheet.draft.buffer.length
            other = further
        return view.real(other.offset_at(self._goal))

    def action_erase(self, where: str) -> None:
        draft = self._sheet.draft
        selection = draft.selection
        if not selection.empty:
            self.type("")
            return
        cursor = selection.cursor
        if where == "left":
            # Backspace takes the last mark of a combined character, not the whole of it.
            target = cursor - 1 if self._ends_with_mark(cursor) else self._target(where, cursor)
        else:
            target = self._target(where, cursor)
        start, end = min(cursor, target), max(cursor, target)
        if start == end:
            return
        kinds: dict[str, Kind] = {"left": "erasing", "right": "deleting"}
        draft.edit(start, end, "", kinds.get(where, "other"))
        self._after_own()

    def _ends_with_mark(self, cursor: int) -> bool:
        before = self._sheet.draft.buffer.slice(cursor - 1, cursor)
        return bool(before) and unicodedata.combining(before) > 0

    def action_select_all(self) -> None:
        self.select(Selection(0, self._sheet.draft.buffer.length))

    def action_copy(self) -> None:
        selection = self._sheet.draft.selection
        if not selection.empty:
            text = self._sheet.draft.buffer.slice(selection.start, selection.end)
            self.app.copy_to_clipboard(text)

    def action_cut(self) -> None:
        if not self._sheet.draft.selection.empty:
            self.action_copy()
            self.type("")

    def action_paste(self) -> None:
        if text := plain_newlines(self.app.clipboard):
            self.type(text)

    def action_undo(self) -> None:
        if not self._sheet.draft.undo():
            self.app.bell()
        self._after_own()

    def action_redo(self) -> None:
        if not self._sheet.draft.redo():
            self.app.bell()
        self._after_own()

    # Mouse

    def _offset_under(self, event: events.MouseEvent) -> int:
        rows, view = self.rows(), self.view
        place = rows[max(0, min(event.y, len(rows) - 1))]
        if event.y >= len(rows):
            return view.real(place.end)
        return view.real(place.offset_at(event.x - self.gutter_width + self._sheet.left))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.screen.set_focus(self)
        self.capture_mouse()
        if event.x >= self.size.width - 1:
            self._dragging_thumb = True
            self._scroll_to_share(event.y)
            return
        offset = self._offset_under(event)
        anchor = self._sheet.draft.selection.anchor if event.shift else offset
        self._selecting = lambda place: Selection(anchor, place)
        self.select(Selection(anchor, offset))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging_thumb:
            self._scroll_to_share(event.y)
        elif self._selecting is not None:
            if event.y < 0 or event.y >= self.size.height:
                self.scroll_rows(-1 if event.y < 0 else 1)
            self.select(self._selecting(self._offset_under(event)))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._selecting = None
        self._dragging_thumb = False
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """A second click selects the word, a third one the line."""
        if event.chain < 2 or event.x >= self.size.width - 1:
            return
        buffer, offset = self._sheet.draft.buffer, self._offset_under(event)
        line = buffer.line_of(offset)
        start, end = buffer.line_start(line), buffer.line_start(line + 1)
        if event.chain == 2:
            text = buffer.slice(max(start, offset - _WORD_REACH), offset)
            before = re.search(r"\w*\Z", text)
            after = re.match(r"\w*", buffer.slice(offset, min(end, offset + _WORD_REACH)))
            start = offset - len(before.group() if before else "")
            end = offset + len(after.group() if after else "")
        self.select(Selection(start, end))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-3)

    def _scroll_to_share(self, y: int) -> None:
        layout = self.layout_now
        share = max(0.0, min(1.0, y / max(self.size.height - 1, 1)))
        wanted = layout.place(int(share * layout.buffer.length))
        self._put_on_top(layout, min(wanted, self._last_top(layout), key=_start))
        self._sheet.follows_model = False
        self._changed()


def _start(place: Place) -> int:
    return place.start
