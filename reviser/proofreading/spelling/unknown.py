"""Unknown words: words of a paragraph that are unlisted or rare, and may be misspellings."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reviser.proofreading.spelling.candidates import SHORTEST
from reviser.proofreading.spelling.dictionary import LARGEST, LONGEST, Dictionary
from reviser.proofreading.spelling.foreign import foreign_in
from reviser.proofreading.spelling.terms import Terms
from reviser.prose import Paragraph, Role, sentences

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SMALL = re.compile(r"[a-z]+(?:['’][a-z]+)?|[A-Z][a-z]+(?:['’][a-z]+)?")
# Beside these a word is a part of something else: of an address, a name of a file, an identifier, a compound.
_BOUND_BEFORE = frozenset("_/\\@#.:-&=$%+~<>{|^0123456789'’")
_BOUND_BEHIND = frozenset("_/\\@#-&=$%+~<>{|^0123456789")
_ENDED = re.compile(r"[.!?][\"'”’)]*\Z")
_COMMON: Final = 35
# They lack an apostrophe, which rules put in, and are no misspelt "today".
_DAYS: Final = frozenset(("todays", "tonights", "tomorrows", "yesterdays"))
# Words that make a sentence, at the least.
_SENTENCE: Final = 3


class UnknownWord(NamedTuple):
    """A word from `start` to `end` of a paragraph's text; `opens` if it starts the paragraph without a capital."""

    start: int
    end: int
    text: str
    opens: bool = False


def unknown_words(paragraph: Paragraph, known: Dictionary, terms: Terms, *, plain: bool = False) -> list[UnknownWord]:
    """The unknown words that may be misspelt: no names, no terms, nothing protected, nothing in a foreign passage.

    In a `plain` text also first words without a capital: in other formats a paragraph may go on from code or a formula.
    """
    text = paragraph.text
    if text.isupper() or not text:
        return []
    opening = plain and _opening(paragraph, known)
    strange = [
        found for found in _WORD.finditer(text) if is_strange(found[0], known) or (opening and not found.start())
    ]
    if not strange:
        return []
    left = [*terms.spans(text), *foreign_in(paragraph, known)]
    found = []
    for start, end in sentences(paragraph):
        inside = [one for one in strange if start <= one.start() and one.end() <= end]
        for one in inside:
            first = not _WORD.search(text, start, one.start())
            if (
                _is_plain(text, one, first)
                and not paragraph.touches_protected(one.start(), one.end())
                and not any(a < one.end() and one.start() < b for a, b in left)
            ):
                found.append(UnknownWord(*one.span(), one[0], opening and not one.start()))
    return found


def _opening(paragraph: Paragraph, known: Dictionary) -> bool:
    """Whether a paragraph of sentences starts without a capital, and not with a name."""
    text = paragraph.text
    found = _WORD.match(text)
    if paragraph.role is not Role.BODY or not found or not found[0].islower():
        return False
    if not _ENDED.search(text) or len(text.split()) < _SENTENCE:
        return False
    size = known.size(found[0])
    return size is None or size <= _COMMON


def is_strange(word: str, known: Dictionary) -> bool:
    """Whether a word is unlisted, so rare that it may stand for another, or "i", which is seldom intended."""
    if len(word) < SHORTEST:
        return word == "i"
    if word.casefold() in _DAYS:
        return False
    size = known.size(word)
    return size is None or (size >= LARGEST and word.islower())


def _is_plain(text: str, found: re.Match[str], first: bool) -> bool:
    """Whether a word is an ordinary one, judged by its letters and by the characters beside it."""
    word = found[0]
    if len(word) > LONGEST or not _SMALL.fullmatch(word) or (word[0].isupper() and not first):
        return False
    before, behind = text[: found.start()][-1:], text[found.end() :]
    if word == "i":
        return (before + behind[:1]).strip(" ,") == ""
    if before in _BOUND_BEFORE and before:
        return False
    if behind[:1] in _BOUND_BEHIND and behind:
        return False
    # A mark without a space behind it is within a name or an address.
    return not (behind[:1] in ("'", "’", ".", ":", "(") and behind[1:2].isalnum())
