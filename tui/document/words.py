"""The number of words in a draft, updated with each change."""

from __future__ import annotations

from reviser.core.edits import Edit
from reviser.editor.edited_text import EditedText

# Characters; words of a longer selection are not counted, since that happens at every key.
_LONGEST = 100_000


class WordCount:
    """A word count that reads the whole text once, and of each change only the removed and inserted text."""

    def __init__(self, draft: EditedText) -> None:
        self._draft = draft
        self.number = len(draft.text.split())
        draft.observers.append(self._follow)

    def _follow(self, change: Edit) -> None:
        """Update the count, including the characters beside the change, which may belong to a word that it cuts or
        joins.
        """
        slice, end = self._draft.buffer.slice, change.start + len(change.new)
        before, behind = slice(change.start - 1, change.start), slice(end, end + 1)
        new, old = (len(f"{before}{text}{behind}".split()) for text in (change.new, change.old))
        self.number += new - old

    @property
    def selected(self) -> int | None:
        """The number of selected words; None if the selection is too long to count."""
        selection = self._draft.selection
        if selection.end - selection.start > _LONGEST:
            return None
        return len(self._draft.buffer.slice(selection.start, selection.end).split())
