"""The model's choice among the candidates for unknown words, and the probability that a word stays.

Each candidate is judged in two ways. By overtyping: behind the draft, the probability of the actions that put the
candidate in the place of the word, and of those that keep the word. From left to right: the probability of the
candidate and of what follows it in its sentence. Both are read in one batch for all passages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from reviser.core.tokenizer import Tokenizer
from reviser.decoding.rollout import seed
from reviser.model.scoring import ChoiceScores, Questions
from reviser.proofreading.overtyping import OvertypingRules
from reviser.proofreading.spelling.candidates import ALWAYS, Candidate
from reviser.proofreading.spelling.continuations import ContinuationTree

# Tokens before a word and behind it that are read from left to right. What is read for a word serves the next one, so
# there may be more before it; words that are further than the most begin anew.
_BEFORE: Final = 48
_MOST_BEFORE: Final = 2 * _BEFORE
_BEHIND: Final = 6
# No misspelling of those that the weights were fitted on was kept with so high a probability.
_CERTAIN: Final = -0.05
LIKELIEST: Final = 2
"""The number of candidates of a word that are read from left to right."""


class TokenSpan(NamedTuple):
    """A range of tokens in a passage."""

    start: int
    end: int


@dataclass
class MisspeltPlace:
    """An unknown word in a passage: its tokens, and those of each candidate.

    `kept` is the log-probability by overtyping that the word stays, `chances` are those of the candidates. `readings`
    are log-probabilities from left to right, by the index of the candidate, with the key None for the word itself.
    """

    word: str
    span: TokenSpan
    candidates: Sequence[Candidate]
    tokens: list[list[int]]
    kept: float = -math.inf
    chances: list[float] = field(default_factory=list)
    readings: dict[int | None, float] = field(default_factory=dict)

    @property
    def is_judged(self) -> bool:
        """Whether the model has scored all candidates."""
        return len(self.chances) == len(self.tokens)

    @property
    def is_certain(self) -> bool:
        """Whether the model keeps the word without doubt: then no candidate is scored."""
        return self.kept > _CERTAIN and all(one.distance > ALWAYS for one in self.candidates)

    def likeliest(self, count: int) -> list[int]:
        """The indices of the best candidates by overtyping and spelling."""
        ranks = [*map(rank, self.candidates, self.chances)]
        return sorted(range(len(ranks)), key=ranks.__getitem__, reverse=True)[:count]


def rank(candidate: Candidate, chance: float) -> float:
    """The score of a candidate by overtyping and spelling."""
    return chance - 3 * candidate.distance


class PlaceJudge(Protocol):
    """Decides about unknown words while a passage is read."""

    def choose(self, place: MisspeltPlace) -> int | None:
        """The index of the candidate to assume while later words are judged; None keeps the word."""

    def next_to_read(self, place: MisspeltPlace, bounds: Sequence[float], read: Sequence[bool]) -> int | None:
        """The index of the candidate to read next; None if no other one can matter.

        `bounds` are the exact log-probabilities of candidates that were `read`, and upper bounds of the others.
        """


def place_of(
    tokenizer: Tokenizer, ends: Sequence[int], text: str, at: tuple[int, int], found: Sequence[Candidate]
) -> MisspeltPlace:
    """An unknown word of a passage with its candidates in tokens; `ends` are the byte offsets at which the passage's
    tokens end."""
    start, end = (len(text[:place].encode()) for place in at)
    bounds = [0, *ends]
    low = max(number for number, bound in enumerate(bounds) if bound <= start)
    high = min(number for number, bound in enumerate(bounds) if bound >= end)
    data = text.encode()
    before, behind = data[bounds[low] : start].decode(), data[end : bounds[high]].decode()
    word = text[at[0] : at[1]]
    written = [tokenizer.encode(before + as_written(word, one.text) + behind) for one in found]
    return MisspeltPlace(word, TokenSpan(low, high), found, written)


def as_written(word: str, meant: str) -> str:
    """The correction `meant` with the capital of `word`."""
    return as_opening(meant) if word[0].isupper() else meant


def as_opening(word: str) -> str:
    """A word with a capital, as at the start of a sentence."""
    return word[0].upper() + word[1:]


class OvertypingScorer:
    """Scores the candidates for the unknown words of a passage by overtyping, one word after the other.

    `is_kept` while no candidate was chosen; `choice_scores` are then the scores of the first places of the passage, as
    far as it was read.
    """

    def __init__(
        self,
        rules: OvertypingRules,
        passage: Sequence[int],
        left: Sequence[int],
        right: Sequence[int],
        places: Sequence[MisspeltPlace],
        judge: PlaceJudge,
        *,
        watching: bool = False,
    ) -> None:
        """With `watching`, the scores of all tokens that stay are recorded."""
        self.rules = rules
        self.enough: float | None = None
        self.over = False
        self.is_kept = True
        self.choice_scores: list[ChoiceScores] = []
        self._watching = watching
        self.places = places
        self._passage = list(passage)
        self._judge = judge
        self.canvas, history = seed(rules.vocabulary, left, right, draft=passage)
        self._written = [*history, rules.vocabulary.overtype_id]
        self._done = 0
        self._number = 0
        self._ways = ContinuationTree([rules.vocabulary.start_id], [])
        self._way = 0
        self.ids: list[int] = []
        self.expected: list[int] = []
        self.asked: Questions = {}
        self._begin()

    @property
    def longest(self) -> int:
        """An upper bound of the number of ids that the reading needs."""
        more = sum(max(map(len, place.tokens), default=0) for place in self.places)
        return len(self._written) + 2 * len(self._passage) + more + 2

    def give_up(self) -> None:
        """End the reading: the model's context is full."""
        self.over = True
        self.is_kept = False

    def _begin(self) -> None:
        """Go on to the next place."""
        # A token that belongs to two words is looked at once.
        while self._number < len(self.places) and self.places[self._number].span.start < self._done:
            self._number += 1
        if self._number == len(self.places):
            self.over = True
            return
        place = self.places[self._number]
        old = self._passage[place.span.start : place.span.end]
        self._written += self._passage[self._done : place.span.start]
        behind = self._passage[place.span.end : place.span.end + 1]
        following = behind or [self.rules.vocabulary.stop_id]
        ways = [old, *(self._actions(old, new) for new in place.tokens)]
        self._ways = ContinuationTree(self._written, [[*way, *following] for way in ways])
        self._ask(0)

    def _ask(self, way: int) -> None:
        self._way = way
        self.ids, self.expected, self.asked = self._ways.task(way)
        if self._watching and way == 0:
            start = self.places[self._number].span.start
            copied = self._passage[len(self.choice_scores) : start]
            self.expected = [*copied, *self.expected]
            self.asked = {place + len(copied): ids for place, ids in self.asked.items()}

    def _watch(self, choice_scores: Sequence[ChoiceScores]) -> Sequence[ChoiceScores]:
        """Record the scores of tokens that stay, and return those of the word."""
        start = self.places[self._number].span.start
        copied = max(start - len(self.choice_scores), 0)
        self.choice_scores = [*self.choice_scores[: start - copied], *choice_scores]
        return choice_scores[copied:]

    def _actions(self, old: Sequence[int], new: Sequence[int]) -> list[int]:
        """The actions that turn one list of tokens into the other; the common prefix and suffix stay."""
        front = 0
        while front < min(len(old), len(new)) and old[front] == new[front]:
            front += 1
        back = 0
        while back < min(len(old), len(new)) - front and old[-1 - back] == new[-1 - back]:
            back += 1
        gone = len(old) - front - back
        middle = new[front : len(new) - back]
        ending = old[len(old) - back :]
        return [*old[:front], *[self.rules.vocabulary.delete_id] * gone, *middle, *ending]

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        """Record the model's scores of one candidate, and go on to the next."""
        place = self.places[self._number]
        if self._watching and self._way == 0:
            choice_scores = self._watch(choice_scores)
        self._ways.take(self._way, choice_scores)
        place.kept = self._ways.bound(0)
        if not place.is_certain:
            bounds = [self._ways.bound(number + 1) for number in range(len(place.tokens))]
            read = [self._ways.is_known(number + 1) for number in range(len(place.tokens))]
            following = self._judge.next_to_read(place, bounds, read)
            if following is not None:
                self._ask(following + 1)
                return
            place.chances = bounds
        chosen = self._judge.choose(place)
        if chosen is not None:
            self.is_kept = self._watching = False
        old = self._passage[place.span.start : place.span.end]
        self._written += old if chosen is None else self._actions(old, place.tokens[chosen])
        self._done = place.span.end
        self._number += 1
        self._begin()


