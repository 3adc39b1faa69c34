"""The tab bar at the top, and the status line and the key hints at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from tui.commands import Hint


class TabBar(Widget):
    """The open files; a dot marks those with unsaved changes."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tab-bar--active"}

    @dataclass
    class Picked(Message):
        index: int

    def __init__(self) -> None:
        super().__init__()
        self._labels: Sequence[str] = ()
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
    """Where the cursor is, what the file is like, what the run is doing."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"status-line--run", "status-line--warn"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.said = ("", "", "")

    def say(self, run: str, file: str, place: str) -> None:
        """The run at the left; the file and the place at the right, as far as there is room."""
        if (run, file, place) != self.said:
            self.said = (run, file, place)
            self.refresh()

    def render(self) -> Text:
        run, file, place = self.said
        right = f"{file}  {place} " if file else f"{place} "
        if cell_len(right) + cell_len(run) + 2 > self.size.width:
            right = f"{place} "
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f" {run}", self.get_component_rich_style("status-line--run"))
        room = max(0, self.size.width - cell_len(right))
        text.truncate(room, overflow="ellipsis", pad=True)
        text.append(right)
        return text


class KeyBar(Widget):
    """The keys that matter at the moment, as many as there is room for; none is cut off."""

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
        """Those that fit, in their order; the more important ones are let in first."""
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
