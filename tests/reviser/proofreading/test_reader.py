"""A reading of a passage: corrections from the end backward, each with the chance that the model gives it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.actions import Action, Delete, Insert, Move, Stop
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import seed
from reviser.decoding.sampler import Scores
from reviser.decoding.torch_policy import read_batch
from reviser.model import preset
from reviser.proofreading.reader import Correction, Reader, Rules, corrected
from tests.reviser.checkpoints.parts import random_model

WORDS = Vocabulary(10, frozenset({0}), kinds=frozenset({"insert", "move", "stop", "delete"}))
RULES = Rules(WORDS)


def scores_for(*likely: tuple[Action, float]) -> Scores:
    """Scores that give these actions their chances, and nothing to others."""
    scores = np.full(WORDS.size, -1e9)
    for action, chance in likely:
        scores[WORDS.id(action)] = math.log(chance)
    return scores


def read(reader: Reader, *steps: tuple[tuple[Action, float], ...]) -> list[int | None]:
    return [reader.advance(scores_for(*step)) for step in steps]


def test_a_clean_passage_costs_one_look() -> None:
    reader = Reader(RULES, [1, 2, 3])
    assert read(reader, ((Stop(), 0.95), (Move(-1), 0.05))) == [None]
    assert reader.corrections == []


def test_the_confidence_is_the_chance_of_the_whole_correction() -> None:
    reader = Reader(RULES, [1, 2, 3, 4])
    taken = read(
        reader,
        ((Move(-2), 0.8), (Stop(), 0.2)),
        ((Delete(), 1.0),),
        ((Insert(7), 0.5), (Insert(8), 0.5)),
        ((Stop(), 0.9), (Insert(9), 0.1)),
    )
    assert taken == [WORDS.id(Move(-2)), WORDS.delete_id, 7, None]
    (only,) = reader.corrections
    assert (only.start, only.end, only.tokens) == (1, 2, (7,))
    assert only.confidence == pytest.approx(0.8 * 0.5 * 0.9)
    assert corrected([1, 2, 3, 4], reader.corrections) == [1, 7, 3, 4]


def test_a_doubtful_correction_takes_no_other_with_it() -> None:
    reader = Reader(RULES, [1, 2, 3, 4], floor=0.3)
    read(
        reader,
        ((Insert(5), 0.2), (Insert(6), 0.15), (Stop(), 0.65)),
        ((Move(-2), 0.9), (Stop(), 0.1)),
        ((Delete(), 1.0),),
        ((Stop(), 1.0),),
    )
    assert [one.tokens for one in reader.corrections] == [()]
    # What comes after a change is judged given that the change is over.
    # The move crosses the token that was written, and then one of the passage.
    assert reader.corrections[0] == Correction(2, 3, (), pytest.approx(0.9))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 3), st.integers(0, 3))
def test_corrections_say_what_the_actions_do(seed_: int, size: int, left: int, right: int) -> None:
    """Whatever a model likes best, all corrections together make what its actions make of the canvas."""
    chance = np.random.default_rng(seed_)
    passage = [int(token) for token in chance.integers(1, 10, size)]
    reader = Reader(RULES, passage, [1] * left, [2] * right, floor=0.0, most_actions=40)
    canvas, _ = seed(WORDS, [1] * left, [2] * right, draft=passage)
    scores = np.zeros(WORDS.size)
    while (taken := reader.advance(scores)) is not None:
        canvas.apply(WORDS.action(taken))
        scores = chance.normal(0, 3, WORDS.size)
        scores[[WORDS.stop_id, WORDS.delete_id, *RULES.back]] += chance.normal(2, 3)
    if not reader.changing:
        made = corrected(passage, reader.corrections)
        assert canvas.tokens == [1] * left + made + [2] * right


def test_it_never_leaves_the_passage_nor_goes_forward() -> None:
    reader = Reader(RULES, [1, 2], left=[3] * 5, right=[4] * 5)
    # A move forward, or beyond the passage, is no choice, however likely.
    step = ((Move(4), 0.5), (Move(-4), 0.4), (Move(-1), 0.1))
    assert read(reader, step) == [WORDS.id(Move(-1))]
    assert read(reader, ((Delete(), 1.0),), ((Delete(), 0.9), (Insert(5), 0.1))) == [
        WORDS.delete_id,
        5,
    ]


def test_a_model_that_does_not_revise_is_refused() -> None:
    with pytest.raises(ReviserError, match="not trained to revise"):
        Rules(Vocabulary(10, frozenset(), kinds=frozenset({"insert", "move", "stop"})))


def test_together_as_alone() -> None:
    """Readers in a batch find what they find alone."""
    model = random_model(preset("tiny", vocab_size=WORDS.size, dropout=0.0), seed=3)
    passages = [[1, 2, 3], [4, 5, 6, 7, 8, 9, 1, 2], [3], [9, 8, 7, 6, 5]]

    def readers() -> list[Reader]:
        return [Reader(RULES, passage, floor=1e-30, most_actions=60) for passage in passages]

    together, alone = readers(), readers()
    read_batch(model, together, rows=3)
    for reader in alone:
        read_batch(model, [reader])
    assert any(reader.corrections for reader in together)
    for one, other in zip(together, alone, strict=True):
        assert [(c.start, c.end, c.tokens) for c in one.corrections] == [
            (c.start, c.end, c.tokens) for c in other.corrections
        ]
