"""The list of mistakes under the text: place, kind, old and new text, and the model's confidence."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.commands import Hint
from tui.sheet import Sheet
from tui.widgets.panels import percent
from tui.widgets.rows import Rows

# The footer's hints while the list has the focus.
HINTS = [
    Hint("m", "M", "Fix", 0),
    Hint("k", "K", "Fix its kind", 3),
    Hint("a", "A", "Fix all", 2),
    Hint("i", "I", "Ignore", 4),
    Hint("w", "W", "To the project's words", 6),
    Hint("u", "U", "To your words", 5),
    Hint("escape", "Esc", "Back", 1),
]


class MistakeList(Rows):
    """A list with a row for each mistake; the row of the one at the cursor is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "app.fix('this')", "Fix", show=False),
        Binding("k", "app.fix('kind')", "Fix all of this kind", show=False),
        Binding("a", "app.fix('all')", "Fix all", show=False),
        Binding("i", "app.ignore", "Ignore here", show=False),
        Binding("w", "app.add_word('project')", "To the project's words", show=False),
        Binding("u", "app.add_word('user')", "To your words", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("No mistakes found.", id=id)
        self._shown: object = None

    def update_from(self, sheet: Sheet) -> None:
        """Show the mistakes of a sheet, if they or the one at the cursor have changed."""
        mistakes = sheet.mistakes
        here = mistakes.here
        shown = (sheet, mistakes.findings.revision, here)
        if shown == self._shown:
            return
        self._shown = shown
        found = list(mistakes.findings)
        chosen = found.index(here) if here is not None else self.chosen
        self.fill(mistake_lines(sheet), chosen)


def mistake_lines(sheet: Sheet) -> list[tuple[str, str]]:
    """For each mistake of a sheet its place, kind and text, and its confidence."""
    buffer, found = sheet.draft.buffer, list(sheet.mistakes.findings)
    places = []
    for one in found:
        line = buffer.line_of(one.start)
        places.append(f"{line + 1}:{one.start - buffer.line_start(line) + 1}")
    width = max(map(len, places), default=0)
    kinds = max((len(one.kind) for one in found), default=0)
    return [
        (f"{place:>{width}}  {one.kind:<{kinds}}  {one.says}", percent(one.confidence))
        for place, one in zip(places, found, strict=True)
    ]
