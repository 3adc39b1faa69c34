"""Slips and names: how likely an unknown word is a slip of a word, and not a name that only its sentence tells.

A logistic model of the confidence in a correction, of how far the correction is from the word, and of how the word
stands in its sentence: a bare word behind "with" or before "library" is more often the name of a program than a
misspelt noun. The weights were fitted on names of packages, products, people and places in sentences of our own, and on
misspellings in documentation.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from reviser.proofreading.spelling.candidates import distance_of


class SlipWeights(NamedTuple):
    """The weights of the evidence that an unknown word is a slip.

    They are those of the log-odds of the confidence, the logarithm of the word's length, the distance for each letter,
    whether the word stands like a name, whether it has an ending of English, and whether its first letter changes.
    """

    constant: float
    odds: float
    length: float
    distance: float
    stands_as_name: float
    ending: float
    first: float


FITTED: Final = SlipWeights(-0.33, 1.23, 0.71, -8.92, -5.0, 1.56, -2.1)

_BEFORE_NAME = re.compile(
    r"\b(?:with|using|via|like|unlike|called|named|use|uses|used|from|by|for|about|of|as|to|in|and|or|install|clone|run"
    r"|on|through|than|into|against|requires?|supports?|fix|build|try|see|need|prefer|choose|open)\s+\Z",
    re.IGNORECASE,
)
_BEHIND_NAME = re.compile(
    r"\s*(?:[.,;:)]|\Z|(?:and|or|is|was|has|can|does|for|to|from|in|on|with|library|package|module|framework|plugin|tool"
    r"|server|client|issues?|project|app|command|repo|extension|files?|format)\b)|-[a-z]"
)
# What is said of names alone.
_CALLED = re.compile(r"\s+(?:library|package|module|framework|plugin|crate|gem)\b")
# At the start of a sentence: a name of two words, or a subject in the singular without an article.
_OPENS = re.compile(r"(?:\A|[.!?:]\s|\n)\s*[\"'“‘(*_]*\Z")
_BEHIND_SUBJECT = re.compile(r"\s+(?:[A-Z]|(?:is|was|has|had|can|does|will|wrote|gave|[a-z]{2,}(?<!s)s)\b)")
_ENDING = re.compile(
    r"(?:(?<![aious])s|ed|ing|ly|ions?|ment|ness|able|ible|ity|al|ous|ive|ful|er|or|ance|ence|ant|ent|ary|ize|ise|ate)\Z"
)
_ARTICLE_BEFORE = re.compile(r"\b(?:the|an?|this|that|my|your|his|her|its|our|their)\s+\Z", re.IGNORECASE)
_ADJECTIVE = re.compile(r"[a-z]+(?:ed|ing|ous|ful|able|ible|ive|ical)")
_NOUN_BEHIND = re.compile(r"\s+[a-z]+\b")
# Characters beside a word that hold what tells a name.
_NEAR: Final = 24
_SUREST: Final = 1e-4


def slip_confidence(confidence: float, old: str, new: str, before: str, behind: str, *, in_note: bool = False) -> float:
    """The confidence that `old`, an unknown word between two texts, is a slip for `new`: at most the one given.

    A note, such as an item of a list, may begin with the name of what it is about, in small letters.
    """
    if _ADJECTIVE.fullmatch(old) and _ARTICLE_BEFORE.search(before[-_NEAR:]) and _NOUN_BEHIND.match(behind):
        # An adjective between an article and a noun is no name.
        return confidence
    sure = min(max(confidence, _SUREST), 1 - _SUREST)
    word, meant = old.casefold(), new.casefold()
    row = (
        1.0,
        math.log(sure / (1 - sure)),
        math.log(len(word)),
        distance_of(word, meant) / len(word),
        float(stands_as_name(old, before, behind) or (in_note and old.islower() and not before.strip())),
        float(bool(_ENDING.search(word))),
        float(word[:1] != meant[:1]),
    )
    odds = sum(weight * value for weight, value in zip(FITTED, row, strict=True))
    return min(confidence, 1 / (1 + math.exp(-odds)))


def stands_as_name(word: str, before: str, behind: str) -> bool:
    """Whether a word between two texts stands like a name: before "library", or without an article that a noun has."""
    before, behind = before[-_NEAR:], behind[:_NEAR]
    if word[:1].isupper() and _OPENS.search(before):
        return bool(_BEHIND_SUBJECT.match(behind))
    return bool(_CALLED.match(behind) or (_BEFORE_NAME.search(before) and _BEHIND_NAME.match(behind)))
