"""Progress of a command on standard error: a live display in a terminal (by rich, loaded only there), occasional
lines in a pipe."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from reviser.core.counts import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


SECONDS_BETWEEN_LINES: Final = 10.0
"""Seconds between two lines in a pipe; a shorter task prints none."""


def _terminal() -> Console | None:
    """Standard error, if it is a terminal."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show what a command is doing; yields a function that replaces the message. In a pipe, prints a line every few
    seconds."""
    console = _terminal()
    if console is None:
        with _lines_now_and_then(what) as tell:
            yield tell
        return
    with console.status(what) as status:
        yield status.update


@contextmanager
def _lines_now_and_then(what: str) -> Iterator[Callable[[str], None]]:
    """Print the current message every few seconds while the block runs."""
    said = [what]
    over = threading.Event()

    def speak() -> None:
        while not over.wait(SECONDS_BETWEEN_LINES):
            print(f"reviser: {said[0]}", file=sys.stderr, flush=True)

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield lambda text: said.__setitem__(0, text)
    finally:
        over.set()
        speaker.join()


class ProgressCounter:
    """The number of finished items, as a bar in a terminal or as lines in a pipe."""

    def __init__(self, what: str, total: int, bar: Progress | None, say: Callable[[str], None]) -> None:
        self._bar = bar
        self._task = None if bar is None else bar.add_task(what, total=total)
        self._say = say
        self._what, self._done, self._total = what, 0, total

    def tell(self, what: str) -> None:
        """Replace the message."""
        self._what = what
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what)
        self._say(f"{what} ({self._done} of {counted(self._total, 'file')} done)")

    def advance(self) -> None:
        """Count one more finished item."""
        self._done += 1
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)
        self.tell(self._what)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Hide the bar while something else is printed."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        yield
        self._bar.start()


@contextmanager
def counting(what: str, total: int) -> Iterator[ProgressCounter]:
    """Show how many of `total` items are done: a bar in a terminal, occasional lines in a pipe."""
    console = _terminal()
    if console is None:
        with _lines_now_and_then(what) as say:
            yield ProgressCounter(what, total, None, say)
        return
    from rich.progress import Progress

    # What is printed must go where it goes without a bar.
    with Progress(
        *Progress.get_default_columns(), console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        yield ProgressCounter(what, total, bar, lambda text: None)
