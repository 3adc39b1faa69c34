"""The samples of an epoch: pieces of documents, each with a policy that writes it.

Every epoch cuts each document into new windows. The kind, prefix and suffix of a window are drawn first, since
its length depends on them; then the windows are shuffled. Sample i of epoch e is always the same, because
everything is drawn from streams named by (seed, epoch, i) and similar keys.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from training.data.boundaries import SENTENCE, Classes, strength
from training.data.corpus import Corpus, Tokens
from training.data.randomness import State, below, chance, compiled, folded, key, share, shuffled
from training.samples.generator import LONGEST, Generator
from training.samples.histories import Histories, Texts
from training.samples.mixture import Mixture
from training.samples.obfuscation import ELABORATED, LOCAL, PAPER, PLAIN, RICH, STRUCTURED

_CUT, _SHUFFLE, _SAMPLE = range(3)
_INFILL = 4
_KIND_OF_SHARE = np.array([PLAIN, PAPER, STRUCTURED, LOCAL, PLAIN, RICH, ELABORATED], dtype=np.uint8)

_strength = compiled(strength)


class Windows(NamedTuple):
    """The pieces of an epoch, in the order of the corpus; also for compiled code."""

    shards: NDArray[np.int32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    prefixes: NDArray[np.int32]
    suffixes: NDArray[np.int32]
    p_deletes: NDArray[np.float64]

    @classmethod
    def empty(cls, shard: int, count: int) -> Windows:
        """Room for so many pieces of one shard."""
        made = cls(*(np.empty(count, dtype=kind) for kind in ("i4", "i8", "i4", "u1", "i4", "i4", "f8")))
        made.shards[:] = shard
        return made


@compiled
def _pick(weights: NDArray[np.float64], state: State) -> int:
    """Draws an index by weights, given as cumulative sums that end in 1."""
    drawn = share(state)
    index = 0
    while drawn >= weights[index] and index < weights.size - 1:
        index += 1
    return index


@compiled
def _draw_range(ranges: NDArray[np.float64], state: State) -> float:
    row = _pick(ranges[:, 0].copy(), state)
    return float(ranges[row, 1] + share(state) * (ranges[row, 2] - ranges[row, 1]))


@compiled
def _cut_at_sentence(tokens: Tokens, classes: Classes, start: int, size: int, least: int) -> int:
    """The largest size not much below `size` at which a sentence ends, so that Stop follows a sentence; else `size`."""
    for shorter in range(size, max(size - size // 4, least) - 1, -1):
        end = start + shorter
        if _strength(int(classes[tokens[end - 1]]), int(classes[tokens[end]])) == SENTENCE:
            return shorter
    return size


class _CuttingRules(NamedTuple):
    """The rules for cutting documents, for compiled code; weights are cumulative sums."""

    shares: NDArray[np.float64]
    gap_shares: NDArray[np.float64]
    p_deletes: NDArray[np.float64]
    expansions: NDArray[np.float64]
    prefix_ranges: NDArray[np.float64]
    before_ranges: NDArray[np.float64]
    suffix_ranges: NDArray[np.float64]
    max_history: int
    min_text: int
    full: float
    openings: float
    k_max: int


@compiled
def _cut(
    tokens: Tokens,
    offsets: NDArray[np.int64],
    classes: Classes,
    name: np.uint64,
    rules: _CuttingRules,
    write: bool,
    made: Windows,
) -> int:
    """Cuts all documents of a shard; returns the number of windows. Without `write` it only counts."""
    state = np.empty(1, dtype=np.uint64)
    weights = rules.p_deletes[:, 0].copy()
    min_text, max_history = rules.min_text, rules.max_history
    count = 0
    for document in range(offsets.size - 1):
        state[0] = folded(name, document)
        at, end = offsets[document], offsets[document + 1]
        opening_alone = rules.openings > 0.0 and chance(state, rules.openings)
        while end - at >= min_text:
            drawn = _pick(rules.shares, state)
            infill = drawn == _INFILL
            kind = _KIND_OF_SHARE[_pick(rules.gap_shares, state) if infill else drawn]
            p = _pick(weights, state)
            before = _draw_range(rules.before_ranges if infill else rules.prefix_ranges, state)
            after = _draw_range(rules.suffix_ranges, state) if infill else 0.0
            if before + after > 0.9:
                before, after = 0.9 * before / (before + after), 0.9 * after / (before + after)
            marks = 2 + (10 + max_history // LONGEST if infill else 0)
            longest = max_history - marks
            # What a token of the text costs in the history: one id if given, more if it is written.
            written = (1.0 - before - after) * rules.expansions[kind, p]
            cost = before + after + written
            most = int(min(longest / cost, rules.k_max / written))
            room = longest
            if not chance(state, rules.full):
                room = min_text + below(state, longest - min_text + 1)
            rest = end - at
            size = max(min(int(room / cost), most), min_text)
            if size < rest:
                size = _cut_at_sentence(tokens, classes, at, size, min_text)
            if rest - size < min_text:
                # What would be left is too short to stand alone: take it along, or share evenly. Where neither can
                # be, or nothing else of this document is shown, it is left out, and the window ends with its sentence.
                if rest <= most:
                    size = rest
                elif rest >= 2 * min_text and not opening_alone:
                    size = _cut_at_sentence(tokens, classes, at, rest // 2, min_text)
            if write:
                suffix = max(1, int(after * size)) if infill else 0
                made.starts[count] = at
                made.sizes[count] = size
                made.kinds[count] = kind
                made.prefixes[count] = min(int(before * size), size - suffix - 1)
                made.suffixes[count] = suffix
                made.p_deletes[count] = rules.p_deletes[p, 1]
            count += 1
            at = end if opening_alone else at + size
    return count


@compiled
def _sources(first: int, last: int, size: int, name: np.uint64, stream: np.uint64) -> tuple[NDArray[np.int64], State]:
    """The windows of samples `first` to `last`, and the names of their random streams."""
    windows = np.empty(last - first, dtype=np.int64)
    names = np.empty(last - first, dtype=np.uint64)
    for index in range(first, last):
        windows[index - first] = shuffled(index, size, name)
        names[index - first] = folded(stream, index)
    return windows, names


@compiled
def _gather(
    tokens: NDArray[Any],
    shard: int,
    shards: NDArray[np.int32],
    starts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """Copies the windows of one shard to their positions in `out`."""
    for window in range(starts.size):
        if shards[window] == shard:
            shift = starts[window] - offsets[window]
            for at in range(offsets[window], offsets[window + 1]):
                out[at] = tokens[at + shift]


def _running(weights: list[float]) -> NDArray[np.float64]:
    return np.cumsum(np.array(weights, dtype=np.float64)) / sum(weights)


def _table(rows: tuple[tuple[float, ...], ...]) -> NDArray[np.float64]:
    """Rows of (weight, values …) with the weights as cumulative sums."""
    table = np.array(rows, dtype=np.float64)
    table[:, 0] = _running([row[0] for row in rows])
    return table


def check_texts(corpus: Corpus, mixture: Mixture) -> None:
    """Raises `ReviserError` if a mixture needs optional pieces and the corpus has none."""
    if mixture.elaborated and any(shard.optional is None for shard in corpus.shards):
        raise ReviserError(
            "the mixture has elaborated samples, but optional pieces were not looked for in all texts "
            "(python -m training optional_pieces)"
        )


class Samples:
    """The samples of all epochs for one corpus, vocabulary, mixture and seed."""

    def __init__(self, corpus: Corpus, vocabulary: Vocabulary, mixture: Mixture, seed: int = 0) -> None:
        if vocabulary.base_size < corpus.tokenizer.size:
            raise ReviserError("the vocabulary is smaller than that of the corpus's tokenizer")
        check_texts(corpus, mixture)
        self.corpus = corpus
        self.vocabulary = vocabulary
        self.mixture = mixture
        self.seed = seed
        self._generate = self._generator(mixture.max_history, mixture.k_max)
        self._p_deletes = _table(mixture.p_delete)
        self._expansions = self._measure_expansions()
        self._lock = threading.Lock()
        self._epochs: dict[int, Windows] = {}

    def _generator(self, max_history: int, k_max: int | None = None) -> Generator:
        mixture = self.mixture
        return Generator(self.vocabulary, self.corpus.classes, max_history, mixture.revisions, k_max, mixture.pieces)

    def count(self, epoch: int) -> int:
        """The number of samples of an epoch; it varies a little because documents are cut differently."""
        return len(self.windows(epoch).starts)

    def windows(self, epoch: int) -> Windows:
        with self._lock:
            if epoch not in self._epochs:
                made = self._cut_epoch(epoch)
                if not len(made.starts):
                    raise ReviserError(f"no text has the {self.mixture.min_text} tokens that a sample needs")
                # The next epoch is begun before the last samples of this one are used.
                self._epochs = {old: self._epochs[old] for old in [*self._epochs][-1:]}
                self._epochs[epoch] = made
            return self._epochs[epoch]

    def texts(self, epoch: int, first: int, last: int) -> tuple[Texts, State]:
        """The texts of samples `first` to `last`, and the names of their random streams."""
        cut = self.windows(epoch)
        shuffle, stream = (np.uint64(key(self.seed, epoch, use)) for use in (_SHUFFLE, _SAMPLE))
        chosen, names = _sources(first, last, len(cut.starts), shuffle, stream)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(cut.sizes[chosen], dtype=np.int64)])
        tokens = np.empty(offsets[-1], dtype=np.int32)
        optional = np.zeros(offsets[-1], dtype=np.uint8)
        shards, starts = cut.shards[chosen], cut.starts[chosen]
        for number in np.unique(shards):
            shard = self.corpus.shards[number]
            _gather(shard.tokens, number, shards, starts, offsets, tokens)
            if shard.optional is not None:
                _gather(shard.optional, number, shards, starts, offsets, optional)
        texts = Texts(
            tokens,
            offsets,
            cut.kinds[chosen],
            cut.prefixes[chosen],
            cut.suffixes[chosen],
            cut.p_deletes[chosen],
            optional,
        )
        return texts, names

    def histories(self, epoch: int, first: int, last: int) -> Histories:
        return self._generate(*self.texts(epoch, first, last))

    def _cut_epoch(self, epoch: int) -> Windows:
        made = [self._cut_shard(epoch, number) for number in range(len(self.corpus.shards))]
        return Windows(*map(np.concatenate, zip(*made, strict=True)))

    def _cut_shard(self, epoch: int, number: int) -> Windows:
        mixture, shard = self.mixture, self.corpus.shards[number]
        gap_shares = list(mixture.writing)
        rules = _CuttingRules(
            shares=_running(list(mixture.shares)),
            gap_shares=_running(gap_shares if sum(gap_shares) else [1.0, 0.0, 0.0, 0.0]),
            p_deletes=self._p_deletes,
            expansions=self._expansions,
            prefix_ranges=_table(mixture.prefix),
            before_ranges=_table(mixture.before or mixture.prefix),
            suffix_ranges=_table(mixture.suffix),
            max_history=mixture.max_history,
            min_text=mixture.min_text,
            full=float(mixture.full),
            openings=float(mixture.openings),
            k_max=mixture.k_max or mixture.max_history,
        )
        name = np.uint64(key(self.seed, epoch, _CUT, number))
        cut = partial(_cut, shard.tokens, shard.offsets, self.corpus.classes, name, rules)
        made = Windows.empty(number, cut(False, Windows.empty(number, 0)))
        cut(True, made)
        return made

    def _measure_expansions(self) -> NDArray[np.float64]:
        """The number of ids per written token, by kind and p(Delete), that suffices for 4 of 5 texts.

        The fifth is drawn again, which costs less than reserving so much room in every history.
        """
        expansions = np.ones((ELABORATED + 1, len(self._p_deletes)))
        mixture = self.mixture
        shares = {
            PAPER: mixture.paper,
            STRUCTURED: mixture.structured,
            LOCAL: mixture.local,
            RICH: mixture.rich,
            ELABORATED: mixture.elaborated,
        }
        for kind in (kind for kind, weight in shares.items() if weight):
            for p, p_delete in enumerate(self._p_deletes[:, 1]):
                expansions[kind, p] = self._measure_expansion(kind, float(p_delete))
        return expansions

    def _measure_expansion(self, kind: int, p_delete: float) -> float:
        shard = self.corpus.shards[0]
        tokens = shard.tokens
        optional = np.zeros(len(tokens), np.uint8) if shard.optional is None else shard.optional
        size = min(self.mixture.max_history // 2, len(tokens))
        count = 16 if kind == RICH else 256
        starts = np.arange(count) * (len(tokens) - size) // count
        texts = Texts(
            np.concatenate([tokens[at : at + size] for at in starts]).astype(np.int32),
            np.arange(count + 1, dtype=np.int64) * size,
            np.full(count, kind, dtype=np.uint8),
            np.zeros(count, dtype=np.int32),
            np.zeros(count, dtype=np.int32),
            np.full(count, p_delete),
            np.concatenate([optional[at : at + size] for at in starts]),
        )
        generate = self._generator(int(size * (2 + 4 / p_delete)) + 2)
        lengths = np.sort(generate(texts, np.arange(count, dtype=np.uint64)).lengths)
        return max(1.0, float(lengths[int(0.8 * count)]) / max(size, 1))
