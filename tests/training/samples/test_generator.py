"""The compiled generator equals the reference, draw for draw, and has the paper's statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES
from tests.training.histories import BASE, PAPER_VOCABULARY, RICH_VOCABULARY, some_classes, texts_and_tasks, written
from tests.training.samples.reference import make_sample
from training.samples.generator import Generator
from training.samples.histories import Texts
from training.samples.obfuscation import ELABORATED, LOCAL, PAPER, PLAIN, RICH, STRUCTURED, Task

CLASSES = some_classes()


# The first example waits for the compiler.
@settings(deadline=None)
@given(texts_and_tasks(), st.integers(0, 2**64 - 1), st.integers(0, 300), st.one_of(st.none(), st.integers(1, 200)))
def test_compiled_equals_reference(drawn: tuple[list[int], Task], name: int, spare: int, k_max: int | None) -> None:
    text, task = drawn
    max_history = len(text) + 11 + spare
    reference = make_sample(PAPER_VOCABULARY, text, task, name, CLASSES, max_history, k_max)
    generate = Generator(PAPER_VOCABULARY, CLASSES, max_history, task.revisions, k_max, task.pieces)
    made = generate(Texts.of([text], [task]), np.array([name], dtype=np.uint64))
    size = int(made.lengths[0])
    assert made.ids[0, :size].tolist() == reference.ids
    assert made.counted[0, :size].tolist() == reference.counted
    assert not made.counted[0, size:].any()
    assert written(PAPER_VOCABULARY, reference.ids, task) == text


@pytest.mark.parametrize("suffix", [0, 700])
@pytest.mark.parametrize("kind", [PLAIN, PAPER, STRUCTURED, LOCAL, ELABORATED])
def test_long_texts(kind: int, suffix: int) -> None:
    text = np.random.default_rng(1).integers(0, BASE, size=2000).tolist()
    task = Task(kind, 30, suffix, optional=[0, 0, 0, 0, 5] * 400)
    made = Generator(PAPER_VOCABULARY, CLASSES, 5000)(Texts.of([text], [task]), _names(1))
    ids = made.ids[0, : made.lengths[0]].tolist()
    assert ids == make_sample(PAPER_VOCABULARY, text, task, 0, CLASSES, 5000).ids
    assert written(PAPER_VOCABULARY, ids, task) == text


def test_a_sample_does_not_depend_on_its_company() -> None:
    texts = [[n % BASE for n in range(size)] for size in (40, 3, 80, 1)]
    tasks = [Task(PAPER), Task(STRUCTURED), Task(RICH), Task(PAPER, p_delete=0.5)]
    names = np.array([7, 8, 9, 10], dtype=np.uint64)
    generate = Generator(RICH_VOCABULARY, CLASSES, 400)
    together = generate(Texts.of(texts, tasks), names)
    for sample in range(4):
        alone = generate(Texts.of([texts[sample]], [tasks[sample]]), names[sample : sample + 1])
        assert (alone.ids[0] == together.ids[sample]).all()
        assert (alone.counted[0] == together.counted[sample]).all()


def test_texts_that_do_not_fit_are_refused() -> None:
    generate = Generator(PAPER_VOCABULARY, CLASSES, 20)
    with pytest.raises(ReviserError, match="does not fit"):
        generate(Texts.of([[1] * 19], [Task()]), _names(1))
    with pytest.raises(ReviserError, match="does not know"):
        generate(Texts.of([[BASE]], [Task()]), _names(1))


def test_statistics_of_the_paper_policy() -> None:
    size = 500
    runs = _restorations(size, 300)
    # After a restoring action the canvas is as it was when the action that it undoes was drawn.
    at_start = np.concatenate([run.cursors == 0 for run in runs])
    is_move = np.concatenate([run.is_move for run in runs])
    assert is_move[at_start].all()
    assert is_move[~at_start].mean() == pytest.approx(0.2, abs=0.006)
    assert 0.2 < is_move.mean() < 0.28
    ends = [run.cursors[-1] for run in runs]
    assert np.mean(ends) == pytest.approx(size / 2, rel=0.1)
    assert min(ends) < 0.05 * size < 0.95 * size < max(ends)


def test_restorations_move_backward_more_often() -> None:
    """Deletions carry the cursor to the left edge, from where moves lead right; restored, left.

    In short texts the edge is never far, so it is felt more often.
    """
    short, long = (_backward_share(_restorations(size, 300)) for size in (50, 500))
    assert 0.5 < long < short < 0.75


def _backward_share(runs: list[Restoration]) -> float:
    moves = np.concatenate([run.deltas[run.is_move] for run in runs])
    return float((moves < 0).mean())


def test_moves_are_drawn_evenly_from_the_valid_ones() -> None:
    counts = dict.fromkeys(MOVES, 0)
    short: set[int] = set()
    for run in _restorations(2000, 150):
        right = run.lengths - run.cursors
        open_both_ways = run.is_move & (run.cursors >= 512) & (right >= 512)
        for delta in run.deltas[open_both_ways]:
            counts[-delta] += 1
        short |= set((-run.deltas[run.is_move & (run.cursors == 3) & (right == 5)]).tolist())
    drawn = np.array(list(counts.values()))
    assert drawn.sum() > 10_000
    assert np.abs(drawn / drawn.mean() - 1).max() < 0.15
    assert short <= {1, -1, 2, -2, 4}


@dataclass(frozen=True)
class Restoration:
    """The steps of a restoration, and the cursor and length after each."""

    is_move: NDArray[np.bool_]
    deltas: NDArray[np.int64]

    @property
    def cursors(self) -> NDArray[np.int64]:
        return np.cumsum(self.deltas)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.cumsum(~self.is_move)


def _restorations(size: int, count: int) -> list[Restoration]:
    texts = [[n % BASE for n in range(size)]] * count
    generate = Generator(PAPER_VOCABULARY, CLASSES, 4 * size)
    histories = generate(Texts.of(texts, [Task(PAPER)] * count), _names(count))
    assert histories.fallbacks == 0
    by_id = np.ones(PAPER_VOCABULARY.size, dtype=np.int64)
    first = PAPER_VOCABULARY.first_move_id
    by_id[first : first + len(MOVES)] = MOVES
    steps = [ids[1 : length - 1] for ids, length in zip(histories.ids, histories.lengths, strict=True)]
    return [Restoration(ids >= first, by_id[ids]) for ids in steps]


def _names(count: int) -> NDArray[np.uint64]:
    return np.arange(count, dtype=np.uint64)
