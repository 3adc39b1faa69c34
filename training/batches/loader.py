"""Batches for a trainer, made in advance by threads; their number does not change the batches.

Samples are made and laid out in chapters of about a million ids. A chapter always gives the same number of
rows, so the place of a training step in the stream of rows is known without making what came before,
and chapters are dealt out to the ranks of a distributed run.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from training.batches.packing import SLACK, PackedRows, packed
from training.data.corpus import Corpus
from training.data.randomness import key, shuffled
from training.edits.edit_samples import EditSource, MixedSamples, Revisions
from training.edits.mistakes.source import BlendedEdits, MadeUpMistakes
from training.samples.histories import Histories
from training.samples.mixture import Mixture
from training.samples.samples import Samples

CHAPTER_IDS = 2**20
_CHAPTER = 3
_MEASURED_SAMPLES = 20_000


@dataclass(frozen=True)
class EpochDivision:
    """The division of an epoch into `per_epoch` chapters of `size` rows each."""

    per_epoch: int
    size: int


class SampleSource(Protocol):
    """A source of histories; the same epoch and sample numbers always give the same histories."""

    @property
    def mixture(self) -> Mixture: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def seed(self) -> int: ...
    def count(self, epoch: int) -> int: ...
    def histories(self, epoch: int, first: int, last: int) -> Histories: ...


def samples_of(
    corpus: Corpus,
    edits: Corpus | None,
    vocabulary: Vocabulary,
    mixture: Mixture,
    seed: int,
    mistakes: MadeUpMistakes | None = None,
    next_edits: EditSource | None = None,
) -> SampleSource:
    """The sample source of a mixture: texts and, where it has a share of edits, real, synthetic and next edits."""
    texts = Samples(corpus, vocabulary, mixture, seed)
    if not mixture.edits:
        return texts
    sources: list[EditSource] = []
    if mistakes is not None:
        sources.append(mistakes)
    if edits is not None:
        sources.append(Revisions(edits, vocabulary, mixture, seed))
    if not sources:
        raise ReviserError("the mixture has a share of edits, so name a folder of edits")
    source = sources[0]
    if len(sources) > 1:
        source = BlendedEdits(source, sources[1], mixture.real_edits)
    if next_edits is not None:
        source = BlendedEdits(source, next_edits, mixture.next_edits)
    return MixedSamples(texts, source)


class Loader:
    """An endless stream of batches of `batch` rows that can start at any batch.

    Rows have `row_length` ids and hold several whole samples. Chapters are distributed over `lanes`, a multiple of the
    `world`'s number of processes, and each `rank` takes its share of the lanes. The rows of a global batch are
    therefore the same for any number of processes that divides the number of lanes.
    """

    def __init__(
        self,
        samples: SampleSource,
        batch: int,
        *,
        row_length: int | None = None,
        rank: int = 0,
        world: int = 1,
        lanes: int | None = None,
        workers: int = 2,
    ) -> None:
        if batch < 1 or workers < 1 or not 0 <= rank < world:
            raise ReviserError("batch and workers are 1 or more, and 0 <= rank < world")
        self.samples = samples
        self.batch = batch
        self.row_length = row_length or 2 * samples.mixture.max_history
        if self.row_length < samples.mixture.max_history:
            raise ReviserError("a row must have room for the longest history")
        self.rank = rank
        self.world = world
        self.lanes = lanes or world
        own = self.lanes // world
        if self.lanes % world or batch % own:
            raise ReviserError(f"{world} processes cannot share {self.lanes} lanes of data with {batch} rows each")
        self._own_lanes = range(rank * own, (rank + 1) * own)
        self.workers = workers
        self.waited = 0.0
        self.places = self.padding = 0
        self.chapters = self._divide()

    @property
    def padding_share(self) -> float:
        """The share of padding among the positions delivered so far, 0 to 1."""
        return self.padding / max(self.places, 1)

    def batches(self, first: int = 0) -> Iterator[PackedRows]:
        """Yields batches from number `first` on, without end; earlier batches are not computed."""
        for parts in zip(*(self._packed(first, lane) for lane in self._own_lanes), strict=True):
            rows = PackedRows.joined(parts)
            self.places += rows.ids.size
            self.padding += rows.padding
            yield rows

    def _packed(self, first: int, lane: int) -> Iterator[PackedRows]:
        """Yields the lane's part of each batch from `first` on; a part may span two chapters."""
        size = self.batch // len(self._own_lanes)
        chapter, skipped = divmod(first * size, self.chapters.size)
        held: list[PackedRows] = []
        for rows in self._ahead(chapter, lane):
            held.append(rows[skipped:])
            skipped = 0
            while sum(map(len, held)) >= size:
                rest = PackedRows.joined(held)
                held = [rest[size:]]
                yield rest[:size]

    def _ahead(self, first: int, lane: int) -> Iterator[PackedRows]:
        """Yields the chapters of a lane from `first` on; threads make the next ones in the meantime."""
        running: deque[Future[PackedRows]] = deque()
        workers = max(1, self.workers // len(self._own_lanes))
        with ThreadPoolExecutor(workers, "batches") as pool:
            try:
                for number in count(first):
                    running.append(pool.submit(self._packed_chapter, lane + self.lanes * number))
                    if len(running) > workers:
                        began = time.perf_counter()
                        made = running.popleft().result()
                        self.waited += time.perf_counter() - began
                        yield made
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _histories(self, chapter: int) -> Histories:
        """The histories of a chapter: its part of the samples of its epoch."""
        epoch, part = divmod(chapter, self.chapters.per_epoch)
        size, parts = self.samples.count(epoch), self.chapters.per_epoch
        return self.samples.histories(epoch, part * size // parts, (part + 1) * size // parts)

    def _packed_chapter(self, chapter: int) -> PackedRows:
        rows = packed(self._histories(chapter), self.chapters.size, self.row_length, self._padding)
        # Rows are filled from the longest samples to the shortest; no batch should be of one kind.
        return rows[[self._shuffled(row, chapter) for row in range(len(rows))]]

    def _shuffled(self, index: int, chapter: int) -> int:
        name = np.uint64(key(self.samples.seed, _CHAPTER, chapter))
        return shuffled(index, self.chapters.size, name)

    @property
    def _padding(self) -> int:
        return self.samples.vocabulary.start_id

    def _divide(self) -> EpochDivision:
        """Chooses a number of rows that nearly every chapter can fill, estimated from the lengths of some samples."""
        size = self.samples.count(0)
        lengths = self.samples.histories(0, 0, min(size, _MEASURED_SAMPLES)).lengths
        mean, spread = float(lengths.mean()), float(lengths.std())
        per_epoch = max(1, round(size * mean / CHAPTER_IDS))
        part = size // per_epoch
        # Two standard errors, of a chapter's own total and of the mean it is foretold from; a chapter
        # that falls short all the same has a little more padding.
        doubt = 2 * spread / mean * math.sqrt(1 / part + 1 / len(lengths))
        ids = part * mean * max(1 - doubt, 0.5) / (1 - SLACK)
        return EpochDivision(per_epoch, max(1, int(ids / self.row_length)))
