"""Samples from real edits: a draft between its neighbours, and the actions by which someone revised it.

A history starts like that of an infill: the text on the left, the text on the right, the moves back between them.
Then come the draft's marker and the draft, and the part that counts in the loss: the actions, and Stop. Some samples
have the revised text as the draft and no actions but Stop. A share may be written by overtyping
(`reviser.proofreading.overtyping`): the draft and a marker are followed by the revised text, with a Delete for each
token of the draft that it omits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reviser.core.actions import Delete, SpanDelete
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from training.data.corpus import Corpus
from training.data.randomness import State, below, compiled, folded, key, share, shuffled
from training.data.shards import PARTS
from training.edits.alignment import LONGEST_POWER, EditOperators, Hunks, Tokens, find_hunks, powers, replaces_first
from training.edits.edits import operators_of
from training.samples.generator import FAILED
from training.samples.histories import Histories
from training.samples.mixture import Mixture, Order
from training.samples.samples import Samples

FORWARD, BACKWARD, NEAREST, RANDOM = range(len(Order))
PASS, EDIT = 4, 5
# Beside draft, neighbours and actions: the start marker, the draft's marker, and Stop.
MARKS = 3
LEFT, BEFORE, AFTER, RIGHT = range(PARTS)

Parts = tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]]


def running_weights(mixture: Mixture) -> NDArray[np.float64]:
    weights = np.array([weight for weight, _ in mixture.edit_orders], dtype=np.float64)
    running: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    return running


def neighbours(left: int, right: int, room: int) -> tuple[int, int]:
    """The context lengths that fit into `room` ids: all, or the right one in a third and the left in the rest."""
    kept_right = right
    if left + right + powers(right) > room:
        kept_right = min(right, max(room // 3 - LONGEST_POWER - 1, 0))
    return min(left, room - kept_right - powers(kept_right)), kept_right


_fitting = compiled(neighbours)


def ids_of(vocabulary: Vocabulary, operators: EditOperators) -> NDArray[np.int64]:
    """The ids of the actions of revisions, in the order of the constants below; -1 for an action not in use."""
    spans = vocabulary.id(SpanDelete(1)) if operators.spans else -1
    replaces = vocabulary.first_replace_id if operators.replaces else None
    return np.array(
        [
            vocabulary.start_id,
            vocabulary.draft_id,
            vocabulary.stop_id,
            vocabulary.id(Delete()),
            vocabulary.first_move_id,
            spans,
            -1 if replaces is None else replaces,
            vocabulary.overtype_id,
        ],
        dtype=np.int64,
    )


START, DRAFT, STOP, DELETE, FIRST_MOVE, FIRST_SPAN, FIRST_REPLACE, OVERTYPE = range(8)


@compiled
def _put_powers(number: int, first: int, step: int, one: int, out: Tokens, at: int) -> int:
    """Writes a number as ids of powers of two, the largest first; returns the position after them."""
    for _ in range(number >> LONGEST_POWER):
        out[at] = first + step * LONGEST_POWER
        at += 1
    for power in range(LONGEST_POWER - 1, -1, -1):
        if number >> power & 1:
            out[at] = one if power == 0 else first + step * power
            at += 1
    return at


@compiled
def _put_moves(delta: int, ids: NDArray[np.int64], out: Tokens, at: int) -> int:
    first = ids[FIRST_MOVE] + (0 if delta > 0 else 1)
    return _put_powers(abs(delta), first, 2, first, out, at)


@compiled
def _put_rewriting(removed: int, inserted: Tokens, ids: NDArray[np.int64], out: Tokens, at: int) -> int:
    spans, replaces = ids[FIRST_SPAN] >= 0, ids[FIRST_REPLACE] >= 0
    first = 1 if replaces_first(removed, inserted.size, spans, replaces) else 0
    if spans:
        at = _put_powers(removed - first, ids[FIRST_SPAN], 1, ids[DELETE], out, at)
    else:
        for _ in range(removed - first):
            out[at] = ids[DELETE]
            at += 1
    if first:
        out[at] = ids[FIRST_REPLACE] + inserted[0]
        at += 1
    for token in inserted[first:]:
        out[at] = token
        at += 1
    return at


@compiled
def _turn(hunks: Hunks, todo: Tokens, shifts: Tokens, cursor: int, order: int) -> int:
    """The index in `todo` of the hunk that is rewritten next."""
    if order == BACKWARD:
        return todo.size - 1
    best = 0
    if order == NEAREST:
        nearest = -1
        for place in range(todo.size):
            way = abs(hunks[todo[place], 1] + shifts[todo[place]] - cursor)
            if nearest < 0 or way < nearest:
                best, nearest = place, way
    return best


@compiled
def put_actions(
    hunks: Hunks, after: Tokens, cursor: int, order: int, state: State, ids: NDArray[np.int64], out: Tokens
) -> int:
    """Writes the actions that rewrite all hunks; returns their number, or FAILED if they do not fit."""
    todo = np.arange(hunks.shape[0]).astype(np.int32)
    shifts = np.zeros(hunks.shape[0], dtype=np.int32)
    if order == RANDOM:
        for at in range(todo.size - 1, 0, -1):
            other = below(state, at + 1)
            swapped = todo[at]
            todo[at] = todo[other]
            todo[other] = swapped
    at = 0
    for left in range(hunks.shape[0], 0, -1):
        place = _turn(hunks, todo[:left], shifts, cursor, order)
        number = todo[place]
        for later in range(place, left - 1):
            todo[later] = todo[later + 1]
        removed = hunks[number, 1] - hunks[number, 0]
        inserted = after[hunks[number, 2] : hunks[number, 3]]
        boundary = hunks[number, 1] + shifts[number]
        # Moves take 10 ids for distances below 1024, and one more for each 512 beyond.
        longest = 10 + (abs(boundary - cursor) >> LONGEST_POWER) + removed + inserted.size
        if at + longest > out.size:
            return FAILED
        at = _put_moves(boundary - cursor, ids, out, at)
        at = _put_rewriting(removed, inserted, ids, out, at)
        cursor = boundary - removed + inserted.size
        for later in range(number + 1, hunks.shape[0]):
            shifts[later] += inserted.size - removed
    return at


@compiled
def put_overtyped(hunks: Hunks, after: Tokens, ids: NDArray[np.int64], out: Tokens) -> int:
    """Writes the revised text with a Delete for each token that it omits; returns the number of ids, or FAILED."""
    removed = 0
    for number in range(hunks.shape[0]):
        removed += hunks[number, 1] - hunks[number, 0]
    if after.size + removed > out.size:
        return FAILED
    at, done = 0, 0
    for number in range(hunks.shape[0]):
        at = put(after[done : hunks[number, 2]], out, at)
        for _ in range(hunks[number, 1] - hunks[number, 0]):
            out[at] = ids[DELETE]
            at += 1
        done = hunks[number, 2]
    return put(after[done:], out, at)


@compiled
def put(part: Tokens, out: Tokens, at: int) -> int:
    """Writes tokens at position `at`; returns the position after them."""
    for token in part:
        out[at] = token
        at += 1
    return at


@compiled
def put_sample(
    left: Tokens,
    draft: Tokens,
    right: Tokens,
    actions: Tokens,
    overtyped: bool,
    ids: NDArray[np.int64],
    history: Tokens,
) -> tuple[int, int]:
    """Writes a whole history; returns the number of given ids and the number of all ids."""
    room = history.size - MARKS - draft.size - actions.size - (1 if overtyped else 0)
    kept_left, kept_right = _fitting(left.size, right.size, room)
    history[0] = ids[START]
    at = put(left[left.size - kept_left :], history, 1)
    at = put(right[:kept_right], history, at)
    at = _put_moves(-kept_right, ids, history, at)
    history[at] = ids[DRAFT]
    given = put(draft, history, at + 1)
    if overtyped:
        history[given] = ids[OVERTYPE]
        given += 1
    at = put(actions, history, given)
    history[at] = ids[STOP]
    return given, at + 1


@compiled
def _make(
    tokens: Tokens,
    offsets: NDArray[np.int64],
    hunks: Hunks,
    hunk_offsets: NDArray[np.int64],
    chosen: NDArray[np.int64],
    names: State,
    unchanged: float,
    overtype: float,
    orders: NDArray[np.int64],
    order_weights: NDArray[np.float64],
    ids: NDArray[np.int64],
    histories: Tokens,
    given: NDArray[np.int32],
    lengths: NDArray[np.int32],
) -> None:
    width = histories.shape[1]
    state = np.empty(1, dtype=np.uint64)
    # Whether actions fit is checked with a little to spare.
    out = np.empty(width + 16, dtype=np.int32)
    for sample in range(chosen.size):
        edit = chosen[sample]
        first = PARTS * edit
        left = tokens[offsets[first] : offsets[first + 1]]
        before = tokens[offsets[first + 1] : offsets[first + 2]]
        after = tokens[offsets[first + 2] : offsets[first + 3]]
        right = tokens[offsets[first + 3] : offsets[first + 4]]
        state[0] = folded(np.uint64(0), names[sample])
        finished = share(state) < unchanged
        drawn = share(state)
        place = 0
        while drawn >= order_weights[place] and place < order_weights.size - 1:
            place += 1
        draft = after if finished else before
        changes = hunks[hunk_offsets[edit] : hunk_offsets[edit] if finished else hunk_offsets[edit + 1]]
        overtyped = overtype > 0 and share(state) < overtype
        if overtyped:
            size = put_overtyped(changes, after, ids, out)
        elif finished:
            size = 0
        else:
            size = put_actions(changes, after, before.size, orders[place], state, ids, out)
            if size == FAILED or MARKS + before.size + size > width:
                size = put_actions(changes, after, before.size, FORWARD, state, ids, out)
        given[sample], lengths[sample] = put_sample(left, draft, right, out[:size], overtyped, ids, histories[sample])


@compiled
def _find_all(
    tokens: Tokens, offsets: NDArray[np.int64], spans: bool, replaces: bool
) -> tuple[Hunks, NDArray[np.int64]]:
    """The hunks of all edits in one table, and the offset of each edit's hunks."""
    edits = (offsets.size - 1) // PARTS
    starts = np.zeros(edits + 1, dtype=np.int64)
    table = np.empty((1024, 4), dtype=np.int32)
    count = 0
    for edit in range(edits):
        first = PARTS * edit
        before = tokens[offsets[first + 1] : offsets[first + 2]]
        after = tokens[offsets[first + 2] : offsets[first + 3]]
        found = find_hunks(before, after, before.size, spans, replaces)
        while count + found.shape[0] > table.shape[0]:
            table = np.concatenate((table, np.empty_like(table)))
        table[count : count + found.shape[0]] = found
        count += found.shape[0]
        starts[edit + 1] = count
    return table[:count].copy(), starts


