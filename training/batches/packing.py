"""Packing: several whole histories are placed in each row of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from training.data.randomness import compiled
from training.samples.histories import Histories

NOWHERE = -1
SLACK = 0.01


@dataclass(frozen=True)
class PackedRows:
    """Rows of ids for a trainer, all (rows, length).

    `mask` is True where an id is a target of the loss. `samples` is the number of the sample at each position,
    -1 for padding; a position attends to earlier ones of the same sample. `positions` start from 0 in each
    sample. Where rows hold actions that should not have been taken, `targets` has the right id for each position.
    """

    ids: NDArray[np.int32]
    mask: NDArray[np.bool_]
    samples: NDArray[np.int32]
    positions: NDArray[np.int32]
    targets: NDArray[np.int32] | None = None

    @classmethod
    def empty(cls, rows: int, length: int, padding: int) -> PackedRows:
        shape = (rows, length)
        return cls(
            np.full(shape, padding, dtype=np.int32),
            np.zeros(shape, dtype=bool),
            np.full(shape, -1, dtype=np.int32),
            np.zeros(shape, dtype=np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence[PackedRows]) -> PackedRows:
        if len(parts) == 1:
            return parts[0]
        names = {name: name for name in ("ids", "mask", "samples", "positions")}
        if any(part.targets is not None for part in parts):
            names["targets"] = "wanted"
        return cls(
            **{name: np.concatenate([getattr(part, source) for part in parts]) for name, source in names.items()}
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice | list[int]) -> PackedRows:
        return PackedRows(
            self.ids[rows],
            self.mask[rows],
            self.samples[rows],
            self.positions[rows],
            None if self.targets is None else self.targets[rows],
        )

    @property
    def wanted(self) -> NDArray[np.int32]:
        """The target id of the loss at each position."""
        return self.ids if self.targets is None else self.targets

    @property
    def padding(self) -> int:
        """The number of positions that are padding."""
        return int((self.samples < 0).sum())


@compiled
def _best_fit(
    lengths: NDArray[np.int32], order: NDArray[np.int64], width: int, space: NDArray[np.int64], rows: NDArray[np.int64]
) -> None:
    """Assigns each history, in `order`, the row in which it leaves the least space; updates `space`, the room left."""
    # Rows with the same space left form a list: the first of each, and for each row the next.
    first = np.full(width + 1, NOWHERE, dtype=np.int64)
    following = np.full(space.size, NOWHERE, dtype=np.int64)
    for row in range(space.size - 1, -1, -1):
        following[row] = first[space[row]]
        first[space[row]] = row
    for history in order:
        length = np.int64(lengths[history])
        left = length
        while left <= width and first[left] == NOWHERE:
            left += 1
        rows[history] = NOWHERE
        if left <= width:
            row = first[left]
            rows[history] = row
            first[left] = following[row]
            space[row] = left - length
            following[row] = first[left - length]
            first[left - length] = row


@compiled
def _lay_out(
    ids: NDArray[np.int32],
    counted: NDArray[np.bool_],
    lengths: NDArray[np.int32],
    rows: NDArray[np.int64],
    row_ids: NDArray[np.int32],
    row_mask: NDArray[np.bool_],
    row_samples: NDArray[np.int32],
    row_positions: NDArray[np.int32],
) -> None:
    used = np.zeros(row_ids.shape[0], dtype=np.int64)
    samples = np.zeros(row_ids.shape[0], dtype=np.int32)
    for history in range(lengths.size):
        row = rows[history]
        if row == NOWHERE:
            continue
        for at in range(lengths[history]):
            place = used[row] + at
            row_ids[row, place] = ids[history, at]
            row_mask[row, place] = counted[history, at]
            row_samples[row, place] = samples[row]
            row_positions[row, place] = at
        used[row] += lengths[history]
        samples[row] += 1


def packed(histories: Histories, rows: int, length: int, padding: int) -> PackedRows:
    """Packs histories into `rows` rows, the longest first; histories that do not fit are left out.

    Only the first histories are considered, about as many as the rows can hold, so that those left out
    are not mostly of one kind.
    """
    room = rows * length * (1 - SLACK)
    fitting = int(np.searchsorted(np.cumsum(histories.lengths), room, side="right"))
    lengths = histories.lengths[:fitting]
    places = np.empty(fitting, dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    _best_fit(lengths, order, length, np.full(rows, length, dtype=np.int64), places)
    histories = histories.first(fitting)
    made = PackedRows.empty(rows, length, padding)
    parts = (made.mask, made.samples, made.positions)
    _lay_out(histories.ids, histories.counted, histories.lengths, places, made.ids, *parts)
    if histories.targets is None:
        return made
    targets = np.full_like(made.ids, padding)
    _lay_out(histories.targets, histories.counted, histories.lengths, places, targets, *parts)
    return replace(made, targets=targets)
