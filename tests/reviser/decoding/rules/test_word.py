"""A text that ends within a word goes on with the rest of that word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from reviser.core.actions import Insert
from reviser.core.canvas import Canvas
from reviser.decoding.rollout import seed
from reviser.decoding.rules.word import WordCompletion
from reviser.model.scoring import Scores
from tests.reviser.decoding.rules.test_closing import TOKENIZER, VOCABULARY, token


class Knowing:
    """A model that knows one text and its tokens, and takes all others for equally likely."""

    def __init__(self, said: Sequence[str]) -> None:
        self._ids = [VOCABULARY.start_id, *map(token, said)]

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        scores = np.zeros(VOCABULARY.size, dtype=np.float32)
        at = len(history)
        if self._ids[:at] == list(history) and at < len(self._ids):
            scores[self._ids[at]] = 20
        return scores


def written(before: str, model: Knowing) -> str:
    """What the rule makes a run begin with."""
    canvas, history = seed(VOCABULARY, TOKENIZER.encode(before))
    rule = WordCompletion(TOKENIZER, model.scores, before, len(history))
    made = b""
    while True:
        scores = np.zeros(VOCABULARY.size, dtype=np.float32)
        rule.change(scores, history, canvas)
        (likely,) = np.nonzero(scores == 0)
        if len(likely) > 1:
            # No more letters behind a word that was ended.
            assert not made or token("a") not in likely
            return made.decode()
        canvas.apply(Insert(int(likely[0])))
        history.append(int(likely[0]))
        made += TOKENIZER.token_bytes(int(likely[0]))


@pytest.mark.parametrize(
    ("before", "said", "rest"),
    [
        ("a pyth", ["a", " ", "python"], "on"),
        ("(equ", ["(", "equation"], "ation"),
        ("pyth", ["python"], "on"),
        ("The", ["The"], ""),
        ("Th", ["The"], "e"),
        ("Th ", ["The"], ""),
        ("Th.", ["The"], ""),
        ("so the", ["s", "o", " the"], ""),
    ],
)
def test_a_word_is_ended_as_the_model_would_have_written_it(before: str, said: list[str], rest: str) -> None:
    assert written(before, Knowing(said)) == rest


def test_a_word_that_is_one_already_stays() -> None:
    assert written("so the", Knowing([])) == ""
