"""The main view: the widgets around the text, updated from the sheet that is shown."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui.commands import footer_hints
from tui.settings import TuiSettings
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.widgets.bars import KeyBar, StatusLine, TabBar
from tui.widgets.find_bar import FindBar
from tui.widgets.finding_list import FindingList
from tui.widgets.mistake_list import MistakeList
from tui.widgets.panels import SidePanel, Timeline
from tui.widgets.place_list import PlaceList
from tui.widgets.status_text import extent_in_words, findings_in_words, place_in_words, run_in_words
from tui.widgets.text.editor import Editor

Clock = Callable[[], float]


class Desk:
    """The main view of the app; it shows the current sheet and changes nothing in it."""

    def __init__(self, sheets: Sheets, settings: TuiSettings, clock: Clock) -> None:
        self._sheets = sheets
        self._settings = settings
        self._clock = clock
        self.tab_bar = TabBar()
        self.editor = Editor(sheets.current, id="editor")
        self.find_bar = FindBar(self.editor, id="find-bar")
        self.mistake_list = MistakeList(id="mistakes")
        self.place_list = PlaceList(id="places")
        self.panel = SidePanel(id="panel")
        self.timeline = Timeline(id="timeline")
        self.status_line = StatusLine(id="status")
        self.panel_updated_at = float("-inf")
        self.key_bar = KeyBar()
        self._loading_since: float | None = None

    def compose(self) -> ComposeResult:
        yield self.tab_bar
        with Horizontal(id="main"):
            with Vertical(id="left"):
                yield self.editor
                yield self.find_bar
                yield self.mistake_list
                yield self.place_list
            yield self.panel
        yield self.timeline
        yield self.status_line
        yield self.key_bar

    def arrange(self) -> None:
        """Apply the settings to the widgets, once they are mounted."""
        settings = self._settings
        self.editor.clock = self._clock
        self.editor.word_wrap = settings.wrap
        self.editor.line_numbers = settings.line_numbers
        self.editor.tab_width = settings.tab_width
        self.focus(self.editor)
        self.update()

    def focus(self, widget: Widget) -> None:
        """Focus a widget at once, so that the next key already goes to it."""
        widget.screen.set_focus(widget)

    def show(self, sheet: Sheet) -> None:
        """Show one of the sheets."""
        self._sheets.current = sheet
        self.editor.show(sheet)
        self.focus(self.editor)
        self.update()

    def add(self, sheet: Sheet) -> None:
        """Show a new sheet."""
        self._sheets.add(sheet)
        self.show(sheet)

    def look_again(self) -> None:
        """Update after a change of the text that was not the user's."""
        self.editor.look_again()
        self.update()

    def update(self) -> None:
        """Update everything around the text."""
        self.update_bars()
        sheet = self._sheets.current
        run = sheet.open_run
        self.timeline.set_class(run is not None, "shown")
        self.timeline.update_from(run)
        if run is None and self.timeline.has_focus:
            self.focus(self.editor)
        self._update_panel()

    def update_bars(self) -> None:
        """Update the rows above and below the text, which every key may change."""
        sheet = self._sheets.current
        labels = [each.label for each in self._sheets]
        self.tab_bar.fill(labels, self._sheets.index)
        file = sheet.file.description if sheet.file else ""
        told = run_in_words(sheet, self._waited(sheet)) or findings_in_words(sheet)
        self.status_line.say(told, file, extent_in_words(sheet), place_in_words(sheet))
        focused = [rows for rows in self._lists if rows.is_attached and rows.screen.focused is rows]
        self.key_bar.fill(focused[0].HINTS if focused else footer_hints(sheet, self._settings.keys))
        for rows in self._lists:
            if rows.has_class("shown"):
                rows.update_from(sheet)

    def _waited(self, sheet: Sheet) -> float:
        """Seconds for which the run has been waiting for its model."""
        now, run = self._clock(), sheet.open_run
        if run is None or not run.writing or not run.status:
            self._loading_since = None
        elif self._loading_since is None:
            self._loading_since = now
        return now - (self._loading_since or now)

    def _update_panel(self) -> None:
        if self.panel.has_class("shown"):
            self.panel.update_from(self._sheets.current.run)
        self.panel_updated_at = self._clock()

    @property
    def _lists(self) -> tuple[FindingList, ...]:
        return self.mistake_list, self.place_list

    def switch_list(self, wanted: FindingList) -> None:
        """Show and focus a list under the text in the place of another, or hide it."""
        shown = not wanted.has_class("shown")
        for rows in self._lists:
            rows.set_class(shown and rows is wanted, "shown")
        if shown:
            wanted.update_from(self._sheets.current)
        self.focus(wanted if shown else self.editor)
        self.update_bars()

    def switch_panel(self) -> None:
        """Show and focus the panel, or hide it."""
        shown = not self.panel.has_class("shown")
        self.panel.set_class(shown, "shown")
        if shown:
            self._update_panel()
            self.panel.focus_content()
        else:
            self.focus(self.editor)
