"""Metrics of a run: a JSONL file, and a live view or plain lines in the terminal."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from reviser.core.files import write_atomically

_LINE_SECONDS = 10.0


Metrics = dict[str, Any]
"""An entry of a metrics file: of some steps, of an evaluation, or of a round of DAgger; each has its `step`."""


class MetricsLog:
    """A log of one JSON object per report; a resumed run first drops the entries after its checkpoint."""

    def __init__(self, path: Path, resumed_at: int = 0) -> None:
        self.path = path
        kept = [entry for entry in read_metrics(path) if entry["step"] <= resumed_at]
        write_atomically(path, "".join(json.dumps(entry) + "\n" for entry in kept).encode())
        self._file: TextIO = path.open("a", encoding="utf-8")

    def write(self, **entry: object) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_metrics(path: Path) -> list[Metrics]:
    """Reads the entries of a metrics file; a last line truncated by a crash is left out."""
    entries = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return entries


class PlainView:
    """A plain line every few seconds, for logs, pipes and machines without rich."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def __enter__(self) -> PlainView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def show(self, entry: Mapping[str, object], done: float) -> None:
        now = time.monotonic()
        if now - self._last < _LINE_SECONDS and done < 1:
            return
        self._last = now
        figures = "  ".join(f"{name} {_short(value)}" for name, value in entry.items())
        print(f"{100 * done:5.1f} %  {figures}", flush=True)

    def say(self, text: str) -> None:
        print(text, flush=True)


class RichView(PlainView):
    """A progress bar and the latest figures, redrawn in place."""

    def __init__(self) -> None:
        super().__init__()
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("[bold]training"),
            BarColumn(),
            TextColumn("{task.percentage:5.1f} %"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[figures]}"),
        )
        self._task = self._progress.add_task("training", total=1.0, figures="")

    def __enter__(self) -> RichView:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, entry: Mapping[str, object], done: float) -> None:
        shown = ("step", "loss", "held_out_loss", "reward", "kl", "tokens", "actions_per_s", "mfu")
        figures = "  ".join(f"{name} {_short(entry[name])}" for name in shown if name in entry)
        self._progress.update(self._task, completed=min(done, 1.0), figures=figures)

    def say(self, text: str) -> None:
        self._progress.console.print(text, highlight=False)


def make_view() -> PlainView:
    """The live view if there is a terminal and rich is installed, else plain lines."""
    if sys.stdout.isatty():
        try:
            return RichView()
        except ImportError:
            pass
    return PlainView()


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
