"""The end of a run: not within a sentence or behind the mark of a list, and near its limit with the next sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer, first_bytes
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.rules.spacing import ends_sentence
from reviser.model.scoring import Scores

NEAR: Final = 0.75
"""Share of the allowed actions after which a run ends with the next sentence."""
LEAST: Final = 64
"""A run of fewer actions than this is cut off where it is: it is meant to be short."""
# Tokens that are looked at to see whether a sentence ends.
_TAIL: Final = 12
_EMPTY_ITEM = re.compile(r"\n[ \t]*(?:\d{1,3}[.)]|[-*+•])[ \t]*$")
# A mark that something follows, or a word that goes on.
_UNFINISHED = re.compile(
    r"""[,;:(\[{“‘–—]\s*$
    | \b(?:an?|the|and|or|but|of|to|with|for|from|by|my|your|our|their)\s*$""",
    re.VERBOSE,
)


class _Finished(Enum):
    """Whether a text may end where it does."""

    YES = auto()
    NO = auto()
    EMPTY_ITEM = auto()
    """It ends with the mark of an item of a list."""


def _finished(tail: str) -> _Finished:
    if _EMPTY_ITEM.search(tail):
        return _Finished.EMPTY_ITEM
    return _Finished.NO if _UNFINISHED.search(tail) else _Finished.YES


class Ending(ScoreProcessor):
    """A run does not stop in a text that is plainly not finished, leaves no item of a list empty, and stops at the
    first end of a sentence once most of its actions are used up.

    What a gap is filled with may end anywhere: the text goes on behind it. `seeded` are the ids of the history
    before the run, `limit` the actions that it may take.
    """

    def __init__(self, vocabulary: Vocabulary, tokenizer: Tokenizer, seeded: int, limit: int) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = tokenizer
        self._first = seeded + int(NEAR * limit)
        self._after_words: dict[int, _Finished] = {}

    @cached_property
    def _breaks(self) -> NDArray[np.bool_]:
        """Which tokens begin with a line break."""
        starts = np.frombuffer(first_bytes(self._tokenizer), dtype=np.uint8)
        breaks: NDArray[np.bool_] = starts == ord("\n")
        return breaks

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        stop = self._vocabulary.stop_id
        if "stop" not in self._vocabulary.kinds:
            return
        if len(history) >= self._first and self._ends(canvas):
            scores[:] = -np.inf
            scores[stop] = 0.0
            return
        if canvas.suffix or canvas.high == canvas.low:
            return
        finished = self._finished(canvas)
        if finished is not _Finished.YES:
            scores[stop] = -np.inf
        if finished is _Finished.EMPTY_ITEM and canvas.cursor == canvas.high:
            # Else lists of marks without items would be written in place of the stop.
            scores[: self._tokenizer.size][self._breaks] = -np.inf

    def _finished(self, canvas: Canvas) -> _Finished:
        """Whether what was written may end where it does."""
        (last,) = canvas.between(canvas.high - 1, canvas.high)
        found = self._after_words.get(last)
        if found is None:
            text = self._tokenizer.token_bytes(last).decode("utf-8", "ignore")
            # A whole word says it by itself, whatever stands before it.
            if text[:1] == " " and text[1:].isalpha():
                found = self._after_words[last] = _finished(text)
            else:
                found = _finished(self._tail(canvas))
        return found

    def _ends(self, canvas: Canvas) -> bool:
        """Whether the cursor is at the end of what was written, and a sentence ends there."""
        if canvas.cursor != canvas.high or canvas.cursor == canvas.low:
            return False
        return ends_sentence(self._tail(canvas))

    def _tail(self, canvas: Canvas) -> str:
        """The end of what was written."""
        last = canvas.between(max(canvas.low, canvas.high - _TAIL), canvas.high)
        return b"".join(map(self._tokenizer.token_bytes, last)).decode("utf-8", "ignore")
