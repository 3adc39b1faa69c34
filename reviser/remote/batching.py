"""Batched scoring of the histories of many requests; histories are cached in rows and not read again."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.decoding.policy import ModelPolicy, SessionPolicy
from reviser.model.scoring import Scores, shared_length
from reviser.native.batch import NativeBatch
from reviser.native.decoder import NativeDecoder

ROWS = 64
"""The most histories that are cached, and scored together."""
# A row is taken over by a history that shares at least half of it, and more than a few words.
_LEAST_SHARED = 8


@dataclass
class ScoreRequest:
    """A history whose next id is to be scored, and the future for its scores."""

    history: list[int]
    canvas: Canvas
    scores: Future[Scores] = field(default_factory=Future)


class Scorer(Protocol):
    """Scores several histories at once; each result is an array of its own."""

    def score(self, wanted: Sequence[ScoreRequest]) -> list[Scores]: ...


class SequentialScorer:
    """A scorer for models that cannot read several histories together."""

    def __init__(self, policy: SessionPolicy) -> None:
        self._policy = policy

    def score(self, wanted: Sequence[ScoreRequest]) -> list[Scores]:
        answers = []
        for each in wanted:
            scores = self._policy.scores(each.history, each.canvas)
            assert scores is not None
            answers.append(scores.copy())
        return answers


@dataclass
class _HistoryRow:
    seen: list[int] = field(default_factory=list)
    used: int = 0


class HistoryRows:
    """A scorer on rows of the native decoder; a history is read into the row that shares the most with it."""

    def __init__(self, decoder: NativeDecoder, rows: int = ROWS) -> None:
        self._batch = NativeBatch(decoder, rows)
        self._rows = [_HistoryRow() for _ in range(rows)]
        self._clock = 0
        self.read = 0
        """The number of ids that went through the model so far."""

    def score(self, wanted: Sequence[ScoreRequest]) -> list[Scores]:
        self._clock += 1
        places = []
        for each in wanted:
            place = self._place(each.history)
            self._rows[place].used = self._clock
            places.append(place)
        rests = [self._cut(place, each.history) for place, each in zip(places, wanted, strict=True)]
        # The last id by itself: reading many at once rounds a little otherwise, and what a client gets should not
        # depend on how much of its history was kept.
        ahead = [(place, rest[:-1]) for place, rest in zip(places, rests, strict=True) if len(rest) > 1]
        if ahead:
            self._read([place for place, _ in ahead], [ids for _, ids in ahead])
        scores = self._read(places, [rest[-1:] for rest in rests])
        return [row.copy() for row in scores]

    def _read(self, places: list[int], texts: list[list[int]]) -> Scores:
        scores = self._batch.read(places, texts)
        for place, text in zip(places, texts, strict=True):
            self._rows[place].seen += text
            self.read += len(text)
        return scores

    def _place(self, history: list[int]) -> int:
        free = [place for place, row in enumerate(self._rows) if row.used < self._clock]
        best, most = -1, 0
        for place in free:
            seen = self._rows[place].seen
            shared = shared_length(seen, history)
            if shared > most and shared >= max(_LEAST_SHARED, len(seen) // 2):
                best, most = place, shared
        return best if best >= 0 else min(free, key=lambda place: self._rows[place].used)

    def _cut(self, place: int, history: list[int]) -> list[int]:
        """Shorten a row to what it shares with a history; returns the ids left to read, at least one."""
        row = self._rows[place]
        shared = min(shared_length(row.seen, history), len(history) - 1)
        self._batch.truncate(place, shared)
        del row.seen[shared:]
        return history[shared:]


def scorer_of(policy: SessionPolicy, rows: int = ROWS) -> Scorer:
    """The best scorer for a policy. With one row it is the engine itself, with the same scores to the last bit.

    Several rows are read by other kernels, which round differently.
    """
    if rows > 1 and isinstance(policy, ModelPolicy) and isinstance(policy.decoder, NativeDecoder):
        return HistoryRows(policy.decoder, rows)
    return SequentialScorer(policy)


class Batcher:
    """A thread that scores all waiting histories together; those that arrive meanwhile wait for its next turn."""

    def __init__(self, scorer: Scorer, rows: int = ROWS) -> None:
        self._scorer = scorer
        self._most = rows
        self._queue: queue.SimpleQueue[ScoreRequest | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="batcher", daemon=True)
        self._thread.start()

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        """The scores after a history; blocks until they are computed."""
        wanted = ScoreRequest(list(history), canvas)
        self._queue.put(wanted)
        return wanted.scores.result()

    def close(self) -> None:
        self._queue.put(None)

    def _work(self) -> None:
        while True:
            first = self._queue.get()
            if first is None:
                return
            together = [first]
            while len(together) < self._most and not self._queue.empty():
                another = self._queue.get()
                if another is None:
                    return
                together.append(another)
            try:
                answers = self._scorer.score(together)
            except Exception as error:  # whoever waits hears of it; the next turn goes on
                told = error if isinstance(error, ReviserError) else ReviserError(repr(error))
                for each in together:
                    each.scores.set_exception(told)
                continue
            for each, scores in zip(together, answers, strict=True):
                each.scores.set_result(scores)
