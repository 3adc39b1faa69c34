"""The compiled trajectory generator: it draws the same trajectories as the policies of `training.samples.obfuscation`.

The text is in a gap buffer whose gap is the cursor: a deletion widens the gap, and a move copies the
tokens it passes. The inverse of each obfuscation action is written at once, from the end of the output
towards its beginning, so the output ends up as the restoration.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from training.data.boundaries import CLAUSE, SENTENCE, WORD, Classes, strength
from training.data.randomness import State, below, chance, compiled, folded
from training.samples.histories import Histories, Texts, Tokens
from training.samples.obfuscation import (
    ATTEMPTS,
    ELABORATED,
    ELABORATING_REACH,
    LOCAL,
    PAPER,
    PIECES,
    PLAIN,
    REACH_BACK,
    RICH,
    Pieces,
    Task,
    make_sample,
    rich,
    tokens_between,
)

LONGEST_POWER = 9
LONGEST = 1 << LONGEST_POWER
# How many of the move distances fit into 0 … LONGEST tokens.
REACH = np.array([n.bit_length() for n in range(LONGEST + 1)], dtype=np.int64)
FAILED = -1

_strength = compiled(strength)
_tokens_between = compiled(tokens_between)


@compiled
def _fill(text: Tokens, cursor: int, buffer: Tokens) -> int:
    """Puts the text into the gap buffer with the gap at `cursor`; returns the end of the gap."""
    # With a gap of the longest move from the start, no move copies onto itself.
    right = cursor + LONGEST
    for at in range(cursor):
        buffer[at] = text[at]
    for at in range(cursor, text.size):
        buffer[at + LONGEST] = text[at]
    return right


@compiled
def _shift(buffer: Tokens, left: int, right: int, delta: int) -> None:
    """Moves the gap over `delta` tokens."""
    if delta < 0:
        for at in range(1, 1 - delta):
            buffer[right - at] = buffer[left - at]
    else:
        for at in range(delta):
            buffer[left + at] = buffer[right + at]


@compiled
def _plain(text: Tokens, out: Tokens, room: int) -> int:
    if text.size > room:
        return FAILED
    first = out.size - 1 - text.size
    for at in range(text.size):
        out[first + at] = text[at]
    return first


@compiled
def _paper(
    text: Tokens, p_delete: float, state: State, buffer: Tokens, out: Tokens, room: int, first_move_id: int
) -> int:
    left = below(state, text.size + 1)
    right = _fill(text, left, buffer)
    rest = text.size
    at = out.size - 1
    last = at - room
    while rest > 0:
        if at == last:
            return FAILED
        at -= 1
        if left > 0 and chance(state, p_delete):
            left -= 1
            rest -= 1
            out[at] = buffer[left]
            continue
        backward = REACH[min(left, LONGEST)]
        forward = REACH[min(rest - left, LONGEST)]
        both = min(backward, forward)
        # The moves in the order of their ids, +1 -1 +2 -2 …, less those that lead out of the text.
        drawn = below(state, backward + forward)
        if drawn < 2 * both:
            power, ahead = drawn >> 1, (drawn & 1) == 0
        else:
            power, ahead = drawn - both, forward > backward
        delta = (1 << power) if ahead else -(1 << power)
        _shift(buffer, left, right, delta)
        left += delta
        right += delta
        out[at] = first_move_id + 2 * power + (1 if ahead else 0)
    return at


@compiled
def _boundary(buffer: Tokens, left: int, right: int, rest: int, classes: Classes, boundary: int) -> int:
    """The strength of a boundary of the text in the gap buffer."""
    if boundary in (0, rest):
        return SENTENCE
    before, after = boundary - 1, boundary
    if before >= left:
        before += right - left
    if after >= left:
        after += right - left
    return _strength(int(classes[buffer[before]]), int(classes[buffer[after]]))


@compiled
def _travel(out: Tokens, at: int, last: int, delta: int, first_move_id: int) -> int:
    """Writes the moves that undo a shift of `delta`, the last first; returns the position of the first."""
    back = 1 if delta > 0 else 0
    distance = abs(delta)
    for power in range(LONGEST_POWER):
        if distance >> power & 1:
            if at == last:
                return FAILED
            at -= 1
            out[at] = first_move_id + 2 * power + back
    for _ in range(distance >> LONGEST_POWER):
        if at == last:
            return FAILED
        at -= 1
        out[at] = first_move_id + 2 * LONGEST_POWER + back
    return at


@compiled
def _draw_piece(state: State, pieces: Pieces) -> tuple[int, int]:
    words, clauses, sentences = pieces
    drawn = below(state, words + clauses + sentences)
    units = 1 + below(state, 4) if drawn < words else 1
    return (WORD if drawn < words else CLAUSE if drawn < words + clauses else SENTENCE), units


@compiled
def _start_of(
    buffer: Tokens, left: int, right: int, rest: int, classes: Classes, end: int, level: int, units: int
) -> int:
    """The start of the piece of `units` units (words, clauses or sentences, by `level`) that ends at `end`."""
    start = end
    for _ in range(units):
        start = max(start - 1, 0)
        while _boundary(buffer, left, right, rest, classes, start) < level:
            start -= 1
    return start


@compiled
def _structured(
    text: Tokens,
    classes: Classes,
    revisions: float,
    pieces: Pieces,
    state: State,
    buffer: Tokens,
    out: Tokens,
    room: int,
    first_move_id: int,
) -> int:
    planned = below(state, 1 + int(text.size * revisions / 50))
    left = rest = text.size
    right = _fill(text, left, buffer)
    at = out.size - 1
    last = at - room
    for turn in range(planned + 1):
        if rest == 0:
            break
        if turn < planned:
            level, units = _draw_piece(state, pieces)
            end = 1 + below(state, rest)
            while _boundary(buffer, left, right, rest, classes, end) < level:
                end += 1
            start = _start_of(buffer, left, right, rest, classes, end, level, units)
        else:
            start, end = 0, rest
        if turn > 0:
            at = _travel(out, at, last, end - left, first_move_id)
        if at == FAILED or at - (end - start) < last:
            return FAILED
        _shift(buffer, left, right, end - left)
        right += end - left
        for deleted in range(end - 1, start - 1, -1):
            at -= 1
            out[at] = buffer[deleted]
        left = start
        rest -= end - start
    return at


@compiled
def _late_piece(
    buffer: Tokens,
    right: int,
    rest: int,
    classes: Classes,
    pieces: Pieces,
    optional: NDArray[np.uint8],
    elaborates: bool,
    state: State,
) -> tuple[int, int]:
    """Draws a piece near the end of the text, which is all before the gap; it ends at `rest` if there is none."""
    if elaborates:
        end = rest - 1 - below(state, min(ELABORATING_REACH, rest - 1))
        # What is still there before the last step back is as in the text, so `optional` tells of it.
        while end < rest and not 0 < optional[end] <= end:
            end += 1
        return (end - int(optional[end]) if end < rest else rest), end
    level, units = _draw_piece(state, pieces)
    end = rest - 1 - below(state, min(REACH_BACK, rest - 1))
    while _boundary(buffer, rest, right, rest, classes, end) < level:
        end += 1
    return _start_of(buffer, rest, right, rest, classes, end, level, units), end


@compiled
def _returning(
    text: Tokens,
    classes: Classes,
    revisions: float,
    pieces: Pieces,
    optional: NDArray[np.uint8],
    elaborates: bool,
    state: State,
    buffer: Tokens,
    out: Tokens,
    room: int,
    first_move_id: int,
) -> int:
    """The local policy, or the elaborated one, which takes away `optional` pieces alone and whole sentences between."""
    rest = text.size
    right = _fill(text, rest, buffer)
    between = _tokens_between(revisions)
    at = out.size - 1
    last = at - room
    reached = rest
    while rest > 0:
        # The cursor, and with it the gap, stands at the end whenever this begins anew.
        left = max(min(rest - 1 - below(state, between), reached), 0)
        while _boundary(buffer, rest, right, rest, classes, left) < (SENTENCE if elaborates else WORD):
            left -= 1
        if at - (rest - left) < last:
            return FAILED
        while rest > left:
            at -= 1
            rest -= 1
            out[at] = buffer[rest]
        reached = rest
        if rest < 2:
            continue
        start, end = _late_piece(buffer, right, rest, classes, pieces, optional, elaborates, state)
        if end == rest:
            continue
        at = _travel(out, at, last, end - rest, first_move_id)
        if at == FAILED or at - (end - start) < last:
            return FAILED
        for deleted in range(end - 1, start - 1, -1):
            at -= 1
            out[at] = buffer[deleted]
        for kept in range(end, rest):
            buffer[kept - (end - start)] = buffer[kept]
        rest -= end - start
        at = _travel(out, at, last, rest - start, first_move_id)
        if at == FAILED:
            return FAILED
        reached = start
    return at


@compiled
def _seed(text: Tokens, prefix: int, suffix: int, start_id: int, first_move_id: int, history: Tokens) -> int:
    """Writes the start marker, prefix and suffix; returns the number of ids written."""
    history[0] = start_id
    size = 1
    for at in range(prefix):
        history[size] = text[at]
        size += 1
    for at in range(text.size - suffix, text.size):
        history[size] = text[at]
        size += 1
    for _ in range(suffix >> LONGEST_POWER):
        history[size] = first_move_id + 2 * LONGEST_POWER + 1
        size += 1
    for power in range(LONGEST_POWER - 1, -1, -1):
        if suffix >> power & 1:
            history[size] = first_move_id + 2 * power + 1
            size += 1
    return size


class _HistoryRules(NamedTuple):
    """The vocabulary's ids and the limits of histories, for compiled code."""

    revisions: float
    pieces: Pieces
    classes: Classes
    start_id: int
    stop_id: int
    first_move_id: int
    k_max: int


