"""The suggestions in an open text: marked, found at the cursor, and moved along while the text changes."""

from __future__ import annotations

from bisect import bisect_left

from reviser.core.edits import Edit
from reviser.editor.edited_text import EditedText
from reviser.editor.findings import Findings, touched
from reviser.proofreading.suggestion import Suggestion


class DraftFindings:
    """The suggestions of one sort in a draft, always for its present text."""

    def __init__(self, draft: EditedText) -> None:
        self._draft = draft
        self.findings = Findings()
        self._spans: list[tuple[int, int]] = []
        self._spans_of: object = None
        self._here: tuple[object, Suggestion | None] = (None, None)
        draft.observers.append(self._follow)

    def __len__(self) -> int:
        return len(self.shown)

    def _follow(self, change: Edit) -> None:
        self.findings.follow(change)

    @property
    def shown(self) -> list[Suggestion]:
        """Those that the user sees, in order."""
        return list(self.findings)

    @property
    def revision(self) -> object:
        """A value that differs whenever others are shown."""
        return self.findings.revision

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The start and end of each marked part of the text, in order."""
        if self._spans_of != self.revision:
            part = self._draft.buffer.slice
            self._spans = sorted(one.shown(part) for one in self.shown)
            self._spans_of = self.revision
        return self._spans

    def spans_between(self, start: int, end: int) -> list[tuple[int, int]]:
        """The marked parts that overlap a part of the text."""
        spans = self.spans
        # Marks may overlap their neighbours by a word, never more.
        first = max(bisect_left(spans, (start, start)) - 2, 0)
        return [span for span in spans[first : bisect_left(spans, (end, end))] if span[1] > start]

    @property
    def here(self) -> Suggestion | None:
        """The one at the cursor."""
        cursor = self._draft.selection.cursor
        place = (self.revision, cursor)
        if self._here[0] != place:
            found = touched(self.shown, self._draft.buffer.slice, cursor, cursor)
            # Between two that touch, the one that begins here.
            self._here = place, found[-1] if found else None
        return self._here[1]

    def beside(self, by: int) -> Suggestion | None:
        """The one after the cursor, or before it; after the last comes the first. None if there are none."""
        found = self.shown
        if not found:
            return None
        here = self.here
        if here is not None:
            return found[(found.index(here) + by) % len(found)]
        before = sum(one.start < self._draft.selection.cursor for one in found)
        return found[before % len(found) if by > 0 else before - 1]
