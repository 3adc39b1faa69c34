"""What would be said again: the token whose insertion would write some tokens for a second time.

A small model repeats itself more often than people do, and each repetition makes the next one likelier. A run can ask
that a repetition which the text does not make be unlikely (`Settings.repeats`); this finds them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reviser.errors import ReviserError
from reviser.vocabulary import MOVES, Vocabulary
from training.packing import Rows
from training.randomness import compiled

NOTHING = -1
# How many tokens before the cursor are read, and how many make a repetition together with the one to come.
_READ = 3
LENGTHS = range(2, _READ + 2)
_SKIPPED, _INSERT, _MOVE, _DELETE, _DRAFT = range(5)


@compiled
def _said_again(
    before: NDArray[np.int32], size: int, after: NDArray[np.int32], rest: int, least: int
) -> int:
    """What follows the last tokens of `before` where as many of them as possible, `least` or more, stand a second time.

    Of such places the last before the cursor counts, or else the first behind it. `after` is in reverse: the token next to
    the cursor is its last.
    """
    found, best = NOTHING, least - 1
    for end in range(size - 1, least - 1, -1):
        most = min(end, _READ)
        same = 0
        while same < most and before[end - same - 1] == before[size - same - 1]:
            same += 1
        if same > best:
            found, best = int(before[end]), same
            if best == _READ:
                return found
    for end in range(rest - 1 - least, -1, -1):
        most = min(rest - 1 - end, _READ, size)
        same = 0
        while same < most and after[end + same + 1] == before[size - same - 1]:
            same += 1
        if same > best:
            found, best = int(after[end]), same
            if best == _READ:
                return found
    return found


@compiled
def _find(
    ids: NDArray[np.int32],
    wanted: NDArray[np.int32],
    counted: NDArray[np.bool_],
    positions: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    steps: NDArray[np.int32],
    least: int,
    found: NDArray[np.int32],
) -> None:
    length = ids.shape[1]
    # The text on each side of the cursor, the tokens next to it last.
    before = np.empty(length, dtype=np.int32)
    after = np.empty(length, dtype=np.int32)
    for row in range(ids.shape[0]):
        size = rest = 0
        revising = False
        for place in range(length):
            if positions[row, place] == 0:
                size = rest = 0
                revising = False
            id = ids[row, place]
            target = wanted[row, place]
            if counted[row, place] and not revising and kinds[target] == _INSERT:
                again = _said_again(before, size, after, rest, least)
                if again != target:
                    found[row, place] = again
            kind = kinds[id]
            if kind == _INSERT:
                before[size] = id
                size += 1
            elif kind == _DELETE:
                size -= 1
            elif kind == _DRAFT:
                revising = True
            elif kind == _MOVE:
                for _ in range(-steps[id]):
                    size -= 1
                    after[rest] = before[size]
                    rest += 1
                for _ in range(steps[id]):
                    rest -= 1
                    before[size] = after[rest]
                    size += 1


class Repeats:
    """Finds what would be said again, in rows of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary, length: int) -> None:
        """A repetition has `length` tokens or more."""
        if extended := sorted(set(vocabulary.extensions) & vocabulary.kinds):
            raise ReviserError(f"repetitions are not found where {extended[0]} is learned")
        self.length = length
        self._kinds = np.full(vocabulary.size, _SKIPPED, dtype=np.uint8)
        self._steps = np.zeros(vocabulary.size, dtype=np.int32)
        self._kinds[: vocabulary.base_size] = _INSERT
        self._kinds[vocabulary.delete_id] = _DELETE
        self._kinds[vocabulary.draft_id] = _DRAFT
        moves = slice(vocabulary.move_ids.start, vocabulary.move_ids.stop)
        self._kinds[moves] = _MOVE
        self._steps[moves] = MOVES

    def marked(self, rows: Rows) -> Rows:
        """The rows with what would be said again in the place of each id that counts and is inserted.

        Where people revise a draft nothing is marked: what stands around it may well be said again there.
        """
        found = np.full_like(rows.ids, NOTHING)
        _find(
            rows.ids,
            rows.wanted,
            rows.mask,
            rows.positions,
            self._kinds,
            self._steps,
            self.length - 1,
            found,
        )
        return replace(rows, unwanted=found)