class _HistoryRows(NamedTuple):
    """The output arrays: a row for each history, its length and its number of given ids."""

    ids: Tokens
    lengths: NDArray[np.int32]
    seeded: NDArray[np.int32]


@compiled
def _generate(given: Texts, rules: _HistoryRules, names: State, rows: _HistoryRows, buffer: Tokens) -> int:
    """Writes each sample's history into its row; returns the number of samples that fell back on the plain policy."""
    prefixes, suffixes, offsets = given.prefixes, given.suffixes, given.offsets
    classes, revisions, pieces = rules.classes, rules.revisions, rules.pieces
    first_move_id = rules.first_move_id
    width = rows.ids.shape[1]
    out = np.empty(width, dtype=np.int32)
    out[width - 1] = rules.stop_id
    state = np.empty(1, dtype=np.uint64)
    fallbacks = 0
    for sample in range(given.kinds.size):
        kind = given.kinds[sample]
        if kind == RICH:
            continue
        text = given.tokens[offsets[sample] : offsets[sample + 1]]
        history = rows.ids[sample]
        seeds = _seed(text, prefixes[sample], suffixes[sample], rules.start_id, first_move_id, history)
        gap = text[prefixes[sample] : text.size - suffixes[sample]]
        room = min(width - seeds - 1, rules.k_max)
        first = FAILED
        attempt = 0
        while first == FAILED and attempt < ATTEMPTS and kind != PLAIN:
            state[0] = folded(folded(np.uint64(0), names[sample]), attempt)
            if kind == PAPER:
                first = _paper(gap, given.p_deletes[sample], state, buffer, out, room, first_move_id)
            elif kind in (LOCAL, ELABORATED):
                begin = offsets[sample] + prefixes[sample]
                optional = given.optional[begin : begin + gap.size]
                told = (gap, classes, revisions, pieces, optional, kind == ELABORATED)
                first = _returning(*told, state, buffer, out, room, first_move_id)
            else:
                first = _structured(gap, classes, revisions, pieces, state, buffer, out, room, first_move_id)
            attempt += 1
        if first == FAILED:
            fallbacks += kind != PLAIN
            first = _plain(gap, out, width - seeds - 1)
        for at in range(first, width):
            history[seeds + at - first] = out[at]
        rows.seeded[sample] = seeds
        rows.lengths[sample] = seeds + width - first
    return fallbacks


