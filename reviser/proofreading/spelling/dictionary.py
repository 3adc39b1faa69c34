"""The list of English words, each with a size: the smaller, the more common.

The list is SCOWL's, in British and American spelling (`scripts/build_word_list.py`). It is read when it is first
needed.
"""

from __future__ import annotations

import lzma
from functools import cache, cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHIPPED: Final = Path(__file__).with_name("words.txt.xz")
LARGEST: Final = 70
"""The size of the rarest words in the list."""
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz'"
LONGEST: Final = 20
"""The length of the longest word that is a candidate."""


class SpellingTable(NamedTuple):
    """The words that may be candidates: their letters as numbers, their lengths, and bit masks of their letters."""

    words: list[str]
    letters: NDArray[np.int8]
    lengths: NDArray[np.int8]
    masks: NDArray[np.int32]


class Dictionary:
    """A list of words with their sizes."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self._sizes = sizes

    def size(self, word: str) -> int | None:
        """The size of a word as written in a text, possibly capitalised or with a genitive ending; None if it is
        unknown."""
        plain = word.replace("’", "'")
        bare = plain.removesuffix("'s").removesuffix("'S").removesuffix("'")
        for form in (plain, bare) if bare != plain else (plain,):
            found = self._size_of(form)
            if found is not None:
                return found
        return None

    def knows(self, word: str) -> bool:
        """Whether a word, as written in a text, is in the list."""
        return self.size(word) is not None

    def is_name(self, word: str) -> bool:
        """Whether the list has a word with the capital as written."""
        plain = word.replace("’", "'")
        return plain[:1].isupper() and (
            plain in self._sizes or plain.removesuffix("'s").removesuffix("'") in self._sizes
        )

    def _size_of(self, word: str) -> int | None:
        found = self._sizes.get(word)
        if found is None and not word.islower():
            found = self._sizes.get(word.lower())
            if found is None and word.isupper():
                found = self._sizes.get(word.capitalize())
        return found

    @cached_property
    def spelled(self) -> SpellingTable:
        """The lower-case words, and names without their capital, in a table for comparing spellings."""
        known = set(LETTERS)
        words = [word for word in self._sizes if len(word) <= LONGEST and known.issuperset(word.lower())]
        padded = np.array([word.lower() for word in words], dtype=f"S{LONGEST}")
        codes = padded.view(np.uint8).reshape(len(words), LONGEST).astype(np.int16)
        letters = np.where(codes == ord("'"), len(LETTERS) - 1, codes - ord("a"))
        letters = np.where(codes == 0, -1, letters).astype(np.int8)
        bits = np.where(letters < 0, 0, np.int32(1) << np.maximum(letters, 0).astype(np.int32))
        return SpellingTable(
            words,
            letters,
            (letters >= 0).sum(axis=1).astype(np.int8),
            np.bitwise_or.reduce(bits, axis=1).astype(np.int32),
        )


@cache
def dictionary(path: Path = SHIPPED) -> Dictionary:
    """The bundled list, or another file in the same format."""
    sizes = {}
    for line in lzma.decompress(path.read_bytes()).decode().splitlines():
        size, *words = line.split(" ")
        sizes.update(dict.fromkeys(words, int(size)))
    return Dictionary(sizes)
