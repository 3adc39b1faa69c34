"""Policies for tests of the proofreader: one that knows what to correct, and one that does whatever does harm."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from reviser.core.actions import Action, Delete, Insert, Stop
from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Gpt2Tokenizer, Tokenizer, decode
from reviser.core.vocabulary import MOVES, PAPER_KINDS, Vocabulary
from reviser.decoding.sampler import Scores

REVISING = PAPER_KINDS | {"delete"}
GPT2 = Gpt2Tokenizer()

# What an old text becomes, and how sure the policy is of it.
Known = dict[str, tuple[str, float]]


class Scripted:
    """Makes the corrections that it knows, from the end backward, each with its chance."""

    context = 2000
    max_length = None

    def __init__(
        self,
        known: Known | Callable[[str], Known],
        tokenizer: Tokenizer = GPT2,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.vocabulary = vocabulary or Vocabulary.gpt2(kinds=REVISING)
        self._known = known if callable(known) else lambda text: known
        self._tokenizer = tokenizer
        self._plan: list[tuple[Action, float]] = []
        self._begun: list[int] = []
        self.read: list[str] = []
        self.around: list[tuple[str, str]] = []

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        place = len(history) - len(self._begun)
        if canvas.undoable == 0:
            self._begin(canvas)
            self._begun, place = list(history), 0
        scores = np.full(self.vocabulary.size, -1e9, dtype=np.float32)
        action, chance = self._plan[place] if place < len(self._plan) else (Stop(), 1.0)
        scores[self.vocabulary.stop_id] = math.log(max(1 - chance, 1e-12))
        scores[self.vocabulary.id(action)] = math.log(chance)
        return scores

    def _begin(self, canvas: Canvas) -> None:
        tokens = canvas.between(canvas.low, canvas.high)
        text = decode(self._tokenizer, tokens)
        self.read.append(text)
        whole = canvas.tokens
        self.around.append(
            (
                decode(self._tokenizer, whole[: canvas.low]),
                decode(self._tokenizer, whole[canvas.high :]),
            )
        )
        self._plan = [*self._actions(tokens, text)]

    def _actions(self, tokens: Sequence[int], text: str) -> Iterable[tuple[Action, float]]:
        cursor = len(tokens)
        for first, last, written, chance in reversed([*self._corrections(tokens, text)]):
            actions: list[Action] = [*self.vocabulary.moves(last - cursor)]
            actions += [Delete()] * (last - first)
            actions += map(Insert, written)
            yield actions[0], chance
            yield from ((action, 1.0) for action in actions[1:])
            cursor = first + len(written)

    def _corrections(
        self, tokens: Sequence[int], text: str
    ) -> Iterable[tuple[int, int, list[int], float]]:
        """From which to which token, what takes their place, and how sure that is."""
        ends = [len(decode(self._tokenizer, tokens[:count])) for count in range(len(tokens) + 1)]
        found = [
            (text.index(old), text.index(old) + len(old), new, chance)
            for old, (new, chance) in self._known(text).items()
            if old in text
        ]
        for start, end, new, chance in sorted(found):
            first = max(n for n, place in enumerate(ends) if place <= start)
            last = min(n for n, place in enumerate(ends) if place >= end)
            put = text[ends[first] : start] + new + text[end : ends[last]]
            yield first, last, self._tokenizer.encode(put), chance


class Overtyping(Scripted):
    """Makes the corrections that it knows by overtyping, each with its chance."""

    def __init__(self, known: Known | Callable[[str], Known], tokenizer: Tokenizer = GPT2) -> None:
        words = dataclasses.replace(Vocabulary.gpt2(kinds=REVISING), overtypes=True)
        super().__init__(known, tokenizer, words)

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        words = self.vocabulary
        ids = list(history)
        marker = ids.index(words.overtype_id)
        draft = ids[ids.index(words.draft_id) + 1 : marker]
        if marker == len(ids) - 1:
            self._begin(canvas)
        id, chance, stays = self._next(draft, ids[marker + 1 :])
        scores = np.full(words.size, -1e9, dtype=np.float32)
        scores[stays] = math.log(max(1 - chance, 1e-12))
        scores[id] = math.log(chance)
        return scores

    def _next(self, draft: list[int], done: list[int]) -> tuple[int, float, int]:
        """What comes after what is done: an id, its chance, and the draft's next."""
        text = decode(self._tokenizer, draft)
        changes = {first: rest for first, *rest in self._corrections(draft, text)}
        rest = [*draft, self.vocabulary.stop_id]
        place, at = 0, 0
        while True:
            if change := changes.get(place):
                last, written, chance = change
                ids = [self.vocabulary.delete_id] * (last - place) + written
                if at == len(done):
                    return ids[0], chance, rest[place]
                if done[at] == ids[0]:
                    if len(done) - at < len(ids):
                        return ids[len(done) - at], 1.0, rest[last]
                    place, at = last, at + len(ids)
            if at == len(done):
                return rest[place], 1.0, rest[place]
            place, at = place + 1, at + 1


class Hostile:
    """Corrects anything anywhere, to anything, as chance has it, and is often sure of it."""

    context = 600
    max_length = None

    def __init__(self, tokenizer: HostileTokenizer, seed: int, bias: str = "") -> None:
        self.vocabulary = Vocabulary(tokenizer.size, kinds=REVISING, name="hostile")
        self._seed = seed
        self._moves = [
            self.vocabulary.first_move_id + n for n, delta in enumerate(MOVES) if -9 < delta < 0
        ]

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        draw = random.Random(f"{self._seed} {len(history)} {history[-3:]}")
        scores = np.full(self.vocabulary.size, -30.0, dtype=np.float32)
        kind = draw.choices(("stop", "move", "delete", "insert"), (1, 3, 3, 3))[0]
        if kind == "insert":
            chosen = draw.randrange(self.vocabulary.base_size)
        elif kind == "move":
            chosen = draw.choice(self._moves)
        else:
            chosen = self.vocabulary.stop_id if kind == "stop" else self.vocabulary.delete_id
        scores[self.vocabulary.stop_id] = 0.0
        scores[draw.choice(self._moves)] = 0.0
        scores[chosen] = draw.choice([1.0, 3.0, 6.0])
        return scores


class HostileTokenizer:
    """Every byte is a token, and so is each of the given texts."""

    name = "hostile"
    markers: frozenset[int] = frozenset()

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [text.encode() for text in texts if text]
        self.size = 256 + len(self._texts)

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8", "surrogatepass"))

    def token_bytes(self, token: int) -> bytes:
        return bytes([token]) if token < 256 else self._texts[token - 256]
