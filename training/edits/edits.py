"""Real edits as trajectories: the actions that turn one text into another.

git log -p -- '*.md' | python -m training edits - --out edits.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from reviser.cli.options import Argument, Option
from reviser.core.actions import Action, Delete, Insert, Replace, SpanDelete
from reviser.core.counts import counted
from reviser.core.errors import ReviserError, UnknownId
from reviser.core.files import write_atomically
from reviser.core.vocabulary import MOVES, Vocabulary
from training.data.edit_files import read_edits
from training.data.randomness import KeyedRandom
from training.edits.alignment import EditOperators, Hunks, align, replaces_first
from training.samples.mixture import Order

LONGEST = max(MOVES)


# Actions -----------------------------------------------------------------------------------------


def operators_of(vocabulary: Vocabulary) -> EditOperators:
    """The optional rewriting actions for which a vocabulary has ids."""
    return EditOperators(_has(vocabulary, SpanDelete(2)), _has(vocabulary, Replace(_any_token(vocabulary))))


def _any_token(vocabulary: Vocabulary) -> int:
    tokens = (id for id in range(vocabulary.base_size) if id not in vocabulary.never_inserted)
    return next(tokens, 0)


def _has(vocabulary: Vocabulary, action: Action) -> bool:
    try:
        vocabulary.id(action)
    except UnknownId:
        return False
    return vocabulary.objection(action) is None


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
    if any(hunk[1] > hunk[0] for hunk in hunks) and not _has(vocabulary, Delete()):
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


# Command -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Options of the command: the edits to read and where to save them."""

    source: Annotated[str, Argument("JSON lines or a unified diff; - reads standard input")]
    limit: Annotated[int | None, Option("edits to take")] = None
    out: Annotated[Path | None, Option("write the edits to this file, as JSON lines")] = None


def run(chosen: ReadingOptions) -> None:
    """Reads edits, saves them if asked to, and prints their number."""
    edits = list(islice(read_edits(chosen.source), chosen.limit))
    if chosen.out:
        rows = (json.dumps(asdict(edit), ensure_ascii=False) + "\n" for edit in edits)
        write_atomically(chosen.out, "".join(rows).encode())
    print(counted(len(edits), "edit"))
