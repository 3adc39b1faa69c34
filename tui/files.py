"""Opening, saving and closing of texts, with the questions to the user that go with it."""

from __future__ import annotations

from pathlib import Path

from reviser.core.errors import ReviserError
from tui.prompts import Prompts
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.widgets.desk import Desk


class Files:
    """The user's commands on files. Those that ask a question are coroutines."""

    def __init__(self, sheets: Sheets, desk: Desk, prompts: Prompts) -> None:
        self._sheets = sheets
        self._desk = desk
        self._prompts = prompts

    def new(self) -> None:
        """Show an empty text."""
        sheet = self._sheets.blank()
        self._sheets.insert(sheet)
        self._desk.show(sheet)

    async def open(self) -> Sheet | None:
        """Show a file that the user names; returns its sheet if it was not open before, else None."""
        path = await self._prompts.ask_path("Open which file?")
        if path is None:
            return None
        if sheet := self._sheets.at(path):
            self._desk.show(sheet)
            return None
        try:
            sheet = self._sheets.opened(path)
        except ReviserError as error:
            self._prompts.fail(error, seconds=None)
            return None
        self._desk.add(sheet)
        self.tell_of(sheet)
        return sheet

    def tell_of(self, sheet: Sheet) -> None:
        """Warn, right after a file was opened, if it cannot be saved or is open elsewhere."""
        self.tell_if_open_twice(sheet)
        if sheet.file is not None and sheet.file.read_only:
            reason = f"{sheet.title} is read-only. Save as writes the text to another file."
            self._prompts.warn(reason, seconds=10)

    def tell_if_open_twice(self, sheet: Sheet) -> None:
        """Warn that another editor has a file open, if that is new."""
        if sheet.look_whether_open_twice():
            self._desk.update_bars()
            if sheet.open_in is not None:
                reason = f"{sheet.title} is open in another editor too (process {sheet.open_in})."
                self._prompts.warn(f"{reason} Each notices what the other saves.", seconds=10)

    # Saving

    def asks_before_saving(self, sheet: Sheet) -> bool:
        return sheet.file is None or sheet.file.changed_on_disk()

    async def save(self, sheet: Sheet) -> bool:
        """Write a sheet to its file, asking if there is none or it was changed on disk; False if not written."""
        if sheet.file is None:
            return await self.save_as(sheet)
        if sheet.file.changed_on_disk() and sheet.file.exists():
            answer = await self._prompts.ask(
                f"{sheet.title} was changed by another program.",
                [("cancel", "Cancel"), ("write", "Write mine"), ("read", "Read theirs")],
            )
            if answer == "read":
                self.reload(sheet)
            if answer != "write":
                return False
        return self.write(sheet)

    async def save_as(self, sheet: Sheet) -> bool:
        """Write a sheet to a file that the user names; False if not written."""
        path = await self._prompts.ask_path("Save as", str(sheet.path or ""))
        if path is None:
            return False
        here = sheet.file is not None and sheet.file.is_at(path)
        if not here and not await self._prompts.may_replace(path):
            return False
        return self.write(sheet, path)

    def write(self, sheet: Sheet, path: Path | None = None) -> bool:
        """Write a sheet to its file, or to another one, without asking; False if that failed."""
        try:
            sheet.save(path)
        except ReviserError as error:
            self._prompts.fail(error)
            return False
        self._prompts.say(f"Saved {sheet.title}.", seconds=2)
        self._desk.update()
        return True

    # Reading again

    def reload(self, sheet: Sheet) -> bool:
        """Replace a sheet's text by what its file holds now; False if it cannot be read."""
        try:
            sheet.reload()
        except ReviserError as error:
            self._prompts.fail(error, seconds=None)
            if sheet.file is not None:
                sheet.file.ignore_change()
            return False
        self._desk.look_again()
        return True

    def read_again(self, sheet: Sheet) -> None:
        """Reload a sheet at the user's request."""
        if sheet.file is not None and self.reload(sheet):
            self._prompts.say(f"Read {sheet.title} again.", seconds=2)

    # Closing

    async def close(self, sheet: Sheet) -> None:
        """Close a tab, unless the user cancels."""
        if sheet.modified:
            question = f"{sheet.title} has unsaved changes."
            answer = await self._prompts.ask(question, [("save", "Save"), ("lose", "Don't save"), ("cancel", "Cancel")])
            if answer not in ("save", "lose") or (answer == "save" and not await self.save(sheet)):
                return
        sheet.close()
        self._sheets.remove(sheet)
        self._desk.show(self._sheets.current)

    async def close_all(self) -> bool:
        """Close all tabs; False if the user cancels."""
        changed = [sheet for sheet in self._sheets if sheet.modified]
        if changed:
            question = f"Unsaved changes in {', '.join(sheet.title for sheet in changed)}."
            answer = await self._prompts.ask(
                question, [("save", "Save and quit"), ("lose", "Don't save"), ("cancel", "Cancel")]
            )
            if answer not in ("save", "lose"):
                return False
            if answer == "save":
                for sheet in changed:
                    if not await self.save(sheet):
                        return False
        for sheet in self._sheets:
            sheet.close()
        return True
