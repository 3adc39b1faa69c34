"""The sampling rule: from the logits of valid ids to one id, by temperature, top-k, top-p and min-p."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import ValidIds
from reviser.decoding.random_numbers import Random, RandomState
from reviser.native.top_k import top_k_probabilities

Scores = NDArray[np.float32]

MOVE_TEMPERATURE: Final = 0.35
"""The default temperature of moves: see docs/results/move-temperature.md."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An id that was picked, how likely that was, and what else could have been, likeliest first."""

    id: int
    probability: float
    candidates: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    @classmethod
    def certain(cls, id: int) -> Choice:
        """A choice that nobody drew."""
        return cls(id, 1.0, np.array([id]), np.ones(1))


class Sampler:
    """Picks an id from logits: the mask first, then temperature, top-k, top-p and min-p.

    Temperature 0 is greedy. Moves may have a lower temperature than text, `move_temperature`. It changes which
    move is chosen, and after a move whether another one follows. It does not change how likely the first move is: its
    odds are `move_odds` times those that the model gives. A `move_temperature` of None means one temperature for all, and the
    model's own odds, as in the paper. The same seed makes the same choices from the same logits.
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

    @classmethod
    def greedy(cls) -> Sampler:
        return cls(temperature=0.0, top_k=1)

    @property
    def state(self) -> RandomState:
        """Where in its stream of random numbers it is; to set it makes the choices after it come again."""
        return self._random.state

    @state.setter
    def state(self, state: RandomState) -> None:
        self._random.state = state

    def choose(self, scores: Scores, valid: ValidIds, *, moving: bool = False) -> Choice:
        """Pick one of the valid ids; `moving` says that the last action was a move."""
        greedy = self.temperature == 0
        count = 1 if greedy else self.top_k or len(scores)
        candidates, probabilities = top_k_probabilities(
            scores, valid.mask(), count, 1.0 if greedy else self.temperature
        )
        if not len(candidates) or not math.isfinite(scores[candidates[0]]):
            raise InvalidAction("the policy gives no valid action any chance")
        if self.top_p < 1 or self.min_p > 0:
            keep = self._cut(probabilities)
            candidates, probabilities = candidates[:keep], probabilities[:keep]
            probabilities /= probabilities.sum()
        falling = probabilities
        if self.move_temperature is not None and not greedy:
            power = max(self.temperature / self.move_temperature, 1.0)
            moves = valid.vocabulary.move_ids
            probabilities = with_sharper_moves(
                candidates, probabilities, moves, power, moving, self.move_odds
            )
        picked = 0 if greedy else _draw(probabilities, self._random.random())
        id, probability = int(candidates[picked]), float(probabilities[picked])
        if probabilities is not falling:
            order = np.argsort(-probabilities, kind="stable")
            candidates, probabilities = candidates[order], probabilities[order]
        return Choice(id, probability, candidates, probabilities)

    def _cut(self, probabilities: NDArray[np.float64]) -> int:
        """How many of the falling probabilities top-p and min-p leave; always one at least."""
        keep = len(probabilities)
        if self.top_p < 1:
            keep = min(keep, int(np.searchsorted(np.cumsum(probabilities), self.top_p)) + 1)
        if self.min_p > 0:
            keep = min(keep, int((probabilities >= self.min_p * probabilities[0]).sum()))
        return max(keep, 1)


def with_sharper_moves(
    candidates: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    moves: range,
    power: float,
    moving: bool,
    odds: float = 1.0,
) -> NDArray[np.float64]:
    """The probabilities with those of moves raised to a power.

    The odds of a move, whichever it is, become `odds` times what they were. After a move (`moving`) they do not: all other
    actions together are then one more choice among the moves, and keep their proportions.
    """
    # Moves are the last ids or nearly so, and mostly none of them is likely.
    if candidates.max(initial=-1) < moves.start:
        return probabilities
    going = (candidates >= moves.start) & (candidates < moves.stop)
    of_moves = np.where(going, probabilities, 0.0)
    highest = of_moves.max(initial=0.0)
    if highest == 0:
        return probabilities
    sharper: NDArray[np.float64]
    if not moving:
        raised = (of_moves / highest) ** power
        together = float(of_moves.sum())
        wanted = odds * together / (1 + (odds - 1) * together)
        others = (1 - wanted) / (1 - together) if together < 1 else 1.0
        sharper = np.where(going, raised * (wanted / raised.sum()), probabilities * others)
        return sharper
    raised = of_moves**power
    staying = float(probabilities[~going].sum())
    sharper = np.where(going, raised, probabilities * staying ** (power - 1))
    sharper /= raised.sum() + staying**power
    return sharper


def _draw(probabilities: NDArray[np.float64], drawn: float) -> int:
    """The place where probabilities, added up one by one, pass `drawn`."""
    # The likeliest come first, so few are added, and faster one by one than all by numpy.
    for place, probability in enumerate(probabilities.tolist()):
        drawn -= probability
        if drawn < 0:
            return place
    return len(probabilities) - 1
