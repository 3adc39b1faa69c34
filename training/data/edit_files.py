"""Files of edits: a text before and after someone revised it, as JSON lines or from a unified diff.

An edit is a JSON object with `before` and `after`, and the neighbouring text, `left` and `right`, where
it is known. A unified diff, or any number of them as `git log -p` prints, is read as well: every hunk is
an edit, and the lines around its changes are its neighbours.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from reviser.core.errors import ReviserError
from training.data.sources import open_text

# Kept, removed and added lines; a reader of diffs also tells of line endings and empty lines.
_LINES = (" ", "-", "+")


@dataclass(frozen=True)
class Revision:
    """A text before and after a revision, with the neighbouring lines."""

    before: str
    after: str
    left: str = ""
    right: str = ""

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """`left`, `before`, `after`, `right` with the line ends that separate them in a document."""
        return (self.left and self.left + "\n", self.before, self.after, self.right and "\n" + self.right)


def read_edits(source: str) -> Iterator[Revision]:
    """Yields the edits of a file (JSON lines or a unified diff, possibly compressed); `-` is standard input."""
    try:
        with open_text(Path(source)) if source != "-" else _standard_input() as lines:
            first = next((line for line in lines if line.strip()), "")
            if first.startswith("{"):
                yield from _json_edits(chain([first], lines), source)
            else:
                yield from diff_edits(first + lines.read())
    except UnicodeDecodeError:
        raise ReviserError(f"{source} is not UTF-8 text") from None
    except EOFError as error:
        raise ReviserError(f"{source} cannot be read: {error}") from None


def _standard_input() -> io.TextIOWrapper:
    # Histories hold files of many encodings; what is no UTF-8 is left out with its hunk.
    return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="surrogateescape")


def _json_edits(lines: Iterable[str], source: str) -> Iterator[Revision]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            edit = Revision(row["before"], row["after"], row.get("left", ""), row.get("right", ""))
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
            edit = None
        if edit is None or not all(isinstance(part, str) for part in asdict(edit).values()):
            raise ReviserError(f"{source}, line {number}: not an object with before and after")
        yield edit


def diff_edits(text: str) -> Iterator[Revision]:
    """Yields the hunks of unified diffs as edits; text between diffs is skipped."""
    # Only diffs need it, and machines that only train may be without it.
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        patches = PatchSet(io.StringIO(text))
    except UnidiffParseError as error:
        raise ReviserError(f"this is not a unified diff: {error}") from None
    for file in patches:
        for hunk in file:
            lines = [(line.line_type, line.value) for line in hunk if line.line_type in _LINES]
            edit = _hunk_edit(lines)
            if edit is not None and _is_text(edit):
                yield edit


def _hunk_edit(lines: list[tuple[str, str]]) -> Revision | None:
    changed = [number for number, (kind, _) in enumerate(lines) if kind != " "]
    if not changed:
        return None
    first, last = changed[0], changed[-1] + 1
    middle = lines[first:last]
    return Revision(
        _joined(value for kind, value in middle if kind != "+"),
        _joined(value for kind, value in middle if kind != "-"),
        _joined(value for _, value in lines[:first]),
        _joined(value for _, value in lines[last:]),
    )


def _joined(lines: Iterable[str]) -> str:
    return "".join(lines).removesuffix("\n")


def _is_text(edit: Revision) -> bool:
    try:
        "".join(asdict(edit).values()).encode()
    except UnicodeEncodeError:
        return False
    return True
