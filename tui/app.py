"""The application: tabs of texts, the model that writes in them, and the commands."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer

from reviser.errors import ReviserError
from tui.bars import StatusLine, TabBar
from tui.commands import COMMANDS, GROUPS, INTRODUCTION, footer_order
from tui.dialogs import Choice, Help, Prompt, Question
from tui.disk import OpenFile
from tui.document import Draft, Selection, paragraph_at
from tui.editor import Editor
from tui.find_bar import FindBar
from tui.journal import Journal, Leftover, leftovers
from tui.panels import SidePanel, Timeline
from tui.review import Review
from tui.runs import FADE_SECONDS, Node, Run
from tui.settings import SPEEDS, Settings, journal_folder
from tui.sheet import Sheet
from tui.themes import DARK, LIGHT
from tui.writer import Live, Loader, Task, Writer, load_model

if TYPE_CHECKING:
    from reviser.tokenizer import Tokenizer
    from reviser.trajectory import Trajectory

_FRAMES_PER_SECOND = 30
_PANEL_INTERVAL = 0.2
_FADE_INTERVAL = 0.12
_JOURNAL_INTERVAL = 0.5
_DISK_INTERVAL = 2.0

_RUN_ACTIONS = {"pause", "step", "rewrite", "keep", "discard", "speed", "timeline"}
_REVIEW_ACTIONS = {"decide", "look"}
_ENDINGS = {
    "stop": "the model stopped",
    "limit": "limit of actions reached",
    "exhausted": "nothing more to do",
    "end": "end of the recording",
}


class EditorApp(App[None], inherit_bindings=False):
    """The editor. Everything it does with files and runs is done by the parts; here they meet."""

    TITLE = "Reviser"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (76, "-roomy")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        command.binding for command in sorted(COMMANDS, key=footer_order) if command.key
    ]

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
        self.writer = Writer(load or partial(load_model, self.settings))
        self.clock: Callable[[], float] = time.monotonic
        self._journals = journals or journal_folder()
        self._untitled = 0
        self._begun = False
        self._play = play
        self._asked: set[Sheet] = set()
        self._panels_at = float("-inf")
        self._drawn_at = float("-inf")
        self._footer_for: object = None
        self._said_journal_fails = False
        self._loading_since: float | None = None
        self._speed = self.settings.speed
        self.sheets = [self._opened(path) for path in files] or [self._blank()]
        self.sheet = self.sheets[0]
        self.tab_bar = TabBar()
        self.editor = Editor(self.sheet, id="editor")
        self.find_bar = FindBar(self.editor, id="find-bar")
        self.panel = SidePanel(id="panel")
        self.timeline = Timeline(id="timeline")
        self.status_line = StatusLine(id="status")
        self._check_keys()

    def _check_keys(self) -> None:
        known = {command.id for command in COMMANDS}
        for cls in (Editor, FindBar):
            known |= {each.id for each in cls.BINDINGS if isinstance(each, Binding) and each.id}
        if unknown := sorted(set(self.settings.keys) - known):
            raise ReviserError(f"the settings bind keys to an unknown command: {unknown[0]}")

    def _opened(self, path: Path) -> Sheet:
        file, text = OpenFile.open(path)
        return Sheet(Draft(text), Journal(self._journals), file)

    def _blank(self, name: str | None = None, draft: Draft | None = None) -> Sheet:
        if name is None:
            self._untitled += 1
            name = "untitled" if self._untitled == 1 else f"untitled {self._untitled}"
        return Sheet(draft or Draft(), Journal(self._journals), name=name)

    def compose(self) -> ComposeResult:
        yield self.tab_bar
        with Horizontal(id="main"):
            with Vertical(id="left"):
                yield self.editor
                yield self.find_bar
            yield self.panel
        yield self.timeline
        yield self.status_line
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = self.settings.theme
        self.set_keymap(self.settings.keys)
        editor = self.editor
        editor.clock = self.clock
        editor.word_wrap = self.settings.wrap
        editor.line_numbers = self.settings.line_numbers
        editor.tab_width = self.settings.tab_width
        self._focus(editor)
        self._frames = self.set_interval(1 / _FRAMES_PER_SECOND, self._tick, pause=True)
        self.set_interval(_JOURNAL_INTERVAL, self._flush_journals)
        self.set_interval(_DISK_INTERVAL, self._look_at_disk)
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self._leave_in_a_hurry)
        self._update()

    def on_resize(self) -> None:
        """The terminal's size is known: now questions can be asked."""
        if not self._begun:
            self._begun = True
            self.call_after_refresh(self._begin)

    @work
    async def _begin(self) -> None:
        """What comes first: texts that a crash left behind, then the file to play."""
        for leftover in leftovers(self._journals):
            await self._offer(leftover)
        if self._play is not None:
            await self._play_path(self._play)

    @property
    def run_now(self) -> Run | None:
        """The run of the text that is shown, if it is open."""
        return self.sheet.open_run

    # What is on the screen

    def _show(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.editor.show(sheet)
        self._focus(self.editor)
        self._update()

    def _focus(self, widget: Widget) -> None:
        """Give a widget the focus at once, so that the next key already reaches it."""
        widget.screen.set_focus(widget)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        run = self.sheet.run
        if run is not None and run.notice():
            self._wake()
        else:
            self._update_bars()

    def _update(self) -> None:
        """Bring everything around the text up to date."""
        self._update_bars()
        run = self.run_now
        self.timeline.set_class(run is not None, "shown")
        self.timeline.update_from(run)
        if run is None and self.timeline.has_focus:
            self._focus(self.editor)
        self._update_panel()
        # The footer is put together anew for this, so only where it can be another.
        commands = (
            run is not None and (run.recorded, run.reviewable),
            self.sheet.review is not None,
        )
        if commands != self._footer_for:
            self._footer_for = commands
            self.refresh_bindings()

    def _update_panel(self) -> None:
        if self.panel.has_class("shown"):
            self.panel.update_from(self.sheet.run)
        self._panels_at = self.clock()

    def _update_bars(self) -> None:
        labels = [f"{sheet.title}{' •' if sheet.modified else ''}" for sheet in self.sheets]
        self.tab_bar.fill(labels, self.sheets.index(self.sheet))
        draft = self.sheet.draft
        cursor = draft.selection.cursor
        line = draft.buffer.line_of(cursor)
        place = f"{line + 1}:{cursor - draft.buffer.line_start(line) + 1}"
        if not draft.selection.empty:
            place = f"{draft.selection.end - draft.selection.start} selected  {place}"
        file = self.sheet.file.description if self.sheet.file else ""
        self.status_line.say(self._told(), file, place)

    def _told(self) -> str:
        """What the run is doing, in a few words."""
        if review := self.sheet.review:
            left = len(review.open_items)
            return f"change {review.number} of {len(review.items)} · {left} to decide"
        run = self.run_now
        if run is None:
            return ""
        steps = len(run.path) - 1
        pace = f"{run.speed}/s" if run.speed else "full speed"
        if run.status and run.writing:
            now = self.clock()
            return f"{run.status}… {int(now - (self._loading_since or now))} s"
        if run.current is not run.tip:
            place = f"{run.current.depth} of {steps}"
            return f"playing {place} · {pace}" if run.writing else f"at step {place}"
        if run.writing:
            speed = run.statistics().actions_per_second
            rate = f"{speed:.0f} actions/s" if speed and run.seconds > 0.5 else pace
            return f"writing · {steps} steps · {rate}"
        over = _ENDINGS.get(run.ending or "")
        if run.revising and over and not run.reviewable:
            over = "nothing to change"
        return f"{over or 'paused'} · {steps} steps"

    def _tick(self) -> None:
        """One frame: take in what the model has done, and draw it."""
        now = self.clock()
        changed = False
        for sheet in self.sheets:
            if sheet.run is not None and sheet.run.state != "closed":
                changed = sheet.run.tick(now) or changed
                self._handle_failure(sheet, sheet.run)
        self._time_the_loading(now)
        if changed:
            self.editor.look_again()
            self.timeline.update_from(self.run_now)
            self._drawn_at = now
        elif self._fading(now) and now - self._drawn_at > _FADE_INTERVAL:
            self.editor.fade()
            self._drawn_at = now
        run = self.run_now
        self._update_bars()
        if changed and (now - self._panels_at > _PANEL_INTERVAL or run is None or not run.writing):
            self._update()
        if not self._lively(now):
            self._frames.pause()

    def _time_the_loading(self, now: float) -> None:
        run = self.run_now
        loading = run is not None and run.writing and run.status
        self._loading_since = (self._loading_since or now) if loading else None

    def _handle_failure(self, sheet: Sheet, run: Run) -> None:
        if run.failure is None:
            return
        self.notify(run.failure, severity="error", timeout=10, markup=False)
        run.failure = None
        if run.tip is run.root:
            run.discard()
        self._update()

    def _fading(self, now: float) -> bool:
        run = self.run_now
        return run is not None and now - run.current.shown_at < FADE_SECONDS + 0.2

    def _lively(self, now: float) -> bool:
        """Whether the next frame can be another than this one."""
        runs = [sheet.open_run for sheet in self.sheets]
        waiting = any(run is not None and (run.writing or run.status) for run in runs)
        return waiting or self._fading(now)

    def _wake(self) -> None:
        self._frames.resume()
        self.editor.look_again()
        self._update()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Commands for a run are there while there is one."""
        run = self.run_now
        if action in _REVIEW_ACTIONS:
            return self.sheet.run is not None and self.sheet.run.reviewable
        if self.sheet.review is not None and action in ("keep", "discard"):
            return True
        if self.sheet.review is not None and action in ("pause", "step"):
            return run is not None and run.ending is None
        if action == "rewrite":
            return run is not None and not run.recorded
        return run is not None if action in _RUN_ACTIONS else True

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for command in COMMANDS:
            name, _, rest = command.action.partition("(")
            if self.check_action(name, (rest,)):
                call = partial(self.run_action, command.action)
                yield SystemCommand(command.title, command.help, call)

    # Writing with the model

    def action_continue(self) -> None:
        """Write on at the end of the text."""
        from reviser.session import final_line_ending

        text = self.sheet.draft.text
        end = len(text) - len(final_line_ending(text))
        self._start("continue", end, end, text)

    def action_infill(self) -> None:
        """Write at the cursor, or in the place of the selection."""
        selection = self.sheet.draft.selection
        self._start("infill", selection.start, selection.end, self.sheet.draft.text)

    def action_revise(self) -> None:
        """Revise the selection, or the paragraph at the cursor."""
        draft = self.sheet.draft
        chosen = draft.selection
        if chosen.empty:
            chosen = paragraph_at(draft.buffer, chosen.cursor)
        if not draft.buffer.slice(chosen.start, chosen.end).strip():
            self.notify("There is nothing to revise here.", severity="warning")
            return
        self._start("revise", chosen.start, chosen.end, draft.text)

    def _start(self, task: Task, start: int, end: int, text: str) -> None:
        if not text.strip():
            self.notify("Write a few words for the model to go on from.", severity="warning")
            return
        for sheet in self.sheets:
            if run := sheet.run:
                run.keep() if sheet is self.sheet else run.pause()
        draft = self.sheet.draft
        region = draft.open_region(start, end)
        revising = task == "revise"
        root = Node(None, text[start:end], end - start) if revising else Node(None, "", 0)
        live = Live(self.writer, task, text, start, end, root, self.settings)
        self._adopt(self.sheet, Run(draft, region, root, live, revising=revising))

    def _adopt(self, sheet: Sheet, run: Run) -> None:
        """Let a sheet have this run, and play it."""
        sheet.run = run
        sheet.follows_model = True
        run.speed = self._speed
        run.play(self.clock())
        self._wake()

    def action_pause(self) -> None:
        if run := self.run_now:
            if run.writing:
                run.pause()
            else:
                self.sheet.follows_model = True
                run.play(self.clock())
            self._wake()

    def action_step(self) -> None:
        if run := self.run_now:
            self.sheet.follows_model = True
            run.step(self.clock())
            self._wake()

    def action_rewrite(self) -> None:
        if run := self.run_now:
            run.rewrite(self.clock())
            self._wake()

    def action_keep(self) -> None:
        if self.sheet.review is not None:
            self._review(lambda review: review.decide_rest(True))
        elif run := self.run_now:
            run.keep()
            self._wake()

    def action_discard(self) -> None:
        if self.sheet.review is not None:
            self._review(lambda review: review.decide_rest(False))
        elif run := self.run_now:
            run.discard()
            self._wake()

    def action_look(self, by: int) -> None:
        """Look at the next change, or at the first where nobody has looked yet."""
        if review := self.sheet.review:
            review.look(by)
        self._review(lambda review: None)

    def action_decide(self, accepted: bool) -> None:
        self._review(lambda review: review.decide(accepted))

    def _review(self, act: Callable[[Review], None]) -> None:
        """Do something with the changes of the run, whose review begins with that if it must."""
        run = self.sheet.run
        review = run.begin_review() if run is not None else None
        if run is None or review is None:
            return
        act(review)
        self.sheet.follows_model = True
        if not review.active:
            accepted = sum(item.accepted is not False for item in review.items)
            self.notify(f"{accepted} of {len(review.items)} changes kept.", timeout=3)
        run.end_review()
        self._wake()

    def action_escape(self) -> None:
        """Close what is open, go back to the text, or stop the run: one thing at a time."""
        if self.find_bar.display:
            self.find_bar.action_close()
        elif not self.editor.has_focus:
            self._focus(self.editor)
        elif (run := self.run_now) is not None:
            run.pause()
            run.begin_review()
            self._wake()

    def action_speed(self, by: int) -> None:
        if run := self.run_now:
            index = SPEEDS.index(run.speed) if run.speed in SPEEDS else len(SPEEDS) - 1
            self._speed = run.speed = SPEEDS[max(0, min(index + by, len(SPEEDS) - 1))]
            self._wake()

    # Looking at a run

    def action_panel(self) -> None:
        shown = not self.panel.has_class("shown")
        self.panel.set_class(shown, "shown")
        if shown:
            self._update_panel()
            self.panel.focus_content()
        else:
            self._focus(self.editor)

    def action_timeline(self) -> None:
        if self.run_now is not None:
            self._focus(self.timeline)

    def action_focus_editor(self) -> None:
        self._focus(self.editor)

    def on_timeline_scrubbed(self, event: Timeline.Scrubbed) -> None:
        if run := self.run_now:
            self.sheet.follows_model = True
            run.scrub(event.depth, self.clock())
            self._wake()

    def on_side_panel_go_to(self, event: SidePanel.GoTo) -> None:
        if run := self.run_now:
            self.sheet.follows_model = True
            run.go_to(event.node, self.clock())
            self._wake()
        else:
            self.notify("The run is closed; its text is yours now.", timeout=3)

    def on_side_panel_take(self, event: SidePanel.Take) -> None:
        run = self.run_now
        if run is not None and not run.choose(event.option, self.clock()):
            self.notify("A recording has no model that could go another way.", severity="warning")
        self._wake()

    # Trajectory files

    @work
    async def action_play_file(self) -> None:
        if path := await self._ask_path("Play which trajectory file?"):
            await self._play_path(path)

    async def _play_path(self, path: Path) -> None:
        from tui.recordings import describe, read_recordings, recorded_run

        try:
            found = read_recordings(path)
            number: int | None = 0
            if len(found) > 1:
                lines = [describe(trajectory, index) for index, trajectory in enumerate(found)]
                number = await self.push_screen_wait(Choice(f"Which run of {path.name}?", lines))
            if number is None:
                return
            run = recorded_run(found[number], await self._tokenizer_for(found[number]))
        except ReviserError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
            return
        name = describe(found[number], number).partition(" · ")[0]
        run.draft.mark_saved()
        sheet = self._blank(name, run.draft)
        self._add(sheet)
        self._adopt(sheet, run)

    async def _tokenizer_for(self, trajectory: Trajectory) -> Tokenizer:
        from reviser.tokenizer import Gpt2Tokenizer

        if trajectory.vocabulary.base_size == Gpt2Tokenizer.size:
            return Gpt2Tokenizer()
        self.notify("Loading the model for its tokenizer…", timeout=3)
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[Tokenizer] = loop.create_future()

        def fetch() -> None:
            try:
                tokenizer = self.writer.engine().tokenizer
                loop.call_soon_threadsafe(ready.set_result, tokenizer)
            except ReviserError as error:
                loop.call_soon_threadsafe(ready.set_exception, error)

        self.writer.submit(fetch)
        return await ready

    @work
    async def action_save_run(self) -> None:
        from tui.recordings import save_run

        await self._export("Save the run as", ".run.json", save_run)

    @work
    async def action_export_page(self) -> None:
        from tui.recordings import export_page

        await self._export("Write the page to", ".run.html", export_page)

    @work
    async def action_export_diff(self) -> None:
        from tui.recordings import export_diff

        file = self.sheet.file
        name = "text.txt" if file is None else file.path.name
        newline = "\n" if file is None else file.document.newline
        await self._export(
            "Write the patch to", ".diff", lambda run, path: export_diff(run, path, name, newline)
        )

    async def _export(
        self, question: str, suffix: str, write: Callable[[Run, Path], object]
    ) -> None:
        run = self.sheet.run
        if run is None:
            self.notify("There is no run yet.", severity="warning")
            return
        folder = self.sheet.path.parent if self.sheet.path else Path()
        proposed = folder / f"{Path(self.sheet.title).stem}{suffix}"
        path = await self._ask_path(question, str(proposed))
        if path is None or not await self._may_replace(path):
            return
        try:
            write(run, path)
        except ReviserError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
        else:
            self.notify(f"Wrote {path}.", markup=False)

    # Files

    def _add(self, sheet: Sheet) -> None:
        """Show a new sheet; it takes the place of an untouched blank one."""
        blank = self.sheet
        if blank.file is None and not blank.draft.buffer.length and not blank.modified:
            self.sheets[self.sheets.index(blank)] = sheet
        else:
            self.sheets.insert(self.sheets.index(blank) + 1, sheet)
        self._show(sheet)

    def action_new(self) -> None:
        sheet = self._blank()
        self.sheets.insert(self.sheets.index(self.sheet) + 1, sheet)
        self._show(sheet)

    @work
    async def action_open(self) -> None:
        path = await self._ask_path("Open which file?")
        if path is None:
            return
        for sheet in self.sheets:
            if sheet.file is not None and sheet.file.is_at(path):
                self._show(sheet)
                return
        try:
            self._add(self._opened(path))
        except ReviserError as error:
            self.notify(str(error), severity="error", markup=False)

    def action_save(self) -> None:
        file = self.sheet.file
        if file is None or file.changed_on_disk():
            self._save_with_questions()
        else:
            # At once, so that what is typed next is not yet in the file.
            self._write(self.sheet, None)

    @work
    async def _save_with_questions(self) -> None:
        await self._save(self.sheet)

    @work
    async def action_save_as(self) -> None:
        await self._save_as(self.sheet)

    async def _save(self, sheet: Sheet) -> bool:
        """Write a sheet to its file, asking where there is none or it was changed; False if not written."""
        if sheet.file is None:
            return await self._save_as(sheet)
        if sheet.file.changed_on_disk() and sheet.path is not None and sheet.path.exists():
            answer = await self.push_screen_wait(
                Question(
                    f"{sheet.title} was changed by another program.",
                    [("cancel", "Cancel"), ("write", "Write mine"), ("read", "Read theirs")],
                )
            )
            if answer == "read":
                self._reload(sheet)
            if answer != "write":
                return False
        return self._write(sheet, None)

    async def _save_as(self, sheet: Sheet) -> bool:
        path = await self._ask_path("Save as", str(sheet.path or ""))
        if path is None:
            return False
        here = sheet.file is not None and sheet.file.is_at(path)
        if not here and not await self._may_replace(path):
            return False
        return self._write(sheet, path)

    def _write(self, sheet: Sheet, path: Path | None) -> bool:
        try:
            sheet.save(path)
        except ReviserError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
            return False
        self.notify(f"Saved {sheet.title}.", timeout=2, markup=False)
        self._update()
        return True

    async def _ask_path(self, question: str, value: str = "") -> Path | None:
        answer = await self.push_screen_wait(Prompt(question, value, path=True))
        return Path(answer).expanduser() if answer and answer.strip() else None

    async def _may_replace(self, path: Path) -> bool:
        if not path.exists():
            return True
        answer = await self.push_screen_wait(
            Question(f"{path} exists.", [("cancel", "Cancel"), ("replace", "Replace it")])
        )
        return answer == "replace"

    @work
    async def action_close(self) -> None:
        sheet = self.sheet
        if sheet.modified:
            answer = await self.push_screen_wait(
                Question(
                    f"{sheet.title} has unsaved changes.",
                    [("save", "Save"), ("lose", "Don't save"), ("cancel", "Cancel")],
                )
            )
            if answer not in ("save", "lose") or (answer == "save" and not await self._save(sheet)):
                return
        sheet.close()
        index = self.sheets.index(sheet)
        self.sheets.remove(sheet)
        if not self.sheets:
            self.sheets.append(self._blank())
        self._show(self.sheets[min(index, len(self.sheets) - 1)])

    def action_tab(self, by: int) -> None:
        index = (self.sheets.index(self.sheet) + by) % len(self.sheets)
        self._show(self.sheets[index])

    def on_tab_bar_picked(self, event: TabBar.Picked) -> None:
        self._show(self.sheets[event.index])

    async def action_quit(self) -> None:
        self._quit()

    @work
    async def _quit(self) -> None:
        changed = [sheet for sheet in self.sheets if sheet.modified]
        if changed:
            names = ", ".join(sheet.title for sheet in changed)
            answer = await self.push_screen_wait(
                Question(
                    f"Unsaved changes in {names}.",
                    [("save", "Save and quit"), ("lose", "Don't save"), ("cancel", "Cancel")],
                )
            )
            if answer not in ("save", "lose"):
                return
            if answer == "save":
                for sheet in changed:
                    if not await self._save(sheet):
                        return
        for sheet in self.sheets:
            sheet.close()
        self.writer.close()
        self.exit()

    def _leave_in_a_hurry(self) -> None:
        """The terminal or the system goes away: what is not saved stays in the journals."""
        self._flush_journals()
        self.exit()

    # Disk

    def _flush_journals(self) -> None:
        for sheet in self.sheets:
            sheet.flush_journal()
            if sheet.journal_failure is not None and not self._said_journal_fails:
                self._said_journal_fails = True
                self.notify(
                    f"There is no journal for recovery: {sheet.journal_failure}.",
                    severity="warning",
                    timeout=10,
                    markup=False,
                )

    async def _offer(self, leftover: Leftover) -> None:
        """Ask what to do with a text that a crash left behind."""
        name = "a text without a file" if leftover.path is None else str(leftover.path)
        changes = "one change" if leftover.changes == 1 else f"{leftover.changes} changes"
        answer = await self.push_screen_wait(
            Question(
                f"The editor ended without saving {changes} of {name}.",
                [("restore", "Restore"), ("later", "Later"), ("discard", "Discard")],
            )
        )
        if answer == "restore":
            self._restore(leftover)
        if answer in ("restore", "discard"):
            leftover.discard()

    def _restore(self, leftover: Leftover) -> None:
        """Make the text what it was, as one edit on top of what the file holds now."""
        path = leftover.path
        known = [s for s in self.sheets if path is not None and s.file and s.file.is_at(path)]
        if known:
            sheet = known[0]
            self._show(sheet)
        else:
            try:
                sheet = self._blank() if path is None else self._opened(path)
            except ReviserError as error:
                self.notify(str(error), severity="warning", markup=False)
                sheet = self._blank()
            self._add(sheet)
        sheet.draft.become(leftover.text)
        sheet.flush_journal()
        self.editor.look_again()
        self._update()

    def _look_at_disk(self) -> None:
        """Take over what others did to files that have no changes here; ask about the rest, once."""
        for sheet in self.sheets:
            if sheet.file is None or sheet in self._asked or not sheet.file.changed_on_disk():
                continue
            if not sheet.file.path.exists():
                if sheet.file.stamp is not None:
                    sheet.file.ignore_change()
                    self.notify(f"{sheet.title} was removed; saving writes it again.", markup=False)
            elif not sheet.modified:
                if self._reload(sheet):
                    self.notify(f"{sheet.title} was changed and read again.", markup=False)
            elif len(self.screen_stack) == 1:
                self._asked.add(sheet)
                self._ask_about_change(sheet)

    @work
    async def _ask_about_change(self, sheet: Sheet) -> None:
        answer = await self.push_screen_wait(
            Question(
                f"{sheet.title} was changed by another program, and here too.",
                [("keep", "Keep mine"), ("read", "Read theirs (undo gives mine back)")],
            )
        )
        self._asked.discard(sheet)
        if answer == "read":
            self._reload(sheet)
        elif sheet.file is not None:
            sheet.file.ignore_change()

    def action_reload(self) -> None:
        if self.sheet.file is not None and self._reload(self.sheet):
            self.notify(f"Read {self.sheet.title} again.", timeout=2, markup=False)

    def _reload(self, sheet: Sheet) -> bool:
        try:
            sheet.reload()
        except ReviserError as error:
            self.notify(str(error), severity="error", markup=False)
            if sheet.file is not None:
                sheet.file.ignore_change()
            return False
        self.editor.look_again()
        self._update()
        return True

    # Editing and view

    def action_find(self, replacing: bool) -> None:
        self.find_bar.open(replacing=replacing)

    def action_find_next(self, forwards: bool) -> None:
        bar = self.find_bar
        if not bar.search.wanted:
            bar.open(replacing=False)
        elif forwards:
            bar.action_next()
        else:
            bar.action_previous()

    @work
    async def action_go_to_line(self) -> None:
        buffer = self.sheet.draft.buffer
        answer = await self.push_screen_wait(Prompt(f"Go to line (1 to {buffer.line_count})"))
        if answer is None:
            return
        if not answer.strip().isdecimal():
            self.notify(f"{answer} is not the number of a line.", severity="warning", markup=False)
            return
        line = max(1, min(int(answer), buffer.line_count)) - 1
        self.editor.select(Selection.at(buffer.line_start(line)))

    def action_wrap(self) -> None:
        self.editor.word_wrap = not self.editor.word_wrap

    def action_numbers(self) -> None:
        self.editor.line_numbers = not self.editor.line_numbers

    def action_theme(self) -> None:
        self.theme = "light" if self.theme == "dark" else "dark"

    def action_help(self) -> None:
        groups = []
        for title, commands in GROUPS.items():
            keys = [(self._key_of(command.id, command.key), command.help) for command in commands]
            groups.append((title, keys))
        self.push_screen(Help(INTRODUCTION, groups))

    def _key_of(self, id: str, usual: str) -> str:
        """The keys of a command as people write them; those without one are in the palette."""
        keys = self.settings.keys.get(id, usual)
        return keys.replace(",", " ") if keys else "ctrl+p …"


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
