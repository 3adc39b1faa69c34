"""The live view in the terminal: text with a moving cursor, fresh insertions marked."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from reviser.frames import Frame
from reviser.replay import Replay, Replayed, replay
from reviser.text import TextEdit
from reviser.tokenizer import Tokenizer
from reviser.trajectory import Trajectory

ACTIONS_PER_SECOND = 12
_FRESH_STEPS = 6


class LiveView:
    """Text under edit, drawn so that the part around the cursor fits the screen."""

    def __init__(self, text: str, cursor: int, prompt: int) -> None:
        self.text = text
        self.cursor = cursor
        self._prompt = prompt
        self._label = ""
        self._steps = 0
        # Fresh insertions as (start, end, step); they lose their colour after a few steps.
        self._fresh: list[tuple[int, int, int]] = []

    def show(self, frame: Frame) -> None:
        """Take in one frame."""
        self._steps += 1
        for edit in frame.edits:
            self._edit(edit)
        self.cursor = frame.cursor.chars
        self._label = frame.label

    def _edit(self, edit: TextEdit) -> None:
        self.text = edit.apply_to(self.text)
        start, end = edit.start.chars, edit.end.chars
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
        here = max(i for i, (start, _) in enumerate(rows) if start <= self.cursor)
        top = max(0, min(here - height // 2, len(rows) - height))
        for start, end in rows[top : top + height]:
            yield self._row(start, end, has_cursor=rows[here] == (start, end))
        yield Text(
            f"{self._steps:4}  {self._label}", style="dim", no_wrap=True, overflow="ellipsis"
        )

    def _row(self, start: int, end: int, *, has_cursor: bool) -> Text:
        row = Text(_printable(self.text[start:end]), no_wrap=True)
        row.stylize("dim", 0, max(0, self._prompt - start))
        for a, b, _ in self._fresh:
            row.stylize("bold green", max(0, a - start), max(0, b - start))
        if has_cursor:
            at = self.cursor - start
            if at >= len(row):
                row.append(" " * (at - len(row) + 1))
            row.stylize("reverse", at, at + 1)
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
    """Animate a trajectory; where there is no terminal, print its final text."""
    done = replay(trajectory, tokenizer)
    if not sys.stdout.isatty():
        print(done.final_text)
        return done
    run = Replay(trajectory, tokenizer)
    console = Console()
    console.rule(done.name)
    view = LiveView(run.start_text, len(run.start_text), len(run.start_text))
    with Live(view, console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for frame in run.frames():
            view.show(frame)
            live.refresh()
            time.sleep(1 / (ACTIONS_PER_SECOND * speed))
    return done
