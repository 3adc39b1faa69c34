"""Samplers mask first and repeat with their seed; rollouts are lazy, cancellable and recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import PAPER_KINDS, ValidIds, Vocabulary
from reviser.decoding.rollout import Rollout, ScriptedPolicy, seed
from reviser.decoding.sampler import Choice, Sampler
from reviser.model.scoring import Scores

VOCABULARY = Vocabulary(base_size=40, never_inserted=frozenset({39}), kinds=PAPER_KINDS)
STOP = VOCABULARY.stop_id
BACK_ONE = VOCABULARY.first_move_id + 1


class RandomPolicy:
    """Noise that depends on the history alone, and a count of how often it was asked."""

    vocabulary = VOCABULARY

    def __init__(self) -> None:
        self.asked = 0

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        self.asked += 1
        noise = np.random.default_rng(list(history)).normal(size=VOCABULARY.size)
        return (3 * noise).astype(np.float32)


def run(sampler: Sampler, max_actions: int = 30) -> Rollout:
    canvas, history = seed(VOCABULARY, [1, 2, 3])
    return Rollout(RandomPolicy(), canvas, history, sampler, max_actions=max_actions)


def everything() -> ValidIds:
    return Canvas(VOCABULARY, [1] * 1024, cursor=512).valid_actions()


scores_of = st.lists(st.floats(-9, 9, width=32), min_size=VOCABULARY.size, max_size=VOCABULARY.size)


@given(scores_of, st.integers(1, 80), st.integers(0, 5))
def test_a_choice_is_valid_and_among_the_top_k(scores: list[float], k: int, seed_: int) -> None:
    valid = Canvas(VOCABULARY, [1], prefix=1).valid_actions()
    array = np.array(scores, dtype=np.float32)
    choice = Sampler(top_k=k, seed=seed_, move_temperature=None).choose(array, valid)
    ranked = sorted(valid, key=lambda id: (-array[id], id))
    assert choice.id in valid
    assert choice.candidates.tolist() == ranked[:k]
    assert choice.probabilities.sum() == pytest.approx(1)
    assert choice.probability == choice.probabilities[choice.candidates.tolist().index(choice.id)]


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 50, 70, 200]), st.sampled_from([0.0, 1.0]))
def test_the_top_k_of_a_large_vocabulary_are_exact(noise: int, k: int, rounding: float) -> None:
    vocabulary = Vocabulary(base_size=5000, never_inserted=frozenset({3, 4999}))
    valid = Canvas(vocabulary, [1]).valid_actions()
    scores = np.random.default_rng(noise).normal(size=vocabulary.size).astype(np.float32)
    if rounding:
        scores = scores.round(1)  # many ties
    choice = Sampler(top_k=k, seed=0, move_temperature=None).choose(scores, valid)
    ranked = sorted(valid, key=lambda id: (-scores[id], id))
    assert choice.candidates.tolist() == ranked[:k]


@given(scores_of)
def test_greedy_takes_the_best_valid_id(scores: list[float]) -> None:
    valid = everything()
    array = np.array(scores, dtype=np.float32)
    best = min(valid, key=lambda id: (-array[id], id))
    assert Sampler.greedy().choose(array, valid).id == best
    assert Sampler(temperature=0.0, top_k=None).choose(array, valid).id == best


def test_top_p_and_min_p_cut_the_tail() -> None:
    logits = np.full(VOCABULARY.size, -np.inf, dtype=np.float32)
    logits[:4] = np.log([0.5, 0.3, 0.15, 0.05])
    valid = everything()
    kept = Sampler(temperature=1.0, top_p=0.75).choose(logits, valid)
    assert kept.candidates.tolist() == [0, 1]
    assert kept.probabilities == pytest.approx([0.625, 0.375])
    assert len(Sampler(temperature=1.0, min_p=0.2).choose(logits, valid).candidates) == 3
    assert len(Sampler(temperature=1.0, min_p=1.0).choose(logits, valid).candidates) == 1


def test_frequencies_follow_the_probabilities() -> None:
    logits = np.full(VOCABULARY.size, -np.inf, dtype=np.float32)
    logits[:2] = np.log([0.8, 0.2])
    sampler = Sampler(temperature=1.0, seed=0)
    valid = everything()
    drawn = [sampler.choose(logits, valid).id for _ in range(2000)]
    assert 0.75 < drawn.count(0) / len(drawn) < 0.85
    assert set(drawn) == {0, 1}


FIRST_MOVE = VOCABULARY.first_move_id


@given(scores_of, st.floats(0.05, 0.85), st.booleans())
def test_surer_moves_change_where_to_go_and_not_what_to_write(
    scores: list[float], for_moves: float, moving: bool
) -> None:
    valid, array = everything(), np.array(scores, dtype=np.float32)
    plain, surer = (
        Sampler(seed=0, top_k=None, move_temperature=given_).choose(array, valid, moving=moving)
        for given_ in (None, for_moves)
    )
    assert sorted(surer.candidates) == sorted(plain.candidates)
    assert (np.diff(surer.probabilities) <= 0).all()
    before = dict(zip(plain.candidates.tolist(), plain.probabilities.tolist(), strict=True))
    after = dict(zip(surer.candidates.tolist(), surer.probabilities.tolist(), strict=True))
    assert surer.probability == after[surer.id]
    assert sum(after.values()) == pytest.approx(1)
    moves = [id for id in before if id in VOCABULARY.move_ids]
    others = [id for id in before if id not in VOCABULARY.move_ids]
    ratios = [after[id] / before[id] for id in others]
    assert max(ratios) == pytest.approx(min(ratios))
    best = max(moves, key=lambda id: before[id])
    assert after[best] / sum(after[id] for id in moves) >= 0.999 * before[best] / sum(before[id] for id in moves)
    if not moving:
        assert ratios[0] == pytest.approx(1)


def test_surer_moves_by_the_numbers() -> None:
    logits = np.full(VOCABULARY.size, -np.inf, dtype=np.float32)
    logits[[0, 1, FIRST_MOVE, FIRST_MOVE + 1]] = np.log([0.3, 0.1, 0.4, 0.2])
    sampler = Sampler(temperature=1.0, move_temperature=0.5)
    found = sampler.choose(logits, everything())
    # 0.4 and 0.2 squared are as 4 to 1, of the 0.6 that both had.
    assert found.candidates.tolist() == [FIRST_MOVE, 0, FIRST_MOVE + 1, 1]
    assert found.probabilities == pytest.approx([0.48, 0.3, 0.12, 0.1])
    found = sampler.choose(logits, everything(), moving=True)
    # To stay has 0.4, as the first move; the two tokens share what that gives.
    chances = dict(zip(found.candidates.tolist(), found.probabilities.tolist(), strict=True))
    assert chances == pytest.approx({FIRST_MOVE: 16 / 36, 0: 12 / 36, FIRST_MOVE + 1: 4 / 36, 1: 4 / 36})
    same, plain = (
        Sampler(temperature=0.4, move_temperature=given_).choose(logits, everything()) for given_ in (0.5, None)
    )
    assert same.probabilities == pytest.approx(plain.probabilities)


@given(scores_of, st.integers(1, 30), st.booleans(), st.integers(0, 5))
def test_where_no_move_is_likely_their_temperature_changes_nothing(
    scores: list[float], k: int, moving: bool, seed_: int
) -> None:
    array = np.array(scores, dtype=np.float32)
    array[FIRST_MOVE:] = -20
    plain, surer = (
        Sampler(seed=seed_, top_k=k, move_temperature=given_).choose(array, everything(), moving=moving)
        for given_ in (None, 0.35)
    )
    assert (surer.id, surer.probability) == (plain.id, plain.probability)
    assert surer.candidates.tolist() == plain.candidates.tolist()
    assert surer.probabilities.tolist() == plain.probabilities.tolist()


def test_a_rollout_knows_when_it_is_moving() -> None:
    seen: list[bool] = []

    class Noting(Sampler):
        def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
            seen.append(moving)
            return super().choose(scores, valid, moving=moving)

    canvas, history = seed(VOCABULARY, [1, 2, 3])
    ids = [4, 5, BACK_ONE, 6, STOP]
    list(Rollout(ScriptedPolicy(VOCABULARY, ids), canvas, history, Noting()))
    assert seen == [False, False, False, True, False]


def test_no_chance_for_any_valid_action_is_an_error() -> None:
    logits = np.full(VOCABULARY.size, -np.inf, dtype=np.float32)
    logits[39] = 0.0
    with pytest.raises(InvalidAction, match="no valid action"):
        Sampler().choose(logits, everything())


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -1},
        {"top_k": 0},
        {"top_p": 0},
        {"top_p": 1.5},
        {"min_p": -0.1},
        {"min_p": 2},
        {"move_temperature": 0},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ReviserError):
        Sampler(**wrong)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_run() -> None:
    histories = []
    for seed_ in (1, 1, 2):
        rollout = run(Sampler(seed=seed_))
        list(rollout)
        histories.append(rollout.history)
    assert histories[0] == histories[1] != histories[2]


def test_a_rollout_asks_its_policy_once_for_each_step() -> None:
    rollout = run(Sampler(seed=1))
    policy = rollout.policy
    assert isinstance(policy, RandomPolicy)
    assert policy.asked == 0
    for asked in range(1, 4):
        next(rollout)
        assert policy.asked == asked


def test_a_rollout_ends_at_its_limit_and_can_be_cancelled() -> None:
    limited = run(Sampler(seed=1), max_actions=5)
    assert len(list(limited)) == 5
    assert limited.ending == "limit"
    cancelled = run(Sampler(seed=1))
    next(cancelled)
    cancelled.cancel()
    assert list(cancelled) == []
    assert cancelled.ending == "cancelled"
    assert cancelled.actions_taken == 1


def test_a_script_is_followed_and_its_end_is_seen() -> None:
    canvas, history = seed(VOCABULARY, [1, 2])
    script = [7, BACK_ONE, 8]
    rollout = Rollout(ScriptedPolicy(VOCABULARY, script), canvas, history, Sampler.greedy())
    assert [step.id for step in rollout] == script
    assert (canvas.tokens, rollout.ending) == ([1, 2, 8, 7], "exhausted")
    assert rollout.history == [VOCABULARY.start_id, 1, 2, *script]
    rollout.take(STOP)
    assert canvas.stopped


def test_a_script_that_cannot_be_followed_says_why() -> None:
    canvas, history = seed(VOCABULARY, [1, 2])
    rollout = Rollout(ScriptedPolicy(VOCABULARY, [BACK_ONE]), canvas, history, Sampler.greedy())
    with pytest.raises(InvalidAction, match="leave the editable text"):
        next(rollout)


@given(st.lists(st.integers(0, 38), max_size=9), st.lists(st.integers(0, 38), max_size=1500))
def test_seeding_history_writes_what_the_canvas_shows(prefix: list[int], suffix: list[int]) -> None:
    canvas, history = seed(VOCABULARY, prefix, suffix)
    again = Canvas(VOCABULARY)
    for id in history[1:]:
        again.apply(again.action(id))
    assert history[0] == VOCABULARY.start_id
    assert again.tokens == canvas.tokens == prefix + suffix
    assert again.cursor == canvas.cursor == canvas.low == canvas.high == len(prefix)


def test_odds_of_moves_by_the_numbers() -> None:
    logits = np.full(VOCABULARY.size, -np.inf, dtype=np.float32)
    logits[[0, 1, FIRST_MOVE, FIRST_MOVE + 1]] = np.log([0.6, 0.2, 0.15, 0.05])
    sampler = Sampler(temperature=1.0, move_temperature=1.0, move_odds=4.0)
    found = sampler.choose(logits, everything())
    chances = dict(zip(found.candidates.tolist(), found.probabilities.tolist(), strict=True))
    # Odds of 1 to 4 become 1 to 1; what is chosen among moves and among tokens stays as it was.
    assert chances == pytest.approx({0: 0.375, 1: 0.125, FIRST_MOVE: 0.375, FIRST_MOVE + 1: 0.125})
    on_the_way = sampler.choose(logits, everything(), moving=True)
    assert on_the_way.probabilities == pytest.approx([0.6, 0.2, 0.15, 0.05])
    never = Sampler(temperature=1.0, move_odds=0.0).choose(logits, everything())
    assert never.probabilities[:2] == pytest.approx([0.75, 0.25])
    with pytest.raises(ReviserError, match="odds of moves"):
        Sampler(move_odds=-1.0)
