"""The actions of a revision, made one by one: what `training.edits.edit_samples` writes compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviser.core.actions import Action, Delete, Insert, Replace, SpanDelete
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES, Vocabulary
from training.data.randomness import KeyedRandom
from training.edits.alignment import EditOperators, Hunks, align, replaces_first
from training.edits.edits import operators_of
from training.samples.mixture import Order

LONGEST = max(MOVES)


def revising_actions(
    vocabulary: Vocabulary,
    before: Sequence[int],
    after: Sequence[int],
    *,
    cursor: int | None = None,
    order: Order = Order.FORWARD,
    random: KeyedRandom | None = None,
) -> list[Action]:
    """The actions, without Stop, that turn `before` into `after`; the cursor starts at the end or at `cursor`.

    They do not depend on the text's position on a larger canvas. A random order needs `random`.
    """
    start = len(before) if cursor is None else cursor
    operators = operators_of(vocabulary)
    hunks = align(before, after, start, operators)
    if any(hunk[1] > hunk[0] for hunk in hunks) and vocabulary.objection(Delete()) is not None:
        raise ReviserError("this edit takes Delete, which the vocabulary does not have in use")
    actions: list[Action] = []
    for number, boundary, landing in itinerary(hunks, start, order, random):
        old_start, old_end, new_start, new_end = hunks[number].tolist()
        actions += vocabulary.moves(boundary - start)
        actions += rewriting(old_end - old_start, after[new_start:new_end], operators)
        start = landing
    return actions


def itinerary(
    hunks: Hunks, cursor: int, order: Order, random: KeyedRandom | None = None
) -> Iterator[tuple[int, int, int]]:
    """Yields hunks in the order of rewriting: (index, current end boundary, cursor afterwards)."""
    left = list(range(len(hunks)))
    if order is Order.RANDOM:
        if random is None:
            raise ReviserError("a random order needs random numbers")
        # Fisher and Yates, from the end.
        for at in range(len(left) - 1, 0, -1):
            other = random.below(at + 1)
            left[at], left[other] = left[other], left[at]
    shifts = [0] * len(hunks)
    while left:
        if order is Order.BACKWARD:
            number = left.pop()
        elif order is Order.NEAREST:
            number = min(left, key=lambda n: abs(int(hunks[n][1]) + shifts[n] - cursor))
            left.remove(number)
        else:
            number = left.pop(0)
        old_start, old_end, new_start, new_end = hunks[number].tolist()
        boundary = old_end + shifts[number]
        cursor = old_start + shifts[number] + new_end - new_start
        yield number, boundary, cursor
        for later in range(number + 1, len(hunks)):
            shifts[later] += (new_end - new_start) - (old_end - old_start)


def rewriting(removed: int, inserted: Sequence[int], operators: EditOperators) -> list[Action]:
    """The actions that replace `removed` tokens by `inserted`, with the cursor at the end of the hunk."""
    if replaces_first(removed, len(inserted), operators.spans, operators.replaces):
        return [*_deleting(removed - 1, operators.spans), Replace(inserted[0]), *map(Insert, inserted[1:])]
    return [*_deleting(removed, operators.spans), *map(Insert, inserted)]


def _deleting(count: int, spans: bool) -> list[Action]:
    if not spans:
        return [Delete()] * count
    made: list[Action] = [SpanDelete(LONGEST)] * (count // LONGEST)
    rest = count % LONGEST
    while rest > 1:
        k = 1 << (rest.bit_length() - 1)
        made.append(SpanDelete(k))
        rest -= k
    return made + [Delete()] * rest