class LeftToRightScorer:
    """Scores the unknown words of a passage and their best candidates from left to right."""

    def __init__(
        self,
        rules: OvertypingRules,
        passage: Sequence[int],
        left: Sequence[int],
        places: Sequence[MisspeltPlace],
        doubtful: Sequence[MisspeltPlace],
        judge: PlaceJudge,
        likeliest: int = LIKELIEST,
    ) -> None:
        """Only `doubtful` places are scored; in the others, the judge's choice is assumed."""
        self.rules = rules
        self.enough: float | None = None
        self._passage = list(passage)
        self._chosen = [(place, judge.choose(place)) for place in places]
        self._tasks: list[tuple[MisspeltPlace, ContinuationTree, int, int | None]] = []
        start = rules.vocabulary.start_id
        first = 0
        for place in doubtful:
            before = [*left, *self._text(0, place.span.start)]
            # The left side was read before, and costs nothing.
            unread = len(before) - (first if self._tasks else len(left))
            if unread > (_MOST_BEFORE if self._tasks else _BEFORE):
                first = len(before) - _BEFORE
            end = min(len(passage), place.span.end + _BEHIND)
            behind = self._text(place.span.end, end)
            texts = {None: self._passage[place.span.start : place.span.end]} | {
                number: place.tokens[number] for number in place.likeliest(likeliest)
            }
            ways = ContinuationTree([start, *before[first:]], [[*text, *behind] for text in texts.values()])
            tasks = [(place, ways, at, number) for at, number in enumerate(texts)]
            # What stands there for the time being is read last: then the row of the next word has it.
            chosen = judge.choose(place)
            self._tasks += sorted(tasks, key=lambda task: task[3] == chosen)
        self.canvas, _ = seed(rules.vocabulary, (), (), draft=passage)
        self.over = not self._tasks
        longest = max((len(ways.task(at).ids) for _, ways, at, _ in self._tasks), default=1)
        self.longest = longest
        self.ids: list[int] = []
        self.expected: list[int] = []
        self.asked: Questions = {}
        self._ask()

    def _text(self, start: int, end: int) -> list[int]:
        """A range of the passage's tokens, with the chosen candidates of the places that are wholly in it."""
        found: list[int] = []
        for place, number in self._chosen:
            if number is not None and start <= place.span.start and place.span.end <= end:
                found += [*self._passage[start : place.span.start], *place.tokens[number]]
                start = place.span.end
        return [*found, *self._passage[start:end]]

    def give_up(self) -> None:
        """End the reading: the model's context is full."""
        self.over = True

    def _ask(self) -> None:
        """Read the next text that is not fully scored."""
        while self._tasks:
            place, ways, at, number = self._tasks[0]
            if not ways.is_known(at):
                self.ids, self.expected, self.asked = ways.task(at)
                return
            place.readings[number] = ways.bound(at)
            self._tasks.pop(0)
        self.over = True

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        """Record the model's scores of one text, and go on to the next."""
        _, ways, at, _ = self._tasks[0]
        ways.take(at, choice_scores)
        self._ask()
