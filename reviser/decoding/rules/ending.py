"""The ending rule: a run ends with a sentence or line, near its limit as soon as it can, and at once if the text is
finished."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer, decode, first_bytes
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rules.finished import is_finished, runs_on
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.rules.spacing import ends_sentence
from reviser.model.scoring import Scores

NEAR: Final = 0.75
"""The share of the allowed actions after which a run ends with the next sentence."""
NEAR_IF_SHORT: Final = 0.5
"""The same for a run of fewer than `SHORT` actions, which has few sentences."""
SHORT: Final = 64
LEAST: Final = 16
"""A run of fewer actions than this is cut off anywhere, since it is meant to be short."""
OVER: Final = 0.2
"""The probability of Stop from which a text counts as finished; for unfinished texts it is less than half of that."""
SOONER: Final = 3.0
"""The bonus in nats for the end of a sentence near the limit, where it is `PLAUSIBLE`."""
PLAUSIBLE: Final = 5.0
"""The most nats by which the end of a sentence may be less likely than the likeliest token to get that bonus."""
# Tokens that are looked at to see whether a sentence ends.
_TAIL: Final = 12
# Characters before a run that are looked at with it.
_LINE: Final = 80
_EMPTY_ITEM = re.compile(r"\n[ \t]*(?:(?:\d{1,3}[.)]|[-*+•#>|]|#{2,6}|\[[ xX]?\]?)(?:[ \t]+|$))+$")
# A mark that something follows, a word that goes on, or a space.
_UNFINISHED = re.compile(
    r"""[,;:(\[{“‘–—]$
    | \b(?:an?|the|and|or|but|of|to|with|for|from|by|my|your|our|their)$
    | \s$""",
    re.VERBOSE,
)


class _Finished(Enum):
    """Whether a text may end where it does, and why not."""

    YES = auto()
    NO = auto()
    EMPTY_ITEM = auto()
    """The text ends with the mark of a list item."""


def _finished(tail: str) -> _Finished:
    if _EMPTY_ITEM.search(tail):
        return _Finished.EMPTY_ITEM
    return _Finished.NO if _UNFINISHED.search(tail) else _Finished.YES


class EndingRule(ScoreProcessor):
    """A rule for where a run stops: not in an unfinished text or an empty list item, and at the first end of a sentence
    or line once most of its actions are used up. Only before its first action may it stop because the text `before` it
    is finished.

    The filling of a gap may end anywhere, since text follows it. `seeded` are the ids of the history before the run,
    `limit` the actions that it may take.
    """

    def __init__(
        self, vocabulary: Vocabulary, tokenizer: Tokenizer, seeded: int, limit: int, before: str | None = None
    ) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = tokenizer
        self._seeded = seeded
        self._end = seeded + limit
        near = NEAR if limit >= SHORT else NEAR_IF_SHORT
        self._first = seeded + int(near * limit) if limit >= LEAST else self._end
        self._before = before
        self._after_words: dict[int, _Finished] = {}

    @cached_property
    def _breaks(self) -> NDArray[np.bool_]:
        """Which tokens begin with a line break."""
        breaks: NDArray[np.bool_] = self._starts == ord("\n")
        return breaks

    @cached_property
    def _ends_of_sentences(self) -> NDArray[np.intp]:
        """The tokens that end a sentence."""
        marks = np.flatnonzero(np.isin(self._starts, list(b".!?")))
        texts = ((token, self._tokenizer.token_bytes(int(token))) for token in marks)
        return np.array([token for token, text in texts if not text.strip(b".!?\"')") and text.count(b".") < 2])

    @cached_property
    def _starts(self) -> NDArray[np.uint8]:
        return np.frombuffer(first_bytes(self._tokenizer), dtype=np.uint8)

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        if "stop" not in self._vocabulary.kinds:
            return
        if len(history) >= self._first:
            if self._ends(canvas):
                self._end_now(scores)
                return
            self._hasten(scores, len(history))
        if canvas.suffix:
            return
        stop = self._vocabulary.stop_id
        if canvas.high == canvas.low:
            if self._before is None or len(history) != self._seeded:
                return
            if is_finished(self._before) or _chance(scores, stop) >= OVER:
                self._end_now(scores)
                return
            scores[stop] = -np.inf
            finished = _finished(f"\n{self._before[-_LINE:]}")
        else:
            finished = self._finished(canvas)
            if finished is not _Finished.YES:
                scores[stop] = -np.inf
        if finished is _Finished.EMPTY_ITEM and canvas.cursor == canvas.high:
            # Else lists of marks without items would be written in place of the stop.
            scores[: self._tokenizer.size][self._breaks] = -np.inf

    def instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        """Stop in place of a line break where the run is near its limit or has finished the text; else None."""
        if id >= self._tokenizer.size or not self._breaks[id] or canvas.suffix or "stop" not in self._vocabulary.kinds:
            return None
        if canvas.cursor != canvas.high or canvas.high == canvas.low:
            return None
        over = len(history) >= self._first
        if not over and self._before is not None:
            written = decode(self._tokenizer, canvas.between(canvas.low, canvas.high))
            over = is_finished(self._before + written) or runs_on(written)
        return (self._vocabulary.stop_id,) if over and self._finished(canvas) is _Finished.YES else None

    def _end_now(self, scores: Scores) -> None:
        scores[:] = -np.inf
        scores[self._vocabulary.stop_id] = 0.0

    def _hasten(self, scores: Scores, taken: int) -> None:
        """Raise the scores of tokens that end the sentence, where these are plausible."""
        ends = self._ends_of_sentences
        share = (taken - self._first) / max(self._end - self._first, 1)
        found = scores[ends]
        found[found >= scores.max() - PLAUSIBLE] += SOONER * share
        scores[ends] = found

    def _finished(self, canvas: Canvas) -> _Finished:
        """Whether the written text may end where it does."""
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
        """Whether the cursor is at the end of the written text, and a sentence ends there."""
        if canvas.cursor != canvas.high or canvas.cursor == canvas.low:
            return False
        return ends_sentence(self._tail(canvas))

    def _tail(self, canvas: Canvas) -> str:
        """The end of the written text, with the line before it if that text is short."""
        first = canvas.high - _TAIL
        last = canvas.between(max(canvas.low, first), canvas.high)
        text = b"".join(map(self._tokenizer.token_bytes, last)).decode("utf-8", "ignore")
        return text if first > canvas.low or not self._before else self._before[-_LINE:] + text


def _chance(scores: Scores, id: int) -> float:
    """The probability of an id by scores."""
    highest = float(scores.max())
    return float(np.exp(scores[id] - highest) / np.exp(scores - highest).sum())
