"""What a command says of its progress on a terminal; rich is loaded only where there is one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def _terminal() -> Console | None:
    """Standard error, if it is a terminal."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Say on a terminal's standard error what is going on, and let it be said anew; nothing into a pipe."""
    console = _terminal()
    if console is None:
        yield lambda text: None
        return
    with console.status(what) as status:
        yield status.update


class Counting:
    """How much of something is done, as a bar on a terminal's standard error; None for no bar."""

    def __init__(self, bar: Progress | None, what: str, total: int) -> None:
        self._bar = bar
        self._task = None if bar is None else bar.add_task(what, total=total)

    def tell(self, what: str) -> None:
        """Say anew what is going on."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what)

    def advance(self) -> None:
        """One more is done."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bar away while something else is printed."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        yield
        self._bar.start()


@contextmanager
def counting(what: str, total: int) -> Iterator[Counting]:
    """Show a bar on a terminal's standard error; nothing into a pipe."""
    console = _terminal()
    if console is None:
        yield Counting(None, what, total)
        return
    from rich.progress import Progress

    # What is printed must go where it goes without a bar.
    with Progress(
        *Progress.get_default_columns(), console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        yield Counting(bar, what, total)
