"""The next edits offered in one text, after the user's edits in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviser.core.edits import Edit
from reviser.editor.edited_text import EditedText
from reviser.next_edits.history import EditHistory
from reviser.proofreading.suggestion import Suggestion
from tui.document.findings import DraftFindings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reviser.next_edits.following import RefusedEdit

# The characters beside a suggestion that are enough to know it again.
_BESIDE = 100


class Offers(DraftFindings):
    """The next edits offered in a draft, the edits that they follow, and those that the user refused."""

    def __init__(self, draft: EditedText) -> None:
        super().__init__(draft)
        # Whether the user's edits are recorded.
        self.on = True
        # The confidence from which on a place is shown, unless the user asks for every possible one.
        self.least = 1.0
        self.every = False
        # Whether the text is left to a run of the model, or to the review of one.
        self.hidden = False
        self.refused: list[RefusedEdit] = []
        self._history: EditHistory | None = None
        # The old and new texts of the edits that are followed, if everything found then still stands; and their places.
        self.known: Sequence[tuple[str, str]] | None = None
        self._followed: list[tuple[int, int]] = []
        self._shown: tuple[object, list[Suggestion]] = (None, [])

    @property
    def revision(self) -> object:
        return self.findings.revision, self.least, self.every, self.hidden

    @property
    def shown(self) -> list[Suggestion]:
        if self._shown[0] != self.revision:
            found = [one for one in self.findings if self.every or one.confidence >= self.least]
            self._shown = self.revision, [] if self.hidden else found
        return self._shown[1]

    @property
    def history(self) -> EditHistory | None:
        """The user's edits since the text was opened; None if there are none."""
        return self._history if self.on else None

    def switch(self, on: bool) -> None:
        """Record edits from now on, or forget them."""
        self.on = on
        self._history = None
        self.clear()

    def clear(self) -> None:
        """Offer nothing, until the text is read again."""
        self.known = None
        self._followed = []
        self.findings.clear()

    def follow_from(self, made: Sequence[Edit]) -> None:
        """Remember the places of the edits that the suggestions follow."""
        self._followed = [(edit.start, edit.start + len(edit.new)) for edit in made]

    def refuse(self, unwanted: Sequence[Suggestion]) -> None:
        """Offer some places never again, and their like less."""
        from reviser.next_edits.following import RefusedEdit

        self.known = None
        slice = self._draft.buffer.slice
        for one in unwanted:
            low = max(one.start - _BESIDE, 0)
            self.refused.append(RefusedEdit.of(slice(low, one.end + _BESIDE), one.edit.moved(-low)))
        self.findings.leave_out(lambda one: one in unwanted)

    def _follow(self, change: Edit) -> None:
        found = len(self.findings)
        super()._follow(change)
        if not self.on:
            return
        own = self._draft.own
        if self._history is None and own:
            self._history = EditHistory(self._draft.buffer)
        if self._history is not None:
            self._history.follow(change, by_person=own)
        if any(_alters(change, start, end) for start, end in self._followed):
            self.clear()
        if not own or len(self.findings) < found:
            self.known = None
        self._followed = [(change.follow(start), change.follow(end)) for start, end in self._followed]


def _alters(change: Edit, start: int, end: int) -> bool:
    """Whether a change is one of the text from `start` to `end`, and not beside it."""
    if start == end or not change.old:
        return start < change.start < end or (start == end and change.start <= start <= change.end)
    return change.start < end and start < change.end
