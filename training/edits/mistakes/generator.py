"""The compiled generator of passages with mistakes from tokenised text.

A passage of one to three sentences is drawn from a document. Mistakes are drawn for it one after the other: a
kind by the recipe's shares, then one of the places where that kind is possible, then the wrong text. No two
mistakes overlap. The result is the passage before (with mistakes), the passage after, and the hunks between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.data.boundaries import SENTENCE, SENTENCE_END, Classes, strength
from training.data.randomness import State, below, chance, compiled, share
from training.edits.mistakes.kinds import FROM_TABLE, MistakeKind
from training.edits.mistakes.units import Tokens, hashed

Hunks = NDArray[np.int32]

# What a unit can be, as bits.
LOWER, ARTICLE, PREPOSITION, DROPPABLE, LITTLE, NOUN, VERB, COMMA, END, DETERMINER, TITLE, KNOWN = (
    1 << bit for bit in range(12)
)

SHORTEST = 5
"""Units of a passage, at the least."""
MOST_UNITS = 192
MOST_CHANGES = 48
_LONGEST_SPAN = 3
_TRIES = 12

KINDS = len(MistakeKind)
ARTICLE_SWAP = int(MistakeKind.ARTICLE_SWAP)
CASE = int(MistakeKind.CASE)
JOINED = int(MistakeKind.JOINED)
ARTICLE_DROP, ARTICLE_ADD = int(MistakeKind.ARTICLE_DROP), int(MistakeKind.ARTICLE_ADD)
PREPOSITION_DROP, PREPOSITION_ADD = int(MistakeKind.PREPOSITION_DROP), int(MistakeKind.PREPOSITION_ADD)
COMMA_DROP, COMMA_ADD = int(MistakeKind.COMMA_DROP), int(MistakeKind.COMMA_ADD)
END_DROP, RUN_ON, ORDER = int(MistakeKind.END_DROP), int(MistakeKind.RUN_ON), int(MistakeKind.ORDER)
LEFT_OUT, DOUBLED, EXTRA = int(MistakeKind.LEFT_OUT), int(MistakeKind.DOUBLED), int(MistakeKind.EXTRA)
TABLE_KINDS = int(FROM_TABLE)

_strength = compiled(strength)


class MistakeTable(NamedTuple):
    """The wrong alternatives of units, as arrays for compiled code.

    `keys` are the hashed tokens of one to three units, sorted; alternatives `starts[i]` to `starts[i + 1]` belong
    to key i, ordered by kind. `inserted` lists the alternatives for superfluous words: articles, prepositions,
    others. The other arrays have for each token the categories of its first and last character, the token
    without its leading space, and whether it breaks the line.
    """

    keys: NDArray[np.uint64]
    features: NDArray[np.uint32]
    masks: NDArray[np.uint32]
    starts: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    weights: NDArray[np.float32]
    token_starts: NDArray[np.int64]
    tokens: NDArray[np.uint16]
    inserted: NDArray[np.int64]
    edges: NDArray[np.uint8]
    bare: NDArray[np.int32]
    classes: NDArray[np.uint8]
    newlines: NDArray[np.bool_]
    comma: int


class MistakePlan(NamedTuple):
    """A recipe as arrays and numbers for compiled code."""

    weights: NDArray[np.float64]
    rates: NDArray[np.float64]
    sentences: NDArray[np.float64]
    clean: float
    longest: int
    left: float
    right: float
    neighbours: int


@compiled
def find_entry(keys: NDArray[np.uint64], name: np.uint64) -> int:
    """The index of a name among the sorted keys; -1 if it is missing."""
    at = int(np.searchsorted(keys, name))
    return at if at < keys.size and keys[at] == name else -1


@compiled
def draw_passage(
    tokens: NDArray[np.uint16], offsets: NDArray[np.int64], classes: Classes, plan: MistakePlan, state: State
) -> tuple[int, int]:
    """Draws the start and end of a passage of whole sentences; (0, 0) if there is none at the place drawn."""
    sentences, longest = plan.sentences, plan.longest
    at = int(share(state) * tokens.size)
    document = int(np.searchsorted(offsets, at, side="right")) - 1
    first, last = offsets[document], offsets[document + 1]
    start = at
    while start > first and at - start <= longest:
        if _strength(int(classes[tokens[start - 1]]), int(classes[tokens[start]])) == SENTENCE:
            break
        start -= 1
    if at - start > longest:
        return 0, 0
    drawn = share(state)
    wanted = 1
    while wanted < sentences.size and drawn >= sentences[wanted - 1]:
        wanted += 1
    end, found = start, start
    while end < last and end - start < longest:
        end += 1
        if end == last or _strength(int(classes[tokens[end - 1]]), int(classes[tokens[end]])) == SENTENCE:
            found = end
            wanted -= 1
            if wanted == 0:
                break
    return start, found


@compiled
def _pick(weights: NDArray[np.float32], first: int, last: int, state: State) -> int:
    """Draws an index from `first` to `last` by weight."""
    total = 0.0
    for at in range(first, last):
        total += weights[at]
    drawn = share(state) * total
    for at in range(first, last):
        drawn -= weights[at]
        if drawn < 0:
            return at
    return last - 1


@compiled
def _range_of(entry: int, kind: int, table: MistakeTable) -> tuple[int, int]:
    """The range of an entry's alternatives that are of a kind."""
    end = table.starts[entry + 1]
    first = table.starts[entry]
    while first < end and table.kinds[first] != kind:
        first += 1
    last = first
    while last < end and table.kinds[last] == kind:
        last += 1
    return first, last


