"""The list of places where the user's edits could be made again: each with the words beside it and its confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from reviser.proofreading.suggestion import Suggestion
from tui.commands import Hint
from tui.document.findings import DraftFindings
from tui.sheet import Sheet
from tui.widgets.finding_list import FindingList, places_in_words
from tui.widgets.panels import percent

_BEFORE, _BEHIND = 20, 60
_COLUMNS = 80


class PlaceList(FindingList):
    """A list with a row for each place."""

    HINTS: ClassVar[Sequence[Hint]] = (
        Hint("a", "A", "Accept", 0),
        Hint("r", "R", "Reject", 1),
        Hint("k", "K", "Accept all", 2),
        Hint("d", "D", "Reject all", 4),
        Hint("escape", "Esc", "Back", 3),
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "app.decide(True)", "Accept", show=False),
        Binding("r", "app.decide(False)", "Reject", show=False),
        Binding("k", "app.keep", "Accept all", show=False),
        Binding("d", "app.discard", "Reject all", show=False),
    ]

    def findings(self, sheet: Sheet) -> DraftFindings:
        return sheet.offers

    def rows_of(self, sheet: Sheet) -> list[tuple[str, str]]:
        found = sheet.offers.shown
        before = min(_BEFORE, _BEFORE * self.app.size.width // _COLUMNS)
        return [
            (f"{place}  {_in_context(sheet, one, before)}", percent(one.confidence))
            for place, one in zip(places_in_words(sheet, found), found, strict=True)
        ]


def _in_context(sheet: Sheet, place: Suggestion, width: int) -> str:
    """The change, with the words of its line behind it, and before it in this width."""
    buffer = sheet.draft.buffer
    line = buffer.line_of(place.start)
    first = max(buffer.line_start(line), place.start - width)
    last = min(buffer.line_end(line), place.end + _BEHIND)
    before, behind = buffer.slice(first, place.start), buffer.slice(place.end, last)
    return f"{before:>{width}}[{place.old} → {place.new}]{behind}".replace("\n", " ").replace("\t", " ")
