"""Repetitions: the token whose insertion would repeat a sequence of tokens, or a single one.

A small model repeats itself more often than people do, and each repetition makes the next one likelier. A run can ask
that a repetition which the text does not make be unlikely (`Settings.repeats`); this finds them.

Of one token alone there may be hundreds at a place. They are not listed: it is enough to know of each token how long it
is the last of its kind, from which the loss finds them (`training.trainer.loss.said_before`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from training.batches.packing import Rows
from training.dagger.oracle import CURSOR, KNOWN_KINDS, LENGTH, NUMBERS, apply
from training.data.randomness import compiled
from training.edits.alignment import Tokens
from training.edits.edit_samples import DRAFT, START, ids_of
from training.edits.edits import operators_of

NOTHING = -1
# How many tokens before the cursor are read, and how many make a repetition together with the one to come.
_READ = 3
LENGTHS = range(1, _READ + 2)
WINDOW = 256
"""How many places back a token of its own is found."""


@compiled
def _alike(tokens: Tokens, end: int, cursor: int, most: int) -> int:
    """How many tokens before `end` are those before the cursor, `most` or as many as are read."""
    same = 0
    while same < min(most, _READ) and tokens[end - same - 1] == tokens[cursor - same - 1]:
        same += 1
    return same


@compiled
def _said_again(tokens: Tokens, length: int, cursor: int, least: int) -> int:
    """What follows the tokens before the cursor where as many of them as possible, `least` or more, stand a second time.

    Of such places the last before the cursor counts, or else the first behind it.
    """
    found, best = NOTHING, least - 1
    for end in range(cursor - 1, least - 1, -1):
        same = _alike(tokens, end, cursor, end)
        if same > best:
            found, best = int(tokens[end]), same
    for end in range(cursor + least, length):
        same = _alike(tokens, end, cursor, min(end - cursor, cursor))
        if same > best:
            found, best = int(tokens[end]), same
    return found


@compiled
def _find(
    ids: Tokens,
    wanted: Tokens,
    counted: NDArray[np.bool_],
    known: NDArray[np.int64],
    base_size: int,
    least: int,
    found: Tokens,
) -> None:
    tokens = np.empty(ids.shape[1], dtype=np.int32)
    numbers = np.zeros(NUMBERS, dtype=np.int64)
    for row in range(ids.shape[0]):
        revising = False
        for place in range(ids.shape[1]):
            id, target = ids[row, place], wanted[row, place]
            if counted[row, place] and not revising and target < base_size:
                again = _said_again(tokens, numbers[LENGTH], numbers[CURSOR], least)
                if again != target:
                    found[row, place] = again
            if id == known[START]:
                numbers[:] = 0
                revising = False
            elif id == known[DRAFT]:
                revising = True
            else:
                apply(id, tokens, numbers, known)


@compiled
def _find_lasting(
    ids: Tokens,
    counted: NDArray[np.bool_],
    known: NDArray[np.int64],
    base_size: int,
    found: Tokens,
) -> None:
    last = np.empty(base_size, dtype=np.int64)
    for row in range(ids.shape[0]):
        last[:] = NOTHING
        begin, revising = 0, False
        for place in range(ids.shape[1]):
            id = ids[row, place]
            if id == known[START]:
                _end(found[row], begin, place)
                begin, revising = place, False
            elif id == known[DRAFT]:
                revising = True
            elif id < base_size and counted[row, place] and not revising:
                if last[id] >= begin:
                    found[row, last[id]] = place - last[id]
                found[row, place] = ids.shape[1]
                last[id] = place
        _end(found[row], begin, ids.shape[1])


@compiled
def _end(found: Tokens, begin: int, end: int) -> None:
    """Nothing lasts beyond the end of its sample."""
    for place in range(begin, end):
        found[place] = min(found[place], end - place)


class Repeats:
    """Finds tokens that would be repetitions, in rows of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary, length: int) -> None:
        """A repetition has `length` tokens or more."""
        others = sorted(set(vocabulary.extensions) & vocabulary.kinds - KNOWN_KINDS)
        if others and length > 1:
            raise ReviserError(f"repetitions are not found where {others[0]} is learned")
        self.length = length
        self._base_size = vocabulary.base_size
        self._ids = ids_of(vocabulary, operators_of(vocabulary))

    def marked(self, rows: Rows) -> Rows:
        """The rows, with the token that would be a repetition in the place of each id that counts and is inserted.

        Of one token alone, all that count are marked instead, with how long each lasts. Where people revise a draft
        nothing is marked: the text around it may be repeated there.
        """
        if self.length == 1:
            lasting = np.zeros_like(rows.ids)
            _find_lasting(rows.ids, rows.mask, self._ids, self._base_size, lasting)
            return replace(rows, lasting=lasting)
        found = np.full_like(rows.ids, NOTHING)
        known, least = self._ids, self.length - 1
        _find(rows.ids, rows.wanted, rows.mask, known, self._base_size, least, found)
        return replace(rows, unwanted=found)
