"""Joins: the places where insertions meet older text, and whether the text is still coherent there.

A run that steps back inserts into existing text. A join is the place before or after such an insertion, or where a
deletion made two tokens neighbours. A causal language model reads the finished text and gives the loss of the tokens
right after a join twice: given all the text before, and at the beginning of a line. In real text the former is
nearly always smaller, because the context helps. A join is broken if the context helps less, or hurts more, than at
almost all places of real text.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from reviser.checkpoints.home import Checkpoint
from reviser.core.actions import Insert
from reviser.core.errors import ReviserError
from reviser.core.text import visible_text
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import seed

# Tokens of the reader behind a join whose surprise counts.
REACH = 4
# This share of the places of real text is less strange than a broken join.
QUANTILE = 0.98
# Tokens before a place that must be there before surprise says anything.
CONTEXT = 16
# Words that a paragraph of real text must have, and characters that are read of it.
_FEWEST_WORDS = 80
_MOST_CHARACTERS = 900
_WORD = re.compile(r"[\"'(]?[A-Za-z][A-Za-z'’-]*[.,;:!?\"')]*")

JoinKind = Literal["before", "after", "cut"]


@dataclass(frozen=True)
class Join:
    """A place in a finished text, as an offset in characters, whose two sides became neighbours by an edit.

    `before`: an insertion follows older text; `after`: older text follows the insertion; `cut`: a deletion
    joined both sides.
    """

    at: int
    kind: JoinKind


@dataclass
class _PlacedToken:
    """A token on the canvas: when it was written, in which stretch of insertions, and between which tokens."""

    token: int
    birth: int
    stretch: int
    between: bool
    cut_from: _PlacedToken | None = None


def joins_of(vocabulary: Vocabulary, tokenizer: Tokenizer, prompt: Sequence[int], ids: Sequence[int]) -> list[Join]:
    """The joins, from left to right, in the text that a run of actions wrote after a prompt."""
    canvas, _ = seed(vocabulary, prompt)
    placed = [_PlacedToken(token, -1, -1, between=False) for token in prompt]
    stretch = 0
    for step, id in enumerate(ids):
        action = canvas.action(id)
        # A stretch is what is written without a move or a deletion in between.
        stretch += not isinstance(action, Insert)
        for splice in canvas.apply(action):
            start, end = splice.start, splice.start + len(splice.removed)
            between = end < len(placed)
            fresh = [_PlacedToken(token, step, stretch, between) for token in splice.inserted]
            placed[start:end] = fresh
            if splice.removed and not fresh and 0 < start < len(placed):
                placed[start].cut_from = placed[start - 1]
    ends = list(accumulate(len(tokenizer.token_bytes(entry.token)) for entry in placed))
    written = b"".join(tokenizer.token_bytes(entry.token) for entry in placed)
    found = []
    for number, (left, right) in enumerate(pairwise(placed)):
        if (kind := _kind(left, right)) is not None:
            found.append(Join(len(visible_text(written[: ends[number]])), kind))
    return found


def _kind(left: _PlacedToken, right: _PlacedToken) -> JoinKind | None:
    if right.birth < left.birth:
        return "after"
    if right.cut_from is left:
        return "cut"
    if right.between and right.stretch != left.stretch:
        return "before"
    return None


@dataclass(frozen=True)
class JoinReading:
    """A text read by a model: its tokens, the character offset of each, and its loss in nats.

    The first token has no context and a loss of 0.
    """

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    nats: tuple[float, ...]

    def token_at(self, at: int) -> int:
        """The index of the token that contains the character at `at`."""
        return max(bisect_right(self.starts, at) - 1, 0)

    def costs(self, given: int) -> list[float]:
        """The losses in nats of the tokens that begin at or after character `given`."""
        return [cost for start, cost in zip(self.starts, self.nats, strict=True) if start >= given]


class Reader:
    """A causal language model that gives the loss of every token of a text.

    `encode` gives a text's tokens and their character offsets; `score` the logits of rows of ids.
    """

    def __init__(
        self,
        name: str,
        fingerprint: str,
        encode: Callable[[str], tuple[list[int], list[int]]],
        score: Callable[[Tensor], Tensor],
        device: torch.device,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._encode = encode
        self._score = score
        self._device = device
        self._break = encode("\n")[0]

    @classmethod
    def of_checkpoint(cls, name: str, weights: str, checkpoint: Checkpoint) -> Reader:
        """A reader from a left-to-right checkpoint of ours, such as the base from its GGUF file."""
        if "move" in checkpoint.vocabulary.kinds:
            raise ReviserError(f"{name} moves as it writes, so it cannot read from left to right")
        model, tokenizer = checkpoint.model.eval(), checkpoint.tokenizer
        size = checkpoint.vocabulary.base_size

        def encode(text: str) -> tuple[list[int], list[int]]:
            ids = tokenizer.encode(text)
            return ids, _starts(text, [len(tokenizer.token_bytes(id)) for id in ids])

        return cls(name, weights, encode, lambda ids: model(ids)[..., :size], model.cos.device)

    def read(self, text: str) -> JoinReading:
        ids, starts = self._encode(text)
        (nats,) = self._nats([ids])
        return JoinReading(tuple(ids), tuple(starts), tuple(nats))

    def strangeness(self, reading: JoinReading, tokens: Sequence[int]) -> list[float | None]:
        """For each of these tokens, how many nats more it and the next ones cost here than at a line's start.

        None for a token with too little text before it.
        """
        rows = [list(reading.ids[at : at + REACH]) for at in tokens]
        alone = self._nats([[*self._break, *row] for row in rows]) if rows else []
        found: list[float | None] = []
        for at, row, costs in zip(tokens, rows, alone, strict=True):
            here = reading.nats[at : at + REACH]
            there = costs[len(self._break) :]
            extra = (math.fsum(here) - math.fsum(there)) / max(len(row), 1)
            found.append(extra if at >= CONTEXT else None)
        return found

    @torch.no_grad()
    def _nats(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        """The loss in nats of each token of each row given those before it; 0 for the first."""
        width = max(2, *map(len, rows))
        ids = torch.zeros(len(rows), width, dtype=torch.int64)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row, dtype=torch.int64)
        ids = ids.to(self._device)
        logits = self._score(ids)[:, :-1]
        chosen = logits.gather(2, ids[:, 1:, None]).squeeze(2).float()
        sums = torch.stack([row.float().logsumexp(dim=-1) for row in logits])
        costs: list[list[float]] = (sums - chosen).tolist()
        return [[0.0, *cost[: len(row) - 1]] if row else [] for cost, row in zip(costs, rows, strict=True)]


def _starts(text: str, sizes: Sequence[int]) -> list[int]:
    """The character offsets of tokens with these sizes in bytes; a token within a character starts at its offset."""
    begins = [0]
    for letter in text:
        begins.append(begins[-1] + len(letter.encode()))
    places = [0, *accumulate(sizes)][:-1]
    return [max(bisect_right(begins, place) - 1, 0) for place in places]


@dataclass(frozen=True)
class JudgedJoin:
    """A join, the strangeness of the text after it, and whether it is broken."""

    at: int
    kind: JoinKind
    strangeness: float | None
    broken: bool


def judged(reader: Reader, reading: JoinReading, joins: Sequence[Join], threshold: float) -> list[JudgedJoin]:
    """Judges a text's joins; one with too little text before it counts as unbroken."""
    strange = reader.strangeness(reading, [reading.token_at(join.at) for join in joins])
    return [
        JudgedJoin(join.at, join.kind, value, value is not None and value > threshold)
        for join, value in zip(joins, strange, strict=True)
    ]


