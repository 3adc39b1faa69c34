from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.measures.variety import distinct, distinct_overall, ends_in_loop, variety
from reviser.core.errors import ReviserError


def test_counts_n_grams_that_are_new() -> None:
    assert distinct([1, 2, 1, 2, 1], 2) == 2 / 4
    assert distinct([1, 2, 3], 4) == 1.0


def test_texts_that_resemble_one_another_vary_less_together_than_alone() -> None:
    rows = [[1, 2, 3, 4]] * 5
    assert distinct(rows[0], 2) == 1.0
    assert distinct_overall(rows, 2) == 3 / 15


def test_sees_loops_at_the_end_only() -> None:
    assert ends_in_loop([9, 1, 2, 1, 2, 1, 2])
    assert not ends_in_loop([1, 2, 1, 2, 1, 2, 9])
    assert not ends_in_loop([1, 2, 1, 2])


def test_measures_texts() -> None:
    found = variety(["one two three four five six", "a b a b a b a b a b"])
    assert found.texts == 2
    assert found.looping == 0.5
    assert 0 < found.repeated_4 < 0.5
    assert found.distinct_1 < found.distinct_2 or found.distinct_2 < 1


def test_says_so_when_there_is_nothing_to_measure() -> None:
    with pytest.raises(ReviserError, match="no texts"):
        variety([])


@given(st.lists(st.lists(st.integers(0, 5), max_size=20), min_size=1, max_size=5), st.integers(1, 4))
def test_shares_are_shares(rows: list[list[int]], n: int) -> None:
    assert 0 < distinct_overall(rows, n) <= 1