@compiled
def _usable(
    tokens: Tokens,
    offsets: NDArray[np.int64],
    hunks: Hunks,
    hunk_offsets: NDArray[np.int64],
    ids: NDArray[np.int64],
    width: int,
    overtyped: bool,
) -> NDArray[np.bool_]:
    """Whether each edit changes something and fits into a history without its contexts."""
    edits = hunk_offsets.size - 1
    fits = np.zeros(edits, dtype=np.bool_)
    out = np.empty(width + 16, dtype=np.int32)
    state = np.zeros(1, dtype=np.uint64)
    for edit in range(edits):
        first = PARTS * edit
        before = offsets[first + 2] - offsets[first + 1]
        after = tokens[offsets[first + 2] : offsets[first + 3]]
        changes = hunks[hunk_offsets[edit] : hunk_offsets[edit + 1]]
        if changes.shape[0] == 0 or MARKS + max(before, after.size) > width:
            continue
        size = put_actions(changes, after, before, FORWARD, state, ids, out)
        fits[edit] = size != FAILED and MARKS + before + size <= width
        if overtyped and fits[edit]:
            size = put_overtyped(changes, after, ids, out)
            longest = max(before + size, 2 * after.size)
            fits[edit] = size != FAILED and MARKS + 1 + longest <= width
    return fits


