"""The application: it puts the parts together, and hands each command to the part whose business it is."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from reviser.core.errors import ReviserError
from reviser.proofreading.editing.lists import Lists, Owner
from tui.autosave import Autosave
from tui.commands import COMMANDS, INTRODUCTION, PALETTE, Command, help_groups, is_available
from tui.document.draft import Selection
from tui.files import Files
from tui.prompts import Prompts
from tui.proofreading.proofreading import Proofreading, Which
from tui.runs.player import Player
from tui.runs.run_files import RunFiles
from tui.runs.ticker import Ticker
from tui.runs.tree import Run
from tui.runs.writer import Loader, Writer, load_model
from tui.settings import Settings, journal_folder
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.signals import leave_on_signals
from tui.widgets.bars import TabBar
from tui.widgets.desk import Desk
from tui.widgets.dialogs import Help, Palette
from tui.widgets.find_bar import FindBar
from tui.widgets.panels import Rows, SidePanel, Timeline
from tui.widgets.text.editor import Editor
from tui.widgets.text.text_view import TextView
from tui.widgets.themes import DARK, LIGHT


class EditorApp(App[None], inherit_bindings=False):
    """The editor. Keys and messages come in here; what they bring about is done by the parts."""

    TITLE = "Reviser"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (76, "-roomy")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [command.binding for command in COMMANDS if command.key]

    def __init__(
        self,
        files: Sequence[Path] = (),
        settings: Settings | None = None,
        *,
        play: Path | None = None,
        load: Loader | None = None,
        journals: Path | None = None,
    ) -> None:
        # Without colour means without: by itself Textual would send shades of grey.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.settings = settings or Settings()
        _check_keys(self.settings)
        # Read by tests in place of the time.
        self.clock: Callable[[], float] = time.monotonic
        self._play = play
        self._given_files = bool(files)
        self._begun = False
        self._leaving = False
        self._palette = Palette()
        self.writer = Writer(load or partial(load_model, self.settings))
        journals = journals or journal_folder()
        self.sheets = Sheets(files, journals)

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
        self.player = Player(
            self.sheets, self.writer, self.settings, self.ticker, prompts, now, lists
        )
        self.files = Files(self.sheets, self.desk, prompts)
        self.run_files = RunFiles(self.sheets, self.writer, self.player, self.desk, prompts)
        self.proofreading = Proofreading(
            self.sheets, self.writer, self.settings, self.desk, prompts, now, lists
        )
        self.autosave = Autosave(self, journals, self.sheets, self.files, self.desk, prompts)

    @property
    def sheet(self) -> Sheet:
        """The text that is shown."""
        return self.sheets.current

    @property
    def run_now(self) -> Run | None:
        """Its run, if that is open."""
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
        leave_on_signals(self._leave_in_a_hurry)
        self.desk.arrange()

    def on_resize(self) -> None:
        """The terminal's size is known: now questions can be asked."""
        if not self._begun:
            self._begun = True
            self.call_after_refresh(self._begin)

    @work
    async def _begin(self) -> None:
        """What comes first: texts that a crash left behind, then the file to play."""
        for sheet in self.sheets:
            self.files.tell_if_read_only(sheet)
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
        """The terminal or the system goes away, or someone wants the editor gone: what is not saved stays in the journals."""
        self.autosave.flush_journals()
        self.exit()

    async def on_event(self, event: events.Event) -> None:
        """Keys that are still on their way while the app ends are for nobody."""
        if self.is_running or not isinstance(event, events.InputEvent):
            await super().on_event(event)

    # Which commands there are

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return is_available(action, self.sheet)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for command in PALETTE:
            if is_available(command.action.partition("(")[0], self.sheet):
                call = partial(self._take_from_palette, command)
                yield SystemCommand(command.title, command.help, call)

    def action_command_palette(self) -> None:
        # Its commands are for the text, which waits while a dialog is open.
        if not self.prompts.asking:
            self._palette = Palette()
            self.push_screen(self._palette)

    async def _take_from_palette(self, command: Command) -> None:
        if self._palette.use():
            await self.run_action(command.action, self.editor if command.of_text else None)

    # Writing with the model, and looking through its changes

    def action_continue(self) -> None:
        self.player.continue_()

    def action_infill(self) -> None:
        self.player.infill()

    def action_revise(self) -> None:
        self.player.revise()

    def action_pause(self) -> None:
        self.player.pause_or_play()

    def action_step(self) -> None:
        self.player.step()

    def action_rewrite(self) -> None:
        self.player.rewrite()

    def action_keep(self) -> None:
        self.player.keep()

    def action_discard(self) -> None:
        self.player.discard()

    def action_speed(self, by: int) -> None:
        self.player.change_speed(by)

    def action_look(self, by: int) -> None:
        self.player.look(by)

    def action_decide(self, accepted: bool) -> None:
        self.player.decide(accepted)

    def action_escape(self) -> None:
        """Close what is open, go back to the text, or stop the run: one thing at a time."""
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

    # Mistakes

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
            self.desk.focus(self.editor)

    # Looking at a run

    def action_panel(self) -> None:
        self.desk.switch_panel()

    def action_timeline(self) -> None:
        if self.run_now is not None:
            self.desk.focus(self.desk.timeline)

    def action_focus_editor(self) -> None:
        self.desk.focus(self.editor)

    def on_timeline_scrubbed(self, event: Timeline.Scrubbed) -> None:
        self.player.scrub(event.depth)

    def on_side_panel_go_to(self, event: SidePanel.GoTo) -> None:
        self.player.go_to(event.node)

    def on_side_panel_take(self, event: SidePanel.Take) -> None:
        self.player.choose(event.option)

    @work
    async def action_play_file(self) -> None:
        await self.run_files.open()

    @work
    async def action_save_run(self) -> None:
        await self.run_files.save()

    @work
    async def action_export_page(self) -> None:
        await self.run_files.export_page()

    @work
    async def action_export_diff(self) -> None:
        await self.run_files.export_diff()

    # Files

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
        if self.files.asks_before_saving(self.sheet):
            self._save_with_questions()
        else:
            # At once, so that what is typed next is not yet in the file.
            self.files.write(self.sheet)

    @work
    async def _save_with_questions(self) -> None:
        await self.files.save(self.sheet)

    @work
    async def action_save_as(self) -> None:
        await self.files.save_as(self.sheet)

    def action_reload(self) -> None:
        self.files.read_again(self.sheet)

    @work
    async def action_close(self) -> None:
        await self.files.close(self.sheet)

    def action_tab(self, by: int) -> None:
        self.desk.show(self.sheets[(self.sheets.index + by) % len(self.sheets)])

    def on_tab_bar_picked(self, event: TabBar.Picked) -> None:
        self.desk.show(self.sheets[event.index])

    # Editing and view

    def action_find(self, replacing: bool) -> None:
        self.desk.find_bar.open(replacing=replacing)

    def action_find_next(self, forwards: bool) -> None:
        self.desk.find_bar.find_again(forwards=forwards)

    @work
    async def action_go_to_line(self) -> None:
        buffer = self.sheet.draft.buffer
        answer = await self.prompts.ask_line(f"Go to line (1 to {buffer.line_count})")
        if answer is None:
            return
        try:
            line = max(1, min(int(answer), buffer.line_count)) - 1
        except ValueError:
            self.prompts.warn(f"{answer[:20]} is not the number of a line.")
            return
        self.editor.select(Selection.at(buffer.line_start(line)))

    def action_wrap(self) -> None:
        self.editor.word_wrap = not self.editor.word_wrap

    def action_numbers(self) -> None:
        self.editor.line_numbers = not self.editor.line_numbers

    def action_theme(self) -> None:
        self.theme = "light" if self.theme == "dark" else "dark"

    def action_help(self) -> None:
        self.push_screen(Help(INTRODUCTION, help_groups(self.settings.keys)))


def _check_keys(settings: Settings) -> None:
    known = {command.id for command in COMMANDS}
    for cls in (Editor, FindBar):
        known |= {each.id for each in cls.BINDINGS if isinstance(each, Binding) and each.id}
    if unknown := sorted(set(settings.keys) - known):
        raise ReviserError(f"the settings bind keys to an unknown command: {unknown[0]}")


def run_editor(
    files: Sequence[Path], *, model: str | None = None, play: Path | None = None
) -> None:
    """Run the editor in this terminal until the user leaves it."""
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        raise ReviserError("the editor needs a terminal")
    settings = Settings.load()
    if model is not None:
        settings = replace(settings, model=model)
    app = EditorApp(files, settings, play=play)
    app.run()
    if app.writer.working:
        # The model's thread is inside a library and cannot be asked to end; everything else is done.
        sys.stdout.flush()
        os._exit(app.return_code or 0)
    if app.return_code:
        sys.exit(app.return_code)
