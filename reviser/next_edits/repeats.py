"""Repeats: other places of a text where an edit of the person could be made again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reviser.core.edits import Edit
from reviser.next_edits.prompt import RecentEdit

_WORD_BEHIND = re.compile(r"[ \t]*\w[\w'’-]*")
_WORD_AHEAD = re.compile(r"\w[\w'’-]*[ \t]*$")
_RUN_BEHIND = re.compile(r"([^\w\s])\1*|\s+")
_RUN_AHEAD = re.compile(r"(?:([^\w\s])\1*|\s+)$")
_MOST_PLACES: Final = 200
_SHORTEST_STEM: Final = 3


class RepeatWay(StrEnum):
    """How a place resembles the place of the edit: letter by letter, with other capitals, in another form of the
    word, or by the marks beside it; or a model proposes it."""

    EXACT = "exact"
    CAPITALS = "capitals"
    FORM = "form"
    MARKS = "marks"
    OWN = "own"


@dataclass(frozen=True)
class Repeat:
    """A change that repeats an edit, the edit's number, and how the places resemble each other."""

    change: Edit
    edit: int
    way: RepeatWay


@dataclass(frozen=True)
class _SearchPattern:
    """A pattern to search for, and its replacement."""

    expression: re.Pattern[str]
    old: str
    new: str
    way: RepeatWay


def repeats(text: str, edits: Sequence[RecentEdit], taken: Iterable[tuple[int, int]] = ()) -> list[Repeat]:
    """The places where an edit can be repeated, in order; the `taken` ranges were just edited and are left out.

    If several edits would make the same change, it repeats the last of them.
    """
    ranges = [*taken]
    found: dict[Edit, Repeat] = {}
    seen: set[_SearchPattern] = set()
    for number in reversed(range(len(edits))):
        for pattern in _patterns(edits[number]):
            if pattern in seen:
                continue
            seen.add(pattern)
            for change, way in _places(text, pattern):
                core = change.core
                free = all(core.end < first or core.start > last for first, last in ranges)
                if free and change.old != change.new and not _is_there(text, change):
                    found.setdefault(core, Repeat(change, number, way))
    return sorted(found.values(), key=lambda one: (one.change.start, one.change.end, one.change.new))


def _patterns(edit: RecentEdit) -> Iterator[_SearchPattern]:
    """The patterns for an edit; one without words includes a word beside it, or the marks that it stands between."""
    old, new = edit.old, edit.new
    if re.search(r"\w", old):
        yield _SearchPattern(_whole_words(old), old, new, RepeatWay.EXACT)
        for one, other in _forms(old, new):
            yield _SearchPattern(_whole_words(one), one, other, RepeatWay.FORM)
        return
    behind, ahead = _WORD_BEHIND.match(edit.after), _WORD_AHEAD.search(edit.before)
    if behind:
        yield _SearchPattern(_whole_words(old + behind[0]), old + behind[0], new + behind[0], RepeatWay.EXACT)
    if ahead:
        yield _SearchPattern(_whole_words(ahead[0] + old), ahead[0] + old, ahead[0] + new, RepeatWay.EXACT)
    if between := _between_marks(edit):
        yield _SearchPattern(between, old, new, RepeatWay.MARKS)


def _whole_words(old: str) -> re.Pattern[str]:
    bound_left = r"(?<!\w)" if old[:1].isalnum() else ""
    bound_right = r"(?!\w)" if old[-1:].isalnum() else ""
    return re.compile(bound_left + re.escape(old) + bound_right, re.IGNORECASE)


def _forms(old: str, new: str) -> Iterator[tuple[str, str]]:
    """The old and new text in the other number: for "user" to "customer" also "users" to "customers"."""
    if not (old.isalpha() and new[-1:].isalpha() and new.replace(" ", "").isalpha()):
        return
    if len(old) < _SHORTEST_STEM or len(new) < _SHORTEST_STEM or old.casefold() == new.casefold():
        return
    yield plural_of(old), plural_of(new)
    one, other = singular_of(old), singular_of(new)
    if one and other:
        yield one, other


def plural_of(word: str) -> str:
    """A noun's regular plural."""
    low = word.lower()
    if low.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def singular_of(word: str) -> str | None:
    """The word that a word is the regular plural of; None if it has no such ending."""
    low = word.lower()
    if low.endswith("ies") and len(low) > _SHORTEST_STEM + 2:
        return word[:-3] + "y"
    if low.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if low.endswith("s") and not low.endswith("ss") and len(low) > _SHORTEST_STEM else None


def _between_marks(edit: RecentEdit) -> re.Pattern[str] | None:
    """A pattern for the place of an edit of marks or spaces: between the same marks or ends of a line; None if there
    are none."""
    before, after = edit.line_before, edit.line_after
    starts, ends = not before.strip(), not after.strip()
    left = "^" + re.escape(before) if starts else _beside(before, ahead=True)
    right = r"(?=[ \t]*$)" if ends else _beside(after, ahead=False)
    beside = [side for side in (before[-1:], after[:1]) if side and not side.isspace() and not side.isalnum()]
    if not (starts or ends or edit.old.strip() or len(edit.old) > 1 or beside):
        return None
    return re.compile(f"{left}(?P<old>{re.escape(edit.old)}){right}", re.MULTILINE)


def _beside(text: str, *, ahead: bool) -> str:
    """A pattern for what is directly beside an edit: a run of one mark in its full length, or any letter."""
    run = _RUN_AHEAD.search(text) if ahead else _RUN_BEHIND.match(text)
    if run is None:
        return r"(?<=\w)" if ahead else r"(?=\w)"
    mark, found = re.escape(run[0][0]), re.escape(run[0])
    return f"(?<={found})(?<!{mark}{found})" if ahead else f"(?={found}(?!{mark}))"


def _places(text: str, pattern: _SearchPattern) -> Iterator[tuple[Edit, RepeatWay]]:
    old, new = pattern.old, pattern.new
    if not old.strip() and pattern.way is not RepeatWay.MARKS:
        return
    for number, match in enumerate(pattern.expression.finditer(text)):
        if number == _MOST_PLACES:
            return
        if pattern.way is RepeatWay.MARKS:
            yield Edit(match.start("old"), old, new), RepeatWay.MARKS
        # Capitals that the edit changes are only looked for as they were.
        elif match[0] == old:
            yield Edit(match.start(), old, new), pattern.way
        elif old.casefold() != new.casefold():
            way = RepeatWay.CAPITALS if pattern.way is RepeatWay.EXACT else pattern.way
            yield Edit(match.start(), match[0], _like(new, old, match[0])), way


def _is_there(text: str, change: Edit) -> bool:
    """Whether the text that a change would insert is already there; capitals may be all that it changes."""
    if change.new.casefold() == change.old.casefold():
        return False
    at = change.new.casefold().find(change.old.casefold())
    if at < 0:
        return False
    first = change.start - at
    return first >= 0 and text[first : first + len(change.new)].casefold() == change.new.casefold()


def _like(new: str, old: str, found: str) -> str:
    """The new text with the capitals of the found text, where they differ from the old text's."""
    if not new:
        return new
    if found.isupper() and len(found) > 1 and not old.isupper():
        return new.upper()
    if found[:1].isupper() and old[:1].islower():
        return new[:1].upper() + new[1:]
    if found[:1].islower() and old[:1].isupper() and new[:1].isupper():
        return new[:1].lower() + new[1:]
    return new
