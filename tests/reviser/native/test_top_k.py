"""What rows of scores sum up to is the same by the library and by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reviser.native.top_k import _summarise_in_numpy, summarise

# Few different values, so that many are equal.
values = st.sampled_from([-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0])
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
