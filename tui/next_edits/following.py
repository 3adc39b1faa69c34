"""The following of the user's edits in the text that is shown: when it is read, and the user's commands on the places
found."""

from __future__ import annotations

from textual.app import App
from textual.timer import Timer

from reviser.core.counts import counted
from reviser.editor.edited_text import Selection
from reviser.editor.lists import Lists
from reviser.proofreading.suggestion import Suggestion
from tui.next_edits.reading import OfferReader, OfferReading
from tui.prompts import Prompts
from tui.runs.writer import Writer
from tui.settings import TuiSettings
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.widgets.desk import Clock, Desk

_INTERVAL = 0.1
# Seconds without a key before the user's edits are followed.
_PAUSE = 0.6


class Following:
    """Offers to repeat the user's edits elsewhere in the text whenever he pauses, and repeats them on command."""

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
        self._reader = OfferReader(writer, lists, settings.next_edit_confidence)
        self._on = settings.next_edits
        self._reading: OfferReading | None = None
        self._seen: object = None
        self._due: float | None = None
        self._timer: Timer | None = None
        self._drawn: object = None
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
        """Start the timer, because text, cursor, run or sheet may have changed."""
        sheet = self._sheet
        sheet.offers.hidden = sheet.open_run is not None
        if sheet.offers.on != self._on:
            sheet.offers.switch(self._on)
        if self._timer is not None and self._on and self._failure is None:
            self._timer.resume()

    def switch(self) -> None:
        """Follow edits from now on, or no longer."""
        self._on = not self._on
        self._failure = None
        for sheet in self._sheets:
            sheet.offers.switch(self._on)
        does = "is offered" if self._on else "is not offered any more"
        self._prompts.say(f"To make your edits elsewhere too {does}.", seconds=3)
        self.wake()
        self._draw()

    def tick(self) -> None:
        """Collect what was found, and start reading if the user has paused."""
        if not self._desk.editor.can_draw:
            return
        now, sheet, reading = self._clock(), self._sheet, self._reading
        if reading is not None:
            reading.cancelled = reading.cancelled or not self._on or reading.sheet.open_run is not None
            self._take_in(reading)
        seen = (sheet, sheet.draft.version, len(sheet.offers.refused), sheet.offers.hidden)
        if seen != self._seen:
            self._seen = seen
            self._due = now + _PAUSE
        if not self._on or self._failure is not None or sheet.offers.hidden or sheet.offers.history is None:
            self._due = None
        if self._due is not None and now >= self._due and self._reading is None:
            self._due = None
            self._begin(sheet)
        self._draw()
        if self._due is None and self._reading is None and self._timer is not None:
            self._timer.pause()

    def _begin(self, sheet: Sheet) -> None:
        draft, offers = sheet.draft, sheet.offers
        history = offers.history
        assert history is not None
        history.settle()
        self._reading = OfferReading(
            sheet, draft.text, draft.version, history.changed(), history.places, tuple(offers.refused), offers.known
        )
        self._reader.begin(self._reading)

    def _take_in(self, reading: OfferReading) -> None:
        over, offers = reading.over, reading.sheet.offers
        while reading.found:
            (span, found), offers.least = reading.found.popleft()
            if reading.current:
                # What followed other edits goes with the first part of what follows these.
                offers.findings.take([span if reading.taken else (0, len(reading.text))], found)
                reading.taken = True
                offers.follow_from(reading.made)
        if over:
            self._reading = None
            self._failure = reading.failure
            if reading.current:
                if not reading.made:
                    offers.clear()
                offers.known = reading.followed

    def _draw(self) -> None:
        """Show the places, if others are to be shown."""
        sheet, desk = self._sheet, self._desk
        sheet.offers.every = desk.place_list.has_class("shown")
        shown = (sheet, sheet.offers.revision)
        if shown != self._drawn:
            self._drawn = shown
            desk.editor.draw_again()
            desk.update_bars()
        desk.place_list.say(self._why_none())

    def _why_none(self) -> str:
        if not self._on:
            return "Your edits are not followed; the palette turns that on."
        if self._failure is not None:
            return f"Your edits are not followed: {self._failure}."
        return "Reading…" if self._reading is not None else "Your edits belong nowhere else."

    # The user's commands

    def look(self, by: int) -> None:
        """Go to the next place, or to the previous one."""
        found = self._sheet.offers.beside(by)
        if found is None:
            self._prompts.say(self._why_none(), seconds=3)
        else:
            self._look_at(found)

    def _look_at(self, place: Suggestion) -> None:
        start, _ = place.shown(self._sheet.draft.buffer.slice)
        self._desk.editor.select(Selection.at(start))

    def look_at_number(self, index: int) -> None:
        """Move the cursor to the place in a row of the list."""
        found = self._sheet.offers.shown
        if index < len(found):
            self._look_at(found[index])

    def decide(self, accepted: bool) -> None:
        """Make the edit at the cursor too, or refuse it, and go to the next place; elsewhere only go there."""
        offers, rows = self._sheet.offers, self._desk.place_list
        if offers.here is None and rows.has_focus:
            self.look_at_number(rows.chosen)
        here = offers.here
        if here is not None:
            self._decide([here], accepted)
        if here is None or offers.shown:
            self.look(1)

    def keep(self) -> None:
        """Make the edit in all places that are shown, in one undo step."""
        self._decide_all(True, "changed; Ctrl+Z takes that back")

    def discard(self) -> None:
        """Refuse all places that are shown."""
        self._decide_all(False, "refused")

    def _decide_all(self, accepted: bool, told: str) -> None:
        found = list(self._sheet.offers.shown)
        self._decide(found, accepted)
        self._prompts.say(f"{counted(len(found), 'place')} {told}.", seconds=3)
        self._desk.focus(self._desk.editor)

    def _decide(self, found: list[Suggestion], accepted: bool) -> None:
        draft = self._sheet.draft
        if accepted:
            draft.edit_all([one.edit for one in found])
        else:
            self._sheet.offers.refuse(found)
        self._desk.editor.select(draft.selection)
        self._draw()

    def switch_list(self) -> None:
        """Show and focus the list of all places where the edits could be made again, or hide it."""
        self._desk.switch_list(self._desk.place_list)
        self._draw()
