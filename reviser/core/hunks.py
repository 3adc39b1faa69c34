"""From the edits of a run to changes that a person can judge: whole words, each change by itself."""

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
    """What edits, made one after the other, have changed in a text, word by word, by places in the text after them.

    The edits say which characters stayed all the way, so that this costs no comparison of
    everything with everything, and never mistakes one word for a like one elsewhere.
    """
    new = with_all(old, edits)
    hunks = _merged(_widened(old, new, list(_moved_apart(len(old), edits))))
    fine = [inner for hunk in hunks for inner in _within(old, new, hunk)]
    return [Edit(c, old[a:b], new[c:d]) for a, b, c, d in _joined_by_space(old, fine)]


def _moved_apart(length: int, edits: Sequence[Edit]) -> Iterator[_Hunk]:
    """Where characters of a text of that length went, or others came."""
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
    """The hunks, each as far as it takes to begin and end between words, or until it meets the next."""
    nothing, all = (0, 0, 0, 0), (len(old), 0, len(new), 0)
    for before, hunk, after in zip([nothing, *hunks], hunks, [*hunks[1:], all], strict=False):
        a, b, c, d = hunk
        while a > before[1] and not (_parts(old, a) and _parts(new, c)):
            a, c = a - 1, c - 1
        while b < after[0] and not (_parts(old, b) and _parts(new, d)):
            b, d = b + 1, d + 1
        yield a, b, c, d


def _parts(text: str, place: int) -> bool:
    """Whether two words, marks or spaces meet at a place, and not the halves of one."""
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
    """Whether a character makes words with its neighbours; ideographs stand for themselves."""
    if character.isalnum() or character == "_" or unicodedata.combining(character):
        return unicodedata.east_asian_width(character) not in ("W", "F")
    return False


def _merged(hunks: Iterable[_Hunk]) -> list[_Hunk]:
    """Hunks that met when they were widened, as one."""
    merged: list[_Hunk] = []
    for hunk in hunks:
        if merged and hunk[0] <= merged[-1][1]:
            first = merged.pop()
            merged.append((first[0], hunk[1], first[2], hunk[3]))
        else:
            merged.append(hunk)
    return merged


def _within(old: str, new: str, hunk: _Hunk) -> Iterator[_Hunk]:
    """The parts of a hunk that really differ: a word that was erased and written again does not."""
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
    """Changes of neighbouring words are one change; on lines of their own they are not."""
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
