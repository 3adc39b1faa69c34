"""The choice of sessions for measuring next edits: one per document, those of a single edit apart, whole or as a
passage of the document."""

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
    def of(cls, files: Iterable[Path], most: int, seed: int, longest: int | None = None) -> ChosenSessions:
        """Chooses at most `most` sessions of each sort from each file; raises `ReviserError` if there are none.

        A document of more than `longest` characters is cut to a passage around one of its edits.
        """
        several: list[EditSession] = []
        single: list[EditSession] = []
        for path in files:
            several_of, single_of = [], []
            for number, session in enumerate(read_sessions(path)):
                if not _can_be_shown(session):
                    continue
                part = session if longest is None else passage_of(session, longest, KeyedRandom(seed, number))
                if len(part.edits) > 1:
                    several_of.append(part)
                elif len(session.edits) == 1:
                    single_of.append(part)
            several += _drawn(several_of, most, seed)
            single += _drawn(single_of, most, seed)
        if not several:
            raise ReviserError("these files have no session whose edits can be shown")
        return cls(several, single)


def passage_of(session: EditSession, longest: int, random: KeyedRandom) -> EditSession:
    """A passage of at most `longest` characters of a session's text around one of its edits, with the edits in it;
    whole lines where they fit, else whole words."""
    text = session.text
    if len(text) <= longest:
        return session
    edit = random.pick(session.edits)
    room = max(longest - (edit.end - edit.start), 0)
    start = max(edit.start - random.below(room // 3 + 1), 0)
    end = min(start + longest, len(text))
    start, end = _bound(text, start, edit.start, first=True), _bound(text, edit.end, end, first=False)
    inside = [one.moved(-start) for one in session.edits if start <= one.start and one.end <= end]
    return EditSession(text[start:end], tuple(inside), session.source, session.commit, session.path)


def _bound(text: str, low: int, high: int, *, first: bool) -> int:
    """A place from `low` to `high` where a line begins (the first) or ends (the last), or else a word."""
    if (low == 0) if first else (high == len(text)):
        return low if first else high
    for mark in "\n ":
        at = text.find(mark, low, high) + 1 if first else text.rfind(mark, low, high)
        if at > 0:
            return at
    return high if first else low


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
