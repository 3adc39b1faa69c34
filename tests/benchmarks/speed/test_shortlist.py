"""Bounds that always hold do, states are found from scores, and panels are counted."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.speed.shortlist import (
    Kept,
    bounds,
    final_states,
    in_groups,
    kept,
    main,
    upper_halves,
)

CHANCE = np.random.default_rng(0)
CODES = CHANCE.integers(-127, 128, (203, 96)).astype(np.int8)
SCALES = CHANCE.uniform(0.01, 0.02, 203).astype(np.float32)
TABLE = CODES.astype(np.float32) * SCALES[:, None]
STATES = CHANCE.normal(size=(5, 96)).astype(np.float32)


def test_both_halves_of_a_byte_make_the_byte() -> None:
    rough = upper_halves(CODES, SCALES)
    rest = (TABLE - rough.rows) / SCALES[:, None]
    assert np.abs(rest).max() <= 7.501
    assert np.array_equal(np.unique(np.round(rest * 2)), np.arange(-15, 16, 2))
    assert rough.row_bytes == 48


def test_kept_columns_are_exact() -> None:
    columns = np.array([3, 4, 90])
    rough = in_groups(TABLE, columns)
    assert np.array_equal(rough.rows[:, columns], TABLE[:, columns])
    assert np.abs(rough.rows - TABLE).max() > 0
    assert rough.row_bytes == 3 + 93 * (0.5 + 1 / 16)


def test_strict_bounds_hold_and_those_of_groups_are_tighter() -> None:
    exact = STATES @ TABLE.T
    for rough in (upper_halves(CODES, SCALES), in_groups(TABLE, np.array([1, 2]))):
        errors = np.abs(exact - STATES @ rough.rows.T)
        found = dict(bounds(TABLE, rough, STATES))
        assert (errors <= found["always, rows"] + 1e-4).all()
        assert (errors <= found["always, groups"] + 1e-4).all()
        assert (found["always, groups"] <= found["always, rows"] + 1e-4).all()
        assert found["7 deviations"].max() < found["always, rows"].max()


def test_what_is_kept_is_counted_by_panels() -> None:
    exact = np.array([[9, 8, 0, 0, 0, 0, 0, 0, 7, 0, 0, 6]], dtype=np.float32)
    none = np.zeros_like(exact)
    assert kept(exact, exact, none, 2) == Kept(2.0, 1.0, 0)
    assert kept(exact, exact, none, 3) == Kept(3.0, 2.0, 0)
    assert kept(exact, exact, none + 2, 2) == Kept(4.0, 2.0, 0)
    assert kept(exact, exact - 1, none, 2) == Kept(1.0, 1.0, 1)


def test_states_are_found_from_scores() -> None:
    table = CHANCE.normal(size=(600, 96)).astype(np.float32)
    assert np.allclose(final_states(table, STATES @ table.T), STATES, atol=1e-3)


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err
