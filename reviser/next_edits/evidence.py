"""Evidence: what the text itself says about whether a person would repeat an edit in a place.

An edit that was made twice is likelier to be made a third time, a misspelling is wrong everywhere, and where the
person went past the same words and left them, the edit was about something else. Features are numbers by name; a
`NextEditJudgement` (`reviser.next_edits.judgement`) weighs them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reviser.core.edits import Edit
from reviser.next_edits.prompt import RecentEdit
from reviser.next_edits.repeats import Repeat, RepeatWay
from reviser.proofreading import english

_WORDS = re.compile(r"\w+")
_MARKUP = str.maketrans("", "", "`*_\"'“”‘’")
_TOKEN_BEHIND = re.compile(r"\s*(?:\w+|[^\w\s])")
_TOKEN_AHEAD = re.compile(r"(?:\w+|[^\w\s])\s*$")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|=+\s)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_TABLE = re.compile(r"\s*\|")
_FIELD = re.compile(r"[\w-]+:\s")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_ADDRESS = re.compile(r"\S*(?:://|\]\(|\]:|=\")\S*$")
_FUNCTION_WORDS = (
    english.ARTICLES | english.PREPOSITIONS | english.PRONOUNS | english.AUXILIARIES | english.CONJUNCTIONS
)
_LITERAL: Final = (RepeatWay.EXACT, RepeatWay.MARKS)
_BESIDE: Final = 40
_MOST_TIMES: Final = 4
_STEM: Final = 3
_FEW: Final = 2


class EditSort(StrEnum):
    """The sort of an edit, as far as its words alone tell."""

    SPELLING = "spelling"
    CAPITALS = "capitals"
    JOINT = "joint"
    MARKUP = "markup"
    SPACE = "space"
    MARK = "mark"
    NUMBER = "number"
    FORM = "form"
    ADDED = "added"
    DROPPED = "dropped"
    WORD = "word"
    PHRASE = "phrase"


def sort_of(old: str, new: str, known: Callable[[str], bool] | None) -> EditSort:
    """The sort of an edit; `known`, a list of words, is needed to recognise spelling corrections."""
    one, other = _WORDS.findall(old), _WORDS.findall(new)
    low, high = old.casefold().strip(), new.casefold().strip()
    if not one and not other:
        return EditSort.MARK if low or high else EditSort.SPACE
    if not one or not other:
        return EditSort.DROPPED if one else EditSort.ADDED
    tests = (
        (low == high, EditSort.SPACE if old.strip() == new.strip() else EditSort.CAPITALS),
        (low.translate(_MARKUP) == high.translate(_MARKUP), EditSort.MARKUP),
        (re.sub(r"[\s-]", "", low) == re.sub(r"[\s-]", "", high), EditSort.JOINT),
        ([word.casefold() for word in one] == [word.casefold() for word in other], EditSort.MARK),
        (any(map(str.isdigit, old + new)), EditSort.NUMBER),
        (len(one) > 1 or len(other) > 1, EditSort.PHRASE),
        (_is_misspelling(one[0], other[0], known), EditSort.SPELLING),
        (_shared(low, high) >= max(_STEM, min(len(low), len(high)) - _STEM), EditSort.FORM),
    )
    return next((sort for holds, sort in tests if holds), EditSort.WORD)


def _is_misspelling(old: str, new: str, known: Callable[[str], bool] | None) -> bool:
    return known is not None and old.isalpha() and not known(old) and known(new) and _alike(old.lower(), new.lower())


def _shared(one: str, other: str) -> int:
    """The length of the common prefix of two texts, in characters."""
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)


def _alike(one: str, other: str) -> bool:
    return (Counter(one) & Counter(other)).total() >= max(len(one), len(other)) - _FEW


def _role(line: str) -> str:
    if _HEADING.match(line):
        return "heading"
    if _ITEM.match(line):
        return "item"
    if _TABLE.match(line):
        return "table"
    return "field" if _FIELD.match(line) else "body"


def _inside(line_before: str, line_after: str) -> str:
    """The context of a place in its line: code, an address, or text."""
    if line_before.count("`") % 2 and "`" in line_after:
        return "code"
    if _ADDRESS.search(line_before):
        return "address"
    return "text"


@dataclass(frozen=True)
class _PlaceInLine:
    """The context of a place in its line."""

    before: str
    after: str
    ahead: str
    behind: str
    role: str
    inside: str

    @classmethod
    def of(cls, line_before: str, line_after: str, line: str) -> _PlaceInLine:
        ahead = _TOKEN_AHEAD.search(line_before[-_BESIDE:])
        behind = _TOKEN_BEHIND.match(line_after[:_BESIDE])
        return cls(
            line_before[-_BESIDE:].casefold()[::-1],
            line_after[:_BESIDE].casefold(),
            ahead[0].casefold() if ahead else "^",
            behind[0].casefold() if behind else "$",
            _role(line),
            _inside(line_before, line_after),
        )


@dataclass(frozen=True)
class _RepeatedEdit:
    """The evidence on one replacement, made once or more often."""

    edits: tuple[int, ...]
    places: tuple[_PlaceInLine, ...]
    sort: EditSort
    features: Mapping[str, float]


class RepeatEvidence:
    """The evidence on repeats of some edits in one text.

    `spans` are the places of the edits' new texts in the text; None for an edit in another text.
    """

    def __init__(
        self,
        text: str,
        edits: Sequence[RecentEdit],
        spans: Sequence[tuple[int, int] | None],
        found: Sequence[Repeat],
        known: Callable[[str], bool] | None = None,
    ) -> None:
        self._text = text
        self._edits = edits
        self._spans = spans
        self._known = known
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._fences = [match.start() for match in _FENCE.finditer(text)]
        here = [span for span in spans if span is not None]
        self._last = max((end for _, end in here), default=0)
        self._first = min((start for start, _ in here), default=0)
        self._groups: dict[tuple[str, str], list[Repeat]] = {}
        for one in found:
            self._groups.setdefault(self._key(one.edit), []).append(one)
        self._places = {one: self._place(one) for one in found}
        self._patterns = {key: self._pattern(key, some) for key, some in self._groups.items()}

    def _key(self, number: int) -> tuple[str, str]:
        edit = self._edits[number]
        return edit.old.casefold(), edit.new.casefold()

    def _line(self, at: int) -> int:
        return bisect_right(self._starts, at) - 1

    def _place(self, one: Repeat) -> _PlaceInLine:
        start, end = one.change.start, one.change.end
        core = one.change.core
        if not one.change.old.strip() or one.way is RepeatWay.MARKS or not self._edits[one.edit].old.strip():
            start, end = core.start, core.end
        first = self._starts[self._line(start)]
        last = self._text.find("\n", end)
        last = len(self._text) if last < 0 else last
        return _PlaceInLine.of(self._text[first:start], self._text[end:last], self._text[first:last])

    def _pattern(self, key: tuple[str, str], found: Sequence[Repeat]) -> _RepeatedEdit:
        numbers = tuple(number for number in range(len(self._edits)) if self._key(number) == key)
        edits = [self._edits[number] for number in numbers]
        edit = edits[-1]
        places = tuple(
            _PlaceInLine.of(one.line_before, one.line_after, one.line_before + one.old + one.line_after)
            for one in edits
        )
        sort = sort_of(edit.old, edit.new, self._known)
        words = _WORDS.findall(edit.old)
        exact = [one for one in found if one.way in _LITERAL]
        above = sum(one.change.start < self._last for one in exact)
        between = sum(self._first < one.change.start < self._last for one in exact)
        times = min(len(numbers), _MOST_TIMES)
        elsewhere = self._count(edit.new) - sum(self._spans[number] is not None for number in numbers)
        features = {
            f"sort {sort}": 1.0,
            "twice": float(times >= 2),
            "thrice": float(times >= 3),
            "other edits": math.log1p(len(self._edits) - len(numbers)),
            "places": math.log1p(len(found)),
            "one place": float(len(found) == 1),
            "above": math.log1p(above),
            "between": math.log1p(between),
            "passed over": above / (above + times),
            "new elsewhere": math.log1p(max(elsewhere, 0)),
            "letters": math.log1p(len(edit.old)),
            "letters of new": math.log1p(len(edit.new)),
            "words": float(min(len(words), 4)),
            "function words": float(bool(words) and all(word.casefold() in _FUNCTION_WORDS for word in words)),
            "unknown word": float(bool(words) and self._known is not None and not all(map(self._known, words))),
            "has capital": float(any(map(str.isupper, edit.old))),
        }
        features |= {f"{name} {sort}": features[name] for name in ("twice", "places", "passed over")}
        return _RepeatedEdit(numbers, places, sort, {name: value for name, value in features.items() if value})

    def _count(self, new: str) -> int:
        words = new.strip()
        return self._text.count(words) if len(words) > 1 else 0

    def features(self, one: Repeat) -> dict[str, float]:
        """The features of a repeat, by name; zeros are left out."""
        pattern, place = self._patterns[self._key(one.edit)], self._places[one]
        start = one.change.start
        line = self._line(start)
        lines = [self._line(span[0]) for number in pattern.edits if (span := self._spans[number]) is not None]
        distance = min((abs(line - other) for other in lines), default=None)
        ahead = any(place.ahead == other.ahead for other in pattern.places)
        behind = any(place.behind == other.behind for other in pattern.places)
        # What was passed over in the same surroundings speaks louder.
        passed = [
            self._places[other]
            for other in self._groups[self._key(one.edit)]
            if other.change.start < self._last and other is not one
        ]
        alike = sum(place.ahead == other.ahead and place.behind == other.behind for other in passed)
        shared_ahead = max(_shared(place.before, other.before) for other in pattern.places)
        shared_behind = max(_shared(place.after, other.after) for other in pattern.places)
        beside = self._text[start - 1 : start] + self._text[one.change.end : one.change.end + 1]
        sort = pattern.sort
        features = {
            f"way {one.way}": 1.0,
            f"way {one.way} {sort}": 1.0,
            "same ahead": float(ahead),
            "same behind": float(behind),
            "same both": float(ahead and behind),
            f"same ahead {sort}": float(ahead),
            f"same behind {sort}": float(behind),
            "neither": float(not ahead and not behind),
            "shared ahead": math.log1p(shared_ahead),
            "shared behind": math.log1p(shared_behind),
            f"shared {place.inside}": math.log1p(shared_ahead + shared_behind),
            f"same both {place.inside}": float(ahead and behind),
            "passed alike": float(alike > 0),
            "is above": float(start < self._last),
            f"is above {sort}": float(start < self._last),
            f"role {place.role}": 1.0,
            "same role": float(any(place.role == other.role for other in pattern.places)),
            f"same role {sort}": float(any(place.role == other.role for other in pattern.places)),
            f"inside {place.inside}": 1.0,
            "same inside": float(any(place.inside == other.inside for other in pattern.places)),
            "in fence": float(bisect_right(self._fences, start) % 2),
            "same line": float(distance == 0),
            "next line": float(distance == 1),
            "lines": math.log1p(distance) if distance is not None else 0.0,
            "other text": float(distance is None),
            "joined": float(any(mark in "-/_.\\@:=" for mark in beside)),
            "starts line": float(place.ahead == "^"),
        }
        return {name: value for name, value in features.items() if value} | dict(pattern.features)

    def features_of_own(self, change: Edit) -> dict[str, float]:
        """The features of a change that a model proposes by itself."""
        core = change.core
        sort = sort_of(change.old, change.new, self._known)
        first = self._starts[self._line(core.start)]
        last = self._text.find("\n", core.end)
        last = len(self._text) if last < 0 else last
        place = _PlaceInLine.of(self._text[first : core.start], self._text[core.end : last], self._text[first:last])
        features = {
            f"way {RepeatWay.OWN}": 1.0,
            f"way {RepeatWay.OWN} {sort}": 1.0,
            f"sort {sort}": 1.0,
            f"role {place.role}": 1.0,
            f"inside {place.inside}": 1.0,
            "in fence": float(bisect_right(self._fences, core.start) % 2),
            "letters of new": math.log1p(len(change.new)),
        }
        return {name: value for name, value in features.items() if value}
