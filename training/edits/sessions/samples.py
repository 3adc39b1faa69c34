"""Samples of next edits: some edits of a session are shown, and a window of its text is overtyped with those to
come."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reviser.core.edits import Edit
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.next_edits.prompt import LONGEST_EDIT, MOST_SHOWN, prompt_ids, recent_edit, shown_ids
from training.data.randomness import KeyedRandom
from training.edits.alignment import align
from training.edits.edits import operators_of
from training.edits.sessions.session import EditSession

_SHOWN: Final = (0.4, 0.7, 0.9, 1.0)
"""Running shares of samples with one to four edits shown."""
_IN_ORDER: Final = 0.7
_SOMETHING_LEFT: Final = 0.5
_WHERE_OLD_TEXT_IS: Final = 0.6
_SHORTEST, _LONGEST = 120, 900
_BREAK = re.compile(r"\n+|(?<=[.!?:;])\s+")


@dataclass(frozen=True)
class NextEditSample:
    """A history in ids, of which the first `given` do not count in the loss, and how many edits it has left to make."""

    ids: list[int]
    given: int
    left: int


def next_edit_sample(
    session: EditSession, tokenizer: Tokenizer, vocabulary: Vocabulary, random: KeyedRandom, most: int
) -> NextEditSample | None:
    """One sample of a session, drawn at random; None if what was drawn has more than `most` ids, or no edit can be
    shown."""
    made, shown = _draw_shown(session, random)
    if not shown:
        return None
    left = [number for number in range(len(session.edits)) if number not in made]
    window = _draw_window(session, left, shown, random)
    inside = [n for n in range(len(session.edits)) if _inside(session.edits[n], window)]
    draft = _written(session, window, [n for n in inside if n in made])
    revised = _written(session, window, inside)
    before, after = tokenizer.encode(draft), tokenizer.encode(revised)
    ids = prompt_ids(vocabulary, _shown_ids(session, made, shown, tokenizer, vocabulary), before)
    given = len(ids)
    if given + len(after) + 1 > most:
        return None
    ids += _overtyped(vocabulary, before, after)
    ids.append(vocabulary.stop_id)
    if len(ids) > most:
        return None
    return NextEditSample(ids, given, sum(n not in made for n in inside))


def _draw_shown(session: EditSession, random: KeyedRandom) -> tuple[list[int], list[int]]:
    """The edits that were made, in the order in which they were, and the last of them, which are shown."""
    count = len(session.edits)
    drawn = random.share()
    wanted = 1 + sum(drawn >= share for share in _SHOWN[:-1])
    # All may have been made: then nothing is left.
    some = min(wanted, count)
    if random.chance(_IN_ORDER):
        until = some + random.below(max(count - some, 1))
        made = list(range(until))
    else:
        numbers = list(range(count))
        for at in range(some):
            other = at + random.below(count - at)
            numbers[at], numbers[other] = numbers[other], numbers[at]
        made = numbers[:some]
    shown = [n for n in made[-wanted:] if _can_be_shown(session.edits[n])][-MOST_SHOWN:]
    return made, shown


def _can_be_shown(edit: Edit) -> bool:
    return len(edit.old) <= LONGEST_EDIT and len(edit.new) <= LONGEST_EDIT


def _shown_ids(
    session: EditSession, made: Sequence[int], shown: Sequence[int], tokenizer: Tokenizer, vocabulary: Vocabulary
) -> list[int]:
    """The excerpts of the edits that are shown; each shows the text as it was when its edit was made."""
    excerpts = []
    done: list[int] = []
    for number in made:
        if number in shown:
            edit = session.edits[number]
            first, last = max(edit.start - 200, 0), min(edit.end + 200, len(session.text))
            near = [n for n in done if first <= session.edits[n].start and session.edits[n].end <= last]
            left = _written(session, (first, edit.start), [n for n in near if n < number])
            right = _written(session, (edit.end, last), [n for n in near if n > number])
            excerpts.append(recent_edit(left + edit.old + right, len(left), edit.old, edit.new))
        done.append(number)
    return shown_ids(vocabulary, tokenizer, excerpts)


def _inside(edit: Edit, window: tuple[int, int]) -> bool:
    return window[0] <= edit.start and edit.end <= window[1]


def _written(session: EditSession, window: tuple[int, int], made: Sequence[int]) -> str:
    """A window of the session's text with some of its edits made."""
    parts, done = [], window[0]
    for number in sorted(made):
        edit = session.edits[number]
        parts += [session.text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*parts, session.text[done : window[1]]])


def _draw_window(
    session: EditSession, left: Sequence[int], shown: Sequence[int], random: KeyedRandom
) -> tuple[int, int]:
    """A part of the text to be overtyped: half of them have an edit that is left, of the others most a place like
    one."""
    if left and random.chance(_SOMETHING_LEFT):
        edit = session.edits[random.pick(left)]
        return _around(session, edit.start, edit.end, random)
    places = list[tuple[int, int]]()
    if random.chance(_WHERE_OLD_TEXT_IS):
        old = session.edits[random.pick(shown)].old.strip()
        if len(old) > 1:
            taken = [(edit.start, edit.end) for edit in session.edits]
            for found in re.finditer(re.escape(old), session.text, re.IGNORECASE):
                if all(found.end() <= first or found.start() >= last for first, last in taken):
                    places.append(found.span())
    if not places:
        at = random.below(max(len(session.text), 1))
        places = [(at, at)]
    return _around(session, *random.pick(places), random)


def _around(session: EditSession, start: int, end: int, random: KeyedRandom) -> tuple[int, int]:
    """A window of whole lines or sentences about a place; it cuts no edit."""
    text = session.text
    size = _SHORTEST + random.below(_LONGEST - _SHORTEST)
    ahead = random.below(size)
    first, last = max(start - ahead, 0), min(max(end, start - ahead + size), len(text))
    breaks = [found.end() for found in _BREAK.finditer(text, first, start)]
    if first > 0:
        first = breaks[0] if breaks else _word_from(text, first, start)
    closing = [found.start() for found in _BREAK.finditer(text, end, last)]
    if last < len(text):
        last = closing[-1] if closing else _word_until(text, last, end)
    for edit in session.edits:
        if edit.start < first < edit.end:
            first = edit.start
        if edit.start < last < edit.end:
            last = edit.end
    return first, last


def _word_from(text: str, at: int, most: int) -> int:
    while at < most and not text[at - 1].isspace():
        at += 1
    return at


def _word_until(text: str, at: int, least: int) -> int:
    while at > least and not text[at : at + 1].isspace():
        at -= 1
    return at


def _overtyped(vocabulary: Vocabulary, before: Sequence[int], after: Sequence[int]) -> list[int]:
    ids: list[int] = []
    done = 0
    hunks = align(before, after, len(before), operators_of(vocabulary))
    for old_start, old_end, new_start, new_end in hunks.tolist():
        ids += after[done:new_start]
        ids += [vocabulary.delete_id] * (old_end - old_start)
        ids += after[new_start:new_end]
        done = new_end
    return [*ids, *after[done:]]
