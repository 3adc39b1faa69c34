"""Guesses come from what was said before, and passes are counted in runs that were made without them."""

from __future__ import annotations

import pytest

from benchmarks.speed.lookup import Passes, counted, guesses, main, passes


def test_a_guess_is_what_followed_the_last_time() -> None:
    assert guesses([1, 2, 3, 4, 5, 9, 1, 2, 3], 4) == [4, 5, 9, 1]
    assert guesses([1, 2, 3, 4, 5, 9, 1, 2, 3], 2) == [4, 5]
    # The last place counts, and three ids come before two.
    assert guesses([2, 3, 7, 2, 3, 8, 2, 3], 1) == [8]
    assert guesses([1, 2, 3, 7, 2, 3, 8, 1, 2, 3], 1) == [7]
    assert guesses([1, 2, 3, 4], 4) == []
    assert guesses([5], 4) == []


def test_passes_make_the_whole_run() -> None:
    history = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 7]
    # The end of what was given is not known before; then "1 2" is, and its four guesses are right.
    assert [*passes(history, 7, 4)] == [(0, 0), (4, 4)]
    assert sum(1 + right for _, right in passes(history, 7, 4)) == len(history) - 7
    wrong = [1, 2, 3, 4, 1, 2, 9, 9]
    assert [*passes(wrong, 6, 4)] == [(1, 0), (0, 0)]


def test_what_a_run_costs() -> None:
    history = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 7]
    found = counted([(history, 7)], 4, lambda size: 1.0 if size == 1 else 2.0)
    assert found == Passes(6, 2, 4, 4, 3.0)
    assert found.gain == 2.0


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", "no-such-model"]) == 2
    assert "no-such-model" in capsys.readouterr().err
