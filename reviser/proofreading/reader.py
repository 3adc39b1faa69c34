"""Proofreading a passage: the model's corrections, each with a confidence of its own.

A proofreading model starts at the end of a passage and makes its corrections from the end backward, then stops. Between two
corrections it decides what comes next: the probability of the whole next correction, from the moves that lead there to the last
token that it writes, is the confidence in it. So each correction is judged by itself. One that is doubted is not made, and
takes none of the others with it: the reader goes on as if it had been made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES, Vocabulary
from reviser.decoding.rollout import seed
from reviser.decoding.sampler import Scores
from reviser.native.top_k import summarise

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


@dataclass(frozen=True, slots=True)
class Prospects:
    """What a reader needs to know of the model's scores.

    `token` is the likeliest token to write, `token_score` its score, and `tokens_total` the logarithm of the sum of the
    exponentials of all tokens' scores. `operators` are the scores of the ids behind the tokens.
    """

    token: int
    token_score: float
    tokens_total: float
    operators: list[float]


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

    def prospects(self, scores: Scores) -> list[Prospects]:
        """What rows of scores say, each row by itself."""
        tokens = summarise(scores, self.insertable)
        operators = scores[:, self.vocabulary.base_size :]
        return [
            Prospects(*row)
            for row in zip(
                tokens.ids.tolist(),
                tokens.highest.tolist(),
                tokens.log_totals.tolist(),
                operators.tolist(),
                strict=True,
            )
        ]


class Reader:
    """One reading of one passage, fed with the model's scores one action after the other.

    `history` is what the model reads first, and `canvas` holds it. `advance` takes its scores and returns the next id to show it, or None when
    the reading is over; `act` does so where the scores of several readers were looked at together. Then `corrections`
    holds what was found, from the end backward.
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
        self.rules = rules
        self._floor = floor
        self.most_actions = most_actions
        self._taken = 0
        self.canvas, self.history = seed(rules.vocabulary, left, right, draft=passage)
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
        return self.act(self.rules.prospects(scores[None])[0])

    def act(self, prospects: Prospects) -> int | None:
        """The next id by these prospects; None where the reading ends."""
        if self._taken == self.most_actions:
            return None
        self._taken += 1
        stop, back = self.rules.vocabulary.stop_id, self.rules.back
        chances = self._chances(prospects)
        if self.changing:
            best = max(chances, key=chances.__getitem__)
            if best == stop or best in back:
                chances = self._finish(chances)
        if not self.changing and not self._moved:
            stopping = math.exp(chances.pop(stop))
            if stopping > 1 - self._floor or not chances:
                return None
        best = max(chances, key=chances.__getitem__)
        if not math.isfinite(chances[best]):
            return None
        self._chance += chances[best]
        if best in back:
            crossed = min(back[best], self._between)
            self._between -= crossed
            self._cursor -= back[best] - crossed
            self._moved = True
        elif best == self.rules.vocabulary.delete_id:
            self._deleted += 1
        else:
            self._written.append(best)
        return best

    @property
    def changing(self) -> bool:
        """Whether a change was begun that is not over."""
        return self._deleted > 0 or bool(self._written)

    def _chances(self, prospects: Prospects) -> dict[int, float]:
        """Log-probabilities of the likeliest token and of the operators that may come next here, by id."""
        vocabulary = self.rules.vocabulary
        place = self._cursor - self._deleted
        room = place + self._between + len(self._written)
        ids = [id for id, distance in self.rules.back.items() if distance <= room]
        if not self._between and not self._written and place > 0:
            ids.append(vocabulary.delete_id)
        # A way that was begun leads to a change.
        if self.changing or not self._moved:
            ids.append(vocabulary.stop_id)
        # Of equal ones the lowest id is chosen, and the token's is lower than all of these.
        scores = {id: prospects.operators[id - vocabulary.base_size] for id in sorted(ids)}
        if self._between:
            total = log_sum(list(scores.values()))
            return {id: score - total for id, score in scores.items()}
        total = log_sum([prospects.tokens_total, *scores.values()])
        if prospects.token >= 0:
            scores = {prospects.token: prospects.token_score, **scores}
        return {id: score - total for id, score in scores.items()}

    def _finish(self, chances: dict[int, float]) -> dict[int, float]:
        """Write down the change that ends here; what comes next is judged by itself, given that something does."""
        ends = {
            id: chance
            for id, chance in chances.items()
            if id == self.rules.vocabulary.stop_id or id in self.rules.back
        }
        ending = log_sum(list(ends.values()))
        start = self._cursor - self._deleted
        confidence = math.exp(self._chance + ending)
        if confidence >= self._floor:
            tokens = tuple(self._written)
            self.corrections.append(Correction(start, self._cursor, tokens, confidence))
        self._cursor, self._between, self._chance = start, len(self._written), 0.0
        self._moved, self._deleted, self._written = False, 0, []
        return {id: chance - ending for id, chance in ends.items()}


def log_sum(logarithms: Sequence[float]) -> float:
    """The logarithm of the sum of what these are logarithms of."""
    most = max(logarithms)
    if most == -math.inf:
        return most
    return most + math.log(sum(math.exp(one - most) for one in logarithms))
