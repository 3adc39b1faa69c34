"""What would be said again: the token whose insertion would write, for a second time, a run of four tokens.

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
GRAM = 4
_SKIPPED, _INSERT, _MOVE, _DELETE, _DRAFT = range(5)


@compiled
def _said_again(
    before: NDArray[np.int32], size: int, after: NDArray[np.int32], rest: int, gram: int
) -> int:
    """What followed the last `gram - 1` tokens of `before` when they last stood there, or next stand in `after`.

    `after` is in reverse: the token next to the cursor is its last.
    """
    given = gram - 1
    if size < given:
        return NOTHING
    for end in range(size - 1, given - 1, -1):
        same = True
        for back in range(1, given + 1):
            if before[end - back] != before[size - back]:
                same = False
                break
        if same:
            return int(before[end])
    for end in range(rest - 1 - given, -1, -1):
        same = True
        for back in range(1, given + 1):
            if after[end + back] != before[size - back]:
                same = False
                break
        if same:
            return int(after[end])
    return NOTHING


@compiled
def _find(
    ids: NDArray[np.int32],
    wanted: NDArray[np.int32],
    counted: NDArray[np.bool_],
    positions: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    steps: NDArray[np.int32],
    gram: int,
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
                again = _said_again(before, size, after, rest, gram)
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

    def __init__(self, vocabulary: Vocabulary, gram: int = GRAM) -> None:
        if extended := sorted(set(vocabulary.extensions) & vocabulary.kinds):
            raise ReviserError(f"repetitions are not found where {extended[0]} is learned")
        self.gram = gram
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
            self.gram,
            found,
        )
        return replace(rows, unwanted=found)
