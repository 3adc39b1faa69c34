"""The word rule: where a text ends within a word, a run completes it as the model would write it from its start."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.rules.spacing import glued_tokens
from reviser.model.scoring import Scores

# Letters that open a line or follow a space, a bracket, a quotation mark or a hyphen.
_BEGUN: Final = re.compile(r"(?:(?<=\S) |(?<=[\n(\[\"“-])|\A)[A-Za-zÀ-ɏ]{2,24}\Z")

# The chance of a token from which it is looked at: few tokens of a vocabulary have it.
_LEAST: Final = 1e-5


class WordCompletion(ScoreProcessor):
    """A rule for a text that ends within a word: the run begins with the rest of that word.

    A tokenizer cuts "deci" differently from "decision", so a model has never seen the tokens of half a word before the
    rest. So the model is asked at the start of the word: if it finds a longer word likelier there than the one that is
    written, the run begins with the missing letters. `read` gives the scores of a history, and `before` is the text
    before the run.
    """

    def __init__(
        self, tokenizer: Tokenizer, read: Callable[[Sequence[int], Canvas], Scores | None], before: str, seeded: int
    ) -> None:
        self._tokenizer = tokenizer
        self._read = read
        found = _BEGUN.search(before)
        self._word = found.group().encode() if found else b""
        self._seeded = seeded
        self._rest: Sequence[int] | None = None

    def change(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> None:
        taken = len(history) - self._seeded
        if not self._word or canvas.cursor != canvas.high or canvas.high - canvas.low != taken:
            return
        if self._rest is None:
            self._rest = self._missing(history, canvas)
        if taken < len(self._rest):
            scores[:] = -np.inf
            scores[self._rest[taken]] = 0.0
        elif self._rest and taken == len(self._rest):
            # The word is whole now, though its tokens are not those that the model would have written.
            glued = glued_tokens(self._tokenizer)
            scores[: len(glued)][glued] = -np.inf

    def _missing(self, history: Sequence[int], canvas: Canvas) -> list[int]:
        """The tokens that complete the word; none if it is complete."""
        pieces = self._pieces(canvas)
        if not pieces:
            return []
        best, most, whole = b"", 0.0, 0.0
        before, left = 1.0, self._word
        longer = 0.0
        for place, piece in enumerate(pieces):
            scores = self._read(history[: len(history) - len(pieces) + place], canvas)
            if scores is None:
                return []
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            for token in np.flatnonzero(chances[: self._tokenizer.size] >= _LEAST).tolist():
                text = self._tokenizer.token_bytes(token)
                if not text.startswith(left):
                    continue
                chance, rest = before * float(chances[token]), text[len(left) :]
                if not rest:
                    whole += chance
                elif rest.decode("utf-8", "ignore").isalpha():
                    longer += chance
                    if chance > most:
                        best, most = rest, chance
            before *= float(chances[piece])
            left = left[len(self._tokenizer.token_bytes(piece)) :]
        return self._tokenizer.encode(best.decode("utf-8", "ignore")) if longer > whole else []

    def _pieces(self, canvas: Canvas) -> tuple[int, ...]:
        """The last tokens before the run, which together are the word; none if no tokens are."""
        size, first = 0, canvas.low
        while size < len(self._word) and first > 0:
            first -= 1
            size += len(self._tokenizer.token_bytes(*canvas.between(first, first + 1)))
        return canvas.between(first, canvas.low) if size == len(self._word) else ()
