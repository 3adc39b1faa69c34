"""A model as a policy: scores for any history, computing only what it has not computed already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from reviser.canvas import Canvas
from reviser.decoding import Run, Scores, Step
from reviser.errors import ReviserError
from reviser.model import CanvasBatch, Reviser
from reviser.vocabulary import Vocabulary


class Decoder(Protocol):
    """One history inside a model: ids go in at its end, and it can be cut short."""

    @property
    def length(self) -> int: ...
    @property
    def capacity(self) -> int: ...

    def prefill(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Take in ids and return the scores after the last; the next call may reuse the array."""

    def decode(self, id: int) -> NDArray[np.float32]: ...
    def truncate(self, length: int) -> None: ...


class ModelPolicy:
    """Scores by a model that reads the history alone.

    The decoder keeps what it has computed. Asked about another history, the policy rewinds it to what
    the two share, so an undone action, a branch, or one more typed word cost only what differs.
    `evaluated` counts the ids that went through the model.
    """

    def __init__(
        self, decoder: Decoder, vocabulary: Vocabulary, max_length: int | None = None
    ) -> None:
        self.vocabulary = vocabulary
        self.max_length = max_length
        self.evaluated = 0
        self._decoder = decoder
        self._seen: list[int] = []
        self._scores: Scores | None = None

    @property
    def context(self) -> int:
        """The longest history, in ids, that can be scored."""
        return self._decoder.capacity

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        if len(history) > self.context:
            raise ReviserError(
                f"the model reads {self.context} actions at the most, and this history has {len(history)}"
            )
        shared = shared_length(self._seen, history)
        if shared == len(history) and shared == len(self._seen) and self._scores is not None:
            return self._scores
        # At least the last id must go through the model, or there are no scores to return.
        shared = min(shared, len(history) - 1)
        self._decoder.truncate(shared)
        del self._seen[shared:]
        self._scores = None
        new = list(history[shared:])
        self._scores = self._decoder.decode(new[0]) if len(new) == 1 else self._decoder.prefill(new)
        self._seen += new
        self.evaluated += len(new)
        return self._scores


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
            if id != self.vocabulary.start_id:
                board.apply(board.action(id))
            tokens = board.tokens
            if marker is not None:
                tokens.insert(board.cursor, marker)
            canvases.append(tokens)
        return canvases


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many ids two histories share from their start."""
    size = min(len(one), len(other))
    if list(one[:size]) == list(other[:size]):
        return size
    return next(i for i in range(size) if one[i] != other[i])


def to_scores(logits: torch.Tensor) -> Scores:
    scores: Scores = logits.float().cpu().numpy()
    return scores


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
