"""The application: it creates and connects the parts, and passes each command to the part that carries it out."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from textual import events, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.notifications import SeverityLevel
from textual.widgets import Input

from reviser.core.errors import ReviserError
from reviser.editor.lists import Lists
from tui.actions import EditorParts, actions_of
from tui.autosave import Autosave
from tui.commands import COMMANDS, INTRODUCTION, PALETTE, Command, help_groups, is_available
from tui.files import Files
from tui.next_edits.following import Following
from tui.player.player import Player
from tui.player.run_files import RunFiles
from tui.player.ticker import Ticker
from tui.prompts import Prompts
from tui.proofreading.proofreading import Proofreading
from tui.runs.run import DraftRun
from tui.runs.writer import Loader, Writer, load_model
from tui.settings import TuiSettings, journal_folder
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.signals import leave_on_signals
from tui.terminal import KeyBurst, driver_class
from tui.widgets.bars import TabBar
from tui.widgets.desk import Desk
from tui.widgets.dialogs import Help, Palette
from tui.widgets.find_bar import FindBar
from tui.widgets.finding_list import FindingList
from tui.widgets.key_order import CommandsInProgress, is_taken_by_all, keys_before_are_taken
from tui.widgets.keyboard import written_by
from tui.widgets.panels import SidePanel, Timeline
from tui.widgets.rows import Rows
from tui.widgets.text.editor import Editor, typed_text
from tui.widgets.text.text_view import TextView
from tui.widgets.themes import DARK, LIGHT


class EditorApp(App[None], inherit_bindings=False):
    """The Textual application. It receives keys and messages; its parts carry out what these ask for."""

    TITLE = "Reviser"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (76, "-roomy")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [command.binding for command in COMMANDS if command.key]

    def __init__(
        self,
        files: Sequence[Path] = (),
        settings: TuiSettings | None = None,
        *,
        play: Path | None = None,
        load: Loader | None = None,
        journals: Path | None = None,
        encoding: str | None = None,
    ) -> None:
        # By itself Textual would send shades of grey where no colour is wanted.
        super().__init__(driver_class(), ansi_color=True if "NO_COLOR" in os.environ else None)
        self.settings = settings or TuiSettings()
        _check_keys(self.settings)
        # Read by tests in place of the time.
        self.clock: Callable[[], float] = time.monotonic
        self._play = play
        self._given_files = bool(files)
        self._begun = False
        self._leaving = False
        self.writer = Writer(load or partial(load_model, self.settings))
        journals = journals or journal_folder()
        self.sheets = Sheets(files, journals, encoding)

        def now() -> float:
            return self.clock()

        prompts = Prompts(self)
        self.prompts = prompts
        self.desk = Desk(self.sheets, self.settings, now)
        self.ticker = Ticker(self.sheets, self.desk, prompts, now)

        def complain(problem: str) -> None:
            # Lists are read in the model's thread too.
            self.call_later(prompts.fail, problem)

        lists = Lists(tuple, complain)
        self.player = Player(self.sheets, self.writer, self.settings, self.ticker, prompts, now, lists)
        self.files = Files(self.sheets, self.desk, prompts)
        self.run_files = RunFiles(self.sheets, self.writer, self.player, self.desk, prompts)
        self.proofreading = Proofreading(self.sheets, self.writer, self.settings, self.desk, prompts, now, lists)
        self.following = Following(self.sheets, self.writer, self.settings, self.desk, prompts, now, lists)
        self.autosave = Autosave(self, journals, self.sheets, self.files, self.desk, prompts)
        parts = EditorParts(
            self,
            self.sheets,
            self.desk,
            prompts,
            self.player,
            self.files,
            self.run_files,
            self.proofreading,
            self.following,
            self.autosave,
        )
        for name, action in actions_of(parts).items():
            setattr(self, f"action_{name}", action)

    @property
    def sheet(self) -> Sheet:
        """The sheet that is shown."""
        return self.sheets.current

    @property
    def run_now(self) -> DraftRun | None:
        """The run of the sheet that is shown, if it is open."""
        return self.sheet.open_run

    @property
    def editor(self) -> Editor:
        return self.desk.editor

    # Beginning and ending

    def compose(self) -> ComposeResult:
        yield from self.desk.compose()

    def on_mount(self) -> None:
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = self.settings.theme
        self.set_keymap(self.settings.keys)
        self.ticker.begin(self)
        self.autosave.begin()
        self.proofreading.begin(self)
        self.following.begin(self)
        leave_on_signals(self._leave_in_a_hurry)
        self.desk.arrange()

    def on_resize(self) -> None:
        """Ask the first questions: from now on the terminal's size is known."""
        if not self._begun:
            self._begun = True
            self.call_after_refresh(self._begin)

    def on_unmount(self) -> None:
        for sheet in self.sheets:
            sheet.unmark()

    @work
    async def _begin(self) -> None:
        """Offer texts for recovery after a crash, then open the file to play."""
        for sheet in self.sheets:
            self.files.tell_of(sheet)
        nothing_else = not self._given_files and self._play is None
        await self.autosave.offer_leftovers(of_all=nothing_else)
        if self._play is not None:
            await self.run_files.play(self._play)

    async def action_quit(self) -> None:
        if not self._leaving:
            self._leaving = True
            self._quit()

    @work
    async def _quit(self) -> None:
        if await self.files.close_all():
            self.writer.close()
            self.exit()
        self._leaving = False

    def _leave_in_a_hurry(self) -> None:
        """Exit at once, because the terminal is gone or a signal arrived; unsaved text stays in the journals."""
        self.autosave.flush_journals()
        self.exit()

    async def on_event(self, event: events.Event) -> None:
        """Handle keys one after the other; keys that arrive while the app exits are dropped."""
        if isinstance(event, events.InputEvent | events.Paste) and not self._takes_keys:
            return
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
        elif is_taken_by_all(self, event.key):
            await keys_before_are_taken(self)
            begun = CommandsInProgress(self)
            await super().on_event(event)
            await begun.settled()
        else:
            await super().on_event(event)

    @property
    def _takes_keys(self) -> bool:
        return self.is_running and not self._exit

    async def on_key_burst(self, burst: KeyBurst) -> None:
        """Take keys that came at once as if one after the other, but typed text in one piece."""
        for typed, group in groupby(burst.keys, lambda key: typed_text(key) is not None):
            keys = list(group)
            if not self._takes_keys:
                return
            if typed and self.focused is self.editor:
                self.editor.post_message(Editor.Typed(keys))
            elif typed and isinstance(self.focused, Input):
                await self._type_into_field(keys)
            else:
                await self._take(keys)

    async def _type_into_field(self, typed: Sequence[events.Key]) -> None:
        for of_field, group in groupby(typed, lambda key: written_by(key) is not None):
            keys = list(group)
            if of_field:
                await self.on_event(events.Paste("".join(filter(None, map(written_by, keys)))))
            else:
                await self._take(keys)

    async def _take(self, keys: Iterable[events.Key]) -> None:
        for key in keys:
            await self.on_event(key)

    def on_terminal_gone(self) -> None:
        self._leave_in_a_hurry()

    # Which commands there are

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return is_available(action, self.sheet)

    def action_command_palette(self) -> None:
        # Its commands are for the text, which waits while a dialog is open.
        if not self.prompts.asking:
            available = [command for command in PALETTE if is_available(command.action.partition("(")[0], self.sheet)]
            self.push_screen(Palette(available, self.settings.keys), self._carry_out)

    async def _carry_out(self, command: Command | None) -> None:
        """Run the command chosen in the palette."""
        if command is not None:
            await self.run_action(command.action, self.editor if command.of_text else None)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a message in the status line, where it covers no text."""
        self.desk.status_line.tell(message, severity, self.NOTIFICATION_TIMEOUT if timeout is None else timeout)

    # Messages of the widgets

    def on_timeline_scrubbed(self, event: Timeline.Scrubbed) -> None:
        self.player.scrub(event.depth)

    def on_side_panel_go_to(self, event: SidePanel.GoTo) -> None:
        self.player.go_to(event.node)

    def on_side_panel_take(self, event: SidePanel.Take) -> None:
        self.player.choose(event.option)

    def on_tab_bar_picked(self, event: TabBar.Picked) -> None:
        self.desk.show(self.sheets[event.index])

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Move the cursor to the mistake or place chosen in the list."""
        if event.rows is self.desk.mistake_list:
            self.proofreading.look_at_number(event.index)
        elif event.rows is self.desk.place_list:
            self.following.look_at_number(event.index)

    def on_rows_taken(self, event: Rows.Taken) -> None:
        if isinstance(event.rows, FindingList):
            self.desk.focus(self.desk.editor)

    # Actions of several parts

    def action_escape(self) -> None:
        """Close what is open, return to the text, or stop the run: one of these at a time."""
        if self.desk.find_bar.display:
            self.desk.find_bar.action_close()
        elif not self.editor.has_focus:
            self.desk.focus(self.editor)
        else:
            self.player.stop()

    def on_text_view_changed(self, event: TextView.Changed) -> None:
        run = self.sheet.run
        if run is not None and run.notice():
            self.ticker.wake()
        else:
            self.desk.update_bars()
        self.proofreading.wake()
        self.following.wake()

    def action_theme(self) -> None:
        self.theme = "light" if self.theme == "dark" else "dark"

    def action_help(self) -> None:
        self.push_screen(Help(INTRODUCTION, help_groups(self.settings.keys)))


def _check_keys(settings: TuiSettings) -> None:
    known = {command.id for command in COMMANDS}
    for cls in (Editor, FindBar):
        known |= {each.id for each in cls.BINDINGS if isinstance(each, Binding) and each.id}
    if unknown := sorted(set(settings.keys) - known):
        raise ReviserError(f"the settings bind keys to an unknown command: {unknown[0]}")


def run_editor(
    files: Sequence[Path], *, model: str | None = None, play: Path | None = None, encoding: str | None = None
) -> None:
    """Run the editor in this terminal until the user quits."""
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        raise ReviserError("the editor needs a terminal")
    settings = TuiSettings.load()
    if model is not None:
        settings = replace(settings, model=model)
    app = EditorApp(files, settings, play=play, encoding=encoding)
    try:
        app.run()
    finally:
        # If the app has crashed, the changes of the last half second are not in the journals yet.
        app.autosave.flush_journals()
    if app.writer.working:
        # The model's thread is inside a library and cannot be asked to end; everything else is done.
        sys.stdout.flush()
        os._exit(app.return_code or 0)
    if app.return_code:
        sys.exit(app.return_code)
