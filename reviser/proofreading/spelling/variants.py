"""Spelling variants that are both right: British and American ones, and a few others."""

from __future__ import annotations

import re
from typing import Final

from reviser.proofreading import english

# Endings in British spelling, and what they are in American.
_ENDINGS: Final = [
    (re.compile(r"(?<=[a-z]{2})is(e|ed|es|er|ers|ing|ation|ations|able)\Z"), r"iz\1"),
    (re.compile(r"(?<=[a-z])lys(e|ed|es|er|ers|ing)\Z"), r"lyz\1"),
    (re.compile(r"(?<=[a-z]{2})our(|s|ed|ing|ful|less|able|ably|ite|ites|al|ally|er|ers|hood|ist)\Z"), r"or\1"),
    (re.compile(r"(?<=[a-z][bt])re(|s|d)\Z"), r"er\1"),
    (
        re.compile(
            # Where the last syllable is stressed, as in "controlled", all double the letter.
            r"\A((?:un|re|mis)?(?:bevel|cancel|channel|chisel|counsel|dial|duel|equal|fuel|funnel|grovel|initial|"
            r"jewel|kernel|label|level|libel|marshal|marvel|model|panel|parcel|pedal|pencil|quarrel|ravel|rival|"
            r"shovel|signal|snivel|swivel|total|towel|travel|tunnel))l(ed|ing|er|ers|or|ors)\Z"
        ),
        r"\1\2",
    ),
    (re.compile(r"(?<=def|off)ence(|s|less)\Z|(?<=pret)ence(|s)\Z"), r"ense\1\2"),
]
_INFLECTED = re.compile(r"(?:ed|es|ers?|ing|ations?|able)\Z")


def are_variants(old: str, new: str) -> bool:
    """Whether two different words are variants of one word."""
    one, other = old.casefold(), new.casefold()
    return one != other and bool(_spellings(one) & _spellings(other))


def _spellings(word: str) -> set[str]:
    """A word and its American spellings; for a plural also those of its singular, with an s."""
    if word in english.SPELLED_ONE_WAY or _INFLECTED.sub("e", word) in english.SPELLED_ONE_WAY:
        return {word}
    found = {word, english.VARIANTS.get(word, word)}
    if word.endswith("s") and word[:-1] in english.VARIANTS:
        found.add(english.VARIANTS[word[:-1]] + "s")
    for pattern, replacement in _ENDINGS:
        found.add(pattern.sub(replacement, word))
    return found
