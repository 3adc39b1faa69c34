"""Actions on what is seen: tabs, panels, finding, lines, wrapping and focus."""

from __future__ import annotations

from textual import work

from tui.document.draft import Selection
from tui.prompts import Prompts
from tui.sheets import Sheets
from tui.widgets.bars import TabBar
from tui.widgets.desk import Desk


class ViewActions:
    """What the desk and its editor show."""

    sheets: Sheets
    desk: Desk
    prompts: Prompts

    def action_tab(self, by: int) -> None:
        self.desk.show(self.sheets[(self.sheets.index + by) % len(self.sheets)])

    def on_tab_bar_picked(self, event: TabBar.Picked) -> None:
        self.desk.show(self.sheets[event.index])

    def action_panel(self) -> None:
        self.desk.switch_panel()

    def action_timeline(self) -> None:
        if self.sheets.current.open_run is not None:
            self.desk.focus(self.desk.timeline)

    def action_focus_editor(self) -> None:
        self.desk.focus(self.desk.editor)

    def action_find(self, replacing: bool) -> None:
        self.desk.find_bar.open(replacing=replacing)

    def action_find_next(self, forwards: bool) -> None:
        self.desk.find_bar.find_again(forwards=forwards)

    @work
    async def action_go_to_line(self) -> None:
        buffer = self.sheets.current.draft.buffer
        answer = await self.prompts.ask_line(f"Go to line (1 to {buffer.line_count})")
        if answer is None:
            return
        try:
            line = max(1, min(int(answer), buffer.line_count)) - 1
        except ValueError:
            self.prompts.warn(f"{answer[:20]} is not the number of a line.")
            return
        self.desk.editor.select(Selection.at(buffer.line_start(line)))

    def action_wrap(self) -> None:
        self.desk.editor.word_wrap = not self.desk.editor.word_wrap

    def action_numbers(self) -> None:
        self.desk.editor.line_numbers = not self.desk.editor.line_numbers
