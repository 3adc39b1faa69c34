"""The destination of a result: the file itself, another one, or standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reviser.core.errors import FileChanged, ReviserError

if TYPE_CHECKING:
    from reviser.core.trajectory import Trajectory
    from reviser.session.documents import DocumentFile

_HEAD_LINES = 2
_DIFF_COLOURS = {"@": "cyan", "-": "red", "+": "green"}


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The options for the destination of results; `interactive` is None for a command that asks nothing."""

    in_place: bool = False
    interactive: bool | None = None
    output: Path | None = None
    diff: bool = False
    json: bool = False
    trajectory: Path | None = None

    def __post_init__(self) -> None:
        asking = {} if self.interactive is None else {"interactive": self.interactive}
        choose_one(in_place=self.in_place, **asking, output=self.output, diff=self.diff, json=self.json)

    @property
    def writes(self) -> bool:
        """Whether whole texts are written, rather than diffs printed."""
        return bool(self.in_place or self.interactive or self.output)

    @property
    def live(self) -> bool:
        """Whether a run is shown as it happens."""
        return sys.stdout.isatty() and not self.json and not self.diff

    def check(self, sources: Sequence[Path]) -> None:
        """Raise `ReviserError` for files that cannot be written, before any work is done."""
        from reviser.core.files import STREAM, check_output
        from reviser.session.documents import check_writable

        if self.interactive and STREAM in sources:
            raise ReviserError("standard input cannot be both the text and the answers")
        if self.in_place or self.interactive:
            for path in sources:
                check_writable(path)
        for target in filter(None, (self.output, self.trajectory)):
            check_output(target)

    def put(self, document: DocumentFile, text: str, name: str | None = None) -> None:
        """Write the new text of a document, or print a diff in which its file is called `name`."""
        if self.writes:
            write_result(document, text, self.output or document.path)
        else:
            print_diff(document, text, name)


def write_trajectories(delivery: Delivery, trajectories: Sequence[Trajectory]) -> None:
    """Write trajectories to the file that the user named, if there are any."""
    from reviser.core.files import write_output
    from reviser.core.trajectory import dump_trajectories

    if delivery.trajectory and trajectories:
        write_output(delivery.trajectory, dump_trajectories(trajectories).encode("utf-8"))


def choose_one(**options: object) -> None:
    """Raise `ReviserError` if more than one of some exclusive options is given."""
    if sum(map(bool, options.values())) > 1:
        *names, last = (f"--{name.replace('_', '-')}" for name in options)
        raise ReviserError(f"choose one of {', '.join(names)} and {last}")


def is_coloured() -> bool:
    """Whether output may have colours: in a terminal, unless the user has switched them off."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout.isatty()


def update_file(document: DocumentFile, text: str) -> None:
    """Write `text` to the file of a document; raises an error if another program has changed the file since it was
    read."""
    if text == document.text:
        return
    linked = _has_other_names(document.path)
    document.update(text)
    if linked:
        _tell_of_links(document.path)


def is_file_of(document: DocumentFile, path: Path | None) -> bool:
    """Whether a path leads to the file that a document was read from."""
    if path is None or path == document.path:
        return path is not None
    return path.exists() and document.path.exists() and path.samefile(document.path)


def write_result(document: DocumentFile, text: str, output: Path) -> None:
    """Write `text`, in the encoding and with the line endings of the document's file, to `output`.

    If that is the document's own file and another program has changed it since it was read, the file stays as it is and
    the text goes into a new file beside it.
    """
    from reviser.core.files import STREAM, write_beside, write_output

    if output == STREAM:
        print_text(document, text)
    elif is_file_of(document, output):
        try:
            update_file(document, text)
        except FileChanged as error:
            beside = write_beside(document.path, document.encode(text))
            raise FileChanged(f"{error}; it stays as it is, and the result is in {beside}") from None
    else:
        linked = _has_other_names(output)
        write_output(output, document.encode(text))
        if linked:
            _tell_of_links(output)


def print_text(document: DocumentFile, text: str) -> None:
    """Print `text`: into a pipe or a file as the document's own file would hold it, byte for byte."""
    from reviser.core.files import STREAM, write_output

    if sys.stdout.isatty():
        import typer

        typer.echo(text, nl=not text.endswith("\n"))
    else:
        write_output(STREAM, document.encode(text))


def print_diff(document: DocumentFile, text: str, name: str | None = None) -> None:
    """Print a unified diff from a document to `text`; in a terminal, with colours. See `Document.diff` for `name`."""
    from reviser.core.files import STREAM, write_output

    diff = document.diff(text, name)
    if diff and is_coloured():
        import typer

        typer.echo("".join(_coloured(diff)), nl=False)
    else:
        write_output(STREAM, diff.encode())


def _coloured(diff: str) -> Iterator[str]:
    import typer

    for number, line in enumerate(diff.removesuffix("\n").split("\n")):
        is_head = number < _HEAD_LINES
        colour = None if is_head else _DIFF_COLOURS.get(line[:1])
        yield typer.style(line, bold=is_head or None, fg=colour) + "\n"


def _has_other_names(path: Path) -> bool:
    return path.is_file() and path.stat().st_nlink > 1


def _tell_of_links(path: Path) -> None:
    told = f"reviser: {path} was replaced; its other names (hard links) keep the old text"
    print(told, file=sys.stderr, flush=True)
