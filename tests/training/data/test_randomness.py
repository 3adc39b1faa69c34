"""The compiled random numbers are those of the readable ones, and shuffles are shuffles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.randomness import KeyedRandom, below, chance, folded, key, shuffled

WORDS = st.integers(0, 2**64 - 1)


# The first example waits for the compiler.
@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=3), st.integers(1, 2**20), st.floats(0, 1))
def test_streams_are_equal(parts: list[int], limit: int, probability: float) -> None:
    name = np.uint64(0)
    for part in parts:
        name = np.uint64(folded(name, np.uint64(part)))
    assert int(name) == key(*parts)
    random = KeyedRandom(*parts)
    state = np.array([name], dtype=np.uint64)
    for _ in range(5):
        assert below(state, limit) == random.below(limit)
        assert chance(state, probability) == random.chance(probability)


def test_draws_are_even() -> None:
    random = KeyedRandom(1)
    counts = np.bincount([random.below(8) for _ in range(16_000)], minlength=8)
    assert counts.min() > 1_800
    assert counts.max() < 2_200


@pytest.mark.parametrize("size", [1, 2, 3, 17, 64, 1000])
def test_shuffle_is_a_permutation(size: int) -> None:
    order = [shuffled(index, size, np.uint64(7)) for index in range(size)]
    assert sorted(order) == list(range(size))
    if size > 3:
        assert order != [shuffled(index, size, np.uint64(8)) for index in range(size)]
        assert order != list(range(size))
