"""Synthetic mistakes as a source of training samples, made during a run by any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from training.data.corpus import Corpus
from training.data.randomness import State, chance, compiled, folded, key, share
from training.edits.edit_samples import (
    BACKWARD,
    MARKS,
    EditSource,
    ids_of,
    interleaved,
    names_of,
    put_actions,
    put_overtyped,
    put_sample,
)
from training.edits.edits import operators_of
from training.edits.mistakes.generator import (
    KINDS,
    MOST_CHANGES,
    MOST_UNITS,
    SHORTEST,
    MistakePlan,
    MistakeTable,
    draw_passage,
    ends_with_mark,
    make_mistakes,
    put_before,
    words_known,
)
from training.edits.mistakes.kinds import MistakeKind, Recipe
from training.edits.mistakes.units import SPACE, Tokens, find_units
from training.samples.generator import FAILED
from training.samples.histories import Histories
from training.samples.mixture import Mixture

_MISTAKE = 9
_DRAWS = 200
# Share of the units of a passage that must be words of the table.
_LEAST_KNOWN = 0.6
_WITHOUT_MARK = 0.25
_LEFT_OUT_ACTIONS = 16


@compiled
def make_sample(  # noqa: PLR0912
    tokens: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    name: np.uint64,
    plan: MistakePlan,
    table: MistakeTable,
    made_kinds: NDArray[np.int64],
) -> tuple[Tokens, Tokens, Tokens, Tokens, NDArray[np.int32]]:
    """Makes a passage with its contexts: left, before, after, right, and the hunks that correct it."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = folded(np.uint64(0), name)
    unit_starts = np.empty(plan.longest + 2, dtype=np.int32)
    nothing = np.empty(0, dtype=np.int32)
    changes = np.empty((MOST_CHANGES, 5), dtype=np.int32)
    hunks = np.empty((MOST_CHANGES, 4), dtype=np.int32)
    for _ in range(_DRAWS):
        start, end = draw_passage(tokens, offsets, table.classes, plan, state)
        while end > start and table.newlines[tokens[end - 1]]:
            end -= 1
        while start < end and table.newlines[tokens[start]]:
            start += 1
        if end - start < SHORTEST:
            continue
        document = int(np.searchsorted(offsets, start, side="right")) - 1
        first, last = offsets[document], offsets[document + 1]
        passage = tokens[start:end].astype(np.int32)
        shows_left = start > first and chance(state, plan.left)
        shows_right = end < last and chance(state, plan.right)
        if not shows_left and table.edges[passage[0], 0] == SPACE:
            # Alone, the first word has no space before it. Of some words the tokens would be others then.
            whole = passage.size > 1 and table.edges[passage[1], 0] == table.edges[passage[0], 1]
            if table.bare[passage[0]] < 0 or whole:
                continue
            passage[0] = table.bare[passage[0]]
        units = find_units(passage, table.edges, unit_starts)
        if units < SHORTEST or units > MOST_UNITS:
            continue
        known = words_known(passage, unit_starts, units, table)
        if known < _LEAST_KNOWN * units:
            continue
        marked = ends_with_mark(passage, table.classes, table.newlines)
        if not marked and not chance(state, _WITHOUT_MARK):
            continue
        left, right = nothing, nothing
        if shows_left:
            left = tokens[max(start - plan.neighbours, first) : start].astype(np.int32)
        if shows_right:
            right = tokens[end : min(end + plan.neighbours, last)].astype(np.int32)
        if chance(state, plan.clean):
            return left, passage, passage, right, hunks[:0]
        rate = plan.rates[min(int(share(state) * plan.rates.size), plan.rates.size - 1)]
        wanted = max(1, int(rate * known + share(state)))
        scratch = np.empty(passage.size * 6 + 512, dtype=np.int32)
        made = make_mistakes(
            passage, unit_starts, units, min(wanted, MOST_CHANGES), plan, table, state, changes, scratch
        )
        if made == 0:
            continue
        before = np.empty(passage.size + scratch.size, dtype=np.int32)
        size, count = put_before(passage, unit_starts, changes, made, scratch, before, hunks)
        if count == 0:
            continue
        for number in range(made):
            made_kinds[changes[number, 4]] += 1
        return left, before[:size], passage, right, hunks[:count]
    return nothing, nothing, nothing, nothing, hunks[:0]


