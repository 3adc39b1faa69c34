"""What rules say of an action that was drawn is done, and nothing is drawn anew where they say nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reviser.core.canvas import Canvas
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.sampler import Sampler
from reviser.model.scoring import Scores
from tests.toys import VOCABULARY


class Even:
    """Finds every token as likely as any other, and Stop never."""

    vocabulary = VOCABULARY

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        scores = np.full(VOCABULARY.size, -np.inf, dtype=np.float32)
        scores[:40] = 0.0
        return scores


class Judging(ScoreProcessor):
    """Refuses some ids, and wants others instead of some."""

    def __init__(self, instead: dict[int, list[int]]) -> None:
        self._instead = instead

    def instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        return self._instead.get(id)


def run(rules: Sequence[ScoreProcessor], number: int = 3, limit: int = 30) -> Rollout:
    canvas, history = seed(VOCABULARY, [])
    rollout = Rollout(Even(), canvas, history, Sampler(seed=number), rules=rules, max_actions=limit)
    list(rollout)
    return rollout


def test_a_rule_without_an_objection_changes_nothing() -> None:
    assert run([]).history == run([ScoreProcessor(), Judging({})]).history


def test_what_is_refused_is_drawn_again() -> None:
    freely = run([]).canvas.tokens
    refused = freely[5]
    kept = run([Judging({refused: []})]).canvas.tokens
    assert refused not in kept
    assert kept[:5] == freely[:5]
    assert len(kept) == 30


def test_other_actions_are_done_instead() -> None:
    freely = run([]).canvas.tokens
    first = freely[3]
    wanted = [first + 1, first + 2, VOCABULARY.stop_id]
    ended = run([Judging({first: wanted})])
    assert ended.canvas.tokens == [*freely[:3], first + 1, first + 2]
    assert ended.ending == "stop"


def test_what_was_decided_is_forgotten_with_a_step_that_is_taken_back() -> None:
    canvas, history = seed(VOCABULARY, [])
    rules = [Judging({key: [50, 51, 52] for key in range(40)})]
    rollout = Rollout(Even(), canvas, history, Sampler(seed=1), rules=rules)
    assert [next(rollout).id, next(rollout).id] == [50, 51]
    rollout.take_back()
    assert next(rollout).id == 50


def test_a_run_ends_where_nothing_is_allowed() -> None:
    rollout = run([Judging({key: [] for key in range(40)})])
    assert rollout.canvas.tokens == []
    assert rollout.ending == "exhausted"
