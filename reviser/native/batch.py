"""A batch of histories that the native decoder reads together."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, pairwise, repeat
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.model.config import ModelConfig
from reviser.model.scoring import Choices, ChoiceScores, Questions, Scores
from reviser.native import library as native
from reviser.native.refusals import CacheFull, refusal

COMMON: Final = 4096
"""The number of tokens that are scored before all others: vocabularies begin with the most common ones."""


class Weights(Protocol):
    """The part of a native decoder that rows use: its weights and threads in the library, one call at a time."""

    @property
    def library(self) -> ctypes.CDLL: ...
    @property
    def lock(self) -> threading.RLock: ...
    @property
    def handle(self) -> int: ...
    @property
    def config(self) -> ModelConfig: ...
    @property
    def capacity(self) -> int: ...


class NativeBatch:
    """Histories in rows, each of its own length, on the weights and threads of a decoder.

    The decoder's own history is not affected. The products of a call go over the ids of all rows together, so many rows
    cost much less than one after the other. The result of a row is the same, to the last bit, whatever the others read.

    Memory is allocated as rows fill. `close`, or leaving a `with` block, frees it. Calls may come from any thread.
    """

    def __init__(self, decoder: Weights, rows: int, room: int | None = None, *, halved: bool = False) -> None:
        """Make `rows` empty rows for `room` ids each, by default as many as the decoder can hold.

        With `halved`, texts may be read in 16-bit floats where many ids take less time so (with AMX), though a few take
        more. The scores are as exact, but rounded differently from those of the decoder itself.
        """
        self._handle: int | None = None
        self._decoder = decoder
        self.room = decoder.capacity if room is None else room
        if not 1 <= rows <= native.MOST_ROWS:
            raise ReviserError(f"a batch has 1 to {native.MOST_ROWS} rows")
        if not 1 <= self.room <= decoder.capacity:
            raise ReviserError(f"a row of this decoder holds 1 to {decoder.capacity} ids")
        self.lengths = [0] * rows
        self._logits: Scores = np.empty((rows, decoder.config.vocab_size), dtype=np.float32)
        with decoder.lock:
            self._handle = decoder.library.reviser_batch_create(decoder.handle, rows, self.room, halved)
        if self._handle is None:
            raise MemoryError("The native decoder could not get memory for a batch.")

    def read(self, rows: Sequence[int], texts: Sequence[Sequence[int]]) -> Scores:
        """Read a text into each of these different rows, after what is there, and score the id after each.

        The next call overwrites the array that is returned.
        """
        logits = self._logits[: len(texts)]
        read = self._decoder.library.reviser_batch_read
        self._read(read, rows, texts, [logits.ctypes.data])
        return logits

    def choice_scores(
        self,
        rows: Sequence[int],
        texts: Sequence[Sequence[int]],
        expected: Sequence[Sequence[int]],
        choices: Choices,
        asked: Sequence[Questions] | None = None,
        enough: float | None = None,
    ) -> list[list[ChoiceScores]]:
        """Read texts as `read` does; returns, for each text i, the choice scores of its last `len(expected[i])` places.

        The scores of all ids stay in the library. `asked[i][n]` are further ids to score at place n of text i.

        Where the expected id has a log-probability of at least `enough` among common tokens and operators, only these
        are scored, which costs little. Then nothing may be asked.
        """
        wanted = [len(some) for some in expected]
        if len(wanted) != len(texts) or not all(
            1 <= some <= len(text) for some, text in zip(wanted, texts, strict=True)
        ):
            raise ReviserError("choice scores are wanted of one or more of the ids of each text")
        vocabulary, insertable = choices.vocabulary, choices.insertable
        chosen = native.ChoicesStruct(
            insertable.ctypes.data,
            *(len(insertable), vocabulary.delete_id, vocabulary.stop_id),
            *((0, 0.0) if enough is None else (COMMON, enough)),
        )
        counts, ids = np.array(wanted, dtype=np.int32), _flat(expected)
        found = np.empty(len(ids), dtype=native.ChoiceScoresStruct)
        read = self._decoder.library.reviser_batch_outlooks
        last = [counts.ctypes.data, ids.ctypes.data, chosen, found.ctypes.data]
        if asked is None or not any(asked):
            self._read(read, rows, texts, [*last, None])
            more: Iterable[tuple[float, ...]] = repeat(())
        else:
            places = [
                questions.get(place, ())
                for count, questions in zip(wanted, asked, strict=True)
                for place in range(count)
            ]
            starts = np.array([0, *accumulate(map(len, places))], dtype=np.int32)
            others = _flat(places)
            chances = np.empty(len(others), dtype=np.float64)
            questions = native.Questions(*(one.ctypes.data for one in (starts, others, chances)))
            self._read(read, rows, texts, [*last, questions])
            more = [tuple(chances[a:b].tolist()) for a, b in pairwise(starts.tolist())]
        columns = (found[name].tolist() for name in ChoiceScores._fields[:-1])
        told = [*map(ChoiceScores, *columns, more)]
        ends = accumulate(wanted)
        return [told[end - count : end] for end, count in zip(ends, wanted, strict=True)]

    def _read(
        self, function: Callable[..., int], rows: Sequence[int], texts: Sequence[Sequence[int]], last: Sequence[object]
    ) -> None:
        """Call one of the library's functions that read texts; `last` are the arguments that only it has."""
        if len(set(rows)) < len(rows) or not set(rows) <= set(range(len(self.lengths))):
            raise ReviserError(f"texts go into different rows, from 0 to {len(self.lengths) - 1}")
        if len(rows) != len(texts) or not all(texts):
            raise ReviserError("each row reads a text of at least one id")
        if not texts:
            return
        counts = [len(text) for text in texts]
        numbers = np.array([rows, [self.lengths[row] for row in rows], counts], dtype=np.int32)
        ids = _flat(texts)
        with self._decoder.lock:
            # Refuses to go on after the decoder is closed.
            _ = self._decoder.handle
            if self._handle is None:
                raise ReviserError("the batch is closed")
            status = function(self._handle, len(counts), *(row.ctypes.data for row in numbers), ids.ctypes.data, *last)
            if status == native.OK:
                for row, count in zip(rows, counts, strict=True):
                    self.lengths[row] += count
                return
        if status == native.NO_ROOM:
            raise CacheFull(f"a row of the batch has room for {self.room} ids")
        raise refusal(status, self._decoder.config)

    def clear(self, row: int) -> None:
        """Forget what was read into a row; costs no time."""
        self.lengths[row] = 0

    def truncate(self, row: int, length: int) -> None:
        """Forget what was read into a row after its first `length` ids; costs no time."""
        if not 0 <= length <= self.lengths[row]:
            raise ReviserError(f"{self.lengths[row]} ids were read into the row: they cannot be cut to {length}")
        self.lengths[row] = length

    def close(self) -> None:
        """Free the memory, after a call in progress on another thread."""
        with self._decoder.lock:
            if self._handle is not None:
                self._decoder.library.reviser_batch_free(self._handle)
                self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _flat(texts: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    return np.fromiter(chain.from_iterable(texts), dtype=np.int32, count=sum(map(len, texts)))
