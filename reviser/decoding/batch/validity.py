"""The validity mask as tensors: what each id requires of a canvas, and how it changes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES, Vocabulary

NEVER: Final = 1 << 30
"""A number larger than any count of tokens on a canvas."""
_Side = Literal["left", "right"]
_SIDES: Final[tuple[_Side, ...]] = ("left", "right")


@dataclass(frozen=True)
class Rules:
    """The requirements and effects of each id, one number each: the validity mask in four rows.

    An id is valid where at least `left` tokens stand between the protected prefix and the cursor, `right` between the
    cursor and the protected suffix, and `growth` more fit. It moves the cursor by `step`.
    """

    left: Tensor
    right: Tensor
    growth: Tensor
    step: Tensor

    @classmethod
    def of(cls, vocabulary: Vocabulary, device: torch.device | str = "cpu") -> Rules:
        """The rules of `vocabulary`, on `device`."""
        return cls(*(torch.from_numpy(row).to(device) for row in _found_rules(vocabulary)))

    def valid(self, left: Tensor, right: Tensor, room: Tensor) -> Tensor:
        """Which ids are valid, (rows, ids), given the tokens left, right and the room of each row's canvas."""
        return (self.left <= left[:, None]) & (self.right <= right[:, None]) & (self.growth <= room[:, None])


@lru_cache(maxsize=8)
def _found_rules(vocabulary: Vocabulary) -> tuple[NDArray[np.int32], ...]:
    """The requirements and effects of all ids, found by trying them, so that the canvas alone defines them."""
    for kind in ("span_move", "span_copy"):
        if kind in vocabulary.extensions and kind in vocabulary.kinds:
            raise ReviserError("runs with span moves or span copies are made one at a time")
    reach = max(MOVES)
    growth = np.zeros(vocabulary.size, dtype=np.int32)
    step = np.zeros(vocabulary.size, dtype=np.int32)
    middle = Canvas(vocabulary, [0] * 2 * reach, cursor=reach)
    valid = middle.valid_actions()
    samples = {id: slice(id, id + 1) for id in valid.operators}
    if valid.inserts:
        samples[_insertable(vocabulary)] = slice(0, vocabulary.base_size)
    for id, alike in samples.items():
        middle.apply(middle.action(id))
        growth[alike] = middle.length - 2 * reach
        step[alike] = middle.cursor - reach
        middle.undo()
    left, right = (_lacking(vocabulary, side, reach) for side in _SIDES)
    return left, right, growth, step


def _insertable(vocabulary: Vocabulary) -> int:
    return next(id for id in range(vocabulary.base_size) if id not in vocabulary.never_inserted)


def _lacking(vocabulary: Vocabulary, side: _Side, reach: int) -> NDArray[np.int32]:
    """For each id, the fewest tokens on that side of the cursor with which it is valid."""
    refused = np.zeros(vocabulary.size, dtype=np.int32)
    for tokens in range(reach + 1):
        cursor = tokens if side == "left" else reach
        board = Canvas(vocabulary, [0] * (reach + tokens), cursor=cursor)
        refused += ~board.valid_actions().mask()
    refused[refused > reach] = NEVER
    return refused
