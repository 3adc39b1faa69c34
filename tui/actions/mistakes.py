"""Actions on mistakes: going to them, correcting and ignoring them, and words that are none."""

from __future__ import annotations

from reviser.editor.lists import Owner
from tui.proofreading.proofreading import Proofreading, Which
from tui.widgets.desk import Desk
from tui.widgets.rows import Rows


class MistakeActions:
    """What proofreading does."""

    desk: Desk
    proofreading: Proofreading

    def action_mistake(self, by: int) -> None:
        self.proofreading.go(by)

    def action_fix(self, which: Which) -> None:
        self.proofreading.fix(which)

    def action_ignore(self) -> None:
        self.proofreading.ignore()

    def action_add_word(self, owner: Owner) -> None:
        self.proofreading.add_word(owner)

    def action_mistakes(self) -> None:
        self.desk.switch_mistakes()

    def action_proofread(self) -> None:
        self.proofreading.switch()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Walking through the list walks through the text."""
        if event.rows is self.desk.mistake_list:
            self.proofreading.look_at_number(event.index)

    def on_rows_taken(self, event: Rows.Taken) -> None:
        if event.rows is self.desk.mistake_list:
            self.desk.focus(self.desk.editor)
