"""Letter pairs: how much likelier the letters of a word are in English than in other languages."""

from __future__ import annotations

import lzma
import unicodedata
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHIPPED: Final = Path(__file__).with_name("letter_pairs.xz")
LETTERS: Final = "_abcdefghijklmnopqrstuvwxyz"
"""The letters that pairs consist of; the first stands for the edge of a word."""

_QUARTER: Final = 0.25
# Letters that are more than a plain one with an accent.
_PLAIN = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
_NUMBERS: Final = {letter: number for number, letter in enumerate(LETTERS)}


class LetterPairs(NamedTuple):
    """The other languages, and for each the log-likelihood ratio of each pair of letters, English over that
    language."""

    languages: tuple[str, ...]
    leads: NDArray[np.float32]

    def leads_of(self, word: str) -> NDArray[np.float32] | None:
        """The log-likelihood ratio of a word, English over each other language; None if it has letters of another
        script."""
        letters = f"_{folded(word)}_"
        if any(letter not in _NUMBERS for letter in letters):
            return None
        pairs = [*pairwise(_NUMBERS[letter] for letter in letters)]
        total: NDArray[np.float32] = self.leads[
            :, np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
        ].sum(axis=1)
        return total


def folded(word: str) -> str:
    """A word in small letters without accents."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.lower().translate(_PLAIN))
    return "".join(part for part in parts if not unicodedata.combining(part))


@cache
def letter_pairs(path: Path = SHIPPED) -> LetterPairs:
    """The bundled table, or one of the same form; see `scripts/build_letter_pairs.py`."""
    head, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    _, *others = head.decode().split()
    size = len(LETTERS)
    table = np.frombuffer(data, dtype=np.uint8).reshape(len(others) + 1, size, size)
    costs = table.astype(np.float32) * np.float32(_QUARTER)
    return LetterPairs(tuple(others), costs[1:] - costs[0])