@compiled
def in_passes(first: int, last: int, usable: NDArray[np.int64], seed: np.uint64) -> NDArray[np.int64]:
    """Items `first` to `last` of an endless stream in which every item of `usable` occurs once per pass."""
    made = np.empty(last - first, dtype=np.int64)
    for number in range(first, last):
        turn, index = divmod(number, usable.size)
        made[number - first] = usable[shuffled(index, usable.size, folded(seed, turn))]
    return made


@compiled
def names_of(first: int, last: int, stream: np.uint64) -> State:
    """The names of the random streams for samples `first` to `last`."""
    names = np.empty(last - first, dtype=np.uint64)
    for number in range(first, last):
        names[number - first] = folded(stream, number)
    return names


def edit_tokens(corpus: Corpus, vocabulary: Vocabulary) -> tuple[Tokens, NDArray[np.int64]]:
    """All tokens of a corpus of edits, and the offset of each part of each edit."""
    if vocabulary.base_size < corpus.tokenizer.size:
        raise ReviserError("the vocabulary is smaller than that of the corpus's tokenizer")
    lengths = np.concatenate([np.diff(shard.offsets) for shard in corpus.shards])
    if len(lengths) % PARTS:
        raise ReviserError("this corpus holds texts, not edits; tokenise them with --edits")
    tokens = np.concatenate([shard.tokens for shard in corpus.shards]).astype(np.int32)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    return tokens, offsets


