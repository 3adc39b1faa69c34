"""The likeliest ids are the same, and in the same order, by the library and by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reviser.native import top_k_probabilities
from reviser.native.top_k import _summarise_in_numpy, _top_k_in_numpy, summarise

# Few different values, so that many are equal.
values = st.sampled_from([-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0])
lists = st.integers(1, 120).flatmap(
    lambda size: st.tuples(
        arrays(np.float32, size, elements=values | st.floats(-5, 5, width=32)),
        arrays(np.bool_, size),
        st.integers(1, size + 3),
    )
)


@given(lists)
def test_it_is_a_stable_sort(case: tuple[np.ndarray, np.ndarray, int]) -> None:
    scores, allowed, count = case
    ordered = sorted(
        (id for id in range(len(scores)) if allowed[id] and scores[id] > -np.inf),
        key=lambda id: (-scores[id], id),
    )
    for found, probabilities in (
        top_k_probabilities(scores, allowed, count, 0.7),
        _top_k_in_numpy(scores, allowed, count, 0.7),
    ):
        assert found.tolist() == ordered[:count]
        powers = np.exp(scores[found].astype(np.float64) / 0.7)
        assert np.allclose(probabilities, powers / powers.sum())


def test_a_vocabulary_full() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=49186).astype(np.float32)
    allowed = random.random(49186) < 0.9
    ids, probabilities = top_k_probabilities(scores, allowed, 50)
    same_ids, same_probabilities = _top_k_in_numpy(scores, allowed, 50, 1.0)
    assert np.array_equal(ids, same_ids)
    assert np.allclose(probabilities, same_probabilities)
    assert len(top_k_probabilities(scores, np.zeros(49186, dtype=bool), 50)[0]) == 0
    scores[77] = np.nan
    assert 77 not in top_k_probabilities(scores, np.ones(49186, dtype=bool), 49186)[0]


def test_marks_must_match() -> None:
    with pytest.raises(ValueError, match="Each score"):
        top_k_probabilities(np.zeros(3, dtype=np.float32), np.ones(4, dtype=bool), 1)


rows_of_scores = st.integers(1, 300).flatmap(
    lambda size: st.tuples(
        arrays(np.float32, (3, size), elements=values | st.floats(-60, 60, width=32)),
        arrays(np.bool_, st.integers(1, size)),
    )
)


@given(rows_of_scores)
def test_a_summary_is_the_highest_and_the_sum(case: tuple[np.ndarray, np.ndarray]) -> None:
    scores, allowed = case
    for found in (summarise(scores, allowed), _summarise_in_numpy(scores, allowed)):
        for row in range(len(scores)):
            masked = np.where(allowed, scores[row, : len(allowed)], -np.inf).astype(np.float64)
            if masked.max() == -np.inf:
                assert (found.ids[row], found.highest[row]) == (-1, -np.inf)
                assert found.log_totals[row] == -np.inf
                continue
            assert found.ids[row] == masked.argmax()
            assert found.highest[row] == masked.max()
            assert found.log_totals[row] == pytest.approx(np.logaddexp.reduce(masked), abs=1e-6)


def test_a_summary_of_a_vocabulary() -> None:
    scores = np.random.default_rng(0).normal(scale=4, size=(5, 49186)).astype(np.float32)
    allowed = np.arange(49152) > 16
    found, same = summarise(scores, allowed), _summarise_in_numpy(scores, allowed)
    assert np.array_equal(found.ids, same.ids)
    assert np.array_equal(found.highest, same.highest)
    assert np.allclose(found.log_totals, same.log_totals, rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="Each mark"):
        summarise(scores[:, :100], allowed)
