"""The live view in the terminal: the text, a moving cursor, and marked insertions."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from reviser.core.text import TextEdit
from reviser.core.tokenizer import Tokenizer
from reviser.core.trajectory import Trajectory
from reviser.session.frames import Frame
from reviser.session.replay import Replay, Replayed, replay
from reviser.session.session import Generation

ACTIONS_PER_SECOND = 12
_FRESH_STEPS = 6
_GIVEN = "dim"
_FRESH = "bold green"
_CURSOR = "reverse"


class LiveView:
    """Text under edit, drawn so that the part around the cursor fits the screen.

    The first `prefix` and last `suffix` characters were given; `origin` is where the text starts in
    the document whose coordinates the frames use.
    """

    def __init__(self, text: str, prefix: int, suffix: int = 0, origin: int = 0) -> None:
        self.text = text
        self.cursor = prefix
        self._prefix = prefix
        self._suffix = suffix
        self._origin = origin
        self._label = ""
        self._steps = 0
        # Fresh insertions as (start, end, step); they lose their colour after a few steps.
        self._fresh: list[tuple[int, int, int]] = []

    def show(self, frame: Frame) -> None:
        """Draw one frame."""
        self._steps += 1
        for edit in frame.edits:
            self._edit(edit)
        self.cursor = frame.cursor.chars - self._origin
        self._label = frame.label

    def _edit(self, edit: TextEdit) -> None:
        start, end = edit.start.chars - self._origin, edit.end.chars - self._origin
        self.text = self.text[:start] + edit.inserted + self.text[end:]
        growth = len(edit.inserted) - len(edit.removed)
        kept = [
            (a + growth * (a >= end), b + growth * (b >= end), step)
            for a, b, step in self._fresh
            if step > self._steps - _FRESH_STEPS
        ]
        self._fresh = [*kept, (start, start + len(edit.inserted), self._steps)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = list(wrap(self.text, max(options.max_width - 1, 1)))
        height = max(options.size.height - 2, 1)
        here = max(number for number, (start, _) in enumerate(rows) if start <= self.cursor)
        top = max(0, min(here - height // 2, len(rows) - height))
        for start, end in rows[top : top + height]:
            yield self._row(start, end, has_cursor=(start, end) == rows[here])
        yield Text(f"{self._steps:4}  {self._label}", style=_GIVEN, no_wrap=True, overflow="ellipsis")

    def _row(self, start: int, end: int, *, has_cursor: bool) -> Text:
        row = Text(_printable(self.text[start:end]), no_wrap=True)
        row.stylize(_GIVEN, 0, max(0, self._prefix - start))
        row.stylize(_GIVEN, max(0, len(self.text) - self._suffix - start))
        for a, b, _ in self._fresh:
            row.stylize(_FRESH, max(0, a - start), max(0, b - start))
        if has_cursor:
            at = self.cursor - start
            if at >= len(row):
                row.append(" ")
            row.stylize(_CURSOR, at, at + 1)
        return row


def wrap(text: str, width: int) -> Iterator[tuple[int, int]]:
    """The rows of `text` on a screen of `width` cells, as character ranges; words are kept whole."""
    start = 0
    for line in text.split("\n"):
        yield from _wrap_line(line, start, width)
        start += len(line) + 1


def _wrap_line(line: str, offset: int, width: int) -> Iterator[tuple[int, int]]:
    start = 0
    while True:
        end, cells = start, 0
        while end < len(line) and (cells := cells + cell_len(line[end])) <= width:
            end += 1
        if end == len(line):
            yield offset + start, offset + end
            return
        space = line.rfind(" ", start, end)
        end = space + 1 if space >= start else max(end, start + 1)
        yield offset + start, offset + end
        start = end


def _printable(text: str) -> str:
    """The text with control characters made harmless, one character for each."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "·" for c in text)


def play_trajectory(trajectory: Trajectory, tokenizer: Tokenizer, speed: float) -> Replayed:
    """Animate a trajectory in the terminal; elsewhere, print its final text."""
    done = replay(trajectory, tokenizer)
    if not sys.stdout.isatty():
        print(done.final_text)
        return done
    run = Replay(trajectory, tokenizer)
    console = Console()
    console.rule(done.name)
    canvas, size = run.canvas, len(run.start_text)
    before_suffix = run.text.position(canvas.high).chars
    view = LiveView(run.start_text, run.text.position(canvas.low).chars, size - before_suffix)
    with Live(view, console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for frame in run.frames():
            view.show(frame)
            live.refresh()
            time.sleep(1 / (ACTIONS_PER_SECOND * speed))
    return done


def watch_generation(run: Generation) -> list[Frame]:
    """Show a run while it happens, then print the whole text."""
    window = run.window
    view = LiveView(
        window.prefix + window.trailing_space + window.suffix,
        len(window.prefix),
        len(window.suffix),
        len(window.before),
    )
    console = Console()
    frames = []
    with Live(view, console=console, auto_refresh=False, transient=True) as live:
        for frame in run:
            frames.append(frame)
            view.show(frame)
            live.refresh()
    finished = Text(window.before + window.prefix, style=_GIVEN)
    finished.append(run.written, style="not dim")
    finished.append(window.suffix + window.after)
    console.print(finished, soft_wrap=True, highlight=False)
    return frames
