"""Example sentences for a corrector's changes (right, wrong, harmful) and for missed mistakes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.proofreading.mistakes import place_of
from reviser.proofreading.changes import changes
from reviser.proofreading.suggestion import Suggestion


class Verdict(StrEnum):
    """The kind of example that a sentence is."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSED = "missed"
    DAMAGED = "damaged"


EXPLAINED = {
    Verdict.RIGHT: "changed as a person did",
    Verdict.WRONG: "changed where a person did, to something else",
    Verdict.MISSED: "left as it was where a person changed it",
    Verdict.DAMAGED: "changed where no person did",
}


@dataclass(frozen=True)
class Example:
    """A sentence with the corrector's and a person's correction."""

    source: str
    made: str
    wanted: str


def verdicts(source: str, made: str, references: Sequence[str]) -> set[Verdict]:
    """The verdicts of a sentence; a change is right if any reference has it."""
    corrections = changes(source, made)
    by_reference = [changes(source, reference) for reference in references]
    wanted = [change for several in by_reference for change in several]
    places = set(map(place_of, wanted))
    found = set()
    for change in corrections:
        if place_of(change) in places:
            found.add(Verdict.RIGHT)
        elif any(_overlap(change, other) for other in wanted):
            found.add(Verdict.WRONG)
        else:
            found.add(Verdict.DAMAGED)
    # Missed is what every person changed and the corrector did not touch.
    if by_reference and all(
        any(not any(_overlap(change, made) for made in corrections) for change in several) for several in by_reference
    ):
        found.add(Verdict.MISSED)
    return found


def _overlap(one: Suggestion, other: Suggestion) -> bool:
    return one.start <= other.end and other.start <= one.end


def examples(
    sources: Sequence[str], made: Sequence[str], references: Sequence[Sequence[str]], count: int
) -> dict[Verdict, list[Example]]:
    """Draws up to `count` sentences of each verdict; the draw is always the same."""
    order = list(range(len(sources)))
    random.Random(0).shuffle(order)
    found: dict[Verdict, list[Example]] = {verdict: [] for verdict in Verdict}
    for at in order:
        if all(len(several) >= count for several in found.values()):
            break
        for verdict in verdicts(sources[at], made[at], references[at]):
            if len(found[verdict]) < count:
                found[verdict].append(Example(sources[at], made[at], references[at][0]))
    return found
