"""Look-ahead: a revision is followed to its end before it begins, and left out if it is not likely enough.

To change a text takes several actions, and the first is mostly a move that says little. So a look-ahead policy follows
its likeliest actions to the end and compares the places to stop. The probability of stopping after some actions is the
product of theirs, times the probability of Stop there; to stop at once is to leave the text alone. A change is made
where its probability is at least `margin` times that of leaving the text: 1 allows what is likelier, less than 1 also
what is less likely, more than 1 only what is clearly likelier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import Policy
from reviser.model.scoring import Scores

MARGIN: Final = 2.0
"""How many times as likely as no change a change must be, by default: see docs/results/margin.md."""
MOST_MARGIN: Final = 1000.0
HORIZON: Final = 64
"""The number of actions that are looked ahead at once."""

# What is added to the score of Stop where it is time: enough to be chosen, and others can still be seen.
_TIME_TO_STOP: Final = 30.0


@dataclass(frozen=True, slots=True)
class LookaheadStep:
    """A possible next action: its log-probability and that of stopping instead."""

    kind: Literal["move", "change", "stop"]
    likely: float
    stop: float


def best_end(steps: Sequence[LookaheadStep], margin: float, *, final: bool = False) -> int | None:
    """The number of these actions after which stopping is best; None if that may be further ahead.

    With `final`, nothing is further ahead.
    """
    tolerance = -math.log(margin)
    so_far, places, changing = 0.0, 0, False
    best, best_value = len(steps) - 1, -math.inf
    for number, step in enumerate(steps):
        value = so_far + step.stop + tolerance * places
        if value > best_value:
            best, best_value = number, value
        so_far += step.likely
        # All that is changed between two moves is one place.
        places += step.kind == "change" and not changing
        changing = step.kind == "change"
    inside = best < len(steps) - 1 or steps[best].kind == "stop"
    return best if inside or final else None


class LookaheadPolicy:
    """A policy that looks ahead with another policy and chooses Stop where that is best.

    It may be asked about any history; for one that it has not looked at, it looks ahead anew. After the first history
    that it is asked about, at most `limit` actions follow, and a change that takes more than are left is not begun,
    unless it takes more than the `horizon`. `ahead` counts how often the other policy was asked about future histories.
    """

    def __init__(
        self, policy: Policy, margin: float = MARGIN, *, horizon: int = HORIZON, limit: int | None = None
    ) -> None:
        if not 0 < margin <= MOST_MARGIN:
            raise ReviserError(f"sureness must be above 0 and at most {MOST_MARGIN:.0f}")
        self._policy = policy
        self._margin = margin
        self._horizon = horizon
        self._limit = limit
        self._longest: int | None = None
        self.ahead = 0
        # The history from which it looked ahead, the ids that it found, and the scores before each.
        self._begun: list[int] = []
        self._ids: list[int] = []
        self._scores: list[Scores] = []
        self._end: int | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        return self._policy.vocabulary

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores | None:
        place = self._place(history)
        if place is None:
            first = self._policy.scores(history, canvas)
            if first is None:
                return None
            self._look_ahead(history, canvas, first)
            place = 0
        scores = self._scores[place]
        if place != self._end:
            return scores
        scores = scores.copy()
        scores[self.vocabulary.stop_id] = scores.max() + _TIME_TO_STOP
        return scores

    def _place(self, history: Sequence[int]) -> int | None:
        """The place of a history in what was looked at; None if it is elsewhere."""
        place = len(history) - len(self._begun)
        if not self._begun or not 0 <= place < len(self._scores):
            return None
        if list(history) != self._begun + self._ids[:place]:
            return None
        return place

    def _look_ahead(self, history: Sequence[int], canvas: Canvas, first: Scores) -> None:
        self._begun = list(history)
        self._ids, self._scores = [], []
        steps = []
        if self._limit is not None and self._longest is None:
            self._longest = len(history) + self._limit
        left = math.inf if self._longest is None else self._longest - len(history)
        final = left < self._horizon
        # After all that are left one may still stop, so that is one step more.
        count = int(left) + 1 if final else self._horizon
        ahead = look_ahead(self._policy, history, canvas, first, self._longest)
        for id, step, scores in islice(ahead, count):
            # The policy may write its next scores where these are.
            self._scores.append(scores.copy())
            self._ids.append(id)
            steps.append(step)
        self.ahead += len(steps) - 1
        self._end = best_end(steps, self._margin, final=final)


def look_ahead(
    policy: Policy, history: Sequence[int], canvas: Canvas, first: Scores | None = None, context: int | None = None
) -> Iterator[tuple[int, LookaheadStep, Scores]]:
    """The likeliest actions, one after the other, tried on a copy of the canvas; Stop is the last.

    `first` are the scores at the start, if they are known. The history grows to at most `context` ids.
    """
    vocabulary = policy.vocabulary
    imagined, seen = copy_of(canvas), list(history)
    scores = policy.scores(seen, imagined) if first is None else first
    while scores is not None:
        chances = _log_chances(scores, imagined)
        id = int(chances.argmax())
        likely, stop = float(chances[id]), float(chances[vocabulary.stop_id])
        if id == vocabulary.stop_id:
            yield id, LookaheadStep("stop", likely, stop), scores
            return
        kind: Literal["move", "change"] = "move" if id in vocabulary.move_ids else "change"
        yield id, LookaheadStep(kind, likely, stop), scores
        imagined.apply(imagined.action(id))
        seen.append(id)
        if context is not None and len(seen) > context:
            return
        scores = policy.scores(seen, imagined)


def copy_of(canvas: Canvas) -> Canvas:
    """A copy of a canvas, on which actions can be tried."""
    return Canvas(
        canvas.vocabulary,
        canvas.tokens,
        cursor=canvas.cursor,
        prefix=canvas.low,
        suffix=canvas.suffix,
        max_length=canvas.max_length,
    )


def _log_chances(scores: Scores, canvas: Canvas) -> NDArray[np.float64]:
    """The log-probabilities of the valid ids by scores."""
    valid = np.where(canvas.valid_actions().mask(), scores.astype(np.float64), -np.inf)
    if not math.isfinite(best := valid.max()):
        raise InvalidAction("the policy gives no valid action any chance")
    valid -= best
    chances: NDArray[np.float64] = valid - math.log(np.exp(valid).sum())
    return chances