class Revisions:
    """Samples from a corpus of edits (`python -m training data --edits`)."""

    def __init__(self, corpus: Corpus, vocabulary: Vocabulary, mixture: Mixture, seed: int = 0) -> None:
        if not vocabulary.revises:
            raise ReviserError("edits take Delete; train with the operator delete in use")
        self.mixture = mixture
        self.seed = seed
        self._tokens, self._offsets = edit_tokens(corpus, vocabulary)
        operators = operators_of(vocabulary)
        self._ids = ids_of(vocabulary, operators)
        self._hunks, self._starts = _find_all(self._tokens, self._offsets, operators.spans, operators.replaces)
        fits = _usable(
            self._tokens, self._offsets, self._hunks, self._starts, self._ids, mixture.max_history, mixture.overtype > 0
        )
        self.usable = np.flatnonzero(fits)
        if not len(self.usable):
            raise ReviserError(f"no edit fits into a history of {mixture.max_history} ids")

    def __len__(self) -> int:
        """The number of usable edits: those that fit into a history."""
        return len(self.usable)

    @property
    def start_id(self) -> int:
        return int(self._ids[START])

    def parts(self, edit: int) -> Parts:
        """The tokens of an edit: left, before, after, right."""
        bounds = self._offsets[PARTS * edit : PARTS * (edit + 1) + 1].tolist()
        left, before, after, right = (self._tokens[start:end].tolist() for start, end in pairwise(bounds))
        return left, before, after, right

    def after(self, edits: NDArray[np.int64]) -> tuple[Tokens, NDArray[np.int64]]:
        """The tokens of the corpus, and the start and end of the revised text of each edit."""
        first = PARTS * edits + AFTER
        return self._tokens, np.stack((self._offsets[first], self._offsets[first + 1]), axis=1)

    def chosen(self, first: int, last: int) -> NDArray[np.int64]:
        """The edits from which samples `first` to `last` of the stream are made."""
        return in_passes(first, last, self.usable, np.uint64(key(self.seed, PASS)))

    def names(self, epoch: int, first: int, last: int) -> State:
        """The names of the random streams that samples are drawn from."""
        return names_of(first, last, np.uint64(key(self.seed, epoch, EDIT)))

    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories:
        """Samples `first` to `last` of an epoch that begins at number `start` of the stream."""
        width = self.mixture.max_history
        ids = np.full((last - first, width), self._ids[START], dtype=np.int32)
        given, lengths = (np.zeros(last - first, dtype=np.int32) for _ in range(2))
        _make(
            self._tokens,
            self._offsets,
            self._hunks,
            self._starts,
            self.chosen(start + first, start + last),
            self.names(epoch, first, last),
            float(self.mixture.unchanged),
            float(self.mixture.overtype),
            np.array([list(Order).index(Order(order)) for _, order in self.mixture.edit_orders]),
            running_weights(self.mixture),
            self._ids,
            ids,
            given,
            lengths,
        )
        return Histories.of(ids, given, lengths)


class EditSource(Protocol):
    """A source of samples of edits; the same numbers always give the same samples."""

    @property
    def start_id(self) -> int: ...
    def __len__(self) -> int: ...
    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories: ...


class MixedSamples:
    """Samples of texts and of edits, evenly interleaved in the mixture's shares."""

    def __init__(self, texts: Samples, revisions: EditSource) -> None:
        if not texts.mixture.edits:
            raise ReviserError("the mixture has no share of edits")
        self.texts = texts
        self.revisions = revisions
        self.mixture = texts.mixture
        self.vocabulary = texts.vocabulary
        self.seed = texts.seed

    def count(self, epoch: int) -> int:
        return self.texts.count(epoch) + self._edits(epoch)

    def _edits(self, epoch: int) -> int:
        return round(self.texts.count(epoch) * self.mixture.edits / sum(self.mixture.shares))

    def histories(self, epoch: int, first: int, last: int) -> Histories:
        edits, total = self._edits(epoch), self.count(epoch)
        # Of the first i samples, i * edits // total are edits, so both kinds are taken in order.
        edits_before = np.arange(first, last + 1, dtype=np.int64) * edits // total
        begun, ended = int(edits_before[0]), int(edits_before[-1])
        texts = self.texts.histories(epoch, first - begun, last - ended)
        revised = self.revisions.histories(epoch, begun, ended, epoch * edits)
        return interleaved(texts, revised, np.diff(edits_before) > 0)


def interleaved(some: Histories, others: Histories, is_other: NDArray[np.bool_]) -> Histories:
    """Merges two lists of histories; `is_other` says for each position which list gives it. Each keeps its order."""
    order = np.empty(len(is_other), dtype=np.int64)
    order[is_other] = len(some) + np.arange(len(others))
    order[~is_other] = np.arange(len(some))
    return Histories.joined((some, others)).taken(order)
