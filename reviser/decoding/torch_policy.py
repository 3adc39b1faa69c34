"""Policies by torch models: the canvas-conditioned one, and many runs of the plain one together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Run, Step
from reviser.model import CanvasBatch, Reviser
from reviser.model.scoring import Scores, shared_length
from reviser.model.torch_decoder import to_scores


class CanvasPolicy:
    """A policy by a model that is conditioned on the canvas beside the history."""

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
    """Advance several runs together on one cache, with one model call for an action of each.

    Yields (number of the run, step). Finished runs leave the batch. Each run has its own sampler, so it takes the same
    actions in a batch as it takes alone.
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
    padded = [runs[n].history + [0] * (max(counts) - count) for n, count in zip(active, counts, strict=True)]
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
