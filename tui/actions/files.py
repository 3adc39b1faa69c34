"""Actions on files: opening, saving, recovering and closing them."""

from __future__ import annotations

from textual import work

from tui.autosave import Autosave
from tui.files import Files
from tui.sheets import Sheets


class FileActions:
    """What files and autosave do to the text that is shown."""

    sheets: Sheets
    files: Files
    autosave: Autosave

    def action_new(self) -> None:
        self.files.new()

    @work
    async def action_open(self) -> None:
        if sheet := await self.files.open():
            await self.autosave.offer_leftovers_of(sheet)

    @work
    async def action_recover(self) -> None:
        await self.autosave.recover()

    def action_save(self) -> None:
        if self.files.asks_before_saving(self.sheets.current):
            self._save_with_questions()
        else:
            # At once, so that what is typed next is not yet in the file.
            self.files.write(self.sheets.current)

    @work
    async def _save_with_questions(self) -> None:
        await self.files.save(self.sheets.current)

    @work
    async def action_save_as(self) -> None:
        await self.files.save_as(self.sheets.current)

    def action_reload(self) -> None:
        self.files.read_again(self.sheets.current)

    @work
    async def action_close(self) -> None:
        await self.files.close(self.sheets.current)
