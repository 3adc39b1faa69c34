"""Repetition: a small model that has repeated something tends to repeat it again, so long repeats are not written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy
from reviser.decoding.sampler import Scores

LONGEST_REPEAT: Final = 8
"""So many tokens in a row are not written twice, unless told otherwise."""
SECOND: Final = 1.0
"""By how many nats a word becomes less likely that would be the second of a phrase in the run's own text."""
THIRD: Final = 3.0
"""The same for the third word, for each time that the three stand there already."""
DOUBTFUL: Final = 4
"""The word that would be this one of such a phrase is not written, unless the model is `SURE` of it and it stands there once."""
SURE: Final = 0.4
"""The chance of a word from which there is no other good way to go on, as after "by the end"."""
PHRASE: Final = 6
"""So many words in a row are not written twice by one run."""


class Unrepeated:
    """A policy that does not write `size` tokens in a row that stand elsewhere in the text already.

    A word that was begun may still be ended: the repeat then stops at the next one.
    """

    def __init__(
        self, policy: Policy, size: int = LONGEST_REPEAT, tokenizer: Tokenizer | None = None
    ) -> None:
        self._policy = policy
        self._size = size
        self._pieces = frozenset[int]() if tokenizer is None else _tokens(tokenizer).pieces

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        if scores is None or canvas.cursor < self._size - 1:
            return scores
        found = completions(canvas.tokens, canvas.cursor, self._size)
        repeated = [token for token in found if token not in self._pieces]
        if repeated:
            scores = scores.copy()
            scores[repeated] = -np.inf
        return scores


class UnrepeatedPhrases:
    """A policy that is kept from writing phrases twice in one run: words in a row, each of them a token.

    The longer a repeated phrase would become, the less likely its next word is made. What stands around the run may be
    repeated, and so may marks, numbers and lines, as lists and tables have them.
    """

    def __init__(self, policy: Policy, tokenizer: Tokenizer) -> None:
        self._policy = policy
        self._words = _tokens(tokenizer).words

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        if scores is None:
            return scores
        own = canvas.between(canvas.low, canvas.high)
        repeats = self._repeats(own, canvas.cursor - canvas.low)
        if not repeats:
            return scores
        made = scores.copy()
        long = any(max(sizes) >= DOUBTFUL for sizes in repeats.values())
        chances = _chances(scores) if long else None
        for token, sizes in repeats.items():
            if max(sizes) < DOUBTFUL:
                times = sum(size >= DOUBTFUL - 1 for size in sizes)
                made[token] -= THIRD * times if times else SECOND
            elif chances is not None:
                once = sum(size >= DOUBTFUL for size in sizes) == 1
                if max(sizes) >= PHRASE or not once or chances[token] < SURE:
                    made[token] = -np.inf
        return made

    def _repeats(self, own: Sequence[int], cursor: int) -> dict[int, list[int]]:
        """The words that would go on a phrase that stands in the run's own text, with the number of its words then, for each time."""
        found: dict[int, list[int]] = {}
        if not cursor or own[cursor - 1] not in self._words:
            return found
        for at, token in enumerate(own[:-1]):
            word = own[at + 1]
            # What stands at the cursor itself repeats nothing.
            if token == own[cursor - 1] and at + 1 != cursor and word in self._words:
                size = 1
                while (
                    size < PHRASE - 1
                    and size <= min(at, cursor - 1)
                    and own[at - size] == own[cursor - 1 - size]
                    and own[at - size] in self._words
                ):
                    size += 1
                found.setdefault(word, []).append(size + 1)
        return found


def _chances(scores: Scores) -> Scores:
    weights = np.exp(scores - scores.max())
    chances: Scores = weights / weights.sum()
    return chances


@dataclass(frozen=True)
class _Tokens:
    """Tokens that are a whole word (a space and letters, or an ending such as "'s"), and those that may go on a word."""

    words: frozenset[int]
    pieces: frozenset[int]


_known: WeakKeyDictionary[Tokenizer, _Tokens] = WeakKeyDictionary()
_WORD = re.compile(r" [^\W\d_]+|['’][^\W\d_]+")
_PIECE = re.compile(r"[^\W\d_]+")


def _tokens(tokenizer: Tokenizer) -> _Tokens:
    if tokenizer not in _known:
        shown = {
            token: tokenizer.token_bytes(token).decode("utf-8", "ignore")
            for token in range(tokenizer.size)
            if token not in tokenizer.markers
        }
        words, pieces = (
            frozenset(token for token, text in shown.items() if pattern.fullmatch(text))
            for pattern in (_WORD, _PIECE)
        )
        _known[tokenizer] = _Tokens(words, pieces)
    return _known[tokenizer]


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
