"""The choice of sessions for measuring next edits: one per document, those of a single edit apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reviser.core.errors import ReviserError
from reviser.next_edits.prompt import LONGEST_EDIT
from training.data.randomness import KeyedRandom
from training.edits.sessions.session import EditSession, read_sessions


@dataclass(frozen=True)
class ChosenSessions:
    """Sessions of several edits, and sessions of a single edit."""

    several: list[EditSession]
    single: list[EditSession]

    @classmethod
    def of(cls, files: Iterable[Path], most: int, seed: int) -> ChosenSessions:
        """Chooses at most `most` sessions of each sort from each file; raises `ReviserError` if there are none."""
        several: list[EditSession] = []
        single: list[EditSession] = []
        for path in files:
            shown = [session for session in read_sessions(path) if _can_be_shown(session)]
            several += _drawn([one for one in shown if len(one.edits) > 1], most, seed)
            single += _drawn([one for one in shown if len(one.edits) == 1], most, seed)
        if not several:
            raise ReviserError("these files have no session whose edits can be shown")
        return cls(several, single)


def _can_be_shown(session: EditSession) -> bool:
    return all(max(len(edit.old), len(edit.new)) < LONGEST_EDIT for edit in session.edits)


def _drawn(sessions: Iterable[EditSession], most: int, seed: int) -> list[EditSession]:
    """Draws one session of each document, at most `most` in all."""
    random = KeyedRandom(seed)
    unique: dict[str, list[EditSession]] = {}
    for session in sessions:
        unique.setdefault(session.path or session.text[:80], []).append(session)
    drawn = [random.pick(some) for some in unique.values()]
    while len(drawn) > most:
        drawn.pop(random.below(len(drawn)))
    return drawn
