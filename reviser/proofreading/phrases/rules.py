"""The notation of rules, and how they are made ready to be matched.

A way of a rule is written as words and what they become: "could|should [of] been|gone -> have". The part in
brackets is replaced, the rest must stand beside it. Elements, with spaces between:

- `a|b`: one of these words; `<name>`: a word of a table; `<name>|b`: both;
- `<name>` of a table that maps words: a word of it, which `$` may put there changed;
- `=`: the same word as the one before;
- `^` and `$`: the start and the end of a sentence; `,` and other marks: themselves; `#`: a number of up to three
digits; `##`: a year; `@`: a word with a capital;
- `!a|b` at the start or the end: what stands there is none of these;
- a final `?`: the element may be missing.

Behind the arrow, `$1` is the first word in brackets, changed if its table maps words. Nothing behind the arrow
takes the words out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

Table = frozenset[str] | Mapping[str, str] | Callable[[str], bool]
"""Words; or words and what they become; or a test of words as they are written."""

SURE: Final = 0.95
"""The confidence in a rule that says nothing else."""

DATES: Final = frozenset(
    re.findall(
        r"\w+",
        """monday tuesday wednesday thursday friday saturday sunday january february april june july
        august september october november december""",
    )
)
"""Words that rules name although they have a capital."""

_MARKED = re.compile(r"\{([^|{}]*)\|([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A mistake, in all `ways` that it is made, and sentences that show it.

    In `corrected`, "{old|new}" stands where the rule puts new words. It leaves the sentences of `left` alone.
    A rule that is not `quoted` leaves speech alone, which may be in a dialect.
    """

    name: str
    ways: tuple[str, ...]
    corrected: tuple[str, ...]
    left: tuple[str, ...]
    confidence: float = SURE
    quoted: bool = True
    unless: str = ""
    """Words anywhere before the mistake in its sentence that make it none, written as an element."""
    unless_in_clause: str = ""
    """The same for words before the mistake in its clause: behind the last mark, "and", "or", "but" or "because"."""
    unless_with: str = ""
    """The same for words anywhere in its sentence."""
    only_with: str = ""
    """Words of which one must be in its sentence, written as an element."""

    def pairs(self) -> list[tuple[str, str]]:
        """The corrected sentences before and after."""
        return [(_MARKED.sub(r"\1", one), _MARKED.sub(r"\2", one)) for one in self.corrected]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way of a rule, without optional elements; the words from `first` up to `last` become `put`."""

    rule: Rule
    elements: tuple[Element, ...]
    first: int
    last: int
    put: tuple[str | int, ...]
    before: frozenset[str]
    behind: frozenset[str]
    unless: frozenset[str]
    unless_in_clause: frozenset[str]
    unless_with: frozenset[str]
    only_with: frozenset[str]
    anchor: int
    """The first element that names its words."""

    @property
    def keys(self) -> frozenset[str]:
        """The words that the anchor may be."""
        return frozenset(self.elements[self.anchor].words)


@dataclass(frozen=True, slots=True)
class Element:
    """What a word may be: one of `words`, which may be mapped; or what `test` is true for; or the word at the place
    `same`.

    `number` counts the elements in brackets."""

    words: frozenset[str] | Mapping[str, str] = frozenset()
    test: Callable[[str], bool] | None = None
    same: int | None = None
    number: int = 0


def patterns_of(rule: Rule, tables: Mapping[str, Table]) -> list[Pattern]:
    """All patterns of a rule."""
    return [pattern for way in rule.ways for pattern in _patterns(rule, way, tables)]


def _patterns(rule: Rule, way: str, tables: Mapping[str, Table]) -> list[Pattern]:
    conditions = (rule.unless, rule.unless_in_clause, rule.unless_with, rule.only_with)
    unless, in_clause, unless_with, only_with = (_listed(one, tables) for one in conditions)
    shown, _, put = (part.strip() for part in way.partition("->"))
    start, _, rest = shown.partition("[")
    inside, _, end = rest.partition("]")
    left, middle, right = start.split(), inside.split(), end.split()
    before = after = frozenset[str]()
    if left and left[0].startswith("!"):
        before = _listed(left.pop(0)[1:], tables)
    if right and right[-1].startswith("!"):
        after = _listed(right.pop()[1:], tables)
    pieces = tuple(int(one[1:]) if one[0] == "$" else one for one in put.split())
    found = []
    parts = [(0, one) for one in left] + [(1, one) for one in middle] + [(2, one) for one in right]
    numbers = [sum(one[0] == 1 for one in parts[: at + 1]) for at in range(len(parts))]
    optional = [one.endswith("?") and len(one) > 1 for _, one in parts]
    for kept in product(*([True, False] if may else [True] for may in optional)):
        chosen = [
            (part, one.removesuffix("?") if may else one, number)
            for (part, one), may, number, keep in zip(parts, optional, numbers, kept, strict=True)
            if keep
        ]
        first = sum(part == 0 for part, _, _ in chosen)
        last = len(chosen) - sum(part == 2 for part, _, _ in chosen)
        elements = tuple(_element(one, number, at, tables) for at, (_, one, number) in enumerate(chosen))
        anchor = next(at for at, one in enumerate(elements) if one.words)
        found.append(
            Pattern(
                rule, elements, first, last, pieces, before, after, unless, in_clause, unless_with, only_with, anchor
            )
        )
    return found


def _element(text: str, number: int, at: int, tables: Mapping[str, Table]) -> Element:
    if text == "=":
        return Element(same=at - 1, number=number)
    words = _words(text, tables)
    if callable(words):
        return Element(test=words, number=number)
    return Element(words, number=number)


def _listed(text: str, tables: Mapping[str, Table]) -> frozenset[str]:
    """The words of a condition, which is written as an element."""
    words = _words(text, tables) if text else frozenset[str]()
    if callable(words):
        raise TypeError(f"{text} is a test, and no list of words")
    return frozenset(words)


def _words(text: str, tables: Mapping[str, Table]) -> Table:
    """The words that an element names."""
    names = text.split("|")
    if len(names) == 1 and text.startswith("<"):
        return tables[text[1:-1]]
    found = set[str]()
    for name in names:
        table = tables[name[1:-1]] if name.startswith("<") else (name,)
        if callable(table):
            raise TypeError(f"{name} is a test, which stands alone")
        found |= set(table)
    return frozenset(found)
