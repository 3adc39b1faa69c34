"""Repetition: a small model that says something twice may go on saying it, so long repeats are not written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy, Scores

LONGEST_REPEAT: Final = 8
"""So many tokens in a row are not written twice, unless told otherwise."""
PHRASE: Final = 4
"""So many words in a row, each a token, are not written twice by one run."""


class Unrepeated:
    """A policy that does not write `size` tokens in a row that stand elsewhere in the text already."""

    def __init__(self, policy: Policy, size: int = LONGEST_REPEAT) -> None:
        self._policy = policy
        self._size = size

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        if scores is None or canvas.cursor < self._size - 1:
            return scores
        repeated = [*completions(canvas.tokens, canvas.cursor, self._size)]
        if repeated:
            scores = scores.copy()
            scores[repeated] = -np.inf
        return scores


class UnrepeatedPhrases:
    """A policy that does not write a phrase twice in one run: `PHRASE` tokens in a row, each of them a word.

    What stands around the run may be repeated, and so may marks, numbers and lines, as lists and tables have them.
    """

    def __init__(self, policy: Policy, tokenizer: Tokenizer) -> None:
        self._policy = policy
        self._words = word_tokens(tokenizer)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        cursor = canvas.cursor - canvas.low
        if scores is None or cursor < PHRASE - 1:
            return scores
        own = canvas.between(canvas.low, canvas.high)
        if not all(self._is_word(token) for token in own[cursor - PHRASE + 1 : cursor]):
            return scores
        repeated = [one for one in completions(own, cursor, PHRASE) if self._is_word(one)]
        if repeated:
            scores = scores.copy()
            scores[repeated] = -np.inf
        return scores

    def _is_word(self, token: int) -> bool:
        return token < len(self._words) and bool(self._words[token])


_words: WeakKeyDictionary[Tokenizer, NDArray[np.bool_]] = WeakKeyDictionary()


def word_tokens(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """Which tokens are a space and letters."""
    if tokenizer not in _words:
        shown = (
            tokenizer.token_bytes(token).decode("utf-8", "ignore")
            if token not in tokenizer.markers
            else ""
            for token in range(tokenizer.size)
        )
        found = [text.startswith(" ") and text[1:].isalpha() for text in shown]
        _words[tokenizer] = np.array(found, dtype=np.bool_)
    return _words[tokenizer]


def completions(tokens: Sequence[int], cursor: int, size: int) -> Iterator[int]:
    """The tokens that would complete a repeat of so many tokens if they were written at the cursor."""
    tokens = list(tokens)
    tail = tokens[cursor - size + 1 : cursor]
    at = -1
    while True:
        try:
            at = tokens.index(tail[-1], at + 1)
        except ValueError:
            return
        first = at - len(tail) + 1
        # What stands at the cursor itself repeats nothing.
        if (
            first >= 0
            and at + 1 != cursor
            and at + 1 < len(tokens)
            and tokens[first : at + 1] == tail
        ):
            yield tokens[at + 1]