# One line for each kind.
@compiled
def _suits(  # noqa: PLR0911
    kind: int, unit: int, count: int, features: NDArray[np.uint32], masks: NDArray[np.uint32]
) -> bool:
    """Whether a mistake of a kind that needs no table can be made at a unit."""
    this = features[unit]
    before = features[unit - 1] if unit else 0
    after = features[unit + 1] if unit + 1 < count else 0
    if kind == ARTICLE_DROP:
        return unit > 0 and bool(this & ARTICLE) and bool(after & LOWER)
    if kind == ARTICLE_ADD:
        return unit > 0 and bool(this & NOUN) and bool(this & LOWER) and not before & DETERMINER
    if kind == PREPOSITION_DROP:
        return unit > 0 and bool(this & PREPOSITION) and bool(after & (LOWER | TITLE))
    if kind == PREPOSITION_ADD:
        return unit > 0 and bool(before & VERB) and bool(this & LOWER) and not this & PREPOSITION
    if kind == COMMA_DROP:
        return bool(this & COMMA) and unit + 1 < count
    if kind == COMMA_ADD:
        return unit > 0 and bool(this & LOWER) and bool(before & (LOWER | TITLE))
    if kind == END_DROP:
        return bool(this & END) and unit + 1 == count
    if kind == RUN_ON:
        return bool(this & END) and bool(after & TITLE) and bool(masks[unit + 1] >> CASE & 1)
    if kind == ORDER:
        return unit > 0 and bool(this & LOWER) and bool(after & LOWER)
    if kind == LEFT_OUT:
        return unit > 0 and bool(this & DROPPABLE) and bool(after & (LOWER | TITLE))
    if kind == DOUBLED:
        return unit > 0 and bool(this & LITTLE)
    if kind == EXTRA:
        return unit > 0 and bool(this & LOWER)
    return False


@compiled
def _put(part: Tokens, out: Tokens, at: int) -> int:
    """Writes tokens at position `at`; returns the position after them."""
    for token in part:
        out[at] = token
        at += 1
    return at


@compiled
def _put_alternative(first: int, last: int, table: MistakeTable, state: State, out: Tokens, at: int) -> int:
    """Writes one of the alternatives from `first` to `last`, drawn at random; returns the position after it."""
    chosen = _pick(table.weights, first, last, state)
    for token in table.tokens[table.token_starts[chosen] : table.token_starts[chosen + 1]]:
        out[at] = token
        at += 1
    return at


