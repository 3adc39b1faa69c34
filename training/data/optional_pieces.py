"""The search for omissible pieces: sentences, clauses and words whose absence hardly changes a base model's loss.

    python -m training optional_pieces SHARDS --base MODEL

When a person goes back to add something, the text read well without it. A trajectory that steps back should
therefore insert such a piece. The price of a candidate is the loss, in nats, that its absence adds to the text after
it under the base model. Pieces up to a maximum price are written beside the tokens of each shard; elaborated
samples insert them late (see `training.samples.obfuscation.elaborated`).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from reviser.model import Reviser
from training.data.boundaries import CLAUSE, CLAUSE_END, SENTENCE, WORD, Classes, strength
from training.data.corpus import Corpus, Manifest, Shard, ShardEntry, Tokens, optional_path
from training.data.randomness import below, chance, compiled, folded, key
from training.data.shards import describe_tokenizer, write_array

# Of sentences, clauses, clauses with the mark before them, and words; in tokens.
_SHORTEST = (4, 2, 2, 1)
_LONGEST = (60, 30, 30, 12)
_SHARES = (0.6, 0.1, 0.25, 0.05)
_MOST_WORDS = 3
# What the base reads before a piece, and what it is asked about after it.
_BEFORE, _AFTER = 64, 16
_LEAST_BEFORE, _LEAST_AFTER = 8, 4

FACTS = "optional_pieces.json"
"""What was searched so far, in the folder of the shards. The same search goes on behind what is noted."""
_ROW = 1024
_CHUNK = 8192
_SECONDS_BETWEEN_REPORTS = 10.0

_strength = compiled(strength)

Pieces = NDArray[np.int64]
"""One candidate a row: where the text that is read begins, where the piece begins and ends, and where the text ends."""


@compiled
def _words_before(tokens: Tokens, classes: Classes, low: int, end: int, words: int) -> tuple[int, int]:
    """The range of the last `words` words before `end`, if there are that many after `low`."""
    begin = end
    while words > 0 and begin > low:
        begin -= 1
        words -= _boundary(tokens, classes, low, begin) >= WORD
    return begin, end


@compiled
def _boundary(tokens: Tokens, classes: Classes, low: int, at: int) -> int:
    if at == low:
        return SENTENCE
    return _strength(int(classes[tokens[at - 1]]), int(classes[tokens[at]]))


@compiled
def _candidates(
    tokens: Tokens,
    offsets: NDArray[np.int64],
    classes: Classes,
    name: np.uint64,
    share: NDArray[np.float64],
    out: Pieces,
) -> int:
    """Draws candidates, each kind with its share: sentences, clauses, clauses with the mark before them, words.

    Writes as many as `out` has room for; returns how many there are.
    """
    state = np.empty(1, dtype=np.uint64)
    spans = np.zeros((4, 2), dtype=np.int64)
    count = 0
    for document in range(offsets.size - 1):
        state[0] = folded(name, document)
        low, high = offsets[document], offsets[document + 1]
        sentence = clause = low
        for at in range(low + 1, high - _LEAST_AFTER):
            here = _boundary(tokens, classes, low, at)
            if here < WORD:
                continue
            spans[:] = at
            spans[3] = _words_before(tokens, classes, low, at, 1 + below(state, _MOST_WORDS))
            if here >= CLAUSE:
                spans[1] = clause, at
                # ", which is old" of "The house, which is old, burned."
                if clause > low and classes[tokens[clause - 1]] & CLAUSE_END:
                    spans[2] = clause - 1, at - 1
                clause = at
            if here == SENTENCE:
                spans[0] = sentence, at
                sentence = at
            for kind in range(4):
                begin, end = spans[kind]
                fits = _SHORTEST[kind] <= end - begin <= _LONGEST[kind]
                if fits and begin - low >= _LEAST_BEFORE and chance(state, share[kind]):
                    if count < len(out):
                        out[count] = max(begin - _BEFORE, low), begin, end, min(end + _AFTER, high)
                    count += 1
    return count


@compiled
def _lay_out(
    tokens: Tokens,
    pieces: Pieces,
    first: int,
    without: bool,
    ids: NDArray[np.int64],
    positions: NDArray[np.int64],
    places: NDArray[np.int64],
    targets: NDArray[np.int64],
    owners: NDArray[np.int64],
) -> tuple[int, int]:
    """Fills rows with the texts of candidates from `first` on, with or without their pieces.

    Returns the first candidate that did not fit and the number of tokens to score. Token 0 ends each text.
    """
    rows, width = ids.shape
    row = at = asked = 0
    one = first
    while one < pieces.shape[0]:
        begin, piece, end, stop = pieces[one]
        size = 1 + stop - begin - (end - piece if without else 0)
        if at + size > width:
            row, at = row + 1, 0
        if row == rows:
            break
        start = at
        ids[row, at] = 0
        positions[row, at] = 0
        at += 1
        for source in range(begin, stop):
            if without and piece <= source < end:
                continue
            if source >= end:
                places[asked] = row * width + at - 1
                targets[asked] = tokens[source]
                owners[asked] = one
                asked += 1
            ids[row, at] = tokens[source]
            positions[row, at] = at - start
            at += 1
        one += 1
    return one, asked


@dataclass(frozen=True)
class PieceSearch:
    """The number of candidates to try and the criteria for accepting them."""

    per_hundred: float = 4.0
    """Candidates in 100 tokens, about."""
    most: float = 3.0
    """The highest price, in nats."""
    rows: int = 64
    """Rows of 1,024 tokens that the base reads at once."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.per_hundred <= 0 or self.rows < 1:
            raise ReviserError("--per-hundred is above 0, and --rows is 1 or more")