def prose(texts: Iterable[str]) -> Iterator[str]:
    """Yields the first paragraph of each text that is long enough and of plain words, cut to a maximum length."""
    for text in texts:
        for paragraph in re.split(r"\n\s*\n", text):
            found = paragraph.split()
            plain = sum(_WORD.fullmatch(word) is not None for word in found)
            if len(found) >= _FEWEST_WORDS and plain > 0.93 * len(found):
                yield " ".join(found)[:_MOST_CHARACTERS].rsplit(" ", 1)[0]
                break


def real_strangeness(reader: Reader, texts: Sequence[str], each: int = 12, seed: int = 0) -> list[float]:
    """The strangeness of random places of real texts, `each` per text."""
    random = np.random.default_rng(seed)
    found: list[float] = []
    for text in texts:
        reading = reader.read(text)
        room = range(CONTEXT, len(reading.ids) - REACH)
        if not room:
            continue
        chosen = random.choice(room, size=min(each, len(room)), replace=False).tolist()
        found += [value for value in reader.strangeness(reading, chosen) if value is not None]
    return found


def threshold_of(strange: Sequence[float], quantile: float = QUANTILE) -> float:
    """The threshold of a broken join: the quantile of the strangeness of real text."""
    if not strange:
        raise ReviserError("there is no real text long enough to compare joins with")
    return float(np.quantile(strange, quantile))
