"""Intended spellings that look like mistakes: dialect in speech, names derived from words, repeated words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from reviser.proofreading import english
from reviser.proofreading.changes import distance_between
from reviser.proofreading.language.speech import speech_in
from reviser.proofreading.suggestion import Kind, Suggestion

SLIP_IN_SPEECH: Final = 0.3
"""The share of a word's letters up to which a respelling in speech corrects a slip; beyond it the word is dialect."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Seldom typed by accident, but beside the key of the letter before.
_RARE: Final = {"j": "huikmn", "k": "jiolm", "q": "wa", "v": "cfgb", "w": "qase", "x": "zsdc", "z": "asx"}
# Letters of the word before, at the least.
_NAMED = 4
_WORDS_BEFORE = re.compile(r"([\w'’]+)\s+\Z")
_WORDS_BEHIND = re.compile(r"\s*([\w'’]+)")
# A clause that is a subject: "what it is", "that that is".
_CLAUSE = re.compile(r"\b(?:what|all|whatever|who|that that)\b[^,.;:!?]*\Z", re.IGNORECASE)


def is_dialect(suggestion: Suggestion, text: str) -> bool:
    """Whether a word in speech is replaced by one too different to correct a slip: "didnae", "ken"."""
    old, new = suggestion.old.casefold(), suggestion.new.casefold()
    if suggestion.kind not in (Kind.SPELLING, Kind.OTHER) or not (_WORD.fullmatch(old) and _WORD.fullmatch(new)):
        return False
    distance = distance_between(old, new)
    if distance <= 1 or distance <= SLIP_IN_SPEECH * max(len(old), len(new)):
        return False
    return any(start <= suggestion.start < end for start, end in speech_in(text))


def is_name_of_word(suggestion: Suggestion, known: Callable[[str], bool]) -> bool:
    """Whether a rare letter is removed that was appended to a word on purpose: "healthz"."""
    old = suggestion.old
    if suggestion.kind is not Kind.SPELLING or not old.islower() or len(old) <= _NAMED or old[-1] not in _RARE:
        return False
    return old[-2] not in (old[-1], *_RARE[old[-1]]) and known(old[:-1])


def is_meant_twice(suggestion: Suggestion, text: str) -> bool:
    """Whether one of two equal words is removed although both are needed: "that that is", "what it is is"."""
    taken = suggestion.old.strip().casefold()
    if suggestion.new.strip() or not taken.isalpha():
        return False
    before, behind = text[: suggestion.start], text[suggestion.end :]
    last, following = _WORDS_BEFORE.search(f"{before} "), _WORDS_BEHIND.match(behind)
    after_it = last is not None and last[1].casefold() == taken
    if not after_it and (following is None or following[1].casefold() != taken):
        return False
    if taken == "that":
        third = following if after_it else _WORDS_BEHIND.match(behind[following.end() :]) if following else None
        return third is not None and third[1].casefold() in english.AUXILIARIES
    return taken in english.AUXILIARIES and bool(_CLAUSE.search(before))


def is_half_of_word(suggestion: Suggestion, text: str) -> bool:
    """Whether one of two words is removed that together are a misspelt preposition: "with in"."""
    taken = suggestion.old.strip().casefold()
    if suggestion.new.strip() or not taken.isalpha():
        return False
    last = _WORDS_BEFORE.search(f"{text[: suggestion.start]} ")
    following = _WORDS_BEHIND.match(text[suggestion.end :])
    whole = [f"{last[1]}{taken}"] if last else []
    whole += [f"{taken}{following[1]}"] if following else []
    return any(word.casefold() in english.PREPOSITIONS for word in whole)
