"""Arrays of texts and of the histories that write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.samples.obfuscation import Task

Tokens = NDArray[np.int32]


class Texts(NamedTuple):
    """Many texts in one array, each with its task; also for compiled code."""

    tokens: Tokens
    offsets: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    prefixes: NDArray[np.int32]
    suffixes: NDArray[np.int32]
    p_deletes: NDArray[np.float64]
    optional: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]], tasks: Sequence[Task]) -> Texts:
        sizes = [len(text) for text in texts]
        optional = [length for task, size in zip(tasks, sizes, strict=True) for length in task.optional or [0] * size]
        return cls(
            np.array([token for text in texts for token in text], dtype=np.int32),
            np.cumsum([0, *sizes], dtype=np.int64),
            np.array([task.kind for task in tasks], dtype=np.uint8),
            np.array([task.prefix for task in tasks], dtype=np.int32),
            np.array([task.suffix for task in tasks], dtype=np.int32),
            np.array([task.p_delete for task in tasks], dtype=np.float64),
            np.array(optional, dtype=np.uint8),
        )

    def text(self, sample: int) -> list[int]:
        tokens: list[int] = self.tokens[self.offsets[sample] : self.offsets[sample + 1]].tolist()
        return tokens


@dataclass(frozen=True)
class Histories:
    """Histories, one a row, padded at the end: ids, lengths, and a mask of the ids that count in the loss.

    The target at each position is the id itself, unless `targets` has another: a history may contain actions
    that should not have been taken.
    """

    ids: Tokens
    counted: NDArray[np.bool_]
    lengths: NDArray[np.int32]
    fallbacks: int
    targets: Tokens | None = None

    @classmethod
    def of(cls, ids: Tokens, given: NDArray[np.int32], lengths: NDArray[np.int32], fallbacks: int = 0) -> Histories:
        """Histories in which all counts behind the given ids."""
        places = np.arange(ids.shape[1], dtype=np.int32)
        return cls(ids, (places >= given[:, None]) & (places < lengths[:, None]), lengths, fallbacks)

    def __len__(self) -> int:
        return len(self.lengths)

    def first(self, count: int) -> Histories:
        return self.taken(slice(count))

    def taken(self, rows: slice | NDArray[np.int64]) -> Histories:
        """The histories with these row numbers, in this order."""
        targets = None if self.targets is None else self.targets[rows]
        return Histories(self.ids[rows], self.counted[rows], self.lengths[rows], self.fallbacks, targets)

    @classmethod
    def joined(cls, parts: Sequence[Histories]) -> Histories:
        """Concatenates the histories of `parts`, which have the same width."""
        targets = None
        if any(part.targets is not None for part in parts):
            targets = np.concatenate([part.ids if part.targets is None else part.targets for part in parts])
        return cls(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.counted for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            sum(part.fallbacks for part in parts),
            targets,
        )
