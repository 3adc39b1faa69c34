"""Finds worse words for a text: words that a base model finds likely in a place, but after which the text goes on less well.

    python -m training worse_words SHARDS --base MODEL

A person who takes a word back wrote one that seemed right there, and saw later that it does not fit. For some words of the
texts, the base says which other words are likely in their place; one of them is drawn. It is worse if it makes what
follows in the text less likely, by some nats, and can be overlooked at first if that is not so of the very next tokens. Such words are written beside the tokens of each shard; corrected samples write them
first and then take them back (see `training.samples.policies.corrected`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray

from reviser.cli.arguments import run_with
from reviser.cli.options import Argument, Option
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from training.data.base_reading import ROW, BaseReader
from training.data.corpus import Corpus, Shard, Tokens, worse_path
from training.data.randomness import chance, compiled, folded, key, share
from training.data.searching import Findings, Kind, Say, read_by, search_shards

# What the base reads before a word, and what it is asked about after it, in tokens.
_BEFORE, _AFTER = 64, 16
_LEAST_BEFORE, _LEAST_AFTER = 8, 4
# A token is taken for a word if it is one, and not the beginning of a longer one, at least in this share of its places.
_WHOLE = 0.7

NO_WORD = -1
KIND = Kind("worse_words.json", worse_path)

Places = NDArray[np.int64]
"""One candidate a row: where the text that is read begins, where the word is, and where the text ends."""


@dataclass(frozen=True)
class Words:
    """Which tokens of a tokenizer are words by themselves.

    `spelled` has a number for each token that is a space and letters, the same for words that differ in capitals alone, else
    -1. `capital` says which of them begin with a capital. `goes_on` says which tokens can continue a word.
    """

    spelled: NDArray[np.int64]
    capital: NDArray[np.bool_]
    goes_on: NDArray[np.bool_]

    @classmethod
    def of(cls, tokenizer: Tokenizer, size: int) -> Words:
        spelled = np.full(size, NO_WORD, dtype=np.int64)
        capital, goes_on = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
        numbers: dict[str, int] = {}
        for id in range(size):
            text = tokenizer.token_bytes(id).decode("utf-8", "replace")
            # A piece of a character may be anything.
            goes_on[id] = text[:1].isalnum() or text[:1] in ("'", "’", "-", "_", "\ufffd")
            word = text[1:]
            if text[:1] == " " and word.isalpha():
                spelled[id] = numbers.setdefault(word.casefold(), len(numbers))
                capital[id] = word[0].isupper()
        return cls(spelled, capital, goes_on)


@dataclass(frozen=True)
class Search:
    """How many words are looked at, and which others are taken for worse."""

    per_hundred: float = 8.0
    """Words that are looked at, in 100 tokens, about."""
    likely: float = 0.02
    """The least probability of the other word in this place."""
    least: float = 2.0
    """How much less likely what follows must become with it, in nats."""
    most: float = 10.0
    """How much less likely it may become."""
    at_once: float = 2.0
    """How much less likely each of the next two tokens may become: else nobody would have gone on like this."""
    rows: int = 64
    """Rows of 1,024 tokens that the base reads at once."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.per_hundred <= 0 or self.rows < 1:
            raise ReviserError("--per-hundred is above 0, and --rows is 1 or more")
        if not 0 < self.likely <= 0.5:
            raise ReviserError("--likely is a probability above 0, and 0.5 or less")
        if not self.least < self.most:
            raise ReviserError("--least is less than --most")


@compiled
def _count_words(
    tokens: Tokens,
    offsets: NDArray[np.int64],
    goes_on: NDArray[np.bool_],
    whole: NDArray[np.int64],
    begun: NDArray[np.int64],
) -> None:
    """Count for each token how often it is followed by something else, and how often by more of its word."""
    for document in range(offsets.size - 1):
        for at in range(offsets[document], offsets[document + 1] - 1):
            if goes_on[tokens[at + 1]]:
                begun[tokens[at]] += 1
            else:
                whole[tokens[at]] += 1


