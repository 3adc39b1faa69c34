"""Looking through what a run has changed: each change is accepted or rejected by itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from reviser.core.edits import Change, with_all
from tui.document.draft import Draft, Patch, Region

_JOINER = "\u200d"
# Words are compared with words where that takes a moment; what is longer was written anew as a whole.
_COMPARED = 1_000_000


@dataclass(eq=False)
class Item:
    """A change under review, and what was decided about it."""

    old: str
    new: str
    patch: Patch
    accepted: bool | None = None

    @property
    def open(self) -> bool:
        """Whether it is still to be decided; typing into it decides too."""
        return self.accepted is None and self.patch.open


class Review:
    """The changes of a run in a draft's region, from the first to the last; one of them is looked at."""

    def __init__(self, draft: Draft, region: Region, changes: Sequence[Change]) -> None:
        patches = draft.part_region(changes)
        self.items = [
            Item(change.removed, change.inserted, patch)
            for change, patch in zip(changes, patches, strict=True)
        ]
        self._draft = draft
        self._region = region
        self._at = 0

    @property
    def active(self) -> bool:
        """Whether there is something to decide."""
        return self._region.open and any(item.open for item in self.items)

    @property
    def open_items(self) -> list[Item]:
        return [item for item in self.items if item.open]

    @property
    def current(self) -> Item:
        """The change that is looked at: the next one that is open, from the last one looked at."""
        behind = [item for item in self.items[self._at :] if item.open]
        return (behind or self.open_items or self.items)[0]

    @property
    def number(self) -> int:
        """The place of the current change among all, from 1."""
        return self.items.index(self.current) + 1

    def look(self, by: int) -> None:
        """Look at the next or the previous open change; after the last comes the first."""
        if found := self.open_items:
            self._at = self.items.index(found[(found.index(self.current) + by) % len(found)])

    def decide(self, accepted: bool) -> None:
        """Accept or reject the current change, and look at the next."""
        if self.active:
            item = self.current
            self._at = self.items.index(item)
            if len(self.open_items) == 1:
                self.decide_rest(accepted)
            else:
                self._decide(item, accepted)

    def decide_rest(self, accepted: bool) -> None:
        """Accept or reject all changes that are open; rejecting them is a step of undo by itself."""
        if not accepted:
            self._draft.settle_region()
        for item in self.open_items:
            self._decide(item, accepted)

    def _decide(self, item: Item, accepted: bool) -> None:
        item.accepted = accepted
        if not accepted:
            self._draft.write_patch(item.patch, item.old)

    def repeat(self, decisions: Iterable[bool | None]) -> None:
        """Decide as it was decided before."""
        for item, accepted in zip(self.items, decisions, strict=True):
            if accepted is not None:
                self._decide(item, accepted)

    @property
    def decisions(self) -> tuple[bool | None, ...]:
        return tuple(item.accepted for item in self.items)


# From the edits of a run to changes that a person can judge ---------------------------------------

# What differs: from where to where in the old text, and in the new one.
_Hunk = tuple[int, int, int, int]


def changes_of(old: str, edits: Sequence[Change]) -> list[Change]:
    """What edits, made one after the other, have changed in a text, word by word, by places in the text after them.

    The edits say which characters stayed all the way, so that this costs no comparison of
    everything with everything, and never mistakes one word for a like one elsewhere.
    """
    new = with_all(old, edits)
    hunks = _merged(_widened(old, new, list(_moved_apart(len(old), edits))))
    fine = [inner for hunk in hunks for inner in _within(old, new, hunk)]
    return [Change(c, old[a:b], new[c:d]) for a, b, c, d in _joined_by_space(old, fine)]


def _moved_apart(length: int, edits: Sequence[Change]) -> Iterator[_Hunk]:
    """Where characters of a text of that length went, or others came."""
    # For each character its place in the old text; None if it was not there.
    origins: list[int | None] = list(range(length))
    for edit in edits:
        origins[edit.start : edit.end] = [None] * len(edit.inserted)
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
    if character.isalnum() or unicodedata.combining(character):
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
