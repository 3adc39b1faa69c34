"""Passages of a paragraph in another language than English.

What speaks for a language is added up, word by word, as logarithms of how much likelier a word is in English than
in the other language: by the pairs of its letters (`letters`), by the small words of both (`small_words`), and by
the list of English words. Where that leaves a doubt, unknown words that are near to English ones count as misspelt.
Mistakes are not counted: badly spelt English has the letters and endings of English.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reviser.proofreading import english
from reviser.proofreading.language.letters import letter_pairs
from reviser.proofreading.language.small_words import ENGLISH, FOREIGN
from reviser.proofreading.spelling.candidates import SHORTEST, candidates
from reviser.proofreading.spelling.dictionary import LONGEST, Dictionary
from reviser.prose import Paragraph, Span, sentences

ENGLISH_AT_FIRST: Final = 4.0
"""The prior log-odds of English: most proofread texts are in English."""
SMALL_WORD: Final = 3.0
"""The evidence of a function word for its language."""
KNOWN: Final = 1.5
"""The evidence of a listed English word for English."""
ACCENT: Final = 1.5
"""The evidence of an unknown word with letters that English does not have, against English."""
OTHER_SCRIPT: Final = 4.0
"""The evidence of a word in another script, against English."""
MOST_OF_WORD: Final = 4.0
"""The bound of the evidence from the letters of one word."""
MOST_OF_REST: Final = 4.0
"""The bound of the evidence that the rest of the paragraph gives for a sentence."""
STRETCH: Final = 15.0
"""The evidence needed to take a part of an English sentence for another language."""

# How much of what the rest of a paragraph says counts.
_OF_REST: Final = 0.3
# Words of a stretch, at the least.
_LEAST_WORDS: Final = 4
# Sums that are further from nothing than this are beyond doubt.
_DOUBT: Final = 12.0
# What is at this distance from an English word speaks for neither side; what is nearer speaks for English, by so much
# a unit.
_NEUTRAL: Final = 1.3
_A_UNIT: Final = 5.0
_MOST_FOR: Final = 2.5
_MOST_AGAINST: Final = 3.0
# Words of so few letters are near to English ones in any language.
_SHORT: Final = 4
_OF_SHORT: Final = 0.25
# Unknown words of a sentence that are compared with English ones, at the most.
_MOST_COMPARED: Final = 16

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

Leads = NDArray[np.float32]
"""Log-likelihood ratios: English over each other language."""


class _WordEvidence(NamedTuple):
    """A word from `start` to `end` of a paragraph, and its evidence."""

    start: int
    end: int
    leads: Leads
    unknown: str
    """The word if it may be misspelt, else empty."""


@lru_cache(maxsize=1024)
def foreign_in(paragraph: Paragraph, known: Dictionary) -> tuple[Span, ...]:
    """The foreign sentences of a paragraph, and the foreign parts of English ones."""
    read = [(span, [*_said(paragraph, span, known)]) for span in sentences(paragraph)]
    sums = [_sum(words) for _, words in read]
    whole = np.sum(sums, axis=0) if sums else _sum([])
    found: list[Span] = []
    for (span, words), own in zip(read, sums, strict=True):
        if not words or not any(_is_strange(one) for one in words):
            continue
        rest = np.clip((whole - own) * _OF_REST, -MOST_OF_REST, MOST_OF_REST)
        if _is_foreign(words, rest + ENGLISH_AT_FIRST, known):
            found.append(span)
        else:
            found += _stretches(words, known)
    return tuple(found)


def _is_strange(one: _WordEvidence) -> bool:
    return bool((one.leads < 0).any())


def _sum(words: Sequence[_WordEvidence]) -> Leads:
    none = np.zeros(len(letter_pairs().languages), dtype=np.float32)
    total: Leads = np.sum([none, *(one.leads for one in words)], axis=0)
    return total


def _is_foreign(words: Sequence[_WordEvidence], beside: Leads, known: Dictionary) -> bool:
    """Whether words are in another language; `beside` is further evidence."""
    total = _sum(words) + beside
    least = float(total.min())
    if abs(least) < _DOUBT:
        least += _nearness(words, known)
    return least < 0


def _nearness(words: Sequence[_WordEvidence], known: Dictionary) -> float:
    """The evidence from unknown words: for English if they are near to English words, against it if they are far."""
    unknown = [one.unknown for one in words if one.unknown][:_MOST_COMPARED]
    return sum(_nearness_of(word, known) for word in unknown)


@lru_cache(maxsize=4096)
def _nearness_of(word: str, known: Dictionary) -> float:
    nearest = min((one.rank for one in candidates(word, known)), default=math.inf)
    said = min(max(_A_UNIT * (_NEUTRAL - nearest), -_MOST_AGAINST), _MOST_FOR)
    return said * _OF_SHORT if len(word) <= _SHORT else said


def _stretches(words: Sequence[_WordEvidence], known: Dictionary) -> Iterator[Span]:
    """The part of an English sentence with the most evidence for another language, if that is clear."""
    against = -np.stack([one.leads for one in words])
    low, high, most = 0, 0, 0.0
    for said in against.T:
        total, first = 0.0, 0
        for number, value in enumerate(said.tolist()):
            if total <= 0:
                total, first = 0.0, number
            total += value
            if total > most:
                low, high, most = first, number + 1, total
    inside = words[low:high]
    if len(inside) >= _LEAST_WORDS and most - _nearness(inside, known) >= STRETCH:
        yield Span(inside[0].start, inside[-1].end)


def _said(paragraph: Paragraph, span: Span, known: Dictionary) -> Iterator[_WordEvidence]:
    for number, found in enumerate(_WORD.finditer(paragraph.text, *span)):
        word = found[0]
        if paragraph.touches_protected(*found.span()) or (len(word) == 1 and word.isascii()):
            continue
        named = number > 0 and word[0].isupper()
        small = word.lower().replace("’", "'")
        size = known.size(word)
        unknown = size is None and not named and SHORTEST <= len(word) <= LONGEST
        leads = _leads(small, size is not None, named)
        yield _WordEvidence(*found.span(), leads, small if unknown and small.isascii() else "")


@lru_cache(maxsize=1 << 14)
def _leads(word: str, is_known: bool, named: bool) -> Leads:
    """The evidence of a lower-case word."""
    elided, _, rest = word.rpartition("'")
    foreign = _foreign_small_words()
    against = foreign.get(word)
    if against is None and elided:
        against = foreign.get(f"{elided}'")
        word = rest if against is not None else word
    if against is None:
        against = np.zeros(len(letter_pairs().languages), dtype=np.float32)
    if word in ENGLISH or english.CONTRACTION.search(word):
        return SMALL_WORD * (1 - against)
    speaks = KNOWN * (1 - against) if is_known else np.zeros_like(against)
    if named:
        # The letters of a name may be those of any language.
        return speaks
    letters = letter_pairs().leads_of(word.replace("'", ""))
    if letters is None:
        return np.full_like(against, -OTHER_SCRIPT)
    accent = ACCENT if not is_known and not word.isascii() else 0.0
    lead = np.clip(letters, -MOST_OF_WORD, MOST_OF_WORD) + speaks - SMALL_WORD * against - accent
    result: Leads = lead.astype(np.float32)
    return result


@cache
def _foreign_small_words() -> dict[str, Leads]:
    """The function words of other languages, each with a 1 for the languages that have it."""
    languages = letter_pairs().languages
    found: dict[str, Leads] = {}
    for number, name in enumerate(languages):
        for word in FOREIGN[name]:
            found.setdefault(word, np.zeros(len(languages), dtype=np.float32))[number] = 1
    return found
