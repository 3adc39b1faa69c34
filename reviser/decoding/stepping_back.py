"""Steps back that are thought through: a run goes back to insert something only where the text reads as well with it.

A step back is a move backward and what is changed there, up to the next move. Before the first of its actions is taken, all
of them are chosen, as they would be anyway. Then the model reads the sentence that they change from left to right, as it was
and as it would be. The step is made if the tokens from there on are at least as likely on average as they were, and what stands
behind it at least as likely as without it. Else the run goes on as if no move backward had been possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np

from reviser.core.actions import Action, Splice, Stop
from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import MOVES
from reviser.decoding.left_to_right import Reading, left_to_right
from reviser.decoding.lookahead import copy_of
from reviser.decoding.rollout import Choice, Policy, Rollout, Sampler, Step

# Tokens that are read before what is changed: from the start of a sentence, but so many at the least and the most.
_LEAST_BEFORE: Final = 24
_BEFORE: Final = 40
# Tokens that are read behind it: to the end of their sentence, but so many at the most.
_BEHIND: Final = 24
# Actions of a step back that are thought through at the most.
_LONGEST: Final = 96


@dataclass(frozen=True)
class Comparison:
    """What a step back does to the logarithms of the chances: on average from there on, and altogether behind it."""

    on_average: float
    behind: float

    @property
    def reads_as_well(self) -> bool:
        return self.on_average >= 0 and self.behind >= 0


class Comparing:
    """Compares a text with what a step back would make of it."""

    def __init__(self, reading: Reading, start_id: int, tokenizer: Tokenizer) -> None:
        self._reading = reading
        self._start_id = start_id
        self._tokenizer = tokenizer

    def compare(self, old: Sequence[int], new: Sequence[int]) -> Comparison:
        """Read the sentence that differs, from its start to its end, in both."""
        first, behind = _difference(old, new)
        start = self._sentence_start(old, first)
        # The tokens behind are the same in both; how far their sentence goes is told by either.
        end = self._sentence_end(old, len(old) - behind)
        cut = len(old) - end
        shared = end - (len(old) - behind)
        without = self._chances(old[start:end], end - first)
        made = self._chances(new[start : len(new) - cut], len(new) - cut - first)
        return Comparison(
            fmean(made or [0.0]) - fmean(without or [0.0]),
            sum(made[len(made) - shared :]) - sum(without[len(without) - shared :]),
        )

    def _chances(self, tokens: Sequence[int], last: int) -> list[float]:
        return self._reading.chances([self._start_id, *tokens], last) if last else []

    def _sentence_start(self, tokens: Sequence[int], at: int) -> int:
        lowest = max(at - _BEFORE, 0)
        at = max(at - _LEAST_BEFORE, 0)
        while at > lowest and not self._ends_sentence(tokens[at - 1]):
            at -= 1
        return at

    def _sentence_end(self, tokens: Sequence[int], at: int) -> int:
        highest = min(at + _BEHIND, len(tokens))
        while at < highest:
            at += 1
            if self._ends_sentence(tokens[at - 1]):
                break
        return at

    def _ends_sentence(self, token: int) -> bool:
        text = self._tokenizer.token_bytes(token)
        return b"\n" in text or text.rstrip(b"\"')").endswith((b".", b"!", b"?"))


def _difference(old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """How many tokens two texts share from their start, and how many of the rest from their end."""
    shortest = min(len(old), len(new))
    first = next((n for n in range(shortest) if old[n] != new[n]), shortest)
    rest = shortest - first
    behind = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    return first, behind


class CheckedRollout(Rollout):
    """A rollout that makes a step back only if the text reads as well with it.

    `made` and `refused` count steps back. What is chosen depends on the seed alone, as ever.
    """

    def __init__(
        self,
        policy: Policy,
        canvas: Canvas,
        history: Sequence[int],
        tokenizer: Tokenizer,
        sampler: Sampler | None = None,
        *,
        max_actions: int = 256,
        reading: Reading | None = None,
    ) -> None:
        super().__init__(policy, canvas, history, sampler, max_actions=max_actions)
        vocabulary = policy.vocabulary
        reading = reading or left_to_right(policy)
        self._comparing = Comparing(reading, vocabulary.start_id, tokenizer)
        self._backward = frozenset(
            id for id, delta in zip(vocabulary.move_ids, MOVES, strict=True) if delta < 0
        )
        self._planned: deque[Choice] = deque()
        self.made = 0
        self.refused = 0

    def __next__(self) -> Step:
        if self.over:
            raise StopIteration
        if self._planned:
            choice = self._planned.popleft()
            return self._carry_out(choice, self.canvas.action(choice.id))
        scores = self.policy.scores(self.history, self.canvas)
        if scores is None:
            self.ending = "exhausted"
        if scores is None or self.over:
            raise StopIteration
        valid = self.canvas.valid_actions()
        moving = self.history[-1] in self.canvas.vocabulary.move_ids
        choice = self.sampler.choose(scores, valid, moving=moving)
        if choice.id in self._backward:
            # The policy may write other scores where these are.
            scores = scores.copy()
            plan = self._think_through(choice)
            if plan is None:
                scores[list(self._backward)] = -np.inf
                choice = self.sampler.choose(scores, valid, moving=moving)
            else:
                self._planned.extend(plan)
        return self._carry_out(choice, self.canvas.action(choice.id))

    def take(self, id: int, action: Action | None = None) -> Step:
        self._planned.clear()
        return super().take(id, action)

    def take_back(self) -> tuple[Splice, ...]:
        self._planned.clear()
        return super().take_back()

    def _think_through(self, first: Choice) -> list[Choice] | None:
        """The actions that follow a move backward up to the next move, or None if they are better not taken."""
        drawn = self.sampler.state
        imagined, history = copy_of(self.canvas), list(self.history)
        plan: list[Choice] = []
        choice, changes = first, 0
        while True:
            imagined.apply(imagined.action(choice.id))
            history.append(choice.id)
            plan.append(choice)
            moved = choice.id in imagined.vocabulary.move_ids
            changes += not moved
            taken = len(history) - self.seeded
            at_end = moved and imagined.cursor == imagined.high
            if at_end or taken >= self.max_actions or len(plan) >= _LONGEST:
                break
            scores = self.policy.scores(history, imagined)
            if scores is None:
                break
            before = self.sampler.state
            choice = self.sampler.choose(scores, imagined.valid_actions(), moving=moved)
            moves_on = changes and choice.id in imagined.vocabulary.move_ids
            if moves_on or isinstance(imagined.action(choice.id), Stop):
                # The next step of the run chooses this again.
                self.sampler.state = before
                break
        if not changes:
            return plan[1:]
        if self._comparing.compare(self.canvas.tokens, imagined.tokens).reads_as_well:
            self.made += 1
            return plan[1:]
        self.refused += 1
        self.sampler.state = drawn
        return None
