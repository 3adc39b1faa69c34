"""Samples of next edits: some edits of a session are given, and a window of its text is overtyped with later ones.

The prompt is the one used for inference (`reviser.next_edits.reading`), and half of the windows are those that it
reads. At most places where an edit could be repeated, its author did not repeat it: windows at such places, with
nothing left to change, are as frequent as in whole documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reviser.core.edits import Edit, apply_edits
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.next_edits.prompt import LONGEST_EDIT, prompt_ids, recent_edit, shown_ids
from reviser.next_edits.repeats import repeats
from reviser.next_edits.windows import windows
from training.data.randomness import KeyedRandom
from training.edits.alignment import align
from training.edits.edits import operators_of
from training.edits.sessions.session import EditSession, SessionState, session_state

_SHOWN: Final = (0.4, 0.7, 0.9)
"""Running shares of samples with one, two and three edits shown; the others show four, as many as a prompt does."""
_IN_ORDER: Final = 0.7
_SOMETHING_LEFT: Final = 0.35
_COULD_BE_REPEATED: Final = 0.8
"""Of the windows that are not drawn for an edit that is left: those at a place where a shown one could be repeated."""
_AS_READ: Final = 0.5
_SHORTEST, _LONGEST = 120, 1600
_BREAK = re.compile(r"\n+|(?<=[.!?:;])\s+")


@dataclass(frozen=True)
class NextEditSample:
    """A history in ids, the first `given` of which do not count in the loss, and the number of edits it makes."""

    ids: list[int]
    given: int
    left: int


def next_edit_sample(
    session: EditSession, tokenizer: Tokenizer, vocabulary: Vocabulary, random: KeyedRandom, most: int
) -> NextEditSample | None:
    """Draws one sample of a session at random; None if it has more than `most` ids or no edit can be given."""
    made, wanted = _draw_made(session, random)
    state = session_state(session, made)
    shown = [edit for edit in state.made[-wanted:] if max(len(edit.old), len(edit.new)) <= LONGEST_EDIT]
    if not shown:
        return None
    start, end = _draw_window(state, shown, random)
    return sample_of(state, shown, (start, end), tokenizer, vocabulary, most)


def sample_of(
    state: SessionState,
    shown: Sequence[Edit],
    window: tuple[int, int],
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    most: int,
) -> NextEditSample | None:
    """Makes the sample of one window; None if it has more than `most` ids."""
    start, end = window
    draft = state.text[start:end]
    left = [edit.moved(-start) for edit in state.to_come if start <= edit.start and edit.end <= end]
    before, after = tokenizer.encode(draft), tokenizer.encode(apply_edits(draft, left))
    excerpts = [recent_edit(state.text, edit) for edit in shown]
    ids = prompt_ids(vocabulary, shown_ids(vocabulary, tokenizer, excerpts), before)
    given = len(ids)
    if given + len(after) + 1 > most:
        return None
    ids += [*_overtyped(vocabulary, before, after), vocabulary.stop_id]
    return NextEditSample(ids, given, len(left)) if len(ids) <= most else None


def _draw_made(session: EditSession, random: KeyedRandom) -> tuple[list[int], int]:
    """Draws the edits already made, in order of time, and how many of them are given in the prompt."""
    count = len(session.edits)
    drawn = random.share()
    # All may have been made: then nothing is left.
    wanted = 1 + sum(drawn >= share for share in _SHOWN)
    some = min(wanted, count)
    if random.chance(_IN_ORDER):
        return list(range(some + random.below(max(count - some, 1)))), wanted
    numbers = list(range(count))
    for at in range(some):
        other = at + random.below(count - at)
        numbers[at], numbers[other] = numbers[other], numbers[at]
    return numbers[:some], wanted


def _draw_window(state: SessionState, shown: Sequence[Edit], random: KeyedRandom) -> tuple[int, int]:
    """Draws the part of the text to overtype: around a later edit, a place where an edit could be repeated and was
    not, or any place."""
    text = state.text
    if state.to_come and random.chance(_SOMETHING_LEFT):
        edit = random.pick(state.to_come)
        return _around(state, edit.start, edit.end, random)
    if random.chance(_COULD_BE_REPEATED):
        taken = [(edit.start, edit.start + len(edit.new)) for edit in state.made]
        coming = [(edit.start, edit.end) for edit in state.to_come]
        found = [one.change for one in repeats(text, [recent_edit(text, edit) for edit in shown], taken)]
        left = [one for one in found if all(one.end < first or one.start > last for first, last in coming)]
        if left:
            change = random.pick(left)
            return _around(state, change.start, change.end, random)
    at = random.below(max(len(text), 1))
    return _around(state, at, at, random)


def _around(state: SessionState, start: int, end: int, random: KeyedRandom) -> tuple[int, int]:
    """The window that inference reads for a place, or another of whole lines or sentences; it never splits an edit."""
    text = state.text
    if random.chance(_AS_READ):
        first, last = next((one for one in windows(text) if one[0] <= start < one[1]), (0, len(text)))
    else:
        first, last = _drawn_around(text, start, end, random)
    for edit in state.to_come:
        if edit.start < first < edit.end:
            first = edit.start
        if edit.start < last < edit.end:
            last = edit.end
    return first, last


def _drawn_around(text: str, start: int, end: int, random: KeyedRandom) -> tuple[int, int]:
    size = _SHORTEST + random.below(_LONGEST - _SHORTEST)
    ahead = random.below(size)
    first, last = max(start - ahead, 0), min(max(end, start - ahead + size), len(text))
    breaks = [found.end() for found in _BREAK.finditer(text, first, start)]
    if first > 0:
        first = breaks[0] if breaks else _word_from(text, first, start)
    closing = [found.start() for found in _BREAK.finditer(text, end, last)]
    if last < len(text):
        last = closing[-1] if closing else _word_until(text, last, end)
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
