"""The widget that shows a sheet: it draws the text, scrolls it, and follows the model's cursor."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.document.searching import SearchFailed, TextSearch
from tui.sheet import Sheet
from tui.widgets.text.highlights import Overlay
from tui.widgets.text.movements import REACH
from tui.widgets.text.painter import Painter
from tui.widgets.text.styles import TextStyles
from tui.widgets.text.viewport import Shape, Viewport

# Time limit in seconds for marking matches on the screen; matches are not marked if it is exceeded.
_MARKING = 0.2


class TextView(Widget):
    """A view of one sheet at a time: the viewport chooses its rows, and the painter draws them."""

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

    line_numbers: reactive[bool] = reactive(True)
    word_wrap: reactive[bool] = reactive(True)
    tab_width: reactive[int] = reactive(4)

    @dataclass
    class Changed(Message):
        """The text, the selection or the scroll position has changed."""

        text_view: TextView

    def __init__(self, sheet: Sheet, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.viewport = Viewport(sheet, self._shape, self._overlay)
        self.search: TextSearch | None = None
        # Read by tests in place of the time.
        self.clock: Callable[[], float] = time.monotonic
        # The time of the frame, one for all rows, so that they are consistent.
        self._now = 0.0
        self._matches: list[tuple[int, int]] = []
        self._painter: Painter | None = None

    @property
    def sheet(self) -> Sheet:
        return self.viewport.sheet

    def show(self, sheet: Sheet) -> None:
        """Show another sheet, at its last scroll position."""
        self.viewport.sheet = sheet
        self.changed()

    def _shape(self) -> Shape:
        return Shape(self.size, self.line_numbers, self.word_wrap, self.tab_width)

    def _overlay(self, sheet: Sheet) -> Overlay:
        return Overlay.of(sheet, self.text_styles, self._now, self.app.no_color)

    # Drawing

    @property
    def painter(self) -> Painter:
        if self._painter is None:
            self._painter = Painter(self.viewport, TextStyles.of(self))
        return self._painter

    @property
    def can_draw(self) -> bool:
        """Whether the styles are loaded; a frame may be due without them while the app begins, ends or reloads them."""
        return bool(self._component_styles)

    @property
    def text_styles(self) -> TextStyles:
        return self.painter.styles

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter = None
        self.viewport.read_again()

    def render_line(self, y: int) -> Strip:
        return self.painter.line(y, self._now, self._matches, focused=self.has_focus)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    # Changes

    def changed(self) -> None:
        """Draw the present state, and post `Changed`."""
        self._pass_time()
        self._find_matches()
        self.refresh()
        if self.has_focus and (place := self.viewport.cursor_place) is not None:
            # Input methods open their window where the terminal's own cursor is.
            self.app.cursor_position = self.content_region.offset + place
        self.post_message(self.Changed(self))

    def _find_matches(self) -> None:
        self._matches = []
        if self.search is None or not self.size.height:
            return
        rows, view = self.viewport.rows(), self.viewport.view
        start = max(0, view.real(rows[0].start) - REACH)
        text = self.sheet.draft.buffer.slice(start, view.real(rows[-1].end) + REACH)
        try:
            found = self.search.matches_in(text, _MARKING)
        except SearchFailed:
            self.search = None
        else:
            self._matches = [(start + a, start + b) for a, b in found]

    def look_again(self) -> None:
        """Update after a change of the text by the model or from disk."""
        self._pass_time()
        self.viewport.follow_model()
        self.changed()

    def fade(self) -> None:
        """Draw fading text again."""
        self._pass_time()
        self.refresh()

    def draw_again(self) -> None:
        """Draw other marks; ghost text among them does not push the cursor off the screen."""
        visible = self.viewport.cursor_place is not None
        self._pass_time()
        if visible:
            self.viewport.reveal(self.sheet.draft.selection.cursor, margin=0)
        self.refresh()

    def _pass_time(self) -> None:
        self._now = self.clock()
        self.viewport.read_again()

    def on_resize(self, event: events.Resize) -> None:
        self._settle_top()
        self.changed()

    def watch_line_numbers(self) -> None:
        self._settle_top()

    def watch_word_wrap(self) -> None:
        self._settle_top()

    def switch_wrap(self) -> None:
        self.word_wrap = not self.word_wrap

    def switch_numbers(self) -> None:
        self.line_numbers = not self.line_numbers

    def _settle_top(self) -> None:
        self.viewport.settle_top()
        self.refresh()

    def on_focus(self) -> None:
        self.changed()

    def on_blur(self) -> None:
        self.refresh()

    # Scrolling

    def scroll_rows(self, count: int) -> None:
        """Scroll the view, not the cursor."""
        self.viewport.scroll_rows(count)
        self.changed()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_rows(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_rows(-3)
