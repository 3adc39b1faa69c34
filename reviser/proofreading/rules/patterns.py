"""Patterns of rules: the ways of making a mistake, parsed for matching.

A way is written as words and what they become: "could|should [of] been|gone -> have". The part in brackets is
replaced, the rest must stand beside it. Elements, with spaces between:

- `a|b`: one of these words; `<name>`: a word of a class; `<name>|b`: both;
- `<name>` of a class that says what its words become: a word of it, which `$` may put there changed;
- `=`: the same word as the one before;
- `^` and `$`: the start and the end of a sentence; `,` and other marks: themselves; `#`: a number of up to three
  digits; `##`: a year; `@`: a word with a capital;
- `!a|b` at the start or the end: what stands there is none of these;
- a final `?`: the element may be missing.

Behind the arrow, `$1` is the first word in brackets, changed if its class says so. Nothing behind the arrow takes
the words out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

from reviser.core.errors import ReviserError
from reviser.proofreading.rules.classes import Classes, WordClass, class_named
from reviser.proofreading.suggestion import Kind, Level

SURE: Final = 0.95
"""The default confidence of a rule."""

_MARKED = re.compile(r"\{([^|{}]*)\|([^{}]*)\}")
_PUT = re.compile(r"\$[1-9]")


@dataclass(frozen=True, slots=True)
class Rule:
    """A mistake, in all `ways` that it is made, and example sentences.

    In the examples of `mends`, "{old|new}" marks the correction. The sentences in `leaves` are near misses, which must
    stay. A rule that is not for `speech` is not applied to direct speech, which may be in dialect.
    """

    name: str
    ways: tuple[str, ...]
    mends: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    why: str = ""
    """A sentence that explains the mistake to its author."""
    kind: Kind | None = None
    """The kind of the mistake; by default it follows from the words."""
    confidence: float = SURE
    level: Level = Level.WARNING
    speech: bool = True
    unless: str = ""
    """Words that exclude the rule if one is anywhere before the mistake in its sentence; written as an element."""
    unless_in_clause: str = ""
    """The same for words before the mistake in its clause: after the last mark, "and", "or", "but" or "because"."""
    unless_with: str = ""
    """The same for words anywhere in its sentence."""
    only_with: str = ""
    """Words of which one must be in its sentence, written as an element."""

    def pairs(self) -> list[tuple[str, str]]:
        """The sentences of `mends`, before and after the correction."""
        return [(_MARKED.sub(r"\1", one), _MARKED.sub(r"\2", one)) for one in self.mends]


WordList = frozenset[str] | Mapping[str, str]


class Element(NamedTuple):
    """One element of a pattern: one of `words` (which may have replacements), a word that meets `test`, or the same
    word as at position `same`.

    `number` counts the elements in brackets.
    """

    words: WordList = frozenset()
    test: Callable[[str], bool] | None = None
    same: int | None = None
    number: int = 0


class Conditions(NamedTuple):
    """Conditions on other words of the sentence."""

    unless: frozenset[str]
    unless_in_clause: frozenset[str]
    unless_with: frozenset[str]
    only_with: frozenset[str]


class Pattern(NamedTuple):
    """One way of a rule, without optional elements; the words from `first` up to `last` are replaced by `put`."""

    rule: Rule
    elements: tuple[Element, ...]
    first: int
    last: int
    put: tuple[str | int, ...]
    before: frozenset[str]
    behind: frozenset[str]
    conditions: Conditions
    anchor: int
    """The index of the first element with a list of words; matching starts there."""
    beside: tuple[tuple[int, WordList], ...]
    """The other elements with a list of words, by their distance from the anchor."""


class PatternReader:
    """Parses the patterns of rules; the words of each element are looked up once."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._read: dict[str, WordClass] = {}

    def patterns(self, rule: Rule) -> list[Pattern]:
        """All patterns of a rule; raises `ReviserError` for what cannot be read."""
        try:
            return self._patterns(rule)
        except ReviserError as error:
            raise ReviserError(f"the rule “{rule.name}” cannot be read: {error}") from None

    def _patterns(self, rule: Rule) -> list[Pattern]:
        listed = map(self._listed, (rule.unless, rule.unless_in_clause, rule.unless_with, rule.only_with))
        conditions = Conditions(*listed)
        return [pattern for way in rule.ways for pattern in self._of_way(rule, way, conditions)]

    def _of_way(self, rule: Rule, way: str, conditions: Conditions) -> list[Pattern]:
        left, middle, right, put = _parts(way)
        before = self._listed(left.pop(0)[1:]) if left and left[0].startswith("!") else frozenset[str]()
        behind = self._listed(right.pop()[1:]) if right and right[-1].startswith("!") else frozenset[str]()
        every = [*left, *middle, *right]
        start, end = len(left), len(left) + len(middle)
        if any(isinstance(one, int) and one > len(middle) for one in put):
            raise ReviserError(f"“{way}” puts in more words than it has in brackets")
        optional = [one.endswith("?") and len(one) > 1 for one in every]
        found = []
        for kept in product(*([True, False] if may else [True] for may in optional)):
            chosen = [place for place, keep in enumerate(kept) if keep]
            elements = tuple(
                self._element(every[place][:-1] if optional[place] else every[place], at, place + 1 - start)
                for at, place in enumerate(chosen)
            )
            named = [at for at, one in enumerate(elements) if one.words]
            if not named:
                raise ReviserError(f"“{way}” names no word that must be there")
            beside = tuple((at - named[0], elements[at].words) for at in named[1:])
            first, last = (sum(place < bound for place in chosen) for bound in (start, end))
            found.append(Pattern(rule, elements, first, last, put, before, behind, conditions, named[0], beside))
        return found

    def _element(self, text: str, at: int, number: int) -> Element:
        if text == "=":
            return Element(same=at - 1, number=number)
        words = self._words(text)
        return Element(test=words, number=number) if callable(words) else Element(words, number=number)

    def _listed(self, text: str) -> frozenset[str]:
        """The words of a condition, written like an element."""
        words = self._words(text) if text else frozenset[str]()
        if callable(words):
            raise ReviserError(f"{text} is no list of words")
        return frozenset(words)

    def _words(self, text: str) -> WordClass:
        """The words that an element names."""
        if text not in self._read:
            self._read[text] = self._named(text)
        return self._read[text]

    def _named(self, text: str) -> WordClass:
        names = text.split("|")
        if len(names) == 1 and text.startswith("<"):
            return class_named(text[1:-1], self._classes)
        return frozenset[str]().union(*(self._listed(name) if name.startswith("<") else (name,) for name in names))


def _parts(way: str) -> tuple[list[str], list[str], list[str], tuple[str | int, ...]]:
    """The elements of a way before, in and after its brackets, and the replacement."""
    shown, arrow, put = (part.strip() for part in way.partition("->"))
    start, opened, rest = shown.partition("[")
    inside, closed, end = rest.partition("]")
    if not (arrow and opened and closed and inside.split()):
        raise ReviserError(f"“{way}” does not say which [words] -> become others")
    pieces = tuple(int(one[1:]) if _PUT.fullmatch(one) else one for one in put.split())
    return start.split(), inside.split(), end.split(), pieces
