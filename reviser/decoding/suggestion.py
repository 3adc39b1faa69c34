"""Suggestions as values: their words and probabilities, and whether one is worth showing; needs no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

CONFIDENCE: Final = 0.5
"""The least probability of a whole suggestion that was not asked for: see docs/results/suggestions.md."""

_LONGEST_BEGUN: Final = 40
_BEGUN = re.compile(rf"[^\S\r\n]?[\w'’-]{{0,{_LONGEST_BEGUN}}}\Z")
_WORD = re.compile(r"\w+(?:['’-]+\w+)*")
_CLOSING = frozenset(".,;:!?…")
_SENTENCE_END = re.compile(r"""[.!?…]["'”’»)\]]*\s*\Z""")
_MARK_AT_END = re.compile(r"""[.,;:!?…]["'”’»)\]]*\s*\Z""")
# Letters and digits that a single word must save: the rest of a word, and a word by itself.
_WORTH_IN_WORD: Final = 3
_WORTH_ALONE: Final = 5
_WORTH_ASKING: Final = 2


def begun_word(text: str) -> str:
    """The end of `text` that the model writes again: the last word, finished or not, and the space before it."""
    found = _BEGUN.search(text)
    return found.group() if found else ""


@dataclass(frozen=True)
class Piece:
    """A word of a suggestion with the space or marks before it, or closing marks; with the probability of all up to its
    end."""

    text: str
    chance: float


@dataclass(frozen=True)
class SuggestedText:
    """A suggested continuation of the typed text."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def sure(self, confidence: float) -> SuggestedText:
        """The longest beginning whose probability is at least `confidence`."""
        kept = 0
        for number, piece in enumerate(self.pieces, 1):
            if piece.chance >= confidence:
                kept = number
        return SuggestedText(self.pieces[:kept])


def is_worth_showing(text: str, after_letter: bool, *, invoked: bool = False) -> bool:
    """Whether a suggestion saves enough typing: two words, or some letters of one; two letters if it was `invoked`.

    `after_letter` says whether it follows a letter, so that it may be the rest of a word.
    """
    in_word = after_letter and text[:1].isalnum()
    least = _WORTH_IN_WORD if in_word else _WORTH_ALONE
    if invoked:
        least = _WORTH_ASKING
    return len(_WORD.findall(text)) > 1 or sum(map(str.isalnum, text)) >= least


def ends_too_soon(text: str, behind: str) -> bool:
    """Whether a suggestion ends its sentence or adds a mark though `behind` goes on with it in the same line."""
    following = behind.lstrip()[:1]
    if following.islower() or following.isdigit():
        return _SENTENCE_END.search(text) is not None
    # A mark that stands there already needs no other before it.
    return following in _CLOSING and _MARK_AT_END.search(text) is not None
