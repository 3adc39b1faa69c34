"""Policies for tests of the proofreader: one that knows what to correct, and one that does whatever does harm."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Gpt2Tokenizer, Tokenizer, decode
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model.scoring import Scores

REVISING = PAPER_KINDS | {"delete"}
GPT2 = Gpt2Tokenizer()
OVERTYPING = dataclasses.replace(Vocabulary.gpt2(kinds=REVISING), overtypes=True)

# What an old text becomes, and how sure the policy is of it.
Known = dict[str, tuple[str, float]]


class Scripted:
    """Makes the corrections that it knows by overtyping, each with its chance; remembers what it read."""

    context = 2000
    max_length = None

    def __init__(
        self, known: Known | Callable[[str], Known], tokenizer: Tokenizer = GPT2, vocabulary: Vocabulary | None = None
    ) -> None:
        self.vocabulary = vocabulary or OVERTYPING
        self._known = known if callable(known) else lambda text: known
        self._tokenizer = tokenizer
        self.read: list[str] = []
        self.around: list[tuple[str, str]] = []

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        words = self.vocabulary
        ids = list(history)
        if words.overtype_id not in ids:
            # It is to write, and stops at once.
            scores = np.full(words.size, -1e9, dtype=np.float32)
            scores[words.stop_id] = 0.0
            return scores
        marker = ids.index(words.overtype_id)
        draft = ids[ids.index(words.draft_id) + 1 : marker]
        if marker == len(ids) - 1:
            self._begin(canvas)
        id, chance, stays = self._next(draft, ids[marker + 1 :])
        scores = np.full(words.size, -1e9, dtype=np.float32)
        scores[stays] = math.log(max(1 - chance, 1e-12))
        scores[id] = math.log(chance)
        return scores

    def _begin(self, canvas: Canvas) -> None:
        self.read.append(decode(self._tokenizer, canvas.between(canvas.low, canvas.high)))
        whole = canvas.tokens
        sides = (whole[: canvas.low], whole[canvas.high :])
        before, behind = (decode(self._tokenizer, side) for side in sides)
        self.around.append((before, behind))

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

    def _corrections(self, tokens: Sequence[int], text: str) -> Iterable[tuple[int, int, list[int], float]]:
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


class Hostile:
    """Corrects anything anywhere, to anything, as chance has it, and is often sure of it."""

    context = 600
    max_length = None

    def __init__(self, tokenizer: HostileTokenizer, seed: int) -> None:
        self.vocabulary = Vocabulary(tokenizer.size, kinds=REVISING, name="hostile", overtypes=True)
        self._seed = seed

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        draw = random.Random(f"{self._seed} {len(history)} {history[-3:]}")
        words = self.vocabulary
        ids = list(history)
        marker = ids.index(words.overtype_id)
        draft = ids[ids.index(words.draft_id) + 1 : marker]
        scores = np.full(words.size, -30.0, dtype=np.float32)
        # What stays is an even chance, wherever it stands in the draft.
        written = sum(id != words.delete_id for id in ids[marker + 1 :])
        scores[[*draft[written : written + 3], words.stop_id]] = 0.0
        kind = draw.choices(("stay", "delete", "insert"), (2, 1, 1))[0]
        if kind != "stay":
            chosen = draw.randrange(words.base_size) if kind == "insert" else words.delete_id
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
