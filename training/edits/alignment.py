"""The alignment of two texts: anchors that both keep, and the hunks between them, which are rewritten.

The anchors are a longest common subsequence with a cost for every hunk: a single word that two rewritten
passages happen to share is no anchor. Neighbouring hunks are joined where one larger rewrite takes fewer
actions than two rewrites with a move between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.data.randomness import compiled

Tokens = NDArray[np.int32]
Hunks = NDArray[np.int32]
"""One hunk a row: where it starts and ends in the text before, and in the text after."""

LONGEST_POWER = 9
# What a hunk costs beside its tokens: a way there takes two or three moves.
HUNK_PRICE = 2
# Larger tables than this, a byte for each pair of tokens, are cut in two.
TABLE_CELLS = 2**24

KEPT_FROM_CHANGE, CHANGE_FROM_KEPT, ADDED = 1, 2, 4
NEVER = np.int64(2**40)


@dataclass(frozen=True)
class EditOperators:
    """The optional actions with which a hunk can be rewritten, beside Insert, Move and Delete."""

    spans: bool = False
    replaces: bool = False


@compiled
def powers(number: int) -> int:
    """The smallest number of powers of two, none above 512, that add up to `number`."""
    count = number >> LONGEST_POWER
    rest = number & ((1 << LONGEST_POWER) - 1)
    while rest:
        rest &= rest - 1
        count += 1
    return count


@compiled
def deletions(removed: int, spans: bool) -> int:
    """The number of actions that delete `removed` tokens."""
    return powers(removed) if spans else removed


@compiled
def replaces_first(removed: int, inserted: int, spans: bool, replaces: bool) -> bool:
    """Whether a Replace of the last old token by the first new one is used instead of a Delete and an Insert."""
    if not replaces or removed == 0 or inserted == 0:
        return False
    return deletions(removed - 1, spans) < deletions(removed, spans)


@compiled
def _rewriting(removed: int, inserted: int, spans: bool, replaces: bool) -> int:
    saved = 1 if replaces_first(removed, inserted, spans, replaces) else 0
    return deletions(removed, spans) + inserted - saved


@compiled
def _shared_ends(before: Tokens, after: Tokens) -> tuple[int, int]:
    """The length of the common prefix, and that of the common suffix of the rest."""
    most = min(before.size, after.size)
    start = 0
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[before.size - 1 - end] == after[after.size - 1 - end]:
        end += 1
    return start, end


@compiled
def _fill_best_steps(before: Tokens, after: Tokens, ways: NDArray[np.uint8]) -> bool:
    """Fills the table of the best step to each pair of positions; returns whether the best path ends in a change."""
    columns = after.size
    # The cheapest way to each pair of places, if it ends with a kept token, and if with a change.
    kept = np.full(columns + 1, NEVER)
    changed = np.full(columns + 1, NEVER)
    for row in range(before.size + 1):
        kept_left = changed_left = kept_corner = changed_corner = NEVER
        for column in range(columns + 1):
            kept_above, changed_above = kept[column], changed[column]
            way = 0
            best_kept = NEVER
            if row == 0 and column == 0:
                best_kept = np.int64(0)
            elif row > 0 and column > 0 and before[row - 1] == after[column - 1]:
                best_kept = min(kept_corner, changed_corner)
                way = KEPT_FROM_CHANGE if changed_corner < kept_corner else 0
            removing = min(changed_above, kept_above + HUNK_PRICE)
            adding = min(changed_left, kept_left + HUNK_PRICE)
            if adding < removing:
                way |= ADDED | (CHANGE_FROM_KEPT if adding < changed_left else 0)
            elif removing < changed_above:
                way |= CHANGE_FROM_KEPT
            ways[row, column] = way
            kept_corner, changed_corner = kept_above, changed_above
            kept_left, changed_left = best_kept, min(removing, adding) + 1
            kept[column], changed[column] = kept_left, changed_left
    return bool(changed[columns] < kept[columns])


@compiled
def _align(before: Tokens, after: Tokens, b: int, a: int, hunks: Hunks) -> int:
    """Writes the hunks of two texts that begin at `b` and `a` of larger ones; returns their number."""
    row, column = before.size, after.size
    ways = np.empty((row + 1, column + 1), dtype=np.uint8)
    changing = _fill_best_steps(before, after, ways)
    count = 0
    while row > 0 or column > 0:
        way = ways[row, column]
        if not changing:
            row -= 1
            column -= 1
            changing = bool(way & KEPT_FROM_CHANGE)
            continue
        end, new_end = row, column
        while changing:
            way = ways[row, column]
            if way & ADDED:
                column -= 1
            else:
                row -= 1
            changing = not way & CHANGE_FROM_KEPT
        hunks[count, 0], hunks[count, 1] = b + row, b + end
        hunks[count, 2], hunks[count, 3] = a + column, a + new_end
        count += 1
    hunks[:count] = hunks[:count][::-1].copy()
    return count


@compiled
def _common(before: Tokens, after: Tokens, backward: bool) -> NDArray[np.int32]:
    """The length of the longest common subsequence of `before` and each prefix (or suffix) of `after`."""
    row = np.zeros(after.size + 1, dtype=np.int32)
    for at in range(before.size):
        token = before[before.size - 1 - at] if backward else before[at]
        diagonal = np.int32(0)
        for column in range(after.size):
            above = row[column + 1]
            other = after[after.size - 1 - column] if backward else after[column]
            if token == other:
                row[column + 1] = diagonal + 1
            else:
                row[column + 1] = max(above, row[column])
            diagonal = above
    return row


@compiled
def _cut(before: Tokens, after: Tokens) -> int:
    """The position at which `after` is best split when `before` is split in its middle."""
    middle = before.size // 2
    first = _common(before[:middle], after, False)
    second = _common(before[middle:], after, True)
    best, most = 0, -1
    for column in range(after.size + 1):
        together = first[column] + second[after.size - column]
        if together > most:
            best, most = column, together
    return best


@compiled
def find_hunks(
    before: Tokens, after: Tokens, cursor: int, spans: bool, replaces: bool, cells: int = TABLE_CELLS
) -> Hunks:
    """The hunks that turn `before` into `after`, joined so that rewriting from left to right takes few actions."""
    hunks = np.empty((min(before.size, after.size) + 2, 4), dtype=np.int32)
    # Halves that are still to be aligned, the leftmost on top.
    waiting = [(0, before.size, 0, after.size)]
    count = 0
    while len(waiting) > 0:
        b, b_end, a, a_end = waiting.pop()
        start, end = _shared_ends(before[b:b_end], after[a:a_end])
        b, b_end, a, a_end = b + start, b_end - end, a + start, a_end - end
        if b == b_end and a == a_end:
            continue
        if (b_end - b) * (a_end - a) > cells and b_end - b > 1:
            middle = b + (b_end - b) // 2
            cut = a + _cut(before[b:b_end], after[a:a_end])
            waiting.append((middle, b_end, cut, a_end))
            waiting.append((b, middle, a, cut))
            continue
        touching = count
        count += _align(before[b:b_end], after[a:a_end], b, a, hunks[count:])
        if 0 < touching < count and (
            hunks[touching - 1, 1] == hunks[touching, 0] and hunks[touching - 1, 3] == hunks[touching, 2]
        ):
            hunks[touching - 1, 1] = hunks[touching, 1]
            hunks[touching - 1, 3] = hunks[touching, 3]
            hunks[touching : count - 1] = hunks[touching + 1 : count].copy()
            count -= 1
    return _joined(hunks[:count], cursor, spans, replaces)


@compiled
def _joined(hunks: Hunks, cursor: int, spans: bool, replaces: bool) -> Hunks:
    """The same change with neighbouring hunks joined into the groups that take the fewest actions."""
    count = hunks.shape[0]
    fewest = np.zeros(count + 1, dtype=np.int64)
    first_of_last = np.zeros(count + 1, dtype=np.int64)
    for end in range(1, count + 1):
        fewest[end] = NEVER
        for first in range(end - 1, -1, -1):
            removed = hunks[end - 1, 1] - hunks[first, 0]
            inserted = hunks[end - 1, 3] - hunks[first, 2]
            way = abs(cursor - hunks[end - 1, 1]) if first == 0 else hunks[first, 0] - hunks[first - 1, 1] + removed
            rewriting = _rewriting(removed, inserted, spans, replaces)
            actions = fewest[first] + powers(way) + rewriting
            if actions < fewest[end]:
                fewest[end] = actions
                first_of_last[end] = first
            # Larger groups only have more to insert.
            if inserted > fewest[end]:
                break
    groups = 0
    end = count
    while end > 0:
        end = int(first_of_last[end])
        groups += 1
    made = np.empty((groups, 4), dtype=np.int32)
    end = count
    while end > 0:
        first = int(first_of_last[end])
        groups -= 1
        made[groups, 0], made[groups, 1] = hunks[first, 0], hunks[end - 1, 1]
        made[groups, 2], made[groups, 3] = hunks[first, 2], hunks[end - 1, 3]
        end = first
    return made


def align(before: Sequence[int], after: Sequence[int], cursor: int, operators: EditOperators) -> Hunks:
    """`find_hunks` for any sequences of tokens."""
    old, new = (np.asarray(tokens, dtype=np.int32) for tokens in (before, after))
    return find_hunks(old, new, cursor, operators.spans, operators.replaces)
