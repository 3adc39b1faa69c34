"""The initial sound of a word, which decides between "a" and "an"."""

from __future__ import annotations

import re
from typing import Final

_VOWEL_SOUND: Final = re.compile(
    r"[aeio]|u(?!ni|na(?:ry|nim)|s[aeiu]|t[eio]|r[aeiuo]|b|ga|k|v|fo)|hour|honest|honou?r|heir"
)
_CONSONANT_SOUND: Final = re.compile(
    r"[bcdgjkpqtvwyz]|[nml][aeiouy]|r[aeiouyh]|f[aeioulry]|s[aeiouychklmnpqtw]"
    r"|h(?!our|onest|onou?r|eir|erb|istor|otel|abit|ero|yster|alluc|arm|ilar|orri|umble|undred|omage|ors|ypo|ydr|ypn)[aeiouy]"
    r"|uni(?!n|m|d|g)|una(?:ry|nim)|us[aeu]|uti|uto|eu|one$|once$"
)
_CONSONANT_START: Final = re.compile(r"one|once|oneself|ones|ouija|ewes?|eu.*")
# They say nothing about the article before them, which may be a letter or a slip for another word.
_NO_NAME: Final = frozenset(
    re.findall(
        r"\w+",
        """and are all any every each either other our into also after about above under until around against
    the this that these those them his her their for from with but such they you she was were who
    which what when where than then there not some been will would can could had has have does did may
    its out off over upon amid among onto unto
    your always also""",
    )
)
_PEOPLES: Final = frozenset(
    re.findall(
        r"\w+",
        """American English Italian Indian African Asian Australian Austrian Irish Egyptian Israeli Iranian
    Iraqi Indonesian European German French Spanish Japanese Chinese Russian Polish Mexican
    Brazilian Canadian British Korean Turkish Swedish Greek Portuguese Dutch""",
    )
)


def vowel_sound(word: str) -> bool:
    """Whether a word certainly starts with a vowel sound: "hour", not "user"."""
    small = word.lower()
    if not _is_named(word) or _CONSONANT_START.fullmatch(small):
        return False
    return bool(_VOWEL_SOUND.match(small))


def consonant_sound(word: str) -> bool:
    """Whether a word certainly starts with a consonant sound: "user", not "hour"."""
    small = word.lower()
    return _is_named(word) and bool(_CONSONANT_START.fullmatch(small) or _CONSONANT_SOUND.match(small))


def _is_named(word: str) -> bool:
    """Whether something is an ordinary word, not an abbreviation spoken letter by letter."""
    if re.search(r"[^suoi]s$", word):
        # It may be a verb: "if a equals b".
        return False
    if not word.isascii() or not word.isalpha() or len(word) < 3 or word in _NO_NAME:
        return False
    return (word.islower() and bool(re.search(r"[aeiouy]", word))) or word in _PEOPLES
