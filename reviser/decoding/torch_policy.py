"""Models on torch as decoders and policies: the plain one, the canvas-conditioned one, and batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import shared_length
from reviser.decoding.rollout import Run, Step
from reviser.decoding.sampler import Scores
from reviser.model import CanvasBatch, Reviser
from reviser.proofreading.overtyping import Overtyper
from reviser.proofreading.reader import Reader
from reviser.proofreading.torch_reading import read_overtyping


class TorchDecoder:
    """A decoder on the plain model: works wherever torch does."""

    def __init__(self, model: Reviser, capacity: int | None = None) -> None:
        self._model = model.eval()
        self._cache = model.new_cache(capacity=capacity)
        # Another history, and its ids, for texts that are read beside the one that is kept.
        self._beside: tuple[TorchDecoder, list[int]] | None = None

    @property
    def length(self) -> int:
        return self._cache.lengths[0]

    @property
    def capacity(self) -> int:
        return self._cache.capacity

    def prefill(self, ids: Sequence[int]) -> NDArray[np.float32]:
        batch = torch.tensor([list(ids)], device=self._cache.device)
        return to_scores(self._model.prefill(batch, self._cache)[0])

    def decode(self, id: int) -> NDArray[np.float32]:
        return self.prefill([id])

    def truncate(self, length: int) -> None:
        self._cache.truncate(length)

    @torch.inference_mode()
    def chances(self, ids: Sequence[int], last: int) -> list[float]:
        """Read a text beside the history that is kept here: see `reviser.decoding.left_to_right.Reading`."""
        if not 0 < last < len(ids) <= self._model.config.context:
            raise ReviserError("a text of 2 ids or more can be read, all but its first")
        batch = torch.tensor([list(ids)], device=self._cache.device)
        hidden = self._model.hidden(batch[:, :-1])[0, -last:]
        chances = self._model.logits(hidden).float().log_softmax(-1)
        found: list[float] = chances.gather(1, batch[0, -last:, None])[:, 0].tolist()
        return found

    @property
    def readable(self) -> int:
        return min(self._model.config.context, self.capacity)

    @torch.inference_mode()
    def following(self, ids: Sequence[int], token: int, last: int) -> list[float]:
        """Read a text beside the history that is kept here: see `reviser.decoding.left_to_right.Reading`."""
        if not 0 < last <= len(ids) <= self.readable:
            raise ReviserError("a text of at least one id can be read")
        batch = torch.tensor([list(ids)], device=self._cache.device)
        hidden = self._model.hidden(batch)[0, -last:]
        chances = self._model.logits(hidden).float().log_softmax(-1)
        found: list[float] = chances[:, token].tolist()
        return found

    def scores(self, ids: Sequence[int]) -> Scores:
        """Score what follows a text, beside the history that is kept here."""
        if self._beside is None:
            self._beside = (TorchDecoder(self._model, self.capacity), [])
        decoder, seen = self._beside
        shared = min(shared_length(seen, ids), len(ids) - 1)
        decoder.truncate(shared)
        seen[shared:] = ids[shared:]
        return decoder.prefill(ids[shared:])

    def read_batch(self, readers: Sequence[Reader], rows: int) -> None:
        """Let readers proofread together, beside the history that is kept here."""
        read_batch(self._model, readers, rows)

    def read_overtyping(self, readers: Sequence[Overtyper], rows: int) -> None:
        """Let readers overtype together, beside the history that is kept here."""
        read_overtyping(self._model, readers, rows)


class CanvasPolicy:
    """Scores by a model that is conditioned on the canvas beside the history."""

    def __init__(self, model: Reviser, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.context = model.config.context
        # The cursor marker takes a place of its own among the canvas positions.
        self.max_length = model.config.canvas_length - (model.config.cursor_id is not None)
        self._model = model
        self._cache = model.new_cache()
        self._seen: list[int] = []

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        shared = min(shared_length(self._seen, history), len(history) - 1)
        self._cache.truncate(shared)
        canvases = self._canvases(history)[shared:]
        self._seen = list(history)
        ids = torch.tensor([self._seen[shared:]], device=self._cache.device)
        batch = CanvasBatch.pack([canvases], self._cache.device)
        logits = self._model.prefill(ids, self._cache, canvas=batch)
        return to_scores(logits[0])

    def _canvases(self, history: Sequence[int]) -> list[list[int]]:
        """The canvas after each id, with the cursor marked where the model wants that."""
        board = Canvas(self.vocabulary)
        marker = self._model.config.cursor_id
        canvases = []
        for id in history:
            if not self.vocabulary.is_marker(id):
                board.apply(board.action(id))
            tokens = board.tokens
            if marker is not None:
                tokens.insert(board.cursor, marker)
            canvases.append(tokens)
        return canvases


def run_batch(model: Reviser, runs: Sequence[Run]) -> Iterator[tuple[int, Step]]:
    """Advance several runs together on one cache, one model call for an action of each.

    Yields (number of the run, step). Finished runs leave the batch. Each run has its own sampler, so
    it takes the same actions in a batch as it takes alone.
    """
    if model.config.uses_canvas:
        raise ReviserError("a model conditioned on the canvas decodes one run at a time")
    for run in runs:
        run.max_actions = min(run.max_actions, model.config.context - run.seeded)
    active = [number for number, run in enumerate(runs) if not run.over]
    if not active:
        return
    device = model.cos.device
    cache = model.new_cache(batch=len(active))
    counts = [len(runs[number].history) for number in active]
    padded = [
        runs[n].history + [0] * (max(counts) - count)
        for n, count in zip(active, counts, strict=True)
    ]
    logits = model.prefill(torch.tensor(padded, device=device), cache, counts=counts)
    while True:
        scores = to_scores(logits)
        for row, number in enumerate(active):
            yield number, runs[number].advance(scores[row])
        rows = [row for row, number in enumerate(active) if not runs[number].over]
        if not rows:
            return
        if len(rows) < len(active):
            cache.select(rows)
            active = [active[row] for row in rows]
        last = [runs[number].history[-1] for number in active]
        logits = model.decode(torch.tensor(last, device=device), cache)


def to_scores(logits: torch.Tensor) -> Scores:
    scores: Scores = logits.float().cpu().numpy()
    return scores


def read_batch(model: Reviser, readers: Sequence[Reader], rows: int = 256) -> None:
    """Let readers proofread their passages together, up to `rows` at a time, on one cache."""
    order = sorted(range(len(readers)), key=lambda number: len(readers[number].history))
    for at in range(0, len(order), rows):
        _read_together(model, [readers[number] for number in order[at : at + rows]])


@torch.inference_mode()
def _read_together(model: Reviser, active: list[Reader]) -> None:
    device = model.cos.device
    counts = [len(reader.history) for reader in active]
    longest = max(counts) + max(reader.most_actions for reader in active)
    cache = model.new_cache(len(active), min(longest, model.config.context))
    padded = [
        reader.history + [0] * (max(counts) - count)
        for reader, count in zip(active, counts, strict=True)
    ]
    logits = model.prefill(torch.tensor(padded, device=device), cache, counts=counts)
    while active:
        scores = to_scores(logits)
        chosen = [reader.advance(row) for reader, row in zip(active, scores, strict=True)]
        rows = [row for row, id in enumerate(chosen) if id is not None]
        if len(rows) < len(active):
            cache.select(rows)
            active = [active[row] for row in rows]
        if active:
            last = torch.tensor([chosen[row] for row in rows], device=device)
            logits = model.decode(last, cache)
