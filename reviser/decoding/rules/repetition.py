"""Repetition: a small model that has repeated something tends to repeat it again, so long repeats are not written."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum, IntEnum
from itertools import pairwise
from typing import Final

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy
from reviser.decoding.sampler import Scores

LONGEST_REPEAT: Final = 8
"""So many tokens in a row are not written twice, unless told otherwise."""
SECOND: Final = 1.0
"""By how many nats a word becomes less likely that would be the second of a phrase in the run's own text: so many if the two stand
there once, and as many more each time that they stand there twice as often."""
THIRD: Final = 4.0
"""The same for the third word, for each time that the three stand there already."""
DOUBTFUL: Final = 4
"""The word that would be this one of such a phrase is not written, unless the model is `SURE` of it and it stands there once."""
SURE: Final = 0.5
"""The chance of a word from which there is no other good way to go on, as after "by the end"."""
PHRASE: Final = 6
"""So many words in a row are not written twice by one run."""
OPENING_LINES: Final = 1.5
"""By how many nats a word becomes less likely that would open another line of the run: so many if one line opens so, twice as many if three do, and on with the logarithm."""
OPENING_SENTENCES: Final = 0.5
"""The same for sentences."""


class Unrepeated:
    """A policy that does not write `size` tokens in a row that stand elsewhere in the text already.

    A word that was begun may still be ended: the repeat then stops at the next one.
    """

    def __init__(
        self, policy: Policy, size: int = LONGEST_REPEAT, tokenizer: Tokenizer | None = None
    ) -> None:
        self._policy = policy
        self._size = size
        self._kinds = None if tokenizer is None else _Kinds(tokenizer)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        if scores is None or canvas.cursor < self._size - 1:
            return scores
        found = completions(canvas.tokens, canvas.cursor, self._size)
        kinds = self._kinds
        repeated = [token for token in found if kinds is None or kinds[token] is not _Token.PIECE]
        if repeated:
            scores = scores.copy()
            scores[repeated] = -np.inf
        return scores


class UnrepeatedPhrases:
    """A policy that is kept from writing phrases twice in one run: words in a row.

    The longer a repeated phrase would become, and the more often it stands there, the less likely its next word is made: the first token of it. Marks and line breaks
    between words do not matter, and may be repeated themselves; a number ends a phrase. What stands around the run may be repeated.
    A word that opens a line or sentence of the run becomes less likely at the start of another one.
    """

    def __init__(self, policy: Policy, tokenizer: Tokenizer) -> None:
        self._policy = policy
        self._kinds = _Kinds(tokenizer)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        scores = self._policy.scores(history, canvas)
        if scores is None:
            return scores
        own = canvas.between(canvas.low, canvas.high)
        repeats = self._repeats(own, canvas.cursor - canvas.low)
        openings = self._openings(own, canvas.cursor - canvas.low)
        if not repeats and not openings:
            return scores
        made = scores.copy()
        for token, nats in openings.items():
            made[token] -= nats
        long = any(max(sizes) >= DOUBTFUL for sizes in repeats.values())
        chances = _chances(scores) if long else None
        for token, sizes in repeats.items():
            if max(sizes) < DOUBTFUL:
                thrice = sum(size >= DOUBTFUL - 1 for size in sizes)
                made[token] -= max(THIRD * thrice, SECOND * (1 + math.log2(len(sizes))))
            elif chances is not None:
                once = sum(size >= DOUBTFUL for size in sizes) == 1
                if max(sizes) >= PHRASE or not once or chances[token] < SURE:
                    made[token] = -np.inf
        return made

    def _repeats(self, own: Sequence[int], cursor: int) -> dict[int, list[int]]:
        """The words that would go on a phrase that stands in the run's own text, with the number of its words then, for each time."""
        found: dict[int, list[int]] = {}
        said = self._in_a_row(own[:cursor])
        if not said or said[-1] == _END:
            return found
        # What stands at the cursor itself repeats nothing.
        all_words = [*said, _END, *self._in_a_row(own[cursor:])]
        for at, (one, word) in enumerate(pairwise(all_words)):
            if one == said[-1] and word != _END:
                size = 1
                while (
                    size < PHRASE - 1
                    and size <= min(at, len(said) - 1)
                    and all_words[at - size] == said[-1 - size] != _END
                ):
                    size += 1
                found.setdefault(word[0], []).append(size + 1)
        return found

    def _openings(self, own: Sequence[int], cursor: int) -> dict[int, float]:
        """At the start of a line or a sentence: by how much less likely those words become that open others in the run's own text."""
        if not cursor or self._kinds[own[cursor - 1]] is not _Token.MARK:
            return {}
        lines: Counter[int] = Counter()
        sentences: Counter[int] = Counter()
        opens = here = _Opening.NOTHING
        for at, token in enumerate(own):
            if at == cursor:
                here = opens
            kind = self._kinds[token]
            if kind is _Token.MARK:
                opens = max(opens, self._kinds.opening(token))
                continue
            # What stands at the cursor itself would go on what is written there.
            if kind is not _Token.OTHER and opens and at != cursor:
                sentences[token] += 1
                lines[token] += opens is _Opening.LINE
            opens = _Opening.NOTHING
        if cursor == len(own):
            here = opens
        if not here:
            return {}
        found = {token: OPENING_SENTENCES * math.log2(1 + n) for token, n in sentences.items()}
        if here is _Opening.LINE:
            # What opens a line opens a sentence, too.
            of_lines = {token: OPENING_LINES * math.log2(1 + n) for token, n in lines.items()}
            found |= {token: max(nats, found[token]) for token, nats in of_lines.items()}
        return found

    def _in_a_row(self, tokens: Sequence[int]) -> list[_Word]:
        """The words among some tokens, with `_END` where a phrase ends."""
        found: list[_Word] = []
        before = _Token.OTHER
        for token in tokens:
            kind = self._kinds[token]
            if kind is _Token.WORD or (kind is _Token.PIECE and before is _Token.MARK):
                found.append((token,))
            elif kind is _Token.PIECE and found and found[-1] != _END:
                found[-1] = (*found[-1], token)
            elif kind is not _Token.MARK and (not found or found[-1] != _END):
                found.append(_END)
            before = kind
        return found


