"""The list of mistakes: place, kind, old and new text, and the model's confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.commands import Hint
from tui.document.findings import DraftFindings
from tui.sheet import Sheet
from tui.widgets.finding_list import FindingList, places_in_words
from tui.widgets.panels import percent


class MistakeList(FindingList):
    """A list with a row for each mistake."""

    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("m", "M", "Fix", 0),
        Hint("k", "K", "Fix its kind", 3),
        Hint("a", "A", "Fix all", 2),
        Hint("i", "I", "Ignore", 4),
        Hint("w", "W", "To the project's words", 6),
        Hint("u", "U", "To your words", 5),
        Hint("escape", "Esc", "Back", 1),
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "app.fix('this')", "Fix", show=False),
        Binding("k", "app.fix('kind')", "Fix all of this kind", show=False),
        Binding("a", "app.fix('all')", "Fix all", show=False),
        Binding("i", "app.ignore", "Ignore here", show=False),
        Binding("w", "app.add_word('project')", "To the project's words", show=False),
        Binding("u", "app.add_word('user')", "To your words", show=False),
    ]

    def findings(self, sheet: Sheet) -> DraftFindings:
        return sheet.mistakes

    def rows_of(self, sheet: Sheet) -> list[tuple[str, str]]:
        return mistake_lines(sheet)


def mistake_lines(sheet: Sheet) -> list[tuple[str, str]]:
    """For each mistake of a sheet its place, kind and text, and its confidence."""
    found = sheet.mistakes.shown
    kinds = max((len(one.kind) for one in found), default=0)
    return [
        (f"{place}  {one.kind:<{kinds}}  {one.says}", percent(one.confidence))
        for place, one in zip(places_in_words(sheet, found), found, strict=True)
    ]
