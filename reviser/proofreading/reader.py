"""Proofreading a passage: the model's corrections, each with a confidence of its own.

A proofreading model starts at the end of a passage and makes its corrections from the end backward, then stops. Between two
corrections it decides what comes next: the chance of the whole next correction, from the moves that lead there to the last
token that it writes, is the confidence in it. So each correction is judged by itself. One that is doubted is not made, and
takes none of the others with it: the reader goes on as if it had been made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES, Vocabulary
from reviser.decoding.rollout import Scores, seed

FLOOR: Final = 0.1
"""Corrections of less confidence than this are not even looked for."""
MOST_ACTIONS: Final = 160
"""Actions of one reading, at the most."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Tokens `start` to `end` of a passage are replaced by `tokens`."""

    start: int
    end: int
    tokens: tuple[int, ...]
    confidence: float


def corrected(passage: Sequence[int], corrections: Sequence[Correction]) -> list[int]:
    """The passage with corrections made; no two of them overlap."""
    tokens = list(passage)
    for one in sorted(corrections, key=lambda one: (one.start, one.end), reverse=True):
        tokens[one.start : one.end] = one.tokens
    return tokens


class Rules:
    """The ids that a reader chooses among, for a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        if not vocabulary.revises:
            raise ReviserError("this model was not trained to revise: its vocabulary has no Delete")
        self.vocabulary = vocabulary
        self.back = {
            vocabulary.first_move_id + number: -delta
            for number, delta in enumerate(MOVES)
            if delta < 0
        }
        self.insertable = np.ones(vocabulary.base_size, dtype=np.bool_)
        self.insertable[list(vocabulary.never_inserted)] = False


class Reader:
    """One reading of one passage, fed with the model's scores one action after the other.

    `history` is what the model reads first. `advance` takes its scores and returns the next id to show it, or None when
    the reading is over. Then `corrections` holds what was found, from the end backward.
    """

    def __init__(
        self,
        rules: Rules,
        passage: Sequence[int],
        left: Sequence[int] = (),
        right: Sequence[int] = (),
        *,
        floor: float = FLOOR,
        most_actions: int = MOST_ACTIONS,
    ) -> None:
        self._rules = rules
        self._floor = floor
        self.most_actions = most_actions
        self._taken = 0
        _, self.history = seed(rules.vocabulary, left, right, draft=passage)
        self.corrections: list[Correction] = []
        # Everything before the cursor is as it was given, as corrections are made from the end backward.
        self._cursor = len(passage)
        # The last correction's new tokens, which lie between that place and the model's cursor.
        self._between = 0
        self._chance = 0.0
        self._moved = False
        self._deleted = 0
        self._written: list[int] = []

    def advance(self, scores: Scores) -> int | None:
        """The next id after these scores; None where the reading ends."""
        vocabulary = self._rules.vocabulary
        if self._taken == self.most_actions:
            return None
        self._taken += 1
        chances = self._chances(scores)
        stop, delete = vocabulary.stop_id, vocabulary.delete_id
        if self.changing:
            best = int(chances.argmax())
            if best == stop or best in self._rules.back:
                self._finish(chances)
        if not self.changing and not self._moved:
            if math.exp(chances[stop]) > 1 - self._floor:
                return None
            chances[stop] = -np.inf
        best = int(chances.argmax())
        if not math.isfinite(chances[best]):
            return None
        self._chance += float(chances[best])
        if best in self._rules.back:
            crossed = min(self._rules.back[best], self._between)
            self._between -= crossed
            self._cursor -= self._rules.back[best] - crossed
            self._moved = True
        elif best == delete:
            self._deleted += 1
        else:
            self._written.append(best)
        return best

    @property
    def changing(self) -> bool:
        """Whether a change was begun that is not over."""
        return self._deleted > 0 or bool(self._written)

    def _chances(self, scores: Scores) -> NDArray[np.float64]:
        """Logarithms of the chances of what may come next here."""
        vocabulary = self._rules.vocabulary
        allowed = np.zeros(len(scores), dtype=np.bool_)
        place = self._cursor - self._deleted
        if not self._between:
            allowed[: vocabulary.base_size] = self._rules.insertable
            allowed[vocabulary.delete_id] = not self._written and place > 0
        room = place + self._between + len(self._written)
        for id, distance in self._rules.back.items():
            allowed[id] = distance <= room
        # A way that was begun leads to a change.
        allowed[vocabulary.stop_id] = self.changing or not self._moved
        found = np.where(allowed, scores.astype(np.float64), -np.inf)
        found -= found.max()
        found -= math.log(np.exp(found).sum())
        return found

    def _finish(self, chances: NDArray[np.float64]) -> None:
        """Write down the change that ends here, and be between two changes again."""
        vocabulary = self._rules.vocabulary
        ends = [*self._rules.back, vocabulary.stop_id]
        ending = np.logaddexp.reduce(chances[ends])
        start = self._cursor - self._deleted
        confidence = math.exp(self._chance + float(ending))
        if confidence >= self._floor:
            tokens = tuple(self._written)
            self.corrections.append(Correction(start, self._cursor, tokens, confidence))
        # What comes next is judged by itself, given that something does.
        others = np.ones(len(chances), dtype=np.bool_)
        others[ends] = False
        chances[others] = -np.inf
        chances -= ending
        self._cursor, self._between, self._chance = start, len(self._written), 0.0
        self._moved, self._deleted, self._written = False, 0, []
