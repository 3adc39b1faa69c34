"""Log-probabilities of several continuations of one text, in a prefix tree, so that a common prefix is read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reviser.model.scoring import ChoiceScores, Questions


class ScoringTask(NamedTuple):
    """A request to the model: the ids to read, the last ones of them whose probabilities are wanted, and
    alternatives at these places."""

    ids: list[int]
    expected: list[int]
    asked: Questions


class ContinuationTree:
    """Continuations, each of at least one id, and their log-probabilities as far as they are known.

    They form a prefix tree: a score after a prefix is asked for all continuations with that prefix at once.
    """

    def __init__(self, before: Sequence[int], ways: Sequence[Sequence[int]]) -> None:
        """`before` is the common text that the model has read, at least one id."""
        self._before = list(before)
        self._ways = [tuple(way) for way in ways]
        self._branches: dict[tuple[int, ...], dict[int, None]] = {}
        for way in self._ways:
            for place, id in enumerate(way):
                self._branches.setdefault(way[:place], {})[id] = None
        self._chances: dict[tuple[int, ...], float] = {(): 0.0}

    def bound(self, number: int) -> float:
        """An upper bound of the log-probability of a continuation: that of its known prefix."""
        return self._chances[self._known(number)]

    def is_known(self, number: int) -> bool:
        return self._ways[number] in self._chances

    def task(self, number: int) -> ScoringTask:
        """The request that makes a continuation fully known."""
        way = self._ways[number]
        first = len(self._known(number))
        asked = {place - first: others for place in range(first, len(way)) if (others := self._others(way, place))}
        return ScoringTask([*self._before, *way[:-1]], [*way[first:]], asked)

    def take(self, number: int, choice_scores: Sequence[ChoiceScores]) -> None:
        """Record the model's answer to the request for a continuation."""
        way = self._ways[number]
        first = len(self._known(number))
        for place, choice_score in enumerate(choice_scores, first):
            before = self._chances[way[:place]]
            for id, chance in zip(self._others(way, place), choice_score.asked, strict=True):
                self._chances[*way[:place], id] = before + chance
            self._chances[way[: place + 1]] = before + choice_score.expected

    def _known(self, number: int) -> tuple[int, ...]:
        """The longest prefix of a continuation whose probability is known."""
        way = self._ways[number]
        return next(way[:end] for end in range(len(way), -1, -1) if way[:end] in self._chances)

    def _others(self, way: tuple[int, ...], place: int) -> list[int]:
        """The ids of other continuations at a place that share the prefix before it."""
        return [id for id in self._branches[way[:place]] if id != way[place]]
