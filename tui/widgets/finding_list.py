"""A list under the text with a row for each suggestion of one sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from reviser.proofreading.suggestion import Suggestion
from tui.commands import Hint
from tui.document.findings import DraftFindings
from tui.sheet import Sheet
from tui.widgets.rows import Rows


class FindingList(Rows):
    """A list of suggestions; the row of the one at the cursor is chosen."""

    # The footer's hints while the list has the focus.
    HINTS: ClassVar[Sequence[Hint]] = ()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id)
        self._shown_rows: object = None

    def update_from(self, sheet: Sheet) -> None:
        """Show the suggestions of a sheet, if they or the one at the cursor have changed."""
        findings = self.findings(sheet)
        here = findings.here
        shown = (sheet, findings.revision, here)
        if shown == self._shown_rows:
            return
        self._shown_rows = shown
        chosen = findings.shown.index(here) if here is not None else self.chosen
        self.fill(self.rows_of(sheet), chosen)

    def findings(self, sheet: Sheet) -> DraftFindings:
        raise NotImplementedError

    def rows_of(self, sheet: Sheet) -> list[tuple[str, str]]:
        """For each suggestion a text, and a text for the right edge."""
        raise NotImplementedError


def places_in_words(sheet: Sheet, found: Sequence[Suggestion]) -> list[str]:
    """Line and column of each suggestion, in equal width."""
    buffer = sheet.draft.buffer
    places = []
    for one in found:
        line = buffer.line_of(one.start)
        places.append(f"{line + 1}:{one.start - buffer.line_start(line) + 1}")
    width = max(map(len, places), default=0)
    return [f"{place:>{width}}" for place in places]
