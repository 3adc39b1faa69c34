"""Left-to-right scores of a sentence with and without a proposed change: a second opinion on the change.

A proofreader's probability says how likely it is to make a change. The same model also continues texts, and so it
can tell how likely the words from the change on are, after what stands before them, as they are and as they would
be. A change after which the sentence reads worse is seldom right, however likely it was to be made.

The sentence is read once as it is. Of each change only the new words are read, and a few behind them: what comes
before is still in the model's cache, as the last change of a sentence is read first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from reviser.decoding.policy import SessionPolicy
from reviser.decoding.rollout import seed
from reviser.model.scoring import ChoiceScores, Questions
from reviser.proofreading.guard.calibration import BETTER, WORSE
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.reading import Passage, overtype

BEHIND: Final = 6
"""The most tokens after a change that are read."""


class SentenceQuestion(NamedTuple):
    """A sentence with its context, and the sentence after each of some changes."""

    sentence: Passage
    changed: Sequence[Sequence[int]]


class _SentenceChange(NamedTuple):
    """A sentence after a change, and the lengths in tokens of the prefix and the suffix that it shares with the
    original."""

    tokens: Sequence[int]
    front: int
    back: int


class SentenceReader:
    """Reads a sentence from left to right, then its continuation after each change, from the last place to the
    first."""

    def __init__(self, rules: OvertypingRules, question: SentenceQuestion) -> None:
        (self._tokens, left, right), changed = question
        self.rules = rules
        self.enough: float | None = None
        self.found: list[float | None] = [None] * len(changed)
        self.canvas, _ = seed(rules.vocabulary, (), (), draft=self._tokens)
        self._before = [rules.vocabulary.start_id, *left]
        self._behind = [*right[:BEHIND], rules.vocabulary.stop_id]
        self._changes = [_SentenceChange(one, *shared(self._tokens, one)) for one in changed]
        order = sorted(range(len(changed)), key=lambda number: self._changes[number].front)
        # The first one in it is read last.
        self._waiting = order
        self.over = not order
        self.ids: list[int] = []
        self.expected: list[int] = []
        self.asked: Questions = {}
        self.longest = 1
        self._first = 0
        self._as_it_is: list[float] | None = None
        if not order:
            return
        self._first = self._changes[order[0]].front
        end = max(len(self._tokens) - one.back + BEHIND for one in self._changes)
        self._ask([*self._tokens, *self._behind][:end], self._first)
        more = max(len(one.tokens) for one in self._changes)
        self.longest = len(self._before) + max(more, len(self._tokens)) + len(self._behind)

    def _ask(self, tokens: Sequence[int], first: int) -> None:
        """Ask for the probabilities of the tokens from `first` on."""
        self.ids = [*self._before, *tokens[:-1]]
        self.expected = list(tokens[first:])

    def give_up(self) -> None:
        """End the reading: the model's context is full."""
        self.over = True

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        """Record the probabilities of the tokens, and go on to the next change."""
        found = [one.expected for one in choice_scores]
        if self._as_it_is is None:
            self._as_it_is = found
        else:
            number = self._waiting.pop()
            _, front, back = self._changes[number]
            end = len(self._tokens) - back + BEHIND
            before = self._as_it_is[front - self._first : end - self._first]
            self.found[number] = max(WORSE, min(BETTER, sum(found) - sum(before)))
        if not self._waiting:
            self.over = True
            return
        tokens, front, back = self._changes[self._waiting[-1]]
        end = len(tokens) - back + BEHIND
        self._ask([*tokens, *self._behind][:end], front)


def readings(
    policy: SessionPolicy, rules: OvertypingRules, questions: Sequence[SentenceQuestion]
) -> list[list[float | None]]:
    """The gain in log-probability of each sentence by each change, within bounds; None where the model's context is
    too short."""
    readers = [SentenceReader(rules, question) for question in questions]
    overtype(policy, readers)
    return [reader.found for reader in readers]


def shared(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """The lengths in tokens of the common prefix and the common suffix of two lists."""
    least = min(len(one), len(other))
    front = 0
    while front < least and one[front] == other[front]:
        front += 1
    back = 0
    while back < least - front and one[-1 - back] == other[-1 - back]:
        back += 1
    return front, back