_Word = tuple[int, ...]
"""Its tokens."""
_END: Final[_Word] = ()


def _chances(scores: Scores) -> Scores:
    weights = np.exp(scores - scores.max())
    chances: Scores = weights / weights.sum()
    return chances


class _Token(Enum):
    """What a token is to a phrase."""

    WORD = re.compile(r" [^\W\d_]+|['’][^\W\d_]+")
    """A space and letters, or an ending such as "'s"."""
    PIECE = re.compile(r"[^\W\d_]+")
    """Letters: the start of a line, or more of a word."""
    MARK = re.compile(r"[\W_]+")
    OTHER = re.compile("")


class _Opening(IntEnum):
    """What a word opens that follows a mark."""

    NOTHING = 0
    SENTENCE = 1
    LINE = 2


class _Kinds:
    """What the tokens of a tokenizer are; found when it is asked, since a text has few of them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._found = dict.fromkeys(tokenizer.markers, _Token.OTHER)
        self._openings: dict[int, _Opening] = {}

    def __getitem__(self, token: int) -> _Token:
        found = self._found.get(token)
        if found is None:
            text = self._tokenizer.token_bytes(token).decode("utf-8", "ignore")
            matching = (kind for kind in _Token if kind.value.fullmatch(text))
            found = self._found[token] = next(matching, _Token.OTHER)
            if found is _Token.MARK:
                self._openings[token] = _opening(text)
        return found

    def opening(self, token: int) -> _Opening:
        """What begins behind a mark that was met."""
        return self._openings[token]


def _opening(mark: str) -> _Opening:
    if "\n" in mark:
        return _Opening.LINE
    return _Opening.SENTENCE if any(end in mark for end in ".!?…") else _Opening.NOTHING


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
