"""Checked steps back: a run goes back to insert something only where the text reads as well with it.

A step back is a move backward and the changes there, up to the next move. Before the first of its actions is taken, all
of them are chosen, as they would be anyway. Then the model reads the changed sentence from left to right, before and
after the change. The step is made if the tokens from there on are on average about as likely as they were, and those
after the change about as likely in total. Otherwise the run goes on as if no move backward had been possible.

Small models know better what to insert than how many tokens back its place is. So what is inserted may be put a few
tokens beside the place that the moves lead to: a sentence between two sentences, anything else where it reads best.
From there the run goes straight back to the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from reviser.core.actions import Stop
from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import MOVES
from reviser.decoding.left_to_right import Reading, left_to_right
from reviser.decoding.lookahead import copy_of
from reviser.decoding.rollout import Policy, Rollout
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.sampler import Choice, Sampler

# Tokens that are read before what is changed: from the start of a sentence, but so many at the least and the most.
_LEAST_BEFORE: Final = 20
_BEFORE: Final = 40
# Tokens that are read behind it: to the end of their sentence, but so many at the most.
_BEHIND: Final = 16
# How much less likely a text may become by a step back, in nats: a token on average, and what stands behind it
# altogether. What is inserted in training makes about as little difference to what stands behind it
# (`training.data.optional_pieces`). A phrase may make less of a difference than a sentence: within a sentence it is
# easier to break something.
ON_AVERAGE: Final = 0.8
BEHIND: Final = 2.5
OF_PHRASES: Final = 0.4
# The odds of a first move, as a multiple of the model's: most steps back that are checked are not made.
ODDS: Final = 30.0
# Largest number of actions of a step back.
_LONGEST: Final = 96
# How many tokens beside the place that moves lead to a sentence may be put, and anything else.
_BESIDE_FOR_SENTENCES: Final = 6
_BESIDE: Final = 1
_LONGEST_PHRASE: Final = 24


# Words that have a capital where they open a sentence, and else none.
_OPENER: Final = re.compile(
    r"(?:An?|And|But|Or|So|The|This|That|These|Those|There|It|He|She|We|They|You|In|On|At|By|For|From|With|When|While|If|As|After|Before)\b"
)
_IN_NUMBER: Final = re.compile(r"\d\0[.,]\d")


@dataclass(frozen=True)
class Comparison:
    """The change of log-probabilities by a step back: the average from there on, and the total after it."""

    on_average: float
    behind: float
    tolerance: float = OF_PHRASES
    """The share of the greatest allowed losses that is allowed here: 1 for whole sentences."""

    @property
    def reads_as_well(self) -> bool:
        lost, behind = self.tolerance * ON_AVERAGE, self.tolerance * BEHIND
        return self.on_average >= -lost and self.behind >= -behind


class TextComparer:
    """Compares a text with the text after a step back."""

    def __init__(self, reading: Reading, start_id: int, tokenizer: Tokenizer) -> None:
        self._reading = reading
        self._start_id = start_id
        self._tokenizer = tokenizer

    def compare(self, old: Sequence[int], new: Sequence[int]) -> Comparison:
        """The comparison of the sentence that differs, read from its start to its end in both texts."""
        first, behind = _difference(old, new)
        start = self._sentence_start(old, first)
        # The tokens behind are the same in both; how far their sentence goes is told by either.
        end = self._sentence_end(old, len(old) - behind)
        cut = len(old) - end
        shared = end - (len(old) - behind)
        without = self._chances(old[start:end], end - first)
        made = self._chances(new[start : len(new) - cut], len(new) - cut - first)
        return Comparison(
            _mean(made or [0.0]) - _mean(without or [0.0]),
            sum(made[len(made) - shared :]) - sum(without[len(without) - shared :]),
        )

    def insertions(self, old: Sequence[int], piece: Sequence[int], places: Sequence[int]) -> list[Comparison]:
        """The comparisons of a text with `piece` inserted at each of some neighbouring places."""
        start = self._sentence_start(old, min(places))
        end = self._sentence_end(old, max(places))
        without = self._chances(old[start:end], end - min(places))
        tolerance = 1.0 if self._ends_sentence(piece[-1]) else OF_PHRASES
        found = []
        for place in places:
            new = [*old[start:place], *piece, *old[place:end]]
            made = self._chances(new, len(piece) + end - place)
            behind = without[place - min(places) :]
            gained = sum(made[len(piece) :]) - sum(behind)
            on_average = _mean(made) - _mean(behind or [0.0])
            found.append(Comparison(on_average, gained, tolerance))
        return found

    def places(self, tokens: Sequence[int], piece: Sequence[int], at: int, room: range) -> list[int]:
        """The places in `room` where a piece written at `at` may be inserted, the nearest first.

        A piece that ends a sentence goes between two sentences, if there is such a place nearby. A phrase is short, and
        goes within a sentence.
        """
        if self._ends_sentence(piece[-1]):
            nearby = range(-_BESIDE_FOR_SENTENCES, _BESIDE_FOR_SENTENCES + 1)
            found = [
                at + by
                for by in sorted(nearby, key=abs)
                if at + by in room and (at + by == 0 or self._ends_sentence(tokens[at + by - 1]))
            ]
            return [place for place in found[:1] if self._is_apart(tokens, place, piece)]
        if len(piece) > _LONGEST_PHRASE or any(map(self._ends_sentence, piece)):
            return []
        nearby = range(-_BESIDE, _BESIDE + 1)
        found = [at + by for by in sorted(nearby, key=abs) if at + by in room]
        return [
            place
            for place in found
            if self._begins_word(tokens[place])
            and not self._is_glued(tokens[:place], piece[0])
            and not self._goes_on_after_end(tokens[:place], piece[0])
            and not self._starts_within(tokens[:place], piece)
            and not self._is_in_number(tokens, place)
        ]

    def _is_apart(self, tokens: Sequence[int], place: int, piece: Sequence[int]) -> bool:
        """Whether a sentence inserted there begins like one, has space on both sides, and is followed by the start of a
        sentence."""
        if self._is_glued(tokens[:place], piece[0]) or self._goes_on(piece[0]):
            return False
        return place >= len(tokens) or not (self._is_glued(piece, tokens[place]) or self._goes_on(tokens[place]))

    def _goes_on(self, token: int) -> bool:
        """Whether a token begins with a small letter or a mark, and so continues a sentence."""
        first = self._word(token)[:1]
        return first.islower() or first in (",", ";", ":", ")")

    def _starts_within(self, before: Sequence[int], piece: Sequence[int]) -> bool:
        """Whether a piece would start a sentence where none has ended: with a word such as "The" after another word."""
        if not before or not self._word(before[-1])[-1:].isalnum():
            return False
        text = b"".join(map(self._tokenizer.token_bytes, piece)).decode("utf-8", "ignore")
        return _OPENER.match(text.lstrip()) is not None

    def _is_in_number(self, tokens: Sequence[int], place: int) -> bool:
        """Whether a place is before the point or comma of a number, as in "1.00"."""
        around = [self._word(token) for token in tokens[max(place - 1, 0) : place + 2]]
        return _IN_NUMBER.search("".join(around[:1]) + "\0" + "".join(around[1:])) is not None

    def _word(self, token: int) -> str:
        return self._tokenizer.token_bytes(token).decode("utf-8", "ignore").strip()

    def _goes_on_after_end(self, before: Sequence[int], token: int) -> bool:
        """Whether a token would continue a sentence that has ended."""
        return bool(before) and self._ends_sentence(before[-1]) and self._goes_on(token)

    def _is_glued(self, before: Sequence[int], token: int) -> bool:
        """Whether a token that begins with a letter or digit would follow without a space."""
        if self._begins_word(token) or not before:
            return False
        return not self._tokenizer.token_bytes(before[-1])[-1:].isspace()

    def _begins_word(self, token: int) -> bool:
        text = self._tokenizer.token_bytes(token)
        return not text[:1].isalnum() and text[:1].isascii()

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
    """The lengths of the common prefix and of the common suffix of the rest of two token sequences."""
    shortest = min(len(old), len(new))
    first = next((n for n in range(shortest) if old[n] != new[n]), shortest)
    rest = shortest - first
    behind = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    return first, behind


class CheckedRollout(Rollout):
    """A rollout that makes a step back only if the text reads as well with it.

    `made` and `refused` count steps back. Choices still depend on the seed alone. The sampler's odds of moves are
    raised.
    """

    def __init__(
        self,
        policy: Policy,
        canvas: Canvas,
        history: Sequence[int],
        tokenizer: Tokenizer,
        sampler: Sampler | None = None,
        *,
        rules: Sequence[ScoreProcessor] = (),
        max_actions: int = 256,
        reading: Reading | None = None,
    ) -> None:
        super().__init__(policy, canvas, history, sampler, rules=rules, max_actions=max_actions)
        self.sampler.move_odds = ODDS
        vocabulary = policy.vocabulary
        reading = reading or left_to_right(policy)
        self._comparing = TextComparer(reading, vocabulary.start_id, tokenizer)
        self._backward = frozenset(id for id, delta in zip(vocabulary.move_ids, MOVES, strict=True) if delta < 0)
        self.made = 0
        self.refused = 0

    def _decide(self) -> Sequence[Choice]:
        scores = self._scores(self.history, self.canvas)
        if scores is None:
            return ()
        drawn = self._drawn(scores, self.history, self.canvas)
        if not drawn or drawn[0].id not in self._backward:
            return drawn
        # The policy may write other scores where these are.
        scores = scores.copy()
        plan = self._think_through(drawn[0])
        if plan is not None:
            return plan
        scores[list(self._backward)] = -np.inf
        return self._drawn(scores, self.history, self.canvas)

    def _think_through(self, first: Choice) -> list[Choice] | None:
        """The actions of a step back that begins with `first`, or None if it is better not made."""
        drawn = self.sampler.state
        plan, imagined, whole = self._imagine(first)
        wanted = self._landed(plan, imagined) if whole else None
        if wanted is None:
            self.refused += 1
            self.sampler.state = drawn
            return None
        self.made += 1
        return wanted

    def _landed(self, plan: list[Choice], imagined: Canvas) -> list[Choice] | None:
        """The actions of a plan at the place where the text reads best with it; None if it reads worse everywhere."""
        moves = self.canvas.vocabulary.move_ids
        tokens = self.canvas.tokens
        way = next(at for at, choice in enumerate(plan) if choice.id not in moves)
        piece = [choice.id for choice in plan[way:]]
        landed = imagined.cursor - len(piece)
        if imagined.tokens[:landed] + piece + imagined.tokens[imagined.cursor :] != imagined.tokens or (
            len(imagined.tokens) != len(tokens) + len(piece)
        ):
            # It does not only insert: as it is, or not at all.
            return plan if self._comparing.compare(tokens, imagined.tokens).reads_as_well else None
        places = self._comparing.places(tokens, piece, landed, range(self.canvas.low, self.canvas.high))
        found = self._comparing.insertions(tokens, piece, places) if places else []
        fitting = [(one.behind, place) for one, place in zip(found, places, strict=True) if one.reads_as_well]
        if not fitting:
            return None
        vocabulary, place = self.canvas.vocabulary, max(fitting)[1]
        going = vocabulary.moves(place - self.canvas.cursor)
        if place != landed:
            plan = [*(Choice.certain(vocabulary.id(move)) for move in going), *plan[way:]]
        back = vocabulary.moves(self.canvas.high - place)
        planned = [*plan, *(Choice.certain(vocabulary.id(move)) for move in back)]
        return planned if self.actions_taken + len(planned) <= self.max_actions else None

    def _imagine(self, first: Choice) -> tuple[list[Choice], Canvas, bool]:
        """The actions of a step back, the canvas after them, and whether they change anything and came to an end."""
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
                return plan, imagined, False
            scores = self._scores(history, imagined)
            drawn = () if scores is None else self._drawn(scores, history, imagined)
            if not drawn:
                return plan, imagined, False
            choice = drawn[0]
            moves_on = changes and choice.id in imagined.vocabulary.move_ids
            if moves_on or isinstance(imagined.action(choice.id), Stop):
                return plan, imagined, changes > 0


def _mean(numbers: Sequence[float]) -> float:
    """The arithmetic mean, as `statistics.fmean` computes it, without loading that module."""
    return math.fsum(numbers) / len(numbers)
