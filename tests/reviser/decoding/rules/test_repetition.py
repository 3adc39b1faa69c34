"""Long repeats are not written, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.canvas import Canvas
from reviser.decoding.rollout import Rollout, Sampler, Scores, seed
from reviser.decoding.rules.repetition import (
    PHRASE,
    Unrepeated,
    UnrepeatedPhrases,
    completions,
)
from tests.toys import VOCABULARY, ToyTokenizer


class Even:
    """Finds every id as likely as any other, but for one that it likes best."""

    vocabulary = VOCABULARY

    def __init__(self, favourites: Sequence[int]) -> None:
        self._favourites = favourites

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        scores = np.zeros(VOCABULARY.size, dtype=np.float32)
        scores[self._favourites[canvas.length % len(self._favourites)]] = 9.0
        return scores


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(2, 5), st.data())
def test_completions_are_what_would_repeat(
    tokens: list[int], size: int, data: st.DataObject
) -> None:
    cursor = data.draw(st.integers(0, len(tokens)))
    if cursor < size - 1:
        return
    found = set(completions(tokens, cursor, size))
    tail = tokens[cursor - size + 1 : cursor]
    windows = {
        tuple(tokens[at : at + size])
        for at in range(len(tokens) - size + 1)
        if at + size - 1 != cursor
    }
    assert found == {token for token in range(4) if (*tail, token) in windows}


def test_a_loop_is_left() -> None:
    for size, favourites in ((4, [1, 2, 3]), (6, [5]), (8, [1, 2, 3, 4, 5])):
        canvas, history = seed(VOCABULARY, [])
        policy = Unrepeated(Even(favourites), size)
        run = Rollout(policy, canvas, history, Sampler.greedy(), max_actions=60)
        list(run)
        tokens = canvas.tokens
        windows = [tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)]
        assert len(windows) == len(set(windows)) > 10


def test_scores_of_a_policy_stay_as_they_were() -> None:
    canvas, history = seed(VOCABULARY, [1, 2, 3, 1, 2])
    policy = Even([7])
    kept = policy.scores(history, canvas)
    made = Unrepeated(policy, 3).scores(history, canvas)
    assert made is not None
    assert np.flatnonzero(~np.isfinite(made)).tolist() == [3]
    assert np.isfinite(kept).all()
    short, empty = seed(VOCABULARY, [1])
    assert Unrepeated(policy, 3).scores(empty, short) is not None


def test_a_run_writes_no_phrase_twice_but_may_repeat_what_it_was_given() -> None:
    tokenizer = ToyTokenizer()
    said = tokenizer.encode(" the cat sat on")
    assert len(said) == PHRASE
    policy = UnrepeatedPhrases(Even(said), tokenizer)
    canvas, history = seed(VOCABULARY, said)
    run = Rollout(policy, canvas, history, Sampler.greedy(), max_actions=40)
    list(run)
    own = canvas.tokens[len(said) :]
    # The phrase of the prefix is written once; after that the run leaves the loop.
    assert own[: len(said)] == said
    words = set(tokenizer.encode(" the cat sat on mat"))
    phrases = [
        tuple(own[at : at + PHRASE])
        for at in range(len(own) - PHRASE + 1)
        if words.issuperset(own[at : at + PHRASE])
    ]
    assert len(phrases) == len(set(phrases))


def test_marks_and_lines_may_be_repeated() -> None:
    tokenizer = ToyTokenizer()
    list_item = tokenizer.encode("\n- [")
    policy = UnrepeatedPhrases(Even(list_item), tokenizer)
    canvas, history = seed(VOCABULARY, [])
    list(Rollout(policy, canvas, history, Sampler.greedy(), max_actions=24))
    assert canvas.tokens == (list_item * 24)[:24]
