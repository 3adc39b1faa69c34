"""Policies score the next action, a sampler picks one, and a rollout owns the loop.

A rollout is lazy: each `next` is one look at the policy and one action on the canvas, so its caller can
show, pause, cancel or record it. A scripted policy is a policy like any other, which is how recorded
trajectories and oracles run without a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from reviser.core.actions import Action, Insert, Splice
from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import ValidIds, Vocabulary
from reviser.decoding.random_numbers import Random, RandomState
from reviser.native.top_k import top_k_probabilities

Scores = NDArray[np.float32]

MOVE_TEMPERATURE: Final = 0.35
"""How freely it is chosen where to go, unless told otherwise: see docs/results/move-temperature.md."""


class Policy(Protocol):
    """Says how good each id would be as the next action."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        """A logit for each id of the vocabulary; None when the policy has nothing more to do."""


class ScriptedPolicy:
    """Says the given ids, one after the other."""

    def __init__(self, vocabulary: Vocabulary, ids: Sequence[int]) -> None:
        self.vocabulary = vocabulary
        self._ids = ids
        self._next = 0

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        if self._next == len(self._ids):
            return None
        id = self._ids[self._next]
        # A script is followed or refused, so what the mask would hide is said aloud.
        if reason := canvas.objection(canvas.action(id)):
            raise InvalidAction(f"id {id} is not a valid action here: {reason}")
        self._next += 1
        scores = np.full(self.vocabulary.size, -np.inf, dtype=np.float32)
        scores[id] = 0.0
        return scores


@dataclass(frozen=True, slots=True)
class Choice:
    """An id that was picked, how likely that was, and what else could have been, likeliest first."""

    id: int
    probability: float
    candidates: NDArray[np.int64]
    probabilities: NDArray[np.float64]


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
        if self.move_temperature is not None and not greedy:
            power = max(self.temperature / self.move_temperature, 1.0)
            moves = valid.vocabulary.move_ids
            probabilities = with_surer_moves(
                candidates, probabilities, moves, power, moving, self.move_odds
            )
        picked = 0 if greedy else _draw(probabilities, self._random.random())
        id, probability = int(candidates[picked]), float(probabilities[picked])
        if self.move_temperature is not None:
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


def with_surer_moves(
    candidates: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    moves: range,
    power: float,
    moving: bool,
    odds: float = 1.0,
) -> NDArray[np.float64]:
    """The probabilities with those of moves raised to a power.

    The odds of a move, whichever it is, become `odds` times what they were. Once `moving`, they do not; to stay and do
    something else is then one more choice among the moves, and what that is stays as likely as before, compared with its like.
    """
    going = (candidates >= moves.start) & (candidates < moves.stop)
    of_moves = np.where(going, probabilities, 0.0)
    highest = of_moves.max(initial=0.0)
    if highest == 0:
        return probabilities
    surer: NDArray[np.float64]
    if not moving:
        raised = (of_moves / highest) ** power
        together = float(of_moves.sum())
        wanted = odds * together / (1 + (odds - 1) * together)
        others = (1 - wanted) / (1 - together) if together < 1 else 1.0
        surer = np.where(going, raised * (wanted / raised.sum()), probabilities * others)
        return surer
    raised = of_moves**power
    staying = float(probabilities[~going].sum())
    surer = np.where(going, raised, probabilities * staying ** (power - 1))
    surer /= raised.sum() + staying**power
    return surer


def _draw(probabilities: NDArray[np.float64], drawn: float) -> int:
    """The place where probabilities, added up one by one, pass `drawn`."""
    # The likeliest come first, so few are added, and faster one by one than all by numpy.
    for place, probability in enumerate(probabilities.tolist()):
        drawn -= probability
        if drawn < 0:
            return place
    return len(probabilities) - 1


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a rollout: what was chosen and what it did."""

    index: int
    id: int
    action: Action
    splices: tuple[Splice, ...]
    cursor: int
    choice: Choice


Ending = Literal["stop", "limit", "cancelled", "exhausted"]


