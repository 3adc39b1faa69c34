"""Episodes laid out in packed rows for training, cut into minibatches that stay the same for all epochs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.core.vocabulary import Vocabulary
from reviser.decoding.batch.validity import Rules
from training.batches.packing import SLACK, PackedRows, packed
from training.data.randomness import key, shuffled
from training.ppo.losses import VisitedStates
from training.ppo.rollouts import Episode
from training.samples.generator import Histories

_NOTHING = -1
_ROWS = 3
# No canvas is that long.
_ROOM = 1 << 29


@dataclass(frozen=True)
class Minibatch:
    """Rows of histories, and where in them the policy acted.

    `places` are the flat places of the states in which it did, `numbers` say which of all the
    actions, episode after episode, these are.
    """

    ids: Tensor
    samples: Tensor
    positions: Tensor
    places: Tensor
    numbers: NDArray[np.int64]
    visited: VisitedStates


def minibatches(
    episodes: Sequence[Episode],
    vocabulary: Vocabulary,
    rules: Rules,
    device: torch.device,
    *,
    row_length: int,
    rows: int,
    same_shape: bool,
    name: int,
) -> list[Minibatch]:
    """All episodes, dealt out at random; with `same_shape` every minibatch is filled up to `rows`."""
    flat = _Flat.of(episodes, vocabulary, rules)
    laid_out = _all_packed(flat.places, row_length)
    count = math.ceil(len(laid_out) / rows)
    wide = rows if same_shape else math.ceil(len(laid_out) / count)
    stream = np.uint64(key(name, _ROWS))
    order = [shuffled(row, len(laid_out), stream) for row in range(len(laid_out))]
    return [_minibatch(laid_out, order[at::count], wide, flat, device) for at in range(count)]


@dataclass(frozen=True)
class _Flat:
    """Everything about the ids of all histories, one after the other; `places` says where each is.

    `numbers` counts the policy's own actions and is -1 elsewhere. The others say what stood around
    the cursor before the action.
    """

    ids: NDArray[np.int64]
    numbers: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    room: NDArray[np.int64]
    padding: int
    places: Histories

    @classmethod
    def of(cls, episodes: Sequence[Episode], vocabulary: Vocabulary, rules: Rules) -> _Flat:
        step, growth = rules.step.cpu().numpy(), rules.growth.cpu().numpy()
        lengths = np.array([1 + len(e.prompt) + len(e.ids) for e in episodes], dtype=np.int32)
        total = int(lengths.sum())
        ids, left, length = (np.zeros(total, dtype=np.int64) for _ in range(3))
        acted = np.zeros(total, dtype=bool)
        start = 0
        for episode in episodes:
            first = start + 1 + len(episode.prompt)
            end = first + len(episode.ids)
            actions = np.array(episode.ids, dtype=np.int64)
            ids[start] = vocabulary.start_id
            ids[start + 1 : first] = episode.prompt
            ids[first:end] = actions
            # What an action does shows in the state before the next one.
            left[first + 1 : end] = np.cumsum(step[actions])[:-1]
            length[first + 1 : end] = np.cumsum(growth[actions])[:-1]
            acted[first + episode.played : end] = True
            start = end
        numbers = np.where(acted, np.cumsum(acted) - 1, _NOTHING)
        places = _histories_of_places(lengths, acted)
        room = _ROOM - length
        return cls(ids, numbers, left, length - left, room, vocabulary.start_id, places)


def _histories_of_places(lengths: NDArray[np.int32], acted: NDArray[np.bool_]) -> Histories:
    """Histories whose ids are flat places: laid out in rows, they say what belongs where."""
    width = int(lengths.max())
    starts = np.cumsum(lengths) - lengths
    columns = np.arange(width)
    inside = columns < lengths[:, None]
    places = np.where(inside, starts[:, None] + columns, 0)
    return Histories(places.astype(np.int32), inside & acted[places], lengths, 0)


def _all_packed(histories: Histories, row_length: int) -> PackedRows:
    """Rows that hold every history: a few more are tried until all have found a place."""
    rows = math.ceil(int(histories.lengths.sum()) / row_length / (1 - SLACK))
    wanted = int(histories.lengths.sum())
    while True:
        made = packed(histories, rows, row_length, _NOTHING)
        if made.ids.size - made.padding == wanted:
            return made
        rows += max(1, rows // 50)


def _minibatch(laid_out: PackedRows, chosen: Sequence[int], rows: int, flat: _Flat, device: torch.device) -> Minibatch:
    length = laid_out.ids.shape[1]
    part = PackedRows.empty(rows, length, _NOTHING)
    for name in ("ids", "mask", "samples", "positions"):
        getattr(part, name)[: len(chosen)] = getattr(laid_out, name)[chosen]
    row, column = np.nonzero(part.mask)
    here = part.ids[row, column]
    ids = np.where(part.ids >= 0, flat.ids[part.ids], flat.padding)

    def on_device(values: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return Minibatch(
        ids=on_device(ids),
        samples=on_device(part.samples),
        positions=on_device(part.positions.astype(np.int64)),
        # The state of an action is where the id before it was read.
        places=on_device(row * length + column - 1),
        numbers=flat.numbers[here],
        visited=VisitedStates(
            on_device(flat.ids[here]),
            on_device(flat.left[here]),
            on_device(flat.right[here]),
            on_device(flat.room[here]),
        ),
    )
