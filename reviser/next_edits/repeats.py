"""Repeats: other places of a text where an edit of the person could be made again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from reviser.core.edits import Edit
from reviser.next_edits.prompt import RecentEdit

_WORD_BEHIND = re.compile(r"\s*[\w'’-]+")
_WORD_AHEAD = re.compile(r"[\w'’-]+\s*$")
_MOST_PLACES: Final = 200


def repeats(text: str, edits: Sequence[RecentEdit], taken: Iterable[tuple[int, int]] = ()) -> list[Edit]:
    """The places where an edit can be repeated, in order; `taken` ranges were just edited and are left out."""
    ranges = [*taken]
    found: dict[Edit, Edit] = {}
    for edit in edits:
        for old, new in _patterns(edit):
            for change in _places(text, old, new):
                free = all(change.end <= first or change.start >= last for first, last in ranges)
                if free and change.old != change.new:
                    found.setdefault(change.core, change)
    return sorted(found.values(), key=lambda change: (change.start, change.end))


def _patterns(edit: RecentEdit) -> Iterator[tuple[str, str]]:
    """What to look for, and what to put there: an edit of no words takes a word beside it along."""
    if re.search(r"\w", edit.old):
        yield edit.old, edit.new
        return
    behind = _WORD_BEHIND.match(edit.after)
    ahead = _WORD_AHEAD.search(edit.before)
    if behind:
        yield edit.old + behind[0], edit.new + behind[0]
    if ahead:
        yield ahead[0] + edit.old, ahead[0] + edit.new


def _places(text: str, old: str, new: str) -> Iterator[Edit]:
    if not old.strip():
        return
    bound_left = r"(?<!\w)" if old[0].isalnum() else ""
    bound_right = r"(?!\w)" if old[-1].isalnum() else ""
    pattern = re.compile(bound_left + re.escape(old) + bound_right, re.IGNORECASE)
    for number, match in enumerate(pattern.finditer(text)):
        if number == _MOST_PLACES:
            return
        # Capitals that the edit changes are only looked for as they were.
        if match[0] == old:
            yield Edit(match.start(), match[0], new)
        elif old.lower() != new.lower():
            yield Edit(match.start(), match[0], _like(new, old, match[0]))


def _like(new: str, old: str, found: str) -> str:
    """The new text with the capitals of the place that was found, where they differ from the old text's."""
    if not new:
        return new
    if found.isupper() and len(found) > 1 and not old.isupper():
        return new.upper()
    if found[:1].isupper() and old[:1].islower():
        return new[:1].upper() + new[1:]
    if found[:1].islower() and old[:1].isupper() and new[:1].isupper():
        return new[:1].lower() + new[1:]
    return new