class Run:
    """A canvas, the history that made it, and the rules by which a policy's scores become actions.

    `history` holds every id so far, the start marker and the seeding included. Once the run is over,
    `ending` says why: the policy's Stop, `max_actions` reached, `cancel()`, or a policy that had
    nothing more to do.
    """

    def __init__(
        self,
        canvas: Canvas,
        history: Sequence[int],
        sampler: Sampler | None = None,
        *,
        max_actions: int = 256,
    ) -> None:
        self.canvas = canvas
        self.history = list(history)
        self.seeded = len(self.history)
        self.sampler = sampler or Sampler()
        self.max_actions = max_actions
        self.ending: Ending | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """End the run before its next action; may be called from another thread."""
        self._cancelled = True

    @property
    def actions_taken(self) -> int:
        return len(self.history) - self.seeded

    @property
    def over(self) -> bool:
        """Whether the run has come to its end; settles `ending` if it has."""
        if self.ending is None:
            if self.canvas.stopped:
                self.ending = "stop"
            elif self._cancelled:
                self.ending = "cancelled"
            elif self.actions_taken >= self.max_actions:
                self.ending = "limit"
        return self.ending is not None

    def advance(self, scores: Scores) -> Step:
        """Pick an action by `scores` and carry it out."""
        moving = self.history[-1] in self.canvas.vocabulary.move_ids
        choice = self.sampler.choose(scores, self.canvas.valid_actions(), moving=moving)
        return self._carry_out(choice, self.canvas.action(choice.id))

    def take(self, id: int, action: Action | None = None) -> Step:
        """Do what `id` says without asking a policy: the caller's own choice of the next action.

        `action` replaces what the id would mean here.
        """
        choice = Choice(id, 1.0, np.array([id]), np.ones(1))
        return self._carry_out(choice, action or self.canvas.action(id))

    def take_back(self) -> tuple[Splice, ...]:
        """Undo the last action, on the canvas and in the history; returns the splices that did it."""
        if self.actions_taken == 0:
            raise InvalidAction("there is nothing to take back")
        splices = self.canvas.undo()
        self.history.pop()
        self.ending = None
        return splices

    def _carry_out(self, choice: Choice, action: Action) -> Step:
        splices = self.canvas.apply(action)
        index = self.actions_taken
        self.history.append(choice.id)
        return Step(index, choice.id, action, splices, self.canvas.cursor, choice)


class Rollout(Run, Iterator[Step]):
    """Lets a policy act on a canvas, one action for each `next`, until the run is over."""

    def __init__(
        self,
        policy: Policy,
        canvas: Canvas,
        history: Sequence[int],
        sampler: Sampler | None = None,
        *,
        max_actions: int = 256,
    ) -> None:
        super().__init__(canvas, history, sampler, max_actions=max_actions)
        self.policy = policy

    def __next__(self) -> Step:
        if self.over:
            raise StopIteration
        scores = self.policy.scores(self.history, self.canvas)
        if scores is None:
            self.ending = "exhausted"
        if scores is None or self.over:
            raise StopIteration
        return self.advance(scores)


def seed(
    vocabulary: Vocabulary,
    prefix: Sequence[int],
    suffix: Sequence[int] = (),
    *,
    draft: Sequence[int] | None = None,
    max_length: int | None = None,
) -> tuple[Canvas, list[int]]:
    """A canvas with `prefix` and `suffix` written and protected, and the history that wrote them.

    The history is what the model reads: the start marker, the prefix as inserts, the suffix as
    inserts, and the moves that bring the cursor back between the two. A `draft` to be revised follows
    there, behind its marker, with the cursor at its end.
    """
    back = vocabulary.moves(-len(suffix))
    actions: list[Action] = [*map(Insert, prefix), *map(Insert, suffix), *back]
    history = [vocabulary.start_id, *map(vocabulary.id, actions)]
    if draft is not None:
        history += [vocabulary.draft_id, *map(vocabulary.id, map(Insert, draft))]
    canvas = Canvas(
        vocabulary,
        [*prefix, *(draft or ()), *suffix],
        prefix=len(prefix),
        suffix=len(suffix),
        max_length=max_length,
    )
    return canvas, history
