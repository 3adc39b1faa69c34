"""The tab bar at the top, and the status line and the key hints at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from tui.commands import Hint

# The number of messages shown at once.
_MESSAGES = 3


class TabBar(Widget):
    """A row of names, one of which is active: open files, or the views of a panel."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tab-bar--active"}

    @dataclass
    class Picked(Message):
        index: int

    def __init__(self, labels: Sequence[str] = ()) -> None:
        super().__init__()
        self._labels = labels
        self._active = 0
        self._edges: list[tuple[int, int]] = []

    def fill(self, labels: Sequence[str], active: int) -> None:
        if (labels, active) != (self._labels, self._active):
            self._labels, self._active = labels, active
            self.refresh()

    def render(self) -> Text:
        """The tabs around the active one, as many as fit."""
        active_style = self.get_component_rich_style("tab-bar--active")
        labels = [f" {label} " for label in self._labels]
        first = 0
        while first < self._active and sum(map(cell_len, labels[first : self._active + 1])) > (self.size.width):
            first += 1
        text = Text(no_wrap=True, overflow="ellipsis")
        self._edges = []
        at = 0
        for index, label in enumerate(labels):
            width = cell_len(label) if index >= first else 0
            self._edges.append((at, at + width))
            at += width
            if index >= first:
                text.append(label, active_style if index == self._active else "")
        return text

    def on_click(self, event: events.Click) -> None:
        for index, (start, end) in enumerate(self._edges):
            if start <= event.x < end:
                self.post_message(self.Picked(index))


class StatusLine(Widget):
    """The cursor's place, the file's properties, the run's state, and messages.

    A message replaces the run's state if it fits, and takes rows of its own if not; it covers no text.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status-line--run",
        "status-line--information",
        "status-line--warning",
        "status-line--error",
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.said: tuple[str, ...] = ("",)
        # Each message with its severity.
        self.messages: list[tuple[str, str]] = []

    def tell(self, message: str, severity: str, seconds: float) -> None:
        """Show a message for some seconds."""
        told = (message, severity)
        self.messages = [*(one for one in self.messages if one != told), told][-_MESSAGES:]
        self.refresh(layout=True)
        self.set_timer(seconds, lambda: self._forget(told))

    def _forget(self, told: tuple[str, str]) -> None:
        self.messages = [one for one in self.messages if one is not told]
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(width))

    def say(self, run: str, *facts: str) -> None:
        """Show the run at the left and the facts at the right; facts at the front are left out where room is short."""
        if (run, *facts) != self.said:
            self.said = (run, *facts)
            self.refresh()

    def render(self) -> Text:
        return Text("\n", no_wrap=True).join(self._rows(self.size.width))

    def _rows(self, width: int) -> list[Text]:
        run, *facts = self.said
        while len(facts) > 1 and cell_len("  ".join(filter(None, facts))) + cell_len(run) + 3 > width:
            facts = facts[1:]
        right = "  ".join(filter(None, facts)) + " "
        room = max(0, width - cell_len(right))
        *rows, last = [Text(), *self._told(width - 2)]
        if not last or cell_len(last.plain) + 2 > room:
            rows.append(last)
            last = Text(run, self.get_component_rich_style("status-line--run"))
        last = Text(" ").append_text(last)
        last.truncate(room, overflow="ellipsis", pad=True)
        return [*(Text(" ").append_text(row) for row in rows if row), last.append(right)]

    def _told(self, width: int) -> list[Text]:
        """The messages, in rows of this width."""
        return [
            Text(row, self.get_component_rich_style(f"status-line--{severity}"))
            for message, severity in self.messages
            for row in wrap(message, max(width, 10))
        ]


class KeyBar(Widget):
    """The most useful keys at the moment, as many as fit; none is cut off."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key"}

    def __init__(self) -> None:
        super().__init__()
        self._hints: Sequence[Hint] = ()
        self._edges: list[tuple[int, int, Hint]] = []

    def fill(self, hints: Sequence[Hint]) -> None:
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def render(self) -> Text:
        key_style = self.get_component_rich_style("key-bar--key")
        text = Text(no_wrap=True)
        self._edges = []
        for hint in self._fitting():
            if text:
                text.append(" ")
            start = text.cell_len
            text.append(hint.shown, key_style).append(f" {hint.does}")
            self._edges.append((start, text.cell_len, hint))
        return text

    def _fitting(self) -> list[Hint]:
        """The hints that fit, in their order; the more important ones are chosen first."""
        room = self.size.width + 1
        shown = []
        for hint in sorted(self._hints, key=lambda hint: hint.rank):
            width = cell_len(hint.shown) + cell_len(hint.does) + 2
            if width <= room:
                room -= width
                shown.append(hint)
        return [hint for hint in self._hints if hint in shown]

    def on_click(self, event: events.Click) -> None:
        for start, end, hint in self._edges:
            if start <= event.x < end:
                self.app.simulate_key(hint.key)
