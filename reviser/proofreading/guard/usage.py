"""A document's own usage: the words that it capitalises, and the spellings that it repeats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from reviser.proofreading import english
from reviser.proofreading.suggestion import Kind
from reviser.prose import Paragraph, Role, sentences

OFTEN: Final = 3
"""The number of uses from which on a spelling counts as intended."""

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
# What follows a mark may be the start of a sentence, of a quotation, of a line.
_WITHIN = re.compile(r"[\w,]\s\Z")
_NEXT = re.compile(r"\s([\w'’]+)")
# Characters before a word that hold the two words there.
_NEAR: Final = 40
_A: Final = frozenset(("a", "an"))
_NO_NOUN = (
    english.ARTICLES
    | english.PREPOSITIONS
    | english.PRONOUNS
    | english.AUXILIARIES
    | english.MODALS
    | english.CONJUNCTIONS
)


@dataclass(frozen=True)
class Usage:
    """The counts of each spelling and of each capitalised word within a sentence."""

    spellings: Counter[str] = field(default_factory=Counter)
    capitals: Counter[str] = field(default_factory=Counter)

    def forbids(self, kind: Kind, old: str, new: str, text: str, start: int) -> bool:
        """Whether the document's usage shows that `old`, at `start` of `text`, is intended."""
        if kind is Kind.CASE and lowers(old, new):
            return self.capitals[old] > 1
        return (
            self.spellings[old.casefold()] > 1
            and singles(kind, old, new)
            and not asks_for_one(text, start, start + len(old))
        )

    def has_often(self, kind: Kind, old: str) -> bool:
        """Whether a change respells a word that the document repeats."""
        if kind not in (Kind.SPELLING, Kind.WORD_FORM, Kind.OTHER, Kind.JOINED_OR_SPLIT):
            return False
        return self.spellings[old.casefold()] >= OFTEN


def usage_in(paragraphs: Iterable[Paragraph]) -> Usage:
    """The usage of a document's paragraphs. Headings and texts in capitals do not count for capitals."""
    usage = Usage()
    for paragraph in paragraphs:
        usage.spellings.update(word.casefold() for word in _WORD.findall(paragraph.text))
        if paragraph.role is Role.HEADING or paragraph.text.isupper():
            continue
        for start, end in sentences(paragraph):
            for found in _WORD.finditer(paragraph.text, start, end):
                if found[0][0].isupper() and _WITHIN.search(
                    paragraph.text, max(start, found.start() - 2), found.start()
                ):
                    usage.capitals[found[0]] += 1
    return usage


def singles(kind: Kind, old: str, new: str) -> bool:
    """Whether a change turns a countable plural into a singular."""
    one = new.casefold()
    return (
        kind is Kind.NOUN_NUMBER
        and old.casefold() in (f"{one}s", f"{one}es", f"{one[:-1]}ies")
        and one not in english.UNCOUNTABLE
    )


def makes_one(kind: Kind, old: str, new: str) -> bool | None:
    """Whether a change makes something singular (True) or plural (False); None if neither.

    "things" to "thing", "say" to "says" and "a" put in say one; the other way round they say several.
    """
    before, after = old.strip().casefold(), new.strip().casefold()
    if kind is Kind.ARTICLE:
        if after in _A:
            return None if before in _A else True
        return False if before in _A and not after else None
    if kind is Kind.NOUN_NUMBER:
        if singles(kind, old, new):
            return True
        return False if singles(kind, new, old) else None
    if kind is Kind.AGREEMENT:
        one, other = after.endswith("s"), before.endswith("s")
        return None if one is other else one
    return None


def asks_for_one(text: str, start: int, end: int) -> bool:
    """Whether the words beside a noun require the singular: "a", "each", "is", or a noun that it modifies."""
    before = re.findall(r"[\w'’]+", text[max(start - _NEAR, 0) : start])
    following = _NEXT.match(text, end)
    word = following[1].casefold() if following else ""
    if word in english.BEHIND_ONE or any(one.casefold() in english.BEFORE_ONE for one in before[-2:]):
        return True
    return word.isalpha() and word not in _NO_NOUN and not word.endswith(("ly", "ed", "ing"))


def lowers(old: str, new: str) -> bool:
    """Whether a change removes a word's capital."""
    return old[:1].isupper() and new == old[:1].lower() + old[1:]