@compiled
def make_mistakes(  # noqa: PLR0912, PLR0915
    passage: Tokens,
    unit_starts: Tokens,
    units: int,
    wanted: int,
    plan: MistakePlan,
    table: MistakeTable,
    state: State,
    changes: NDArray[np.int32],
    scratch: Tokens,
) -> int:
    """Draws up to `wanted` mistakes; returns their number.

    A row of `changes` is (first unit, end unit, start and end of the wrong tokens in `scratch`, kind). In the passage
    before, these tokens replace the units; if first and end are equal, they are superfluous there.
    """
    entries = np.full((_LONGEST_SPAN, units), -1, dtype=np.int64)
    features = np.zeros(units, dtype=np.uint32)
    masks = np.zeros(units, dtype=np.uint32)
    for unit in range(units):
        for span in range(_LONGEST_SPAN):
            if unit + span < units:
                part = passage[unit_starts[unit] : unit_starts[unit + span + 1]]
                entries[span, unit] = find_entry(table.keys, hashed(part))
        if entries[0, unit] >= 0:
            features[unit] = table.features[entries[0, unit]]
            masks[unit] = table.masks[entries[0, unit]]
    taken = np.zeros(units + 1, dtype=np.bool_)
    places = np.empty(_LONGEST_SPAN * units, dtype=np.int64)
    made, used = 0, 0
    for _ in range(wanted * _TRIES):
        if made == wanted or made == changes.shape[0]:
            break
        drawn = share(state)
        kind = 0
        while kind < KINDS - 1 and drawn >= plan.weights[kind]:
            kind += 1
        found = 0
        if kind < TABLE_KINDS:
            for span in range(_LONGEST_SPAN):
                for unit in range(units - span):
                    entry = entries[span, unit]
                    if entry >= 0 and table.masks[entry] >> kind & 1:
                        places[found] = unit * _LONGEST_SPAN + span
                        found += 1
        else:
            for unit in range(units):
                if _suits(kind, unit, units, features, masks):
                    places[found] = unit * _LONGEST_SPAN
                    found += 1
        if found == 0:
            continue
        place = places[below(state, found)]
        unit, span = place // _LONGEST_SPAN, place % _LONGEST_SPAN
        first, last = unit, unit + span + 1
        at = used
        own = passage[unit_starts[unit] : unit_starts[unit + 1]]
        if kind < TABLE_KINDS:
            one, end = _range_of(entries[span, unit], kind, table)
            at = _put_alternative(one, end, table, state, scratch, at)
        elif kind in (ARTICLE_ADD, PREPOSITION_ADD, EXTRA):
            row = 0 if kind == ARTICLE_ADD else (1 if kind == PREPOSITION_ADD else 2)
            one, end = table.inserted[row], table.inserted[row + 1]
            at = _put_alternative(one, end, table, state, scratch, at)
            last = first
        elif kind == COMMA_ADD:
            scratch[at] = table.comma
            at += 1
            last = first
        elif kind == DOUBLED:
            at = _put(own, scratch, at)
            first = last = unit + 1
        elif kind == ORDER:
            at = _put(passage[unit_starts[unit + 1] : unit_starts[unit + 2]], scratch, at)
            at = _put(own, scratch, at)
            last = unit + 2
        elif kind == RUN_ON:
            if chance(state, 0.7):
                scratch[at] = table.comma
                at += 1
            one, end = _range_of(entries[0, unit + 1], CASE, table)
            at = _put_alternative(one, end, table, state, scratch, at)
            last = unit + 2
        # The other kinds leave the unit out, and nothing stands in its place.
        free = not taken[first] if first == last else True
        for touched in range(max(first - (first == last), 0), min(max(last, first + 1), units)):
            free = free and not taken[touched]
        if not free:
            continue
        for touched in range(first, max(last, min(first + 1, units))):
            taken[touched] = True
        changes[made, 0], changes[made, 1] = first, last
        changes[made, 2], changes[made, 3] = used, at
        changes[made, 4] = kind
        made += 1
        used = at
    return made


@compiled
def put_before(
    passage: Tokens,
    unit_starts: Tokens,
    changes: NDArray[np.int32],
    made: int,
    scratch: Tokens,
    before: Tokens,
    hunks: Hunks,
) -> tuple[int, int]:
    """Writes the passage with its mistakes and the hunks that correct it; returns its length and their number.

    A hunk is minimal: tokens with which both sides begin or end do not belong to it. Adjacent hunks are joined.
    """
    order = np.argsort(changes[:made, 0] * 2 + (changes[:made, 1] > changes[:made, 0]), kind="mergesort")
    size, count, at = 0, 0, 0
    for number in order:
        start, end = unit_starts[changes[number, 0]], unit_starts[changes[number, 1]]
        for token in passage[at:start]:
            before[size] = token
            size += 1
        begun = size
        for token in scratch[changes[number, 2] : changes[number, 3]]:
            before[size] = token
            size += 1
        at = end
        low, high, start_b, end_b = start, end, begun, size
        while low < high and start_b < end_b and passage[low] == before[start_b]:
            low += 1
            start_b += 1
        while low < high and start_b < end_b and passage[high - 1] == before[end_b - 1]:
            high -= 1
            end_b -= 1
        if low == high and start_b == end_b:
            continue
        if count and hunks[count - 1, 1] == start_b and hunks[count - 1, 3] == low:
            hunks[count - 1, 1], hunks[count - 1, 3] = end_b, high
            continue
        hunks[count, 0], hunks[count, 1], hunks[count, 2], hunks[count, 3] = (start_b, end_b, low, high)
        count += 1
    for token in passage[at:]:
        before[size] = token
        size += 1
    return size, count


@compiled
def words_known(passage: Tokens, unit_starts: Tokens, units: int, table: MistakeTable) -> int:
    """The number of units of a passage that are words of the table."""
    known = 0
    for unit in range(units):
        name = hashed(passage[unit_starts[unit] : unit_starts[unit + 1]])
        entry = find_entry(table.keys, name)
        if entry >= 0 and table.features[entry] & KNOWN:
            known += 1
    return known


@compiled
def ends_with_mark(passage: Tokens, classes: Classes, newline_ends: NDArray[np.bool_]) -> bool:
    """Whether a passage ends with the punctuation of a sentence and not just with a line break."""
    last = passage[passage.size - 1]
    return bool(classes[last] & SENTENCE_END) and not newline_ends[last]
