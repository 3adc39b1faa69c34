"""The mistakes found in one text."""

from __future__ import annotations

from reviser.core.edits import Edit
from reviser.editor.edited_text import EditedText
from tui.document.findings import DraftFindings


class Mistakes(DraftFindings):
    """The mistakes in a draft, and which part of it was read."""

    def __init__(self, draft: EditedText) -> None:
        super().__init__(draft)
        # The part of the text that was read last.
        self.read = (0, 0)

    def _follow(self, change: Edit) -> None:
        super()._follow(change)
        self.read = change.follow(self.read[0]), change.follow(self.read[1])
