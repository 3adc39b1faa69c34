"""Rows that a tiny model can learn, for tests of the trainer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from training.batches.packing import PackedRows
from training.trainer.parallel import World

WORDS, ROWS, LENGTH = 40, 8, 32
WORLD = World(0, 1, torch.device("cpu"), "none")


class Chains:
    """Rows in which each id is one of two that may follow the last: something a tiny model can learn."""

    waited = 0.0

    def batches(self, first: int) -> Iterator[PackedRows]:
        number = first
        while True:
            noise = np.random.default_rng(number)
            ids = np.zeros((ROWS, LENGTH), dtype=np.int32)
            ids[:, 0] = noise.integers(0, WORDS, ROWS)
            for at in range(1, LENGTH):
                ids[:, at] = (7 * ids[:, at - 1] + 3 + noise.integers(0, 2, ROWS)) % WORDS
            samples = np.zeros_like(ids)
            positions = np.broadcast_to(np.arange(LENGTH, dtype=np.int32), ids.shape).copy()
            yield PackedRows(ids, np.ones(ids.shape, dtype=bool), samples, positions)
            number += 1
