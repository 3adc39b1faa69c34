"""Cases of next edits: a session with some edits made, and the check whether a change is one of its author's next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviser.core.edits import Edit
from reviser.next_edits.prompt import RecentEdit, recent_edit
from training.edits.sessions.session import EditSession, session_state


@dataclass(frozen=True)
class NextEditCase:
    """The state of a session after some of its edits.

    `made` are these edits at their places in the current text, the latest last, and `to_come` the author's later
    ones, trimmed of what old and new text share at their ends. `repeated` are those of `to_come` that repeat a made
    edit exactly.
    """

    text: str
    made: tuple[Edit, ...]
    to_come: tuple[Edit, ...]
    repeated: frozenset[Edit]
    path: str = ""

    @property
    def shown(self) -> list[RecentEdit]:
        return [recent_edit(self.text, edit) for edit in self.made]

    @property
    def taken(self) -> list[tuple[int, int]]:
        return [(edit.start, edit.start + len(edit.new)) for edit in self.made]


def case_of(session: EditSession, count: int) -> NextEditCase:
    """The case in which the first `count` edits of a session were made, from top to bottom."""
    return case_with(session, range(count))


def case_with(session: EditSession, made: Sequence[int]) -> NextEditCase:
    """The case in which edits of these numbers were made, the latest last."""
    state = session_state(session, made)
    done = {(edit.old, edit.new) for edit in state.made}
    repeated = frozenset(edit.core for edit in state.to_come if (edit.old, edit.new) in done)
    return NextEditCase(state.text, state.made, tuple(edit.core for edit in state.to_come), repeated, session.path)


def right_edits(case: NextEditCase, change: Edit) -> list[Edit]:
    """The author's edits that a change consists of; empty if the change does anything else."""
    change = change.core
    near = [edit for edit in case.to_come if edit.start <= change.end and edit.end >= change.start]
    for chosen in [near, *([edit] for edit in near)]:
        if chosen and _same_text(case.text, change, chosen):
            return list(chosen)
    return []


def _same_text(text: str, change: Edit, edits: Sequence[Edit]) -> bool:
    low = min(change.start, *(edit.start for edit in edits))
    high = max(change.end, *(edit.end for edit in edits))
    return _applied(text, low, high, [change]) == _applied(text, low, high, edits)


def _applied(text: str, low: int, high: int, changes: Sequence[Edit]) -> str:
    """The text from `low` to `high` after the changes, which are in order of place."""
    parts, done = [], low
    for change in changes:
        parts += [text[done : change.start], change.new]
        done = change.end
    return "".join([*parts, text[done:high]])
