"""The user's commands on runs: start, stop, step, branch, and decide on changes."""

from __future__ import annotations

from collections.abc import Callable

from reviser.core.counts import counted
from reviser.core.edits import end_of_writing
from reviser.editor.edited_text import Selection, paragraph_at
from reviser.editor.lists import Lists
from reviser.editor.review import Review
from tui.player.ticker import Ticker
from tui.prompts import Prompts
from tui.runs.corrections import CorrectionSteps
from tui.runs.run import DraftRun
from tui.runs.tree import ActionOption, Node
from tui.runs.writer import GenerationSteps, Task, Writer
from tui.settings import SPEEDS, TuiSettings
from tui.sheet import Sheet
from tui.sheets import Sheets
from tui.widgets.desk import Clock


class Player:
    """The commands on the run of the sheet that is shown; the writer has the model for all runs."""

    def __init__(
        self,
        sheets: Sheets,
        writer: Writer,
        settings: TuiSettings,
        ticker: Ticker,
        prompts: Prompts,
        clock: Clock,
        lists: Lists,
    ) -> None:
        self._sheets = sheets
        self._lists = lists
        self._writer = writer
        self._settings = settings
        self._ticker = ticker
        self._prompts = prompts
        self._clock = clock
        # Each run goes on at the pace that was chosen last.
        self._speed = settings.speed

    @property
    def _sheet(self) -> Sheet:
        return self._sheets.current

    # Starting

    def continue_(self) -> None:
        """Continue the text at its end."""
        end = end_of_writing(self._sheet.draft.text)
        self._start("continue", end, end)

    def infill(self) -> None:
        """Write at the cursor, or in place of the selection."""
        selection = self._sheet.draft.selection
        self._start("infill", selection.start, selection.end)

    def revise(self) -> None:
        """Revise the selection, or the paragraph at the cursor."""
        draft = self._sheet.draft
        chosen = draft.selection
        if chosen.empty:
            chosen = paragraph_at(draft.buffer, chosen.cursor)
        if not draft.buffer.slice(chosen.start, chosen.end).strip():
            self._prompts.warn("There is nothing to revise here.")
            return
        self._start("revise", chosen.start, chosen.end)

    def _start(self, task: Task, start: int, end: int) -> None:
        draft = self._sheet.draft
        text = draft.text
        if not text.strip():
            self._prompts.warn("Write a few words for the model to go on from.")
            return
        for sheet in self._sheets:
            if run := sheet.run:
                run.keep() if sheet is self._sheet else run.pause()
        # Text typed next must not replace the text that the model is working on.
        draft.select(Selection.at(draft.selection.cursor))
        region = draft.open_region(start, end)
        revising = task == "revise"
        root = Node(None, end - start if revising else 0)
        place = (text, start, end, root, self._settings)
        source: GenerationSteps | CorrectionSteps
        if revising and not self._settings.revise_temperature:
            # Sampling at random needs a run of actions; all other revising is proofreading.
            source = CorrectionSteps(self._writer, *place, self._sheet.source, self._lists)
        else:
            source = GenerationSteps(self._writer, task, *place)
        run = DraftRun(draft, region, root, source, revising=revising, clears=not revising)
        self.adopt(self._sheet, run)

    def adopt(self, sheet: Sheet, run: DraftRun) -> None:
        """Set the run of a sheet, and play it."""
        sheet.run = run
        run.speed = self._speed
        self._play(sheet, run)

    def _play(self, sheet: Sheet, run: DraftRun) -> None:
        sheet.follows_model = True
        run.play(self._clock())
        self._ticker.wake()

    # Going on, back and another way

    def pause_or_play(self) -> None:
        if run := self._sheet.open_run:
            if run.writing:
                run.pause()
                self._ticker.wake()
            else:
                self._play(self._sheet, run)

    def step(self) -> None:
        if run := self._sheet.open_run:
            self._sheet.follows_model = True
            run.step(self._clock())
            self._ticker.wake()

    def scrub(self, depth: int) -> None:
        if run := self._sheet.open_run:
            self._sheet.follows_model = True
            run.scrub(depth, self._clock())
            self._ticker.wake()

    def go_to(self, node: Node) -> None:
        if run := self._sheet.open_run:
            self._sheet.follows_model = True
            run.go_to(node, self._clock())
            self._ticker.wake()
        else:
            self._prompts.say("The run is closed; its text is yours now.", seconds=3)

    def rewrite(self) -> None:
        if run := self._sheet.open_run:
            run.rewrite(self._clock())
            self._ticker.wake()

    def choose(self, option: ActionOption) -> None:
        """Take another option in place of the step that is shown."""
        run = self._sheet.open_run
        if run is not None and not run.choose(option, self._clock()):
            self._prompts.warn("A recording has no model that could go another way.")
        self._ticker.wake()

    def change_speed(self, by: int) -> None:
        if run := self._sheet.open_run:
            index = SPEEDS.index(run.speed) if run.speed in SPEEDS else len(SPEEDS) - 1
            self._speed = run.speed = SPEEDS[max(0, min(index + by, len(SPEEDS) - 1))]
            self._ticker.wake()

    def finish(self) -> None:
        """Show the rest of a recording at once, or run at the model's full speed."""
        if run := self._sheet.open_run:
            run.speed = 0
            self.scrub(len(run.path) - 1) if run.recorded else self._play(self._sheet, run)

    # Ending and deciding

    def stop(self) -> None:
        """Stop the run; if it revises, review its changes so far."""
        if run := self._sheet.open_run:
            run.pause()
            run.begin_review()
            self._ticker.wake()

    def keep(self) -> None:
        """Keep the run, or accept all undecided changes."""
        if self._sheet.review is not None:
            self._review(lambda review: review.decide_rest(True))
        elif run := self._sheet.open_run:
            run.keep()
            self._ticker.wake()

    def discard(self) -> None:
        """Discard the run, or reject all undecided changes."""
        if self._sheet.review is not None:
            self._review(lambda review: review.decide_rest(False))
        elif run := self._sheet.open_run:
            run.discard()
            self._ticker.wake()

    def look(self, by: int) -> None:
        """Go to the next change, or to the first if none was looked at yet."""
        if review := self._sheet.review:
            review.look(by)
        self._review(lambda review: None)

    def decide(self, accepted: bool) -> None:
        """Accept or reject the current change."""
        self._review(lambda review: review.decide(accepted))

    def _review(self, act: Callable[[Review], None]) -> None:
        """Apply a function to the review of the run, which is begun if need be."""
        run = self._sheet.run
        review = run.begin_review() if run is not None else None
        if run is None or review is None:
            return
        act(review)
        self._sheet.follows_model = True
        if not review.active:
            accepted = sum(item.accepted is not False for item in review.items)
            self._prompts.say(f"{accepted} of {counted(len(review.items), 'change')} kept.", seconds=3)
        run.end_review()
        self._ticker.wake()
