"""The outcomes of next edits: precision and recall of each way of proposing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.measures.arena import ShareInterval, wilson
from benchmarks.next_edits.cases import NextEditCase, right_edits
from reviser.core.edits import Edit
from reviser.next_edits.evidence import EditSort, sort_of
from reviser.next_edits.following import EditedDocument, EditFollower, JudgedEdit, chosen
from reviser.next_edits.repeats import RepeatWay, repeats
from reviser.prose import Format, format_of

_DRAWS: Final = 1000


@dataclass(frozen=True)
class NextEditOutcome:
    """The counts of one case: edits to come, repeats among them, edits shown, right ones, and edits found.

    `right` and `shown` are counts by sort of edit.
    """

    to_come: int
    repeats: int
    shown: dict[EditSort, int]
    right: dict[EditSort, int]
    found: int
    found_repeats: int


@dataclass(frozen=True)
class NextEditScore:
    """The score of many outcomes."""

    outcomes: Sequence[NextEditOutcome]

    @property
    def shown(self) -> int:
        return sum(sum(one.shown.values()) for one in self.outcomes)

    @property
    def right(self) -> int:
        return sum(sum(one.right.values()) for one in self.outcomes)

    @property
    def precision(self) -> ShareInterval:
        return wilson(self.right, self.shown)

    @property
    def with_some(self) -> ShareInterval:
        """The share of cases in which at least one edit is shown."""
        return wilson(sum(bool(one.shown) for one in self.outcomes), len(self.outcomes))

    def recall(self, seed: int) -> ShareInterval:
        """The share of the edits to come that were found; the interval is from resampled cases."""
        return _ratio([(one.found, one.to_come) for one in self.outcomes], seed)

    def recall_of_repeats(self, seed: int) -> ShareInterval:
        return _ratio([(one.found_repeats, one.repeats) for one in self.outcomes], seed)

    def precision_by_case(self, seed: int) -> ShareInterval:
        """The precision, with an interval from resampled cases because the proposals of one document are correlated."""
        return _ratio([(sum(one.right.values()), sum(one.shown.values())) for one in self.outcomes], seed)

    def of_sort(self, sort: EditSort) -> tuple[int, int]:
        """The number of edits shown of one sort, and the number of right ones."""
        return (
            sum(one.shown.get(sort, 0) for one in self.outcomes),
            sum(one.right.get(sort, 0) for one in self.outcomes),
        )


def _ratio(pairs: Sequence[tuple[int, int]], seed: int) -> ShareInterval:
    """A ratio of sums, with an interval from resampled pairs."""
    numbers = np.array(pairs, dtype=float).reshape(-1, 2)
    total = numbers.sum(axis=0)
    value = float(total[0] / total[1]) if total[1] else 0.0
    random = np.random.default_rng(seed)
    drawn = numbers[random.integers(0, len(numbers), (_DRAWS, len(numbers)))].sum(axis=1)
    known = drawn[drawn[:, 1] > 0]
    ratios = known[:, 0] / known[:, 1] if len(known) else np.zeros(1)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return ShareInterval(value, float(low), float(high))


Proposing = Callable[[NextEditCase], Sequence[Edit]]
"""A way to propose edits for a case."""


def outcome_of(case: NextEditCase, proposed: Iterable[Edit]) -> NextEditOutcome:
    shown: dict[EditSort, int] = {}
    right: dict[EditSort, int] = {}
    found: set[Edit] = set()
    for change in proposed:
        sort = sort_of(change.old, change.new, None)
        made = right_edits(case, change)
        shown[sort] = shown.get(sort, 0) + 1
        if made:
            right[sort] = right.get(sort, 0) + 1
        found.update(made)
    return NextEditOutcome(len(case.to_come), len(case.repeated), shown, right, len(found), len(found & case.repeated))


def edited(case: NextEditCase) -> EditedDocument:
    """The case as an edited document."""
    format = format_of(case.path or "a.md")
    return EditedDocument(case.text, Format.MARKDOWN if format is Format.UNKNOWN else format, case.made)


def last_replaced(case: NextEditCase) -> list[Edit]:
    """The proposals of find and replace with the last edit, by exact match."""
    found = repeats(case.text, case.shown[-1:], case.taken)
    return [one.change for one in found if one.way is RepeatWay.EXACT]


def all_replaced(case: NextEditCase) -> list[Edit]:
    """The proposals to repeat every made edit wherever that is possible."""
    return [one.change for one in repeats(case.text, case.shown, case.taken)]


def followed(follower: EditFollower, least: float) -> Proposing:
    """The proposals of a follower with at least the confidence `least`."""

    def propose(case: NextEditCase) -> list[Edit]:
        return [one.edit for one in follower.suggestions(edited(case), least)]

    return propose


def judged(follower: EditFollower, case: NextEditCase) -> list[JudgedEdit]:
    """All edits that a follower finds for a case, without overlap."""
    return chosen(follower.judged(edited(case)), 0.0)
