"""How likely the model finds each of several ways to go on from one text: what they begin with alike is read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reviser.model.scoring import ChoiceScores, Questions


class ScoringTask(NamedTuple):
    """Ids that the model reads, those whose probabilities are wanted behind the last of them, one by one, and
    others there."""

    ids: list[int]
    expected: list[int]
    asked: Questions


class Ways:
    """Ways to go on, each of at least one id, and what is known of their probabilities.

    They are a tree: what is asked behind ids that several of them begin with is asked for all of these at once.
    """

    def __init__(self, before: Sequence[int], ways: Sequence[Sequence[int]]) -> None:
        """`before` is what the model has read before all of them, at least one id."""
        self._before = list(before)
        self._ways = [tuple(way) for way in ways]
        self._branches: dict[tuple[int, ...], dict[int, None]] = {}
        for way in self._ways:
            for place, id in enumerate(way):
                self._branches.setdefault(way[:place], {})[id] = None
        self._chances: dict[tuple[int, ...], float] = {(): 0.0}

    def bound(self, number: int) -> float:
        """The log-probability of the part of a way that is known: that of the whole way is no higher."""
        return self._chances[self._known(number)]

    def is_known(self, number: int) -> bool:
        return self._ways[number] in self._chances

    def task(self, number: int) -> ScoringTask:
        """What the model reads to know all of a way."""
        way = self._ways[number]
        first = len(self._known(number))
        asked = {place - first: others for place in range(first, len(way)) if (others := self._others(way, place))}
        return ScoringTask([*self._before, *way[:-1]], [*way[first:]], asked)

    def take(self, number: int, choice_scores: Sequence[ChoiceScores]) -> None:
        """Take down what the model says of the task of a way."""
        way = self._ways[number]
        first = len(self._known(number))
        for place, choice_score in enumerate(choice_scores, first):
            before = self._chances[way[:place]]
            for id, chance in zip(self._others(way, place), choice_score.asked, strict=True):
                self._chances[*way[:place], id] = before + chance
            self._chances[way[: place + 1]] = before + choice_score.expected

    def _known(self, number: int) -> tuple[int, ...]:
        """What a way begins with whose probability is known."""
        way = self._ways[number]
        return next(way[:end] for end in range(len(way), -1, -1) if way[:end] in self._chances)

    def _others(self, way: tuple[int, ...], place: int) -> list[int]:
        """What other ways have at a place, which begin as this one does up to there."""
        return [id for id in self._branches[way[:place]] if id != way[place]]
