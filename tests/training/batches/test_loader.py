"""Batches: the same for any number of threads, each sample once, little padding, quick to resume."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from reviser.core.errors import ReviserError
from tests.training.histories import PAPER_VOCABULARY, small_corpus
from training.batches.loader import Loader
from training.batches.packing import PackedRows
from training.samples.mixture import Mixture
from training.samples.samples import Samples

MIXTURE = Mixture(max_history=128)


@pytest.fixture(scope="module")
def samples() -> Samples:
    return Samples(small_corpus(900), PAPER_VOCABULARY, MIXTURE, seed=5)


@pytest.fixture(autouse=True)
def _small_chapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.batches.loader.CHAPTER_IDS", 2**15)


def taken(loader: Loader, count: int, first: int = 0) -> list[PackedRows]:
    return list(islice(loader.batches(first), count))


def same(one: list[PackedRows], other: list[PackedRows]) -> bool:
    names = ("ids", "mask", "samples", "positions")
    return len(one) == len(other) and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for a, b in zip(one, other, strict=True) for name in names
    )


def histories_in(rows: PackedRows) -> list[tuple[int, ...]]:
    """The samples of some rows, taken apart again."""
    found = []
    for ids, numbers in zip(rows.ids, rows.samples, strict=True):
        for number in range(numbers.max() + 1):
            found.append(tuple(ids[numbers == number].tolist()))
    return found


def test_any_number_of_threads(samples: Samples) -> None:
    one = taken(Loader(samples, 8, workers=1), 40)
    assert same(one, taken(Loader(samples, 8, workers=3), 40))


def test_resuming(samples: Samples) -> None:
    loader = Loader(samples, 8)
    assert same(taken(loader, 45)[37:], taken(loader, 8, first=37))


def test_rows_do_not_depend_on_the_batch_size(samples: Samples) -> None:
    sixes = PackedRows.joined(taken(Loader(samples, 6), 10))
    tens = PackedRows.joined(taken(Loader(samples, 10), 6))
    assert same([sixes], [tens])


def test_ranks_share_the_samples(samples: Samples) -> None:
    alone = Loader(samples, 1)
    per_chapter, chapters = alone.chapters.size, 6
    whole = taken(alone, chapters * per_chapter)
    shared = [taken(Loader(samples, alone.batch, rank=rank, world=3), 2 * per_chapter) for rank in range(3)]
    assert Counter(rows.ids.tobytes() for rows in whole) == Counter(
        rows.ids.tobytes() for part in shared for rows in part
    )


def test_an_epoch_shows_nearly_every_sample_and_none_twice(samples: Samples) -> None:
    loader = Loader(samples, 1)
    steps = loader.chapters.per_epoch * loader.chapters.size
    shown = Counter(text for rows in taken(loader, steps) for text in histories_in(rows))
    made = samples.histories(0, 0, samples.count(0))
    known = Counter(tuple(ids[:length].tolist()) for ids, length in zip(made.ids, made.lengths, strict=True))
    assert shown <= known
    # Small chapters, as here, have to leave out more for safety than large ones.
    assert shown.total() > 0.8 * known.total()


def test_layout_of_rows(samples: Samples) -> None:
    start, stop = PAPER_VOCABULARY.start_id, PAPER_VOCABULARY.stop_id
    for rows in taken(Loader(samples, 8), 20):
        empty = rows.samples < 0
        assert (rows.ids[empty] == start).all()
        assert not rows.mask[empty].any()
        first = (rows.positions == 0) & ~empty
        assert (rows.ids[first] == start).all()
        assert not rows.mask[first].any()
        assert rows.mask[rows.ids == stop].all()
        assert rows.ids.dtype == rows.samples.dtype == rows.positions.dtype == np.int32
        for numbers, positions in zip(rows.samples, rows.positions, strict=True):
            inside = numbers[numbers >= 0]
            assert (np.diff(inside) >= 0).all()
            expected = np.concatenate([np.arange(n) for n in np.bincount(inside)])
            assert (positions[: len(inside)] == expected).all()


@pytest.mark.parametrize("row_length", [None, 384, 512])
def test_padding_of_packed_rows(samples: Samples, row_length: int | None) -> None:
    loader = Loader(samples, 16, row_length=row_length)
    taken(loader, 60)
    assert loader.padding_share < 0.05


def test_plain_batches_are_the_texts() -> None:
    corpus = small_corpus(60)
    samples = Samples(corpus, PAPER_VOCABULARY, Mixture.left_to_right(128))
    (rows,) = taken(Loader(samples, 4), 1)
    text = corpus.shards[0].tokens.tobytes()
    for ids in histories_in(rows):
        assert np.array(ids[1:-1], dtype="<u2").tobytes() in text
    assert rows.mask.sum() == ((rows.samples >= 0) & (rows.positions > 0)).sum()


def test_no_threads_are_left_behind(samples: Samples) -> None:
    before = threading.active_count()
    stream = Loader(samples, 8, workers=3).batches()
    next(stream)
    stream.close()  # type: ignore[attr-defined]  # it is a generator
    assert threading.active_count() == before


def test_waiting_is_measured(samples: Samples) -> None:
    loader = Loader(samples, 8, workers=1)
    taken(loader, 3)
    assert loader.waited > 0


def test_mistakes_are_said_plainly(samples: Samples) -> None:
    with pytest.raises(ReviserError, match="rank"):
        Loader(samples, 8, rank=2, world=2)
    with pytest.raises(ReviserError, match="room"):
        Loader(samples, 8, row_length=64)
