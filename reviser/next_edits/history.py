"""The history of a person's edits: keystrokes merged to word edits, without what was undone or is new text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from reviser.core.buffer import Buffer
from reviser.core.edits import Edit, apply_edits
from reviser.next_edits.differences import changed_lines
from reviser.next_edits.prompt import LONGEST_EDIT

MOST_PUT_IN: Final = 3
MOST_TAKEN_OUT: Final = 6
"""The most words of an edit that only inserts or only removes; a longer one is new text, or text that is gone."""
_MOST_REGIONS: Final = 64
_LONGEST_LINES: Final = 200_000
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+|\n")


def meant_edits(old: str, new: str) -> list[Edit]:
    """The word edits between two texts that could be repeated elsewhere, with offsets in the new one."""
    return [edit for edit in changed_lines(old, new) if may_be_repeated(edit)]


def may_be_repeated(edit: Edit) -> bool:
    """Whether an edit could be a pattern: it is short, within one line, and not new text."""
    if max(len(edit.old), len(edit.new)) > LONGEST_EDIT or "\n" in edit.old + edit.new:
        return False
    gone, come = len(_WORD.findall(edit.old)), len(_WORD.findall(edit.new))
    return bool(gone and come) or (gone <= MOST_TAKEN_OUT and come <= MOST_PUT_IN)


@dataclass(frozen=True)
class _EditedRegion:
    """A changed range of the present text, its original text, and the time of the last change.

    It is not a person's if a program has changed something in it.
    """

    start: int
    end: int
    old: str
    touched: int
    by_person: bool = True


@dataclass(frozen=True)
class ChangedLines:
    """Neighbouring lines that a person has edited: where they start, their text before and now, and the edited
    regions in them."""

    start: int
    was: str
    now: str
    regions: tuple[_EditedRegion, ...]


def meant_in(changed: Iterable[ChangedLines]) -> list[Edit]:
    """The edits in changed lines that could be repeated elsewhere, with offsets in the present text, the latest
    last."""
    found: list[tuple[int, Edit]] = []
    for lines in changed:
        for edit in meant_edits(lines.was, lines.now):
            placed = edit.moved(lines.start)
            end = placed.start + len(placed.new)
            touched = [one.touched for one in lines.regions if one.start <= end and placed.start <= one.end]
            found.append((max(touched, default=0), placed))
    return [edit for _, edit in sorted(found)]


class EditHistory:
    """A document while a person edits it, keystroke by keystroke."""

    def __init__(self, text: str | Buffer) -> None:
        """A text, or the buffer of an editor, which then says by `follow` what it has changed."""
        self._buffer = Buffer(text) if isinstance(text, str) else text
        self._regions: list[_EditedRegion] = []
        self._count = 0
        self._at = 0

    @property
    def text(self) -> str:
        return self._buffer.text

    @property
    def places(self) -> list[tuple[int, int]]:
        """The ranges of the present text that the person has edited, in order."""
        return [(one.start, one.end) for one in self._regions if one.by_person]

    def change(self, edit: Edit, *, by_person: bool = True) -> None:
        """Make an edit, with its place in the present text, and record it."""
        if self._buffer.slice(edit.start, edit.end) != edit.old:
            raise ValueError("the edit is of another text")
        self._buffer.replace(edit.start, edit.end, edit.new)
        self.follow(edit, by_person=by_person)

    def follow(self, edit: Edit, *, by_person: bool = True) -> None:
        """Record an edit that was just made.

        One that a program made, such as a formatter, is no pattern; undone by the person, it is none either.
        """
        self._count += 1
        touched = [one for one in self._regions if one.start <= edit.end and edit.start <= one.end]
        first = min([edit.start, *(one.start for one in touched)])
        last = max([edit.end, *(one.end for one in touched)])
        now = self._buffer.slice(first, last + edit.growth)
        was = _original(edit.inverse().moved(-first).apply_to(now), first, touched)
        self._at = edit.start + len(edit.new)
        moved = [
            replace(one, start=one.start + edit.growth, end=one.end + edit.growth) if one.start > edit.end else one
            for one in self._regions
            if one not in touched
        ]
        last += edit.growth
        # What was undone is no edit.
        if now != was:
            by_person = by_person and all(one.by_person for one in touched)
            moved.append(_EditedRegion(first, last, was, self._count, by_person))
        latest = sorted(moved, key=lambda one: one.touched)[-_MOST_REGIONS:]
        self._regions = sorted(latest, key=lambda one: one.start)

    def settle(self) -> None:
        """Count new text as text that was always there, except the sentence with the last change.

        So a person who renames a term in what he has just written has edited it.
        """
        kept: list[_EditedRegion] = []
        for one in self._regions:
            new = self._buffer.slice(one.start, one.end)
            if not one.by_person or one.old.strip() or len(_WORD.findall(new)) <= MOST_PUT_IN:
                kept.append(one)
            elif one.touched == self._count:
                at = self._at - one.start
                start = max((found.end() for found in _SENTENCE_END.finditer(new, 0, at)), default=0)
                behind = _SENTENCE_END.search(new, at)
                end = behind.end() if behind else len(new)
                kept.append(replace(one, start=one.start + start, end=one.start + end, old="" if start else one.old))
        self._regions = kept

    def meant(self) -> list[Edit]:
        """The edits that could be repeated elsewhere, with offsets in the present text, the latest last."""
        return meant_in(self.changed())

    def changed(self) -> list[ChangedLines]:
        """The lines with edited regions, in order, as they are now; later edits do not change what is returned."""
        found: list[tuple[int, int, list[_EditedRegion]]] = []
        buffer = self._buffer
        for region in self._regions:
            if not region.by_person:
                continue
            start = buffer.line_start(buffer.line_of(region.start))
            end = buffer.line_end(buffer.line_of(region.end))
            if found and start <= found[-1][1]:
                before = found.pop()
                found.append((before[0], max(before[1], end), [*before[2], region]))
            else:
                found.append((start, end, [region]))
        assert all(one[1] < other[0] for one, other in pairwise(found))
        lines = [
            (first, buffer.slice(first, last), tuple(regions))
            for first, last, regions in found
            if last - first <= _LONGEST_LINES
        ]
        return [ChangedLines(first, _original(now, first, regions), now, regions) for first, now, regions in lines]


def _original(text: str, start: int, regions: Sequence[_EditedRegion]) -> str:
    """The original of a part of a text, which starts at `start` and cuts none of the edited regions in it."""
    back = [Edit(one.start - start, text[one.start - start : one.end - start], one.old) for one in regions]
    return apply_edits(text, back)