class Generator:
    """Makes histories from texts for one vocabulary and one maximum length."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        classes: Classes,
        max_history: int,
        revisions: float = 3.0,
        k_max: int | None = None,
        pieces: Pieces = PIECES,
    ) -> None:
        self.vocabulary = vocabulary
        self.classes = classes
        self.max_history = max_history
        self.revisions = revisions
        self.pieces = pieces
        self.k_max = k_max

    def __call__(self, texts: Texts, names: State) -> Histories:
        """The histories of `texts`; `names` are the random streams from which they are drawn."""
        vocabulary, count = self.vocabulary, len(texts.kinds)
        sizes = np.diff(texts.offsets)
        self._check(texts, sizes)
        ids = np.full((count, self.max_history), vocabulary.start_id, dtype=np.int32)
        lengths = np.zeros(count, dtype=np.int32)
        seeded = np.zeros(count, dtype=np.int32)
        rules = _HistoryRules(
            float(self.revisions),
            self.pieces,
            self.classes,
            vocabulary.start_id,
            vocabulary.stop_id,
            vocabulary.first_move_id,
            self.max_history if self.k_max is None else self.k_max,
        )
        buffer = np.empty(int(sizes.max(initial=0)) + LONGEST, dtype=np.int32)
        fallbacks = _generate(texts, rules, names, _HistoryRows(ids, lengths, seeded), buffer)
        histories = Histories.of(ids, seeded, lengths, fallbacks)
        for sample in np.flatnonzero(texts.kinds == RICH):
            self._write_rich(texts, int(sample), int(names[sample]), histories)
        return histories

    def _check(self, texts: Texts, sizes: NDArray[np.int64]) -> None:
        moves = 9 + texts.suffixes // LONGEST
        if (sizes + np.where(texts.suffixes > 0, moves, 0) + 2 > self.max_history).any():
            raise ReviserError(f"a text does not fit into a history of {self.max_history} ids")
        if len(texts.tokens) and int(texts.tokens.max()) >= len(self.classes):
            raise ReviserError("the texts have tokens that the tokenizer does not know")
        if (texts.prefixes + texts.suffixes > sizes).any():
            raise ReviserError("a prefix and a suffix are longer than their text")

    def _write_rich(self, texts: Texts, sample: int, name: int, histories: Histories) -> None:
        task = Task(
            RICH,
            int(texts.prefixes[sample]),
            int(texts.suffixes[sample]),
            float(texts.p_deletes[sample]),
            self.revisions,
        )
        policy = partial(rich, vocabulary=self.vocabulary, p_delete=task.p_delete)
        text = texts.text(sample)
        made = make_sample(self.vocabulary, text, task, policy, name, self.max_history, self.k_max)
        size = len(made.ids)
        histories.ids[sample, :size] = made.ids
        histories.counted[sample, :size] = made.counted
        histories.lengths[sample] = size
