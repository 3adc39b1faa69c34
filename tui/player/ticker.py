"""A timer that ticks while something moves: each tick shows the model's progress in one frame."""

from __future__ import annotations

from textual.app import App
from textual.timer import Timer

from tui.prompts import Prompts
from tui.runs.run import FADE_SECONDS, DraftRun
from tui.sheets import Sheets
from tui.widgets.desk import Clock, Desk

_FRAMES_PER_SECOND = 30
_PANEL_INTERVAL = 0.2
_FADE_INTERVAL = 0.12


class Ticker:
    """The frame timer for the runs of all sheets; it stops while the next frame would equal the present one."""

    def __init__(self, sheets: Sheets, desk: Desk, prompts: Prompts, clock: Clock) -> None:
        self._sheets = sheets
        self._desk = desk
        self._prompts = prompts
        self._clock = clock
        self._drawn_at = float("-inf")
        self._frames: Timer | None = None

    def begin(self, app: App[None]) -> None:
        """Create the timer in the app."""
        self._frames = app.set_interval(1 / _FRAMES_PER_SECOND, self.tick, pause=True)

    def wake(self) -> None:
        """Draw now and start ticking, because something has changed."""
        if self._frames is not None:
            self._frames.resume()
        self._desk.look_again()

    def tick(self) -> None:
        """Draw one frame with the model's progress."""
        if not self._desk.editor.can_draw:
            return
        now = self._clock()
        changed = self._advance_runs(now)
        if changed:
            self._desk.editor.look_again()
            self._desk.timeline.update_from(self._run_shown)
            self._drawn_at = now
        elif self._fading(now) and now - self._drawn_at > _FADE_INTERVAL:
            self._desk.editor.fade()
            self._drawn_at = now
        if changed and self._panels_are_due(now):
            self._desk.update()
        else:
            self._desk.update_bars()
        if self._frames is not None and not self._lively(now):
            self._frames.pause()

    def _advance_runs(self, now: float) -> bool:
        """Show the steps that are due in all runs; returns whether anything has changed."""
        changed = False
        for sheet in self._sheets:
            if sheet.run is not None and sheet.run.state != "closed":
                changed = sheet.run.tick(now) or changed
                self._tell_failure(sheet.run)
        return changed

    def _tell_failure(self, run: DraftRun) -> None:
        if run.failure is None:
            return
        self._prompts.fail(run.failure)
        run.failure = None
        if run.tip is run.root:
            run.discard()
        self._desk.update()

    @property
    def _run_shown(self) -> DraftRun | None:
        return self._sheets.current.open_run

    def _panels_are_due(self, now: float) -> bool:
        """Whether the panels are updated with this frame; while the model writes, not with every one."""
        run = self._run_shown
        late = now - self._desk.panel_updated_at > _PANEL_INTERVAL
        return late or run is None or not run.writing

    def _fading(self, now: float) -> bool:
        run = self._run_shown
        return run is not None and now - run.current.shown_at < FADE_SECONDS + 0.2

    def _lively(self, now: float) -> bool:
        """Whether the next frame can differ from this one."""
        runs = [sheet.open_run for sheet in self._sheets]
        waiting = any(run is not None and (run.writing or run.status) for run in runs)
        return waiting or self._fading(now)
