"""Validity masks for transformers, vLLM and llama.cpp as logits processors.

To these engines an exported Reviser is an ordinary Llama, but not every id is valid at every moment: a move may leave
the text, a marker is never inserted. Each engine lets a logits processor change the scores of the next token; the
classes here are such processors. They follow the generated ids on a canvas of their own, one new id at a time, and set
the scores of invalid ids to -inf.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.integrations.following import Follower, exported_vocabulary
from reviser.integrations.vllm import VllmMask, VllmRequestMask

__all__ = ["Follower", "LlamaCppMask", "TransformersMask", "VllmMask", "VllmRequestMask", "exported_vocabulary"]


def _masked(scores: Tensor, masks: Sequence[NDArray[np.bool_]]) -> Tensor:
    """Scores (rows, ids) with -inf where an id is invalid; ids beyond the vocabulary are padding."""
    invalid = torch.ones(len(masks), scores.shape[-1], dtype=torch.bool)
    for row, mask in enumerate(masks):
        invalid[row, : len(mask)] = torch.tensor(~mask)
    return scores.masked_fill(invalid.to(scores.device), -torch.inf)


class TransformersMask:
    """A logits processor for `generate` of transformers, greedy or sampling, on any number of rows.

    One object serves one call of `generate`. `prefix` may differ by row. Beam search reorders rows
    and is refused.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        prefix: int | Sequence[int] | None = None,
        suffix: int = 0,
        max_length: int | None = None,
    ) -> None:
        self._prefix = prefix
        self._follow = partial(Follower, vocabulary, suffix=suffix, max_length=max_length)
        self._seen: Tensor | None = None
        self._followers: list[Follower] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        if self._seen is None:
            self._followers = self._start(input_ids.tolist())
        else:
            if not torch.equal(input_ids[:, :-1], self._seen):
                raise ReviserError(
                    "the rows are not those of the last step: make a new mask for each generate, and use no beam search"
                )
            for follower, id in zip(self._followers, input_ids[:, -1].tolist(), strict=True):
                follower.take([id])
        self._seen = input_ids
        return _masked(scores, [follower.mask() for follower in self._followers])

    def _start(self, rows: list[list[int]]) -> list[Follower]:
        given = self._prefix
        prefixes = list(given) if isinstance(given, Sequence) else [given] * len(rows)
        return [self._follow(row, prefix=prefix) for row, prefix in zip(rows, prefixes, strict=True)]


class LlamaCppMask:
    """A logits processor for llama-cpp-python: `generate(..., logits_processor=LogitsProcessorList([mask]))`.

    One object serves one run.
    """

    def __init__(
        self, vocabulary: Vocabulary, *, prefix: int | None = None, suffix: int = 0, max_length: int | None = None
    ) -> None:
        self._follow = partial(Follower, vocabulary, prefix=prefix, suffix=suffix, max_length=max_length)
        self._follower: Follower | None = None
        self._seen = 0

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        if self._follower is None:
            self._follower = self._follow(input_ids.tolist())
        else:
            self._follower.take(input_ids[self._seen :].tolist())
        self._seen = len(input_ids)
        mask = self._follower.mask()
        masked = np.full_like(scores, -np.inf)
        masked[: len(mask)][mask] = scores[: len(mask)][mask]
        return masked
