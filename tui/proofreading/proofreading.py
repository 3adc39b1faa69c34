"""The proofreading of the text that is shown: when it is read, and the user's commands on the findings."""

from __future__ import annotations

from typing import Literal

from textual.app import App
from textual.timer import Timer

from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.editor.edited_text import Selection
from reviser.editor.excerpts import MOST
from reviser.editor.lists import Lists, Owner, unknown_word
from reviser.proofreading.suggestion import WORD, Suggestion, quoted
from tui.prompts import Prompts
from tui.proofreading.reading import DraftReading, MistakeReader
from tui.runs.writer import Writer
from tui.settings import TuiSettings
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.widgets.desk import Clock, Desk

_INTERVAL = 0.1
# Seconds without a key before the text is read.
_PAUSE = 0.6

Which = Literal["this", "kind", "all"]


class Proofreading:
    """Proofreads the text that is shown whenever its user pauses, and fixes mistakes on command."""

    def __init__(
        self,
        sheets: Sheets,
        writer: Writer,
        settings: TuiSettings,
        desk: Desk,
        prompts: Prompts,
        clock: Clock,
        lists: Lists,
    ) -> None:
        self._sheets = sheets
        self._desk = desk
        self._prompts = prompts
        self._clock = clock
        self._lists = lists
        self._reader = MistakeReader(writer, self._lists, settings.confidence)
        self._on = settings.proofread
        self._reading: DraftReading | None = None
        self._seen: object = None
        self._due: float | None = None
        self._timer: Timer | None = None
        self._drawn: object = None
        # The reason why there are no findings, if the model cannot proofread.
        self._failure: str | None = None

    @property
    def _sheet(self) -> Sheet:
        return self._sheets.current

    # Reading

    def begin(self, app: App[None]) -> None:
        """Create the timer in the app."""
        self._timer = app.set_interval(_INTERVAL, self.tick, pause=True)
        self.wake()

    def wake(self) -> None:
        """Start the timer, because text, cursor or sheet may have changed."""
        if self._timer is not None and self._on and self._failure is None:
            self._timer.resume()

    def switch(self) -> None:
        """Turn proofreading on or off."""
        self._on = not self._on
        self._failure = None
        if self._on:
            self.read_again()
            self._prompts.say("Mistakes are looked for.", seconds=3)
        else:
            for sheet in self._sheets:
                sheet.mistakes.findings.clear()
            self._prompts.say("Mistakes are not looked for any more.", seconds=3)
        self._draw()

    def read_again(self) -> None:
        """Read the text that is shown again soon, even if it has not changed."""
        if self._reading is not None:
            self._reading.outdated = True
        self._seen = None
        self._failure = None
        self.wake()

    def tick(self) -> None:
        """Collect findings, and start reading if the user has paused."""
        if not self._desk.editor.can_draw:
            return
        now, sheet = self._clock(), self._sheet
        reading = self._reading
        if reading is not None:
            self._take_in(reading)
            if reading.current and reading.read != (0, 0) and self._is_beyond(reading.read):
                reading.outdated = True
        seen = (sheet, sheet.draft.version)
        if seen != self._seen or self._is_beyond(sheet.mistakes.read):
            if seen != self._seen:
                self._due = now + (_PAUSE if self._reading is not None or self._seen else 0.0)
            elif self._due is None:
                self._due = now + _PAUSE
            self._seen = seen
        if not self._on or self._failure is not None:
            self._due = None
        if self._due is not None and now >= self._due and self._reading is None:
            run = sheet.open_run
            # A model that writes is not to be kept waiting.
            if run is None or not run.writing:
                self._due = None
                self._begin(sheet)
        self._draw()
        if self._due is None and self._reading is None and self._timer is not None:
            self._timer.pause()

    def _begin(self, sheet: Sheet) -> None:
        draft = sheet.draft
        self._reading = DraftReading(draft, sheet.mistakes, sheet.source, draft.text, self._place, draft.version)
        self._reader.begin(self._reading)

    def _take_in(self, reading: DraftReading) -> None:
        over = reading.over
        while reading.found:
            spans, findings = reading.found.popleft()
            if reading.current and self._on:
                reading.mistakes.findings.take(spans, findings)
        if over:
            self._reading = None
            self._failure = reading.failure
            if reading.complete:
                reading.mistakes.read = reading.read
            elif reading.current:
                # It was cancelled for a run.
                self._due = self._clock() + _PAUSE

    @property
    def _place(self) -> int:
        """The offset where the user is: at the cursor, or in the middle of the screen if the cursor is not on it."""
        start, end = self._desk.editor.viewport.shown
        cursor = self._sheet.draft.selection.cursor
        return cursor if start <= cursor <= end else (start + end) // 2

    def _is_beyond(self, read: tuple[int, int]) -> bool:
        """Whether the user is in another part of a long text than the part that was read."""
        return self._sheet.draft.buffer.length > MOST and not read[0] <= self._place <= read[1]

    def _draw(self) -> None:
        """Show the mistakes, if they have changed."""
        shown = (self._sheet, self._sheet.mistakes.findings.revision, self._reading is None)
        if shown != self._drawn:
            self._drawn = shown
            self._desk.editor.refresh()
            self._desk.update_bars()
        self._desk.mistake_list.say(self._why_none())

    def _why_none(self) -> str:
        if not self._on:
            return "Mistakes are not looked for; the palette turns that on."
        if self._failure is not None:
            return f"Mistakes are not looked for: {self._failure}."
        return "Reading…" if self._reading is not None else "No mistakes found."

    # The user's commands

    def go(self, by: int) -> None:
        """Go to the next mistake, or to the previous one."""
        found = self._sheet.mistakes.beside(by)
        if found is None:
            self._prompts.say(self._why_none(), seconds=3)
            if self._failure is not None:
                self.read_again()
        else:
            self.look_at(found)

    def look_at(self, finding: Suggestion) -> None:
        """Move the cursor to a mistake."""
        start, _ = finding.shown(self._sheet.draft.buffer.slice)
        self._desk.editor.select(Selection.at(start))

    def look_at_number(self, index: int) -> None:
        """Move the cursor to the mistake in a row of the list."""
        found = list(self._sheet.mistakes.findings)
        if index < len(found):
            self.look_at(found[index])

    def fix(self, which: Which) -> None:
        """Fix the mistake at the cursor, all of its kind, or all, in one undo step."""
        here, found = self._chosen(), list(self._sheet.mistakes.findings)
        if which == "this":
            found = [] if here is None else [here]
        elif which == "kind":
            found = [one for one in found if here is not None and one.kind == here.kind]
        if not found:
            self._prompts.say("There is no mistake here.", seconds=3)
            return
        draft = self._sheet.draft
        draft.edit_all([one.edit for one in found])
        if which != "this":
            self._prompts.say(f"{counted(len(found), 'mistake')} fixed; Ctrl+Z takes that back.", seconds=3)
        self._done()

    def ignore(self) -> None:
        """Ignore the mistake at the cursor from now on."""
        sheet = self._sheet
        if (here := self._here()) is None:
            return
        try:
            path = self._lists.ignore(sheet.source, sheet.draft.text, here)
        except (ReviserError, OSError) as error:
            self._prompts.fail(str(error))
            return
        sheet.mistakes.findings.leave_out(lambda one: one == here)
        where = f"in {path}" if path is not None else "until you quit: this text has no file"
        self._prompts.say(f"{here.says} is ignored here, {where}.", seconds=3)
        self.read_again()
        self._done()

    def add_word(self, owner: Owner) -> None:
        """Add the word at the cursor to the project's list or to the user's."""
        sheet = self._sheet
        if (here := self._here()) is None:
            return
        word = unknown_word(here)
        if word is None:
            self._prompts.say("This is not about an unknown word.", seconds=3)
            return
        try:
            path = self._lists.add_word(sheet.source, word, owner)
        except (ReviserError, OSError) as error:
            self._prompts.fail(str(error))
            return
        for each in self._sheets:
            each.mistakes.findings.leave_out(lambda one: word in WORD.findall(one.old))
        self._prompts.say(f"{quoted(word)} is now in {path}.", seconds=3)
        self.read_again()
        self._done()

    def _here(self) -> Suggestion | None:
        here = self._chosen()
        if here is None:
            self._prompts.say("There is no mistake here.", seconds=3)
        return here

    def _chosen(self) -> Suggestion | None:
        """The mistake at the cursor; in the list, that of the chosen row."""
        rows = self._desk.mistake_list
        if self._sheet.mistakes.here is None and rows.has_focus:
            self.look_at_number(rows.chosen)
        return self._sheet.mistakes.here

    def _done(self) -> None:
        """Show the changed text; in the list, go to the next mistake."""
        self._desk.editor.select(self._sheet.draft.selection)
        if self._desk.mistake_list.has_focus and (following := self._sheet.mistakes.beside(1)):
            self.look_at(following)
        self._draw()