def whole_words(corpus: Corpus, words: Words) -> NDArray[np.bool_]:
    """Which tokens are words in the texts themselves, and mostly not the beginnings of longer ones."""
    whole, begun = (np.zeros(len(words.spelled), dtype=np.int64) for _ in range(2))
    for shard in corpus.shards:
        _count_words(shard.tokens, shard.offsets, words.goes_on, whole, begun)
    found: NDArray[np.bool_] = (
        (words.spelled != NO_WORD) & (whole > 0) & (whole >= _WHOLE * (whole + begun))
    )
    return found


@compiled
def _candidates(
    tokens: Tokens,
    offsets: NDArray[np.int64],
    usable: NDArray[np.bool_],
    goes_on: NDArray[np.bool_],
    name: np.uint64,
    part: float,
    places: Places,
    draws: NDArray[np.float64],
) -> int:
    """Draw words of the texts, each with the number by which another one is drawn; returns how many there are.

    As many are written as there is room for.
    """
    state = np.empty(1, dtype=np.uint64)
    count = 0
    for document in range(offsets.size - 1):
        state[0] = folded(name, document)
        low, high = offsets[document], offsets[document + 1]
        for at in range(low + _LEAST_BEFORE, high - _LEAST_AFTER):
            if not usable[tokens[at]] or goes_on[tokens[at + 1]]:
                continue
            taken = chance(state, part)
            drawn = share(state)
            if taken:
                if count < len(places):
                    places[count] = max(at - _BEFORE, low), at, min(at + 1 + _AFTER, high)
                    draws[count] = drawn
                count += 1
    return count


def candidates(
    shard: Shard, words: Words, usable: NDArray[np.bool_], search: Search, number: int = 0
) -> tuple[Places, NDArray[np.float64]]:
    """Words of a shard that are looked at, and for each the number by which another one is drawn."""
    name = np.uint64(key(search.seed, number))
    given = (shard.tokens, shard.offsets, usable, words.goes_on, name)
    none, no_draws = np.empty((0, 3), dtype=np.int64), np.empty(0)
    everywhere = _candidates(*given, 1.0, none, no_draws)
    part = min(search.per_hundred / 100 * len(shard.tokens) / max(everywhere, 1), 1.0)
    count = _candidates(*given, part, none, no_draws)
    places, draws = np.empty((count, 3), dtype=np.int64), np.empty(count)
    _candidates(*given, part, places, draws)
    return places, draws


@compiled
def _lay_out(
    tokens: Tokens,
    places: Places,
    written: NDArray[np.int64],
    first: int,
    ids: NDArray[np.int64],
    positions: NDArray[np.int64],
    asked: NDArray[np.int64],
    targets: NDArray[np.int64],
    owners: NDArray[np.int64],
    slots: NDArray[np.int64],
) -> tuple[int, int]:
    """Fill rows with candidates from `first` on, with the words of `written` in their places.

    Returns the first candidate that found no room, and how many tokens are asked about. `slots` says after which place each
    candidate's word comes. A text begins after the end of another, which is token 0.
    """
    rows, width = ids.shape
    row = at = count = 0
    one = first
    while one < places.shape[0]:
        begin, word, stop = places[one]
        if at + 1 + stop - begin > width:
            row, at = row + 1, 0
        if row == rows:
            break
        start = at
        ids[row, at] = 0
        positions[row, at] = 0
        at += 1
        for source in range(begin, stop):
            if source == word:
                slots[one - first] = row * width + at - 1
            elif source > word:
                asked[count] = row * width + at - 1
                targets[count] = tokens[source]
                owners[count] = one
                count += 1
            ids[row, at] = written[one] if source == word else tokens[source]
            positions[row, at] = at - start
            at += 1
        one += 1
    return one, count


@dataclass(frozen=True)
class Judged:
    """For each candidate another word, or its own where no other is likely; and what it costs, in nats.

    `at_once` is how much less likely it makes one of the next two tokens, `whole` how much less all that was read behind it.
    """

    others: NDArray[np.int64]
    at_once: NDArray[np.float64]
    whole: NDArray[np.float64]


