"""Word, clause and sentence boundaries, found from the text of single tokens.

Every token id has a class, a few bits that say how its text begins and ends; two neighbours' classes
say how strong the boundary between them is. A text's structure is then two table lookups per token.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reviser.core.tokenizer import Tokenizer

Classes = NDArray[np.uint8]

WORD_START, SPACE_AFTER, CLAUSE_END, SENTENCE_END = 1, 2, 4, 8
WORD, CLAUSE, SENTENCE = 1, 2, 3

_SENTENCE_MARKS = tuple(".!?…。！？")
_CLAUSE_MARKS = tuple(",;:—–，；：、")
_CLOSING = "\"'”’»)]}*_`」』）"


def strength(before: int, after: int) -> int:
    """How strong the boundary is between tokens of these classes: 0 (inside a word) to SENTENCE.

    A full stop ends a sentence only where a new word starts, so 3.14 and example.org stay whole.
    """
    if not (after & WORD_START or before & SPACE_AFTER):
        return 0
    if before & SENTENCE_END:
        return SENTENCE
    return CLAUSE if before & CLAUSE_END else WORD


def boundary_classes(tokenizer: Tokenizer) -> Classes:
    """The class of each id of a tokenizer."""
    found = (token_class(tokenizer.token_bytes(id)) for id in range(tokenizer.size))
    return np.fromiter(found, dtype=np.uint8, count=tokenizer.size)


def token_class(token: bytes) -> int:
    """The class of a token with these bytes; pieces of characters belong inside words."""
    try:
        text = token.decode("utf-8")
    except UnicodeDecodeError:
        return 0
    if not text:
        return 0
    bits = 0
    if text[0].isspace() or _stands_alone(text[0]):
        bits |= WORD_START
    if text[-1].isspace():
        bits |= SPACE_AFTER
    said = text.rstrip().rstrip(_CLOSING)
    if "\n" in text or said.endswith(_SENTENCE_MARKS):
        bits |= SENTENCE_END
    elif said.endswith(_CLAUSE_MARKS):
        bits |= CLAUSE_END
    return bits


def _stands_alone(character: str) -> bool:
    """Whether a character is from a script that writes no spaces: kana, Chinese characters."""
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff"
