"""The sampler: from the logits of valid ids to one id, by temperature, top-k, top-p and min-p."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import ValidIds, Vocabulary
from reviser.decoding.random_numbers import Random, RandomState
from reviser.native.choosing import RANKED, Chooser, DrawingRule, certain, make_chooser

Scores = NDArray[np.float32]

MOVE_TEMPERATURE: Final = 0.35
"""The default temperature of moves: see docs/results/move-temperature.md."""


class Choice(NamedTuple):
    """An id that was chosen, its probability, and the other candidates, likeliest first."""

    id: int
    probability: float
    ranking: bytes
    """The candidates and their probabilities in the layout of `RANKED`; decoded when they are read, since few callers
    do."""

    @classmethod
    def certain(cls, id: int) -> Choice:
        """A choice that was not drawn, with probability 1."""
        return cls(id, 1.0, certain(id))

    @property
    def candidates(self) -> NDArray[np.int64]:
        return np.frombuffer(self.ranking, dtype=RANKED)["id"]

    @property
    def probabilities(self) -> NDArray[np.float64]:
        return np.frombuffer(self.ranking, dtype=RANKED)["probability"]


class Sampler:
    """Picks an id from logits: the mask first, then temperature, top-k, top-p and min-p.

    Temperature 0 is greedy. Moves may have a lower temperature than text, `move_temperature`. It changes which move is
    chosen, and after a move whether another one follows. It does not change how likely the first move is: its odds are
    `move_odds` times those of the model. A `move_temperature` of None means one temperature for all, and the model's
    own odds, as in the paper. The same seed makes the same choices from the same logits.
    """

    def __init__(
        self,
        temperature: float = 0.9,
        top_k: int | None = 50,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int | None = None,
        *,
        move_temperature: float | None = MOVE_TEMPERATURE,
        move_odds: float = 1.0,
    ) -> None:
        if not 0 <= temperature < math.inf:
            raise ReviserError("the temperature must be 0 or more, and finite")
        if move_temperature is not None and not 0 < move_temperature < math.inf:
            raise ReviserError("the temperature of moves must be above 0, and finite")
        if not 0 <= move_odds < math.inf:
            raise ReviserError("the odds of moves must be 0 or more, and finite")
        if top_k is not None and top_k < 1:
            raise ReviserError("top-k must be 1 or more")
        if not 0 < top_p <= 1:
            raise ReviserError("top-p must be above 0 and at most 1")
        if not 0 <= min_p <= 1:
            raise ReviserError("min-p must lie between 0 and 1")
        self.temperature = temperature
        self.top_k = top_k
        self.top_p = top_p
        self.min_p = min_p
        self.seed = seed
        self.move_temperature = move_temperature
        self.move_odds = move_odds
        self._random = Random(seed)
        self._settings: tuple[object, ...] = ()
        self._chooser: Chooser

    @classmethod
    def greedy(cls) -> Sampler:
        return cls(temperature=0.0, top_k=1)

    @property
    def state(self) -> RandomState:
        """The state of its random numbers; setting it makes later choices repeat."""
        return self._random.state

    @state.setter
    def state(self, state: RandomState) -> None:
        self._random.state = state

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        """Pick one of the valid ids; `moving` says that the last action was a move."""
        drawn = self._random.random() if self.temperature else 0.0
        found = self._chooser_for(valid.vocabulary).choose(scores, valid.mask(), moving, drawn)
        if found is None:
            if self.temperature:
                self._random.take_back()
            raise InvalidAction("the policy gives no valid action any chance")
        return Choice(*found)

    def _chooser_for(self, vocabulary: Vocabulary) -> Chooser:
        """The chooser for the present settings; they seldom change, so the last one is kept."""
        settings = (
            *(self.temperature, self.top_k, self.top_p, self.min_p),
            *(self.move_temperature, self.move_odds, vocabulary.move_ids),
        )
        if settings != self._settings:
            self._settings = settings
            self._chooser = make_chooser(self._rule(vocabulary.move_ids))
        return self._chooser

    def _rule(self, moves: range) -> DrawingRule:
        if self.temperature == 0:
            return DrawingRule(1)
        cut = (self.top_k, self.temperature, self.top_p, self.min_p)
        if self.move_temperature is None:
            return DrawingRule(*cut)
        power = max(self.temperature / self.move_temperature, 1.0)
        return DrawingRule(*cut, moves, power, self.move_odds)