@dataclass(frozen=True)
class _Found:
    """What the base said of some candidates: the surprise at what follows, and after which states their words come."""

    next_two: NDArray[np.float64]
    whole: NDArray[np.float64]
    states: torch.Tensor
    slots: NDArray[np.int64]


class Finder:
    """A base model that draws other words and says how much less likely a text becomes with them."""

    def __init__(
        self, reader: BaseReader, words: Words, usable: NDArray[np.bool_], search: Search
    ) -> None:
        self._reader = reader
        self._words = words
        self._usable = usable
        self._search = search

    def __call__(
        self,
        tokens: Tokens,
        places: Places,
        draws: NDArray[np.float64],
        say: Callable[[int], None] = lambda done: None,
    ) -> Judged:
        """Another word for each candidate, and what it costs; `say` is told how many are done."""
        others = tokens[places[:, 1]].astype(np.int64)
        judged = Judged(others, np.zeros(len(places)), np.zeros(len(places)))
        read = 0
        while read < len(places):
            after, found = self._read(tokens, places, others, read)
            here = slice(read, after)
            own = others[here].copy()
            others[here] = self.other_words(found, own, draws[here])
            changed = read + np.flatnonzero(others[here] != own)
            if len(changed):
                # With another word of one token, a candidate takes as much room as before.
                _, again = self._read(tokens, places[changed], others[changed], 0)
                next_two = again.next_two - found.next_two[changed - read]
                judged.at_once[changed] = next_two.max(axis=1)
                judged.whole[changed] = again.whole - found.whole[changed - read]
            read = after
            say(read)
        return judged

    def _read(
        self, tokens: Tokens, places: Places, written: NDArray[np.int64], first: int
    ) -> tuple[int, _Found]:
        ids = np.zeros((self._search.rows, ROW), dtype=np.int64)
        positions = np.zeros_like(ids)
        asked, targets, owners, slots = (np.empty(ids.size, dtype=np.int64) for _ in range(4))
        after, count = _lay_out(
            tokens, places, written, first, ids, positions, asked, targets, owners, slots
        )
        used = 1 + int(slots[after - first - 1]) // ROW
        states = self._reader.states(ids[:used], positions[:used])
        surprise = self._reader.surprise(states, asked[:count], targets[:count])
        # Every candidate has at least four tokens behind its word, and they come in order.
        begins = np.flatnonzero(np.diff(owners[:count], prepend=first - 1))
        whole = np.add.reduceat(surprise, begins)
        next_two = surprise[begins[:, None] + np.arange(2)]
        return after, _Found(next_two, whole, states, slots[: after - first])

    def other_words(
        self, found: _Found, own: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """For each word another one that is likely in its place, drawn by probability; the word itself if there is none.

        It has a capital if the word has one, and is not the same word in other letters.
        """
        words, likely = self._words, self._search.likely
        chosen = own.copy()
        for chunk, scores in self._reader.scores(found.states, found.slots):
            # No more words than these can be likely enough.
            shares, ids = scores.softmax(dim=-1).topk(min(int(1 / likely), scores.shape[1]))
            share, other, true = shares.cpu().numpy(), ids.cpu().numpy(), own[chunk, None]
            fits = (share >= likely) & self._usable[other]
            fits &= words.spelled[other] != words.spelled[true]
            fits &= words.capital[other] == words.capital[true]
            running = np.cumsum(np.where(fits, share, 0.0), axis=1, dtype=np.float64)
            drawn = (running > draws[chunk, None] * running[:, -1:]).argmax(axis=1)
            row = np.arange(len(drawn))
            chosen[chunk] = np.where(fits[row, drawn], other[row, drawn], own[chunk])
        return chosen


def with_worse_words(tokens: Tokens, places: Places, judged: Judged, search: Search) -> Tokens:
    """The tokens, with the other word in each place where it is worse, by no less and no more than it may be."""
    worse: Tokens = tokens.copy()
    at = places[:, 1]
    kept = (judged.others != tokens[at]) & (judged.at_once <= search.at_once)
    kept &= (judged.whole >= search.least) & (judged.whole <= search.most)
    worse[at[kept]] = judged.others[kept]
    return worse


# Command -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Which shards are searched, and by which model."""

    shards: Annotated[Path, Argument("folder of token shards")]
    base: Annotated[str, Option("the model that reads: a folder, a hub id or a GGUF file")]
    per_hundred: Annotated[float, Option("words looked at in 100 tokens")] = Search.per_hundred
    likely: Annotated[float, Option("least probability of another word in its place")] = (
        Search.likely
    )
    least: Annotated[float, Option("least loss of what follows it, in nats")] = Search.least
    most: Annotated[float, Option("highest loss of what follows it, in nats")] = Search.most
    at_once: Annotated[float, Option("highest loss of each of the next two tokens")] = (
        Search.at_once
    )
    rows: Annotated[int, Option("rows of 1,024 tokens that are read at once")] = Search.rows
    seed: Annotated[int, Option("random seed of the words")] = 0
    show: Annotated[int, Option("print so many of the worse words, with what is around them")] = 0

    def search(self) -> Search:
        return Search(
            self.per_hundred,
            self.likely,
            self.least,
            self.most,
            self.at_once,
            self.rows,
            self.seed,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    return run_with(
        SearchOptions,
        run,
        arguments,
        prog="python -m training worse_words",
        about=(__doc__ or "").splitlines()[0],
    )


def run(chosen: SearchOptions) -> None:
    search = chosen.search()
    corpus = Corpus.open(chosen.shards)
    base = read_by(chosen.base, corpus)
    words = Words.of(base.tokenizer, corpus.tokenizer.size)
    usable = whole_words(corpus, words)
    if not usable.any():
        raise ReviserError("the texts have no words that are one token, with the space before them")
    find = Finder(BaseReader.of(base, corpus), words, usable, search)

    def look(shard: Shard, number: int, say: Say) -> Findings:
        places, draws = candidates(shard, words, usable, search, number)
        judged = find(shard.tokens, places, draws, lambda done: say(done, len(places)))
        worse = with_worse_words(shard.tokens, places, judged, search)
        likely = int((judged.others != shard.tokens[places[:, 1]]).sum())
        taken = int((worse != shard.tokens).sum())
        return Findings(
            worse,
            {"candidates": len(places), "likely": likely, "worse": taken},
            f"{len(places):,} words looked at, {taken:,} worse ones in {len(worse):,} tokens",
        )

    name = Path(chosen.base).name
    search_shards(KIND, chosen.shards, corpus, look, base=name, search=search)
    if chosen.show:
        for line in shown(Corpus.open(chosen.shards), base.tokenizer, chosen.show):
            print(line)


def shown(corpus: Corpus, tokenizer: Tokenizer, count: int, around: int = 24) -> list[str]:
    """Some of the worse words, evenly spread, with what is around them: `before [worse → true] after`."""
    lines = []
    found = [
        (shard, int(at))
        for shard in corpus.shards
        if shard.worse is not None
        for at in np.flatnonzero(shard.worse != shard.tokens)
    ]
    for number in range(min(count, len(found))):
        shard, at = found[number * len(found) // count if count < len(found) else number]
        assert shard.worse is not None
        document = int(np.searchsorted(shard.offsets, at, side="right"))
        low, high = int(shard.offsets[document - 1]), int(shard.offsets[document])
        parts = (
            shard.tokens[max(at - around, low) : at],
            shard.worse[at : at + 1],
            shard.tokens[at : at + 1],
            shard.tokens[at + 1 : min(at + 1 + around, high)],
        )
        before, worse, true, after = (
            b"".join(tokenizer.token_bytes(int(id)) for id in part).decode("utf-8", "replace")
            for part in parts
        )
        line = f"{before} [{worse.strip()} → {true.strip()}]{after}"
        lines.append(" ".join(line.split()))
    return lines
