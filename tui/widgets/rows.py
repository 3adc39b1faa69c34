"""A list of rows, one of which is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region as Area
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip


class Rows(ScrollView, can_focus=True):
    """A list that draws only the rows on the screen; one of them is chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--chosen", "rows--faint", "rows--later"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "Up", show=False),
        Binding("down", "choose(1)", "Down", show=False),
        Binding("pageup", "choose(-10)", "Page up", show=False),
        Binding("pagedown", "choose(10)", "Page down", show=False),
        Binding("home", "choose(-1000000)", "First", show=False),
        Binding("end", "choose(1000000)", "Last", show=False),
        Binding("enter", "take", "Take", show=False),
    ]

    @dataclass
    class Chosen(Message):
        """Another row was chosen."""

        rows: Rows
        index: int

    @dataclass
    class Taken(Message):
        """The chosen row was confirmed with Enter or a second click."""

        rows: Rows
        index: int

    def __init__(self, empty: str, lines: Sequence[tuple[str, str]] = (), *, id: str | None = None) -> None:
        """Rows that are given here can be chosen by the first key."""
        super().__init__(id=id)
        self._empty = empty
        self.lines = lines
        self.chosen = 0
        # Rows behind this one are later steps than the one shown; they are drawn fainter.
        self.now = len(lines)

    def on_mount(self) -> None:
        self.virtual_size = Size(0, len(self.lines))

    def say(self, empty: str) -> None:
        """Set the text for an empty list."""
        if empty != self._empty:
            self._empty = empty
            self.refresh()

    def fill(self, lines: Sequence[tuple[str, str]], chosen: int, now: int | None = None) -> None:
        """Show these rows, each a text and a text for the right edge."""
        self.lines = lines
        self.chosen = max(0, min(chosen, len(lines) - 1))
        self.now = len(lines) if now is None else now
        self.virtual_size = Size(0, len(lines))
        self._reveal()
        self.refresh()

    def on_resize(self) -> None:
        self._reveal()

    def _reveal(self) -> None:
        """Scroll to the chosen row, and if there is room to two rows on each side."""
        if self.lines and self.is_attached:
            beside = max(0, min(2, (self.size.height - 1) // 2))
            area = Area(0, max(0, self.chosen - beside), 1, 2 * beside + 1)
            self.scroll_to_region(area, animate=False, force=True, immediate=True)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        faint = self.get_component_rich_style("rows--faint")
        index = self.scroll_offset.y + y
        if not self.lines and y == 0:
            return Strip([Segment(f" {self._empty}", faint)]).adjust_cell_length(width, base)
        if index >= len(self.lines):
            return Strip.blank(width, base)
        left, right = self.lines[index]
        style = base
        if index == self.chosen:
            style = self.get_component_rich_style("rows--chosen")
        elif index > self.now:
            style = self.get_component_rich_style("rows--later")
        room = max(0, width - len(right) - 2)
        label = Text(f" {left}", no_wrap=True, overflow="ellipsis")
        label.truncate(room, overflow="ellipsis", pad=True)
        edge = style if index == self.chosen else Style.combine([style, faint])
        segments = [Segment(label.plain, style), Segment(f" {right} ", edge)]
        return Strip(segments).adjust_cell_length(width, style)

    def action_choose(self, by: int) -> None:
        if self.lines:
            self._choose(self.chosen + by)

    def _choose(self, index: int) -> None:
        self.chosen = max(0, min(index, len(self.lines) - 1))
        self._reveal()
        self.refresh()
        self.post_message(self.Chosen(self, self.chosen))

    def action_take(self) -> None:
        if self.lines:
            self.post_message(self.Taken(self, self.chosen))

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        if index < len(self.lines):
            self._choose(index)
            if event.chain > 1:
                self.action_take()
