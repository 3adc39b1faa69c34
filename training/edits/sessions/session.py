"""Sessions: a text and the edits that one commit made to it, in order of place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.next_edits.prompt import with_made
from training.data.sources import open_text


@dataclass(frozen=True)
class EditSession:
    """A text and its edits, in order of place and without overlap."""

    text: str
    edits: tuple[Edit, ...]
    source: str = ""
    commit: str = ""
    path: str = ""

    def to_row(self) -> dict[str, Any]:
        """The JSON object of a session; an edit is its line (from 0), start and end column, and the new text."""
        starts = line_starts(self.text)
        rows = []
        line = 0
        for edit in self.edits:
            while line + 1 < len(starts) and starts[line + 1] <= edit.start:
                line += 1
            rows.append([line, edit.start - starts[line], edit.end - starts[line], edit.new])
        return {"text": self.text, "edits": rows, "source": self.source, "commit": self.commit, "path": self.path}


@dataclass(frozen=True)
class SessionState:
    """A session in which some edits have been made.

    `made` are these edits at their places in the current text, the latest last; `to_come` are the others, in
    order of place.
    """

    text: str
    made: tuple[Edit, ...]
    to_come: tuple[Edit, ...]


def session_state(session: EditSession, made: Sequence[int]) -> SessionState:
    """The state of a session after the edits with these numbers, made one after the other."""
    numbers = sorted(made)
    text, placed = with_made(session.text, [session.edits[number] for number in numbers])
    places = dict(zip(numbers, placed, strict=True))
    to_come = []
    growth = 0
    for number, edit in enumerate(session.edits):
        if number in places:
            growth += edit.growth
        else:
            to_come.append(edit.moved(growth))
    return SessionState(text, tuple(places[number] for number in made), tuple(to_come))


def line_starts(text: str) -> list[int]:
    """The offsets of the lines of a text; only line feeds end a line."""
    starts = [0]
    while (at := text.find("\n", starts[-1])) >= 0:
        starts.append(at + 1)
    return starts


def read_sessions(path: Path) -> Iterator[EditSession]:
    """Yields the sessions of a (possibly compressed) JSONL file; raises `ReviserError` if a line is not a session."""
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _session(line, f"{path}, line {number}")
    except UnicodeDecodeError:
        raise ReviserError(f"{path} is not UTF-8 text") from None
    except (OSError, EOFError) as error:
        raise ReviserError(f"{path} cannot be read: {error}") from None


def _session(line: str, place: str) -> EditSession:
    try:
        row = json.loads(line)
        text = row["text"]
        edits = _edits(text, row["edits"])
        about = [str(row.get(name, "")) for name in ("source", "commit", "path")]
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise ReviserError(f"{place}: not a session with text and edits") from None
    return EditSession(text, edits, *about)


def _edits(text: str, rows: Sequence[tuple[int, int, int, str]]) -> tuple[Edit, ...]:
    starts = line_starts(text)
    edits: list[Edit] = []
    for line, start, end, new in rows:
        first, last = starts[line] + start, starts[line] + end
        if not 0 <= start <= end or last > len(text) or (edits and first < edits[-1].end):
            raise ValueError
        edits.append(Edit(first, text[first:last], str(new)))
    return tuple(edits)