@compiled
def _make(
    tokens: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    names: State,
    plan: MistakePlan,
    table: MistakeTable,
    overtype: float,
    ids: NDArray[np.int64],
    histories: Tokens,
    given: NDArray[np.int32],
    lengths: NDArray[np.int32],
    made_kinds: NDArray[np.int64],
) -> None:
    width = histories.shape[1]
    out = np.empty(width + _LEFT_OUT_ACTIONS, dtype=np.int32)
    state = np.empty(1, dtype=np.uint64)
    for sample in range(names.size):
        name = names[sample]
        while True:
            left, before, after, right, hunks = make_sample(tokens, offsets, name, plan, table, made_kinds)
            state[0] = folded(name, 1)
            overtyped = share(state) < overtype
            if overtyped:
                size = put_overtyped(hunks, after, ids, out)
            else:
                size = put_actions(hunks, after, before.size, BACKWARD, state, ids, out)
            if size != FAILED and MARKS + 1 + before.size + size <= width:
                break
            name = folded(name, 2)
        given[sample], lengths[sample] = put_sample(left, before, right, out[:size], overtyped, ids, histories[sample])


class MadeUpMistakes:
    """Samples of passages with mistakes from a corpus of text; sample i is always the same."""

    def __init__(
        self,
        corpus: Corpus,
        table: MistakeTable,
        vocabulary: Vocabulary,
        mixture: Mixture,
        recipe: Recipe | None = None,
        seed: int = 0,
    ) -> None:
        if not vocabulary.revises:
            raise ReviserError("corrections take Delete; train with the operator delete in use")
        if len(table.edges) != corpus.tokenizer.size:
            raise ReviserError("the table of mistakes was made for another tokenizer")
        self.mixture = mixture
        self.seed = seed
        self.recipe = recipe or Recipe()
        self._ids = ids_of(vocabulary, operators_of(vocabulary))
        self._tokens = np.concatenate([shard.tokens for shard in corpus.shards]).astype(np.uint16)
        lengths = np.concatenate([np.diff(shard.offsets) for shard in corpus.shards])
        self._offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        self._table = table
        self.made = np.zeros(KINDS, dtype=np.int64)

    def __len__(self) -> int:
        """About the number of passages in the corpus; the samples themselves are endless."""
        return max(len(self._tokens) // self.recipe.longest, 1)

    @property
    def start_id(self) -> int:
        return int(self._ids[0])

    @property
    def counts(self) -> dict[str, int]:
        """The number of mistakes of each kind made so far."""
        return {kind.name.lower(): int(self.made[kind]) for kind in MistakeKind}

    def _plan(self) -> MistakePlan:
        recipe = self.recipe
        return MistakePlan(
            recipe.weights(),
            np.array(recipe.rates),
            np.cumsum(np.array(recipe.sentences)) / sum(recipe.sentences),
            float(recipe.clean),
            recipe.longest,
            float(recipe.left),
            float(recipe.right),
            recipe.neighbours,
        )

    def parts(self, first: int, last: int) -> Iterator[tuple[list[int], ...]]:
        """Yields samples as tokens: left, before, after, right."""
        for name in names_of(first, last, np.uint64(key(self.seed, _MISTAKE))):
            *texts, _ = make_sample(self._tokens, self._offsets, name, self._plan(), self._table, self.made)
            yield tuple(text.tolist() for text in texts)

    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories:
        """Samples `first` to `last` after `start`; the stream is endless, so the epoch is ignored."""
        width = self.mixture.max_history
        ids = np.full((last - first, width), self.start_id, dtype=np.int32)
        given, lengths = (np.zeros(last - first, dtype=np.int32) for _ in range(2))
        made = np.zeros(KINDS, dtype=np.int64)
        names = names_of(start + first, start + last, np.uint64(key(self.seed, _MISTAKE)))
        _make(
            self._tokens,
            self._offsets,
            names,
            self._plan(),
            self._table,
            float(self.mixture.overtype),
            self._ids,
            ids,
            given,
            lengths,
            made,
        )
        self.made += made
        return Histories.of(ids, given, lengths)


class BlendedEdits:
    """Samples of two sources of edits in one stream; `share` is that of the second."""

    def __init__(self, first: EditSource, second: EditSource, share: float) -> None:
        self._first = first
        self._second = second
        self._share = share

    def __len__(self) -> int:
        return len(self._first)

    @property
    def start_id(self) -> int:
        return self._first.start_id

    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories:
        numbers = np.arange(start + first, start + last + 1, dtype=np.int64)
        second_before = np.floor(numbers * self._share).astype(np.int64)
        begun, ended = int(second_before[0]), int(second_before[-1])
        others = self._second.histories(epoch, begun, ended)
        some = self._first.histories(epoch, start + first - begun, start + last - ended)
        return interleaved(some, others, np.diff(second_before) > 0)
