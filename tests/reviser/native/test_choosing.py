"""An id is drawn in the same way by the library and by numpy, from the same candidates in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from reviser.native import choosing
from reviser.native.choosing import RANKED, Chooser, DrawingRule, Drawn, NumpyChooser, make_chooser

# Few different values, so that many are equal.
values = st.sampled_from([-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0])
lists = st.integers(1, 120).flatmap(
    lambda size: st.tuples(
        arrays(np.float32, size, elements=values | st.floats(-5, 5, width=32)),
        arrays(np.bool_, size),
        st.integers(1, size + 3),
    )
)
VOCABULARY = 49186
MOVES = range(49156, 49176)


def both_ways(rule: DrawingRule) -> tuple[Chooser, Chooser]:
    return make_chooser(rule), NumpyChooser(rule)


def ranked(found: Drawn | None) -> tuple[list[int], NDArray[np.float64]]:
    records = np.frombuffer(b"" if found is None else found[2], dtype=RANKED)
    return records["id"].tolist(), records["probability"]


@given(lists)
def test_it_is_a_stable_sort(case: tuple[np.ndarray, np.ndarray, int]) -> None:
    scores, allowed, count = case
    ordered = sorted(
        (id for id in range(len(scores)) if allowed[id] and scores[id] > -np.inf), key=lambda id: (-scores[id], id)
    )
    for chooser in both_ways(DrawingRule(count, 0.7)):
        ids, probabilities = ranked(chooser.choose(scores, allowed, False, 0.0))
        assert ids == ordered[:count]
        powers = np.exp(scores[ids].astype(np.float64) / 0.7)
        assert np.allclose(probabilities, powers / powers.sum())


@pytest.mark.parametrize("rounding", [None, 1, 0])
@pytest.mark.parametrize("allowed_share", [1.0, 0.9, 0.01])
@pytest.mark.parametrize("count", [1, 7, 50, 300, 2000, None])
def test_a_vocabulary_full(count: int | None, allowed_share: float, rounding: int | None) -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=VOCABULARY).astype(np.float32)
    if rounding is not None:
        scores = scores.round(rounding)
    allowed = random.random(VOCABULARY) < allowed_share
    scores[random.integers(0, VOCABULARY, 500)] = -np.inf
    native, plain = (ranked(chooser.choose(scores, allowed, False, 0.5)) for chooser in both_ways(DrawingRule(count)))
    assert native[0] == plain[0]
    assert np.allclose(native[1], plain[1], rtol=1e-12, atol=0)


def test_high_scores_that_are_not_allowed_hide_no_others() -> None:
    scores = np.linspace(0, 1, VOCABULARY, dtype=np.float32)
    # The highest of every block is not allowed.
    allowed = np.arange(VOCABULARY) % 64 < 9
    for chooser in both_ways(DrawingRule(50)):
        ids, _ = ranked(chooser.choose(scores, allowed, False, 0.0))
        assert ids == np.flatnonzero(allowed)[::-1][:50].tolist()


@given(
    arrays(np.float32, 60, elements=st.floats(-4, 4, width=32)),
    arrays(np.bool_, 60),
    st.builds(
        DrawingRule,
        count=st.none() | st.integers(1, 70),
        temperature=st.floats(0.2, 3),
        top_p=st.just(1.0) | st.floats(0.05, 0.999),
        min_p=st.just(0.0) | st.floats(0.001, 1),
        moves=st.sampled_from([range(0), range(40, 55), range(60)]),
        power=st.floats(1, 5),
        odds=st.sampled_from([0.0, 0.5, 1.0, 30.0]),
    ),
    st.booleans(),
    st.integers(0, 999),
)
def test_both_ways_draw_the_same(
    scores: np.ndarray, allowed: np.ndarray, rule: DrawingRule, moving: bool, place: int
) -> None:
    drawn = (place + 0.37) / 1000
    native, plain = (chooser.choose(scores, allowed, moving, drawn) for chooser in both_ways(rule))
    if plain is None or native is None:
        assert native is plain
        return
    # What is equally likely but for the last digit may stand in another order.
    assert native[1] == pytest.approx(plain[1])
    chances, same = (dict(zip(*ranked(found), strict=True)) for found in (native, plain))
    assert chances == pytest.approx(same)
    assert (np.diff(ranked(native)[1]) <= 0).all()
    assert native[0] == plain[0]


def test_both_ways_draw_the_same_again_and_again() -> None:
    random = np.random.default_rng(1)
    native, plain = both_ways(DrawingRule(50, 0.9, moves=MOVES, power=0.9 / 0.35, odds=30.0))
    scores = np.empty(VOCABULARY, dtype=np.float32)
    masks = [random.random(VOCABULARY) < share for share in (0.5, 0.9)]
    for number in range(60):
        scores[:] = random.normal(scale=3, size=VOCABULARY)
        scores[MOVES.start : MOVES.stop] += 4
        case = scores, masks[number % 2], number % 3 == 0, float(random.random())
        one, other = native.choose(*case), plain.choose(*case)
        assert one is not None
        assert other is not None
        assert one[0] == other[0]
        assert ranked(one)[0] == ranked(other)[0]
        assert np.allclose(ranked(one)[1], ranked(other)[1], rtol=1e-11, atol=0)


def test_more_masks_than_are_kept() -> None:
    scores = np.zeros(100, dtype=np.float32)
    for chooser in both_ways(DrawingRule(1)):
        for id in range(100):
            found = chooser.choose(scores, np.arange(100) == id, False, 0.0)
            assert found is not None
            assert found[0] == id


@pytest.mark.parametrize("kind", [np.float64, np.float16])
def test_scores_of_other_kinds_and_layouts(kind: type) -> None:
    wide = np.arange(40).astype(kind)
    for chooser in both_ways(DrawingRule(3)):
        for scores in (wide, wide[::2], wide[::-1]):
            found = chooser.choose(scores, np.ones(len(scores), dtype=bool), False, 0.0)
            assert ranked(found)[0] == np.argsort(-scores)[:3].tolist()
            # What it has made of them is not kept: they may have changed.
            scores[0] = 99
            found = chooser.choose(scores, np.ones(len(scores), dtype=bool), False, 0.0)
            assert ranked(found)[0][0] == 0
            scores[0] = 0


def test_what_has_no_chance() -> None:
    scores = np.zeros(VOCABULARY, dtype=np.float32)
    scores[77] = np.nan
    everything, nothing = np.ones(VOCABULARY, dtype=bool), np.zeros(VOCABULARY, dtype=bool)
    for chooser in both_ways(DrawingRule(None)):
        assert chooser.choose(scores, nothing, False, 0.5) is None
        assert 77 not in ranked(chooser.choose(scores, everything, False, 0.5))[0]
    scores[5] = np.inf
    for chooser in both_ways(DrawingRule(3)):
        assert chooser.choose(scores, everything, False, 0.5) is None


def test_marks_must_match() -> None:
    for chooser in both_ways(DrawingRule(1)):
        with pytest.raises(ValueError, match="Each score"):
            chooser.choose(np.zeros(3, dtype=np.float32), np.ones(4, dtype=bool), False, 0.0)


def test_without_the_library_it_is_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviser.native.library.library", lambda: None)
    assert isinstance(choosing.make_chooser(DrawingRule(1)), NumpyChooser)


def test_the_coldest_moves_are_the_likeliest() -> None:
    """High powers of probabilities are 0 in numbers of any size; after a move, staying is a choice among the moves."""
    scores = np.full(60, -20.0, np.float32)
    scores[[3, 40, 41]] = [0.0, 0.5, 0.6]
    for chooser in both_ways(DrawingRule(50, 0.9, moves=range(40, 60), power=5000.0)):
        for drawn in (0.0, 0.5, 0.999):
            for at, wanted in ((0.0, 41), (2.0, 3)):
                scores[3] = at
                found = chooser.choose(scores, np.ones(60, np.bool_), True, drawn)
                assert found is not None
                assert found[0] == wanted
                assert np.isfinite(ranked(found)[1]).all()
