"""Periodic work on open texts: journals, recovery after a crash, and detection of files changed by other programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from textual.app import App

from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from tui.document.journal import TRASH_DAYS, Leftover, digest, leftovers, sweep_trash, thrown_away
from tui.files import Files
from tui.prompts import Prompts
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.widgets.desk import Desk

_JOURNAL_INTERVAL = 0.5
_DISK_INTERVAL = 2.0


class Autosave:
    """The periodic work on all open texts."""

    def __init__(
        self, app: App[None], journals: Path, sheets: Sheets, files: Files, desk: Desk, prompts: Prompts
    ) -> None:
        """`journals` is the folder in which they are kept."""
        self._app = app
        self._journals = journals
        self._sheets = sheets
        self._files = files
        self._desk = desk
        self._prompts = prompts
        # Those whose question about a change on disk has no answer yet.
        self._asked: set[Sheet] = set()
        self._said_journal_fails = False
        self._typed: object = None

    def begin(self) -> None:
        self._app.set_interval(_JOURNAL_INTERVAL, self.flush_journals)
        self._app.set_interval(_DISK_INTERVAL, self.look_at_disk)

    # Journals

    def flush_journals(self) -> None:
        for sheet in self._sheets:
            sheet.flush_journal()
            if sheet.journal_failure is not None and not self._said_journal_fails:
                self._said_journal_fails = True
                reason = f"There is no journal for recovery: {sheet.journal_failure}."
                self._prompts.warn(reason, seconds=10)

    async def offer_leftovers(self, *, of_all: bool) -> None:
        """Offer to recover texts after a crash: all, or those of the files that are open here.

        Other files are only mentioned in a message, so that no question delays the files the user wants to open.
        """
        sweep_trash(self._journals)
        found = leftovers(self._journals)
        asked = [each for each in found if of_all or self._is_open_here(each)]
        others = [each for each in found if each not in asked]
        if others:
            self._prompts.say(
                f"Unsaved changes of {_names(others)} can be had back: Recover a text, in the palette.", seconds=15
            )
        await self._ask_about(asked)

    async def offer_leftovers_of(self, sheet: Sheet) -> None:
        """Offer to recover the text of a file that was just opened."""
        file = sheet.file
        if file is not None:
            found = leftovers(self._journals)
            await self._ask_about([each for each in found if each.path and file.is_at(each.path)])

    async def recover(self) -> None:
        """Let the user choose among recoverable and discarded texts."""
        found = [*leftovers(self._journals), *thrown_away(self._journals)]
        if not found:
            self._prompts.say("There is nothing to recover.", seconds=3)
            return
        number = await self._prompts.choose("Recover which text?", [_line(each) for each in found])
        if number is not None:
            await self._restore(found[number])

    async def _ask_about(self, found: Sequence[Leftover]) -> None:
        for leftover in found:
            name = "a text without a file" if leftover.path is None else str(leftover.path)
            answer = await self._prompts.ask(
                f"The editor ended without saving {_changes(leftover)} of {name}, the last one at "
                f"{_moment(leftover.at)}. What you discard is kept for {TRASH_DAYS} days.",
                [("restore", "Restore"), ("later", "Later"), ("discard", "Discard")],
            )
            if answer == "restore":
                await self._restore(leftover)
            elif answer == "discard":
                leftover.discard()

    def _is_open_here(self, leftover: Leftover) -> bool:
        return leftover.path is not None and self._sheets.at(leftover.path) is not None

    async def _restore(self, leftover: Leftover) -> None:
        """Restore a text as one edit; ask first if the sheet no longer holds the text that was changed."""
        sheet = self._sheet_for(leftover)
        if sheet.file is not None and digest(sheet.draft.text) != leftover.base:
            since = "You have typed into" if sheet.modified else "Another program has changed"
            answer = await self._prompts.ask(
                f"{since} {sheet.title} since. In a tab of its own, the text leaves that as it is.",
                [("beside", "A tab of its own"), ("replace", "In its place (undo goes back)"), ("later", "Later")],
            )
            if answer not in ("beside", "replace"):
                return
            if answer == "beside":
                sheet = self._sheets.blank(f"{sheet.title} (recovered)")
                self._sheets.insert(sheet)
                self._desk.show(sheet)
        sheet.draft.become(leftover.text)
        sheet.flush_journal()
        leftover.discard()
        self._desk.look_again()

    def _sheet_for(self, leftover: Leftover) -> Sheet:
        """The sheet of the file that a text belongs to, which is then shown; a blank one if it cannot be opened."""
        sheet = None if leftover.path is None else self._sheets.at(leftover.path)
        if sheet is None:
            sheet = self._sheets.blank()
            if leftover.path is not None:
                try:
                    sheet = self._sheets.opened(leftover.path)
                except ReviserError as error:
                    self._prompts.warn(str(error))
            self._desk.add(sheet)
        self._desk.show(sheet)
        return sheet

    # Files that others change

    def look_at_disk(self) -> None:
        """Reload files that changed on disk and have no changes here; ask once about the others."""
        rests = self._user_rests()
        for sheet in self._sheets:
            self._files.tell_if_open_twice(sheet)
            if sheet.file is not None and sheet.file.look_whether_read_only():
                self._desk.update_bars()
            if sheet.file is None or sheet in self._asked or not sheet.file.changed_on_disk():
                continue
            if not sheet.file.exists():
                if sheet.file.stamp is not None:
                    sheet.file.ignore_change()
                    self._prompts.say(f"{sheet.title} was removed; saving writes it again.")
            elif not sheet.modified:
                if self._files.reload(sheet):
                    self._prompts.say(f"{sheet.title} was changed and read again.")
            elif rests and not self._prompts.asking:
                self._asked.add(sheet)
                self._app.run_worker(self._ask_about_change(sheet))

    def _user_rests(self) -> bool:
        """Whether nothing was typed since the last look, so that no key can answer a question unread."""
        draft = self._sheets.current.draft
        before, self._typed = self._typed, (draft, draft.version)
        return before == self._typed

    async def _ask_about_change(self, sheet: Sheet) -> None:
        answer = await self._prompts.ask(
            f"{sheet.title} was changed by another program, and here too.",
            [("keep", "Keep mine"), ("read", "Read theirs (undo gives mine back)")],
        )
        self._asked.discard(sheet)
        if answer == "read":
            self._files.reload(sheet)
        elif sheet.file is not None:
            sheet.file.ignore_change()


def _names(found: Sequence[Leftover]) -> str:
    first = "a text without a file" if found[0].path is None else found[0].path.name
    more = len(found) - 1
    return first if not more else f"{first} and {more} {'other' if more == 1 else 'others'}"


def _changes(leftover: Leftover) -> str:
    return counted(leftover.changes, "change")


def _moment(at: float) -> str:
    return time.strftime("%H:%M on %Y-%m-%d", time.localtime(at))


def _line(leftover: Leftover) -> str:
    """A recoverable text in one line."""
    name = "without a file" if leftover.path is None else leftover.path.name
    what = "discarded" if leftover.discarded else "not saved"
    start = " ".join(leftover.text[:200].split())[:40]
    return f"{name} · {what} {_moment(leftover.at)} · {_changes(leftover)} · {start}"
