"""Numbers from a seed are numpy's own: a recorded run comes out again, whoever draws them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.random_numbers import Random
from reviser.decoding.sampler import Sampler


@given(st.integers(min_value=0, max_value=1 << 200))
def test_the_numbers_are_those_of_numpy(seed: int) -> None:
    ours, theirs = Random(seed), np.random.default_rng(seed)
    assert [ours.random() for _ in range(20)] == theirs.random(20).tolist()
    assert ours.state == dict(theirs.bit_generator.state)


def test_a_state_can_be_returned_to() -> None:
    stream = Random(7)
    stream.random()
    kept = stream.state
    drawn = [stream.random() for _ in range(3)]
    stream.state = kept
    assert [stream.random() for _ in range(3)] == drawn
    other = Random(8)
    other.state = dict(np.random.default_rng(7).bit_generator.state)
    assert other.random() == Random(7).random()


def test_the_last_number_can_come_again() -> None:
    stream = Random(7)
    first = stream.random()
    stream.take_back()
    assert stream.random() == first
    assert stream.random() != first


def test_where_nothing_can_be_chosen_no_number_is_drawn() -> None:
    sampler, valid = Sampler(seed=4), Canvas(Vocabulary(6)).valid_actions()
    before = sampler.state
    with pytest.raises(InvalidAction, match="no valid action any chance"):
        sampler.choose(np.full(valid.vocabulary.size, -np.inf, dtype=np.float32), valid)
    assert sampler.state == before


def test_without_a_seed_it_is_another_stream() -> None:
    assert Random().random() != Random().random()


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="non-negative"):
        Random(-1)


def test_a_sampler_loads_no_generators() -> None:
    code = "import sys; import reviser.decoding.rollout as r; r.Sampler(seed=1); print('numpy.random' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
