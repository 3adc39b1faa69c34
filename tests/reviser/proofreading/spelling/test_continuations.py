"""Continuations get the probabilities that each has by itself, and a common prefix is read once."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.canvas import Canvas
from reviser.decoding.rollout import seed
from reviser.model.scoring import ChoiceScores
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.reading import overtype
from reviser.proofreading.spelling.candidates import Candidate
from reviser.proofreading.spelling.choosing import LIKELIEST, MisspeltPlace, OvertypingScorer, TokenSpan
from reviser.proofreading.spelling.continuations import ContinuationTree
from reviser.proofreading.spelling.speller import FittedJudge, chances
from tests.reviser.proofreading.spelling.test_properties import MODEL, POLICY, VOCABULARY

RULES = OvertypingRules(VOCABULARY)
IDS = st.integers(1, 4)
"""So few that ways begin alike."""


@torch.inference_mode()
def chance(before: Sequence[int], wanted: Sequence[int]) -> float:
    """The log-probability of ids behind others, all read at once."""
    ids = [*before, *wanted]
    scores = MODEL.logits(MODEL.hidden(torch.tensor([ids])))[0].log_softmax(-1)
    return sum(float(scores[at, ids[at + 1]]) for at in range(len(before) - 1, len(ids) - 1))


class Reading:
    """Reads all of some ways, in an order."""

    enough = None

    def __init__(self, ways: ContinuationTree, order: Sequence[int]) -> None:
        self.rules = RULES
        self.canvas: Canvas = seed(VOCABULARY, (), ())[0]
        self.ways = ways
        self.read = 0
        self.longest = 100
        self._order = [*order]
        self._next()

    def _next(self) -> None:
        while self._order and self.ways.is_known(self._order[0]):
            self._order.pop(0)
        self.over = not self._order
        if self._order:
            self.ids, self.expected, self.asked = self.ways.task(self._order[0])
            self.read += len(self.expected)

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        self.ways.take(self._order[0], choice_scores)
        self._next()

    def give_up(self) -> None:
        raise AssertionError


@given(
    before=st.lists(IDS, min_size=1, max_size=3),
    ways=st.lists(st.lists(IDS, min_size=1, max_size=4), min_size=1, max_size=5),
    draw=st.randoms(use_true_random=False),
)
def test_each_way_has_its_own_probability(before: list[int], ways: list[list[int]], draw: random.Random) -> None:
    order = [*range(len(ways))]
    draw.shuffle(order)
    tree = ContinuationTree(before, ways)
    reading = Reading(tree, order)
    overtype(POLICY, [reading])
    for number, way in enumerate(ways):
        assert tree.is_known(number)
        assert tree.bound(number) == pytest.approx(chance(before, way), abs=1e-3)
    # Scores are wanted once behind whatever ways have in common.
    assert reading.read == len({tuple(way[:end]) for way in ways for end in range(len(way))})


def test_what_is_not_read_yet_bounds_a_way() -> None:
    tree = ContinuationTree([5], [[1, 2, 3], [1, 4, 4]])
    assert tree.bound(0) == tree.bound(1) == 0
    overtype(POLICY, [Reading(tree, [0])])
    assert tree.is_known(0)
    assert not tree.is_known(1)
    assert tree.bound(1) == pytest.approx(chance([5], [1, 4]), abs=1e-3)
    assert tree.bound(1) >= chance([5], [1, 4, 4])


DISTANCES = st.floats(0.15, 3.0)
SIZES = st.sampled_from([10, 20, 35, 50, 70])


@given(
    passage=st.lists(IDS, min_size=3, max_size=8),
    others=st.lists(
        st.tuples(st.lists(st.integers(1, 9), min_size=1, max_size=3), DISTANCES, SIZES), min_size=1, max_size=8
    ),
)
def test_candidates_that_are_left_out_take_no_share(
    passage: list[int], others: list[tuple[list[int], float, int]]
) -> None:
    """With and without those that cannot matter, the probabilities are the same to a thousandth, and so are the
    likeliest."""
    found = []
    for thoroughly in (True, False):
        candidates = [Candidate("x", distance, size) for _, distance, size in others]
        place = MisspeltPlace("w", TokenSpan(1, 2), candidates, [tokens for tokens, _, _ in others])
        judge = FittedJudge(thoroughly=thoroughly)
        overtype(POLICY, [OvertypingScorer(RULES, passage, (), (), [place], judge)])
        found.append(place)
    thorough, quick = found
    assert quick.kept == pytest.approx(thorough.kept, abs=1e-3)
    assert quick.is_judged == thorough.is_judged
    assert chances(quick) == pytest.approx(chances(thorough), abs=2e-3)
    assert quick.likeliest(LIKELIEST) == thorough.likeliest(LIKELIEST)
    for number in quick.likeliest(LIKELIEST):
        assert quick.chances[number] == pytest.approx(thorough.chances[number], abs=1e-3)
    assert all(math.isfinite(one) for one in quick.chances)
