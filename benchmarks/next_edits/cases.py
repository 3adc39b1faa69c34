"""Cases of next edits: a session whose first edits were made, and whether a change is one that its author made next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviser.core.edits import Edit
from reviser.next_edits.prompt import RecentEdit, recent_edit
from training.edits.sessions.session import EditSession


@dataclass(frozen=True)
class NextEditCase:
    """The text after the first edits of a session.

    `taken` are the places of these edits, `shown` is how they look to a model, `to_come` are the author's later
    edits without what their old and new texts share at their ends. `repeated` counts those of them that repeat a
    shown edit to the letter.
    """

    text: str
    taken: tuple[tuple[int, int], ...]
    shown: tuple[RecentEdit, ...]
    to_come: tuple[Edit, ...]
    repeated: int


def case_of(session: EditSession, count: int) -> NextEditCase:
    """The case in which the first `count` edits of a session were made, from top to bottom."""
    text, shift = session.text, 0
    taken: list[tuple[int, int]] = []
    shown: list[RecentEdit] = []
    for edit in session.edits[:count]:
        start = edit.start + shift
        shown.append(recent_edit(text, start, edit.old, edit.new))
        text = text[:start] + edit.new + text[edit.end + shift :]
        taken.append((start, start + len(edit.new)))
        shift += len(edit.new) - len(edit.old)
    later = session.edits[count:]
    made = {(edit.old, edit.new) for edit in session.edits[:count]}
    to_come = tuple(Edit(edit.start + shift, edit.old, edit.new).core for edit in later)
    repeated = sum((edit.old, edit.new) in made for edit in later)
    return NextEditCase(text, tuple(taken), tuple(shown), to_come, repeated)


def right_edits(case: NextEditCase, change: Edit) -> int:
    """How many of the author's edits a change makes, whole and nothing else; 0 if it is wrong."""
    change = change.core
    near = [edit for edit in case.to_come if edit.start <= change.end and edit.end >= change.start]
    for chosen in [near, *([edit] for edit in near)]:
        if chosen and _same_text(case.text, change, chosen):
            return len(chosen)
    return 0


def _same_text(text: str, change: Edit, edits: Sequence[Edit]) -> bool:
    low = min(change.start, *(edit.start for edit in edits))
    high = max(change.end, *(edit.end for edit in edits))
    return _applied(text, low, high, [change]) == _applied(text, low, high, edits)


def _applied(text: str, low: int, high: int, changes: Sequence[Edit]) -> str:
    """The text from `low` to `high` with changes made, which are in order."""
    parts, done = [], low
    for change in changes:
        parts += [text[done : change.start], change.new]
        done = change.end
    return "".join([*parts, text[done:high]])
