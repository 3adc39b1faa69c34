"""Hunks: the edits of a run grouped into separate changes of whole words, which a person can judge one by one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from reviser.core.edits import Edit, with_all

_JOINER = "\u200d"
# Words are compared with words where that takes a moment; what is longer was written anew as a whole.
_COMPARED = 1_000_000

# What differs: from where to where in the old text, and in the new one.
_Hunk = tuple[int, int, int, int]


def changed_words(old: str, edits: Sequence[Edit]) -> list[Edit]:
    """The word-level changes that edits, made one after the other, have made; offsets refer to the text after them.

    The edits say which characters were never touched. So no comparison of the whole texts is needed, and a word is
    never mistaken for an equal one elsewhere.
    """
    new = with_all(old, edits)
    hunks = _merged(_widened(old, new, list(_moved_apart(len(old), edits))))
    fine = [inner for hunk in hunks for inner in _within(old, new, hunk)]
    return [Edit(c, old[a:b], new[c:d]) for a, b, c, d in _joined_by_space(old, fine)]


def _moved_apart(length: int, edits: Sequence[Edit]) -> Iterator[_Hunk]:
    """The hunks of a text of that length in which characters were removed or inserted."""
    # For each character its place in the old text; None if it was not there.
    origins: list[int | None] = list(range(length))
    for edit in edits:
        origins[edit.start : edit.end] = [None] * len(edit.new)
    behind_old = behind_new = 0
    for place, origin in enumerate([*origins, length]):
        if origin is not None:
            if origin > behind_old or place > behind_new:
                yield behind_old, origin, behind_new, place
            behind_old, behind_new = origin + 1, place + 1


def _widened(old: str, new: str, hunks: Sequence[_Hunk]) -> Iterator[_Hunk]:
    """The hunks, each widened to word boundaries or until it meets the next."""
    nothing, all = (0, 0, 0, 0), (len(old), 0, len(new), 0)
    for before, hunk, after in zip([nothing, *hunks], hunks, [*hunks[1:], all], strict=False):
        a, b, c, d = hunk
        while a > before[1] and not (_parts(old, a) and _parts(new, c)):
            a, c = a - 1, c - 1
        while b < after[0] and not (_parts(old, b) and _parts(new, d)):
            b, d = b + 1, d + 1
        yield a, b, c, d


def _parts(text: str, place: int) -> bool:
    """Whether a place is a boundary between two words, marks or spaces, and not inside one."""
    if not 0 < place < len(text):
        return True
    before, after = text[place - 1], text[place]
    if before + after == "\r\n" or _JOINER in (before, after):
        return False
    if unicodedata.combining(after) or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return False
    if before.isspace() and after.isspace():
        return "\n" in (before, after) or "\r" in (before, after)
    return not (_spells(before) and _spells(after))


def _spells(character: str) -> bool:
    """Whether a character is part of a word with its neighbours; ideographs are words by themselves."""
    if character.isalnum() or character == "_" or unicodedata.combining(character):
        return unicodedata.east_asian_width(character) not in ("W", "F")
    return False


def _merged(hunks: Iterable[_Hunk]) -> list[_Hunk]:
    """The hunks, those that touch after widening joined."""
    merged: list[_Hunk] = []
    for hunk in hunks:
        if merged and hunk[0] <= merged[-1][1]:
            first = merged.pop()
            merged.append((first[0], hunk[1], first[2], hunk[3]))
        else:
            merged.append(hunk)
    return merged


def _within(old: str, new: str, hunk: _Hunk) -> Iterator[_Hunk]:
    """The parts of a hunk that really differ, without words that were erased and written again."""
    a, b, c, d = hunk
    before, after = _pieces(old[a:b]), _pieces(new[c:d])
    if len(before) * len(after) > _COMPARED:
        yield hunk
        return
    olds, news = ([0, *accumulate(map(len, pieces))] for pieces in (before, after))
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield a + olds[i], a + olds[j], c + news[k], c + news[m]


def _pieces(text: str) -> list[str]:
    cuts = [place for place in range(len(text) + 1) if _parts(text, place)]
    return [text[start:end] for start, end in pairwise(cuts)]


def _joined_by_space(old: str, hunks: Sequence[_Hunk]) -> Iterator[_Hunk]:
    """The hunks, those of neighbouring words on one line joined."""
    pending: _Hunk | None = None
    for hunk in hunks:
        between = old[pending[1] : hunk[0]] if pending is not None else "\n"
        if pending is not None and between.strip(" \t") == "":
            pending = (pending[0], hunk[1], pending[2], hunk[3])
        else:
            if pending is not None:
                yield pending
            pending = hunk
    if pending is not None:
        yield pending
