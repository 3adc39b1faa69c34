"""Misspellings of a word: typing errors and phonetic spellings."""

from __future__ import annotations

from collections.abc import Callable

from training.data.randomness import KeyedRandom
from training.edits.mistakes.words import SOUNDS

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_VOWELS = "aeiou"


def _transposed(word: str, random: KeyedRandom) -> str:
    at = random.below(len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _dropped(word: str, random: KeyedRandom) -> str:
    at = 1 + random.below(len(word) - 1)
    return word[:at] + word[at + 1 :]


def _doubled(word: str, random: KeyedRandom) -> str:
    at = random.below(len(word))
    return word[:at] + word[at] + word[at:]


def _neighbouring_key(word: str, random: KeyedRandom) -> str:
    at = random.below(len(word))
    return word[:at] + _beside(word[at], random) + word[at + 1 :]


def _extra_key(word: str, random: KeyedRandom) -> str:
    at = random.below(len(word))
    return word[: at + 1] + _beside(word[at], random) + word[at + 1 :]


def _wrong_vowel(word: str, random: KeyedRandom) -> str:
    places = [at for at, letter in enumerate(word) if letter in _VOWELS and at]
    if not places:
        return word
    at = random.pick(places)
    return word[:at] + random.pick(_VOWELS) + word[at + 1 :]


def _single(word: str, random: KeyedRandom) -> str:
    """A doubled letter written once."""
    places = [at for at in range(1, len(word)) if word[at] == word[at - 1]]
    if not places:
        return word
    at = random.pick(places)
    return word[:at] + word[at + 1 :]


def _double_consonant(word: str, random: KeyedRandom) -> str:
    places = [
        at
        for at in range(1, len(word) - 1)
        if word[at] in "bcdfglmnprst" and word[at - 1] in _VOWELS and word[at + 1] in _VOWELS + "y"
    ]
    if not places:
        return word
    at = random.pick(places)
    return word[:at] + word[at] + word[at:]


def _by_sound(word: str, random: KeyedRandom) -> str:
    fitting = [(old, new) for old, new in SOUNDS if word.find(old, 1) > 0]
    if not fitting:
        return word
    old, new = random.pick(fitting)
    at = word.find(old, 1)
    return word[:at] + new + word[at + len(old) :]


def _beside(letter: str, random: KeyedRandom) -> str:
    """A letter beside this one on the keyboard."""
    for row in _ROWS:
        at = row.find(letter)
        if at >= 0:
            near = row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
            return near[random.below(len(near))]
    return letter


WAYS: tuple[tuple[int, Callable[[str, KeyedRandom], str]], ...] = (
    (5, _transposed),
    (5, _dropped),
    (2, _doubled),
    (2, _neighbouring_key),
    (1, _extra_key),
    (3, _wrong_vowel),
    (4, _single),
    (3, _double_consonant),
    (7, _by_sound),
)
"""(weight, way to misspell a word in small letters)."""
SHORTEST = 3
"""Shorter words are not misspelt: too little would be left of them."""
_TOTAL = sum(weight for weight, _ in WAYS)


def misspelt(word: str, random: KeyedRandom) -> str:
    """A misspelling of a lower-case word; the word itself if the method drawn cannot be applied to it."""
    if len(word) < SHORTEST:
        return word
    number = random.below(_TOTAL)
    for weight, way in WAYS:
        number -= weight
        if number < 0:
            return way(word, random)
    raise AssertionError("the weights add up")
