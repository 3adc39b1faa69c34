"""Rollouts: a policy scores the next action, a sampler picks one (`reviser.decoding.sampler`), and a loop carries it
out.

A rollout is lazy: each `next` asks the policy once and does one action on the canvas, so its caller can show, pause,
cancel or record it. A scripted policy is a policy like any other; recorded trajectories and oracles run this way
without a model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np

from reviser.core.actions import Action, Insert, Splice
from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rules.rule import RuledScores, ScoreProcessor
from reviser.decoding.sampler import Choice, Sampler
from reviser.model.scoring import Scores


class Policy(Protocol):
    """Scores every id as the next action."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        """A logit for each id of the vocabulary; None when the policy has nothing more to do."""


class ScriptedPolicy:
    """A policy that chooses the given ids, one after the other."""

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


class Step(NamedTuple):
    """One action of a rollout: the choice and its effect."""

    number: int
    id: int
    action: Action
    splices: tuple[Splice, ...]
    cursor: int
    choice: Choice


Ending = Literal["stop", "limit", "cancelled", "exhausted"]


class Run:
    """A canvas, the history that made it, and the sampler that turns a policy's scores into actions.

    `history` holds every id so far, the start marker and the seeding included. Once the run is over, `ending` says why:
    the policy's Stop, `max_actions` reached, `cancel()`, or a policy that had nothing more to do.
    """

    def __init__(
        self, canvas: Canvas, history: Sequence[int], sampler: Sampler | None = None, *, max_actions: int = 256
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
    def seed(self) -> int | None:
        """The seed of its random choices."""
        return self.sampler.seed

    @property
    def actions_taken(self) -> int:
        return len(self.history) - self.seeded

    @property
    def over(self) -> bool:
        """Whether the run has ended; sets `ending` if it has."""
        if self.ending is None:
            if self.canvas.stopped:
                self.ending = "stop"
            elif self._cancelled:
                self.ending = "cancelled"
            elif len(self.history) - self.seeded >= self.max_actions:
                self.ending = "limit"
        return self.ending is not None

    def advance(self, scores: Scores) -> Step:
        """Choose an action by `scores` and carry it out."""
        moving = self.history[-1] in self.canvas.vocabulary.move_ids
        choice = self.sampler.choose(scores, self.canvas.valid_actions(), moving=moving)
        return self._carry_out(choice, self.canvas.action(choice.id))

    def take(self, id: int, action: Action | None = None) -> Step:
        """Carry out `id` without asking a policy, as the caller's own choice.

        `action` replaces the action that the id would have here.
        """
        return self._carry_out(Choice.certain(id), action or self.canvas.action(id))

    def take_back(self) -> tuple[Splice, ...]:
        """Undo the last action, on the canvas and in the history; returns the splices that did it."""
        if self.actions_taken == 0:
            raise InvalidAction("there is nothing to take back")
        splices = self.canvas.undo()
        self.history.pop()
        self.ending = None
        return splices

    def _carry_out(self, choice: Choice, action: Action) -> Step:
        canvas, history = self.canvas, self.history
        splices = canvas.apply(action)
        history.append(choice.id)
        number = len(history) - self.seeded - 1
        return Step(number, choice.id, action, splices, canvas.cursor, choice)


class Rollout(Run, Iterator[Step]):
    """Lets a policy act on a canvas, one action for each `next`, until the run is over.

    Rules restrict its actions. An action may be decided together with those that follow it; these are then done without
    asking the policy.
    """

    def __init__(
        self,
        policy: Policy,
        canvas: Canvas,
        history: Sequence[int],
        sampler: Sampler | None = None,
        *,
        rules: Sequence[ScoreProcessor] = (),
        max_actions: int = 256,
    ) -> None:
        super().__init__(canvas, history, sampler, max_actions=max_actions)
        self.policy = policy
        self.rules = rules
        self._ruled = RuledScores(rules)
        self._decided: deque[Choice] = deque()

    def __next__(self) -> Step:
        if not self.over and not self._decided:
            self._decided.extend(self._decide())
            if not self._decided and not self.over:
                self.ending = "exhausted"
        if self.over:
            raise StopIteration
        choice = self._decided.popleft()
        return self._carry_out(choice, self.canvas.action(choice.id))

    def take(self, id: int, action: Action | None = None) -> Step:
        self._decided.clear()
        return super().take(id, action)

    def take_back(self) -> tuple[Splice, ...]:
        self._decided.clear()
        return super().take_back()

    def _decide(self) -> Sequence[Choice]:
        """The next action and those decided with it; none if the policy has nothing more to do."""
        scores = self._scores(self.history, self.canvas)
        return () if scores is None else self._drawn(scores, self.history, self.canvas)

    def _scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        """The scores of the policy, changed by the rules."""
        scores = self.policy.scores(history, canvas)
        return None if scores is None else self._ruled.changed(scores, history, canvas)

    def _drawn(self, scores: Scores, history: Sequence[int], canvas: Canvas) -> Sequence[Choice]:
        """An action drawn from the scores, or what the rules put in its place."""
        valid, refused = canvas.valid_actions(), False
        moving = history[-1] in canvas.vocabulary.move_ids
        while True:
            try:
                choice = self.sampler.choose(scores, valid, moving=moving)
            except InvalidAction:
                if refused:
                    # Nothing that may be done is allowed by the rules.
                    return ()
                raise
            instead = self._instead(choice.id, history, canvas)
            if instead is None:
                return (choice,)
            if instead:
                return tuple(map(Choice.certain, instead))
            if not refused:
                scores, refused = scores.copy(), True
            scores[choice.id] = -np.inf

    def _instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        """The ids that the rules put in the place of an id, or None; each rule judges the result of those before it."""
        wanted: Sequence[int] | None = None
        for rule in self.rules:
            instead = rule.instead(id, history, canvas)
            if instead is None:
                continue
            if len(instead) != 1:
                return instead
            wanted = instead
            (id,) = instead
        return wanted


def seed(
    vocabulary: Vocabulary,
    prefix: Sequence[int],
    suffix: Sequence[int] = (),
    *,
    draft: Sequence[int] | None = None,
    max_length: int | None = None,
) -> tuple[Canvas, list[int]]:
    """A canvas with `prefix` and `suffix` written and protected, and the history that wrote them.

    The history is what the model reads: the start marker, the prefix as inserts, the suffix as inserts, and the moves
    that bring the cursor back between the two. A `draft` to be revised follows there, after its marker, with the cursor
    at its end.
    """
    back = vocabulary.moves(-len(suffix))
    actions: list[Action] = [*map(Insert, prefix), *map(Insert, suffix), *back]
    history = [vocabulary.start_id, *map(vocabulary.id, actions)]
    if draft is not None:
        history += [vocabulary.draft_id, *map(vocabulary.id, map(Insert, draft))]
    canvas = Canvas(
        vocabulary, [*prefix, *(draft or ()), *suffix], prefix=len(prefix), suffix=len(suffix), max_length=max_length
    )
    return canvas, history
