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
from training.samples.histories import Histories

_ROWS = 3
# No canvas is that long.
_ROOM = 1 << 29


@dataclass(frozen=True)
class Minibatch:
    """Rows of histories, and the positions at which the policy acted.

    `places` are the flat positions of the states in which it acted; `numbers` are the indices of these actions
    among all actions, counted episode after episode.
    """

    ids: Tensor
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
    name: int,
) -> list[Minibatch]:
    """Distributes all episodes over minibatches at random; on a GPU each is padded to `rows` rows."""
    states = _states(episodes, rules)
    laid_out = _all_packed(_histories(episodes, vocabulary), row_length, vocabulary.start_id)
    count = math.ceil(len(laid_out) / rows)
    # What is compiled there has one shape.
    wide = rows if device.type == "cuda" else math.ceil(len(laid_out) / count)
    stream = np.uint64(key(name, _ROWS))
    order = [shuffled(row, len(laid_out), stream) for row in range(len(laid_out))]
    return [_minibatch(laid_out[order[at::count]], wide, states, vocabulary.start_id, device) for at in range(count)]


def _histories(episodes: Sequence[Episode], vocabulary: Vocabulary) -> Histories:
    """A history for each episode. Only the policy's own actions count; their targets are their indices."""
    rows = [[vocabulary.start_id, *e.prompt, *e.ids] for e in episodes]
    lengths = np.array([len(row) for row in rows], dtype=np.int32)
    ids = np.full((len(rows), int(lengths.max())), vocabulary.start_id, dtype=np.int32)
    counted = np.zeros(ids.shape, dtype=bool)
    numbers = np.zeros_like(ids)
    first = 0
    for at, (row, episode) in enumerate(zip(rows, episodes, strict=True)):
        ids[at, : len(row)] = row
        acted = slice(len(row) - len(episode.taken), len(row))
        counted[at, acted] = True
        numbers[at, acted] = np.arange(first, first + len(episode.taken))
        first += len(episode.taken)
    return Histories(ids, counted, lengths, 0, numbers)


def _states(episodes: Sequence[Episode], rules: Rules) -> NDArray[np.int64]:
    """For each of the policy's actions: its id, the numbers of tokens left and right of the cursor before it, and
    the room left on the canvas."""
    step, growth = rules.step.cpu().numpy(), rules.growth.cpu().numpy()
    found = []
    for episode in episodes:
        actions = np.array(episode.ids, dtype=np.int64)
        # What an action does shows in the state before the next one.
        left, length = (np.concatenate([[0], np.cumsum(change[actions])[:-1]]) for change in (step, growth))
        every = np.stack([actions, left, length - left, _ROOM - length])
        found.append(every[:, episode.played :])
    return np.concatenate(found, axis=1)


def _all_packed(histories: Histories, row_length: int, padding: int) -> PackedRows:
    """Packs every history; the number of rows grows until all fit."""
    wanted = int(histories.lengths.sum())
    rows = math.ceil(wanted / row_length / (1 - SLACK))
    while True:
        made = packed(histories, rows, row_length, padding)
        if made.ids.size - made.padding == wanted:
            return made
        rows += max(1, rows // 50)


def _minibatch(
    chosen: PackedRows, rows: int, states: NDArray[np.int64], padding: int, device: torch.device
) -> Minibatch:
    length = chosen.ids.shape[1]
    part = PackedRows.joined([chosen, PackedRows.empty(rows - len(chosen), length, padding)])
    row, column = np.nonzero(part.mask)
    numbers = part.wanted[row, column].astype(np.int64)

    def on_device(values: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return Minibatch(
        ids=on_device(part.ids.astype(np.int64)),
        positions=on_device(part.positions.astype(np.int64)),
        # The state of an action is where the id before it was read.
        places=on_device(row * length + column - 1),
        numbers=numbers,
        visited=VisitedStates(*(on_device(values) for values in states[:, numbers])),
    )