def candidates(shard: Shard, classes: Classes, search: PieceSearch, number: int = 0) -> Pieces:
    """Draws the candidates of a shard, mostly sentences."""
    name = np.uint64(key(search.seed, number))
    none = np.empty((0, 4), dtype=np.int64)
    counts = np.zeros(4)
    for kind in range(4):
        alone = np.zeros(4)
        alone[kind] = 1.0
        counts[kind] = _candidates(shard.tokens, shard.offsets, classes, name, alone, none)
    wanted = np.array(_SHARES) * search.per_hundred / 100 * len(shard.tokens)
    share = np.minimum(wanted / np.maximum(counts, 1), 1.0)
    count = _candidates(shard.tokens, shard.offsets, classes, name, share, none)
    found = np.empty((count, 4), dtype=np.int64)
    _candidates(shard.tokens, shard.offsets, classes, name, share, found)
    return found


class Pricing:
    """The prices of candidates under a base model."""

    def __init__(self, base: Reviser, base_size: int, device: torch.device) -> None:
        self._base = base.to(device).eval().requires_grad_(False)
        self._kind = torch.bfloat16 if device.type == "cuda" else torch.float32
        head = base.embedding if base.head is None else base.head
        self._table = head.weight[:base_size].to(self._kind)
        self._device = device

    def __call__(
        self, tokens: Tokens, pieces: Pieces, rows: int, say: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float64]:
        """The price of each candidate in nats; `say` gets the number done (each of two readings counts half)."""
        prices = np.zeros(len(pieces))
        for before, (without, sign) in enumerate(((True, 1), (False, -1))):
            read = 0
            while read < len(pieces):
                after, surprise = self._surprise(tokens, pieces, read, without, rows)
                prices[read:after] += sign * surprise
                read = after
                say((before * len(pieces) + read) // 2)
        return prices

    def _surprise(
        self, tokens: Tokens, pieces: Pieces, first: int, without: bool, rows: int
    ) -> tuple[int, NDArray[np.float64]]:
        """The next candidate's number, and the loss in nats of the text after each candidate from `first` up to it."""
        ids = np.zeros((rows, _ROW), dtype=np.int64)
        positions = np.zeros_like(ids)
        places, targets, owners = (np.empty(ids.size, dtype=np.int64) for _ in range(3))
        after, asked = _lay_out(tokens, pieces, first, without, ids, positions, places, targets, owners)
        # The last rows may have found no candidates.
        used = 1 + int(places[asked - 1]) // _ROW
        half = torch.autocast(self._device.type, torch.bfloat16, self._kind == torch.bfloat16)
        with torch.no_grad(), half:
            states = self._base.hidden_packed(self._there(ids[:used]), self._there(positions[:used]))
        states = states.flatten(0, 1).to(self._kind)
        summed = np.zeros(after - first)
        for start in range(0, asked, _CHUNK):
            chunk = slice(start, min(start + _CHUNK, asked))
            with torch.no_grad():
                scores = (states[self._there(places[chunk])] @ self._table.T).float()
            wanted = scores.gather(1, self._there(targets[chunk])[:, None])[:, 0]
            np.add.at(summed, owners[chunk] - first, (scores.logsumexp(dim=-1) - wanted).cpu().double().numpy())
        return after, summed

    def _there(self, array: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(array).to(self._device)


def chosen_pieces(size: int, pieces: Pieces, prices: NDArray[np.float64], most: float) -> NDArray[np.uint8]:
    """For each token, the length of the cheapest piece that ends before it and costs at most `most` nats, or 0."""
    lengths = np.zeros(size, dtype=np.uint8)
    # The cheapest is written last.
    for one in np.argsort(-prices, kind="stable"):
        if prices[one] <= most:
            lengths[pieces[one, 2]] = pieces[one, 2] - pieces[one, 1]
    return lengths


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of the command: the shards to search and the base model."""

    shards: Annotated[Path, Argument("folder of token shards")]
    base: Annotated[str, Option("the model that prices: a folder, a hub id or a GGUF file")]
    per_hundred: Annotated[float, Option("candidates in 100 tokens")] = PieceSearch.per_hundred
    most: Annotated[float, Option("the highest price of a piece, in nats")] = PieceSearch.most
    rows: Annotated[int, Option("rows of 1,024 tokens that are read at once")] = PieceSearch.rows
    seed: Annotated[int, Option("random seed of the candidates")] = 0


def run(chosen: SearchOptions) -> None:
    """Searches all shards of a folder that this search has not covered yet."""
    from reviser.checkpoints.importing import import_model

    search = PieceSearch(chosen.per_hundred, chosen.most, chosen.rows, chosen.seed)
    corpus = Corpus.open(chosen.shards)
    base = import_model(chosen.base)
    if describe_tokenizer(base.tokenizer).sha256 != corpus.tokenizer.sha256:
        raise ReviserError("the base has another tokenizer than the shards")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pricing = Pricing(base.model, corpus.tokenizer.size, device)
    facts = _facts(chosen.shards / FACTS, Path(chosen.base).name, search)
    try:
        for number, (entry, shard) in enumerate(zip(_entries(chosen.shards), corpus.shards, strict=True)):
            _search_shard(chosen.shards, entry, shard, number, corpus.classes, pricing, search, facts)
    except KeyboardInterrupt:
        print("stopped: the same command goes on with the first unfinished shard", file=sys.stderr)
        raise


def _entries(folder: Path) -> list[ShardEntry]:
    return [entry for source in Manifest.load(folder).sources for entry in source.shards]


def _search_shard(
    folder: Path,
    entry: ShardEntry,
    shard: Shard,
    number: int,
    classes: Classes,
    pricing: Pricing,
    search: PieceSearch,
    facts: dict[str, Any],
) -> None:
    """Writes the pieces of a shard beside its tokens, atomically, and records it; skips a shard that is recorded."""
    path = optional_path(folder, entry.name)
    known = {"shard": entry.name, "sha256": entry.sha256}
    if path.exists() and any(known.items() <= one.items() for one in facts["shards"]):
        print(f"{entry.name}: already there", flush=True)
        return
    began = told = time.monotonic()

    def say(done: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _SECONDS_BETWEEN_REPORTS:
            told = time.monotonic()
            print(f"{entry.name}: {done:,} of {len(pieces):,} candidates …", file=sys.stderr, flush=True)

    pieces = candidates(shard, classes, search, number)
    lengths = chosen_pieces(len(shard.tokens), pieces, pricing(shard.tokens, pieces, search.rows, say), search.most)
    taken = int((lengths > 0).sum())
    write_array(path, lengths)
    others = [one for one in facts["shards"] if one.get("shard") != entry.name]
    facts["shards"] = [*others, {**known, "candidates": len(pieces), "optional": taken}]
    write_atomically(folder / FACTS, (json.dumps(facts, indent=1) + "\n").encode())
    found = f"{counted(len(pieces), 'candidate')}, {counted(taken, 'optional piece')}"
    print(f"{entry.name}: {found} in {counted(len(lengths), 'token')}, {time.monotonic() - began:.0f} s", flush=True)


def _facts(path: Path, base: str, search: PieceSearch) -> dict[str, Any]:
    """The record of the last search in a folder if its options were the same; else an empty record."""
    fresh: dict[str, Any] = {"base": base, "search": asdict(search), "shards": []}
    try:
        known: dict[str, Any] = json.loads(read_utf8(path))
        same = all(known[name] == fresh[name] for name in ("base", "search"))
    except (OSError, ReviserError, TypeError, ValueError, KeyError):
        return fresh
    return known if same else fresh
