"""A critic: a chat model of another family that says which of two continuations is better.

Asked for the number of the better one of two, a model of this size hardly tells good from bad: the place at which a
text is shown weighs more than the text. It does tell when it is given one continuation at a time, and by two means
together. It is asked, in two ways, whether the continuation is good, and the probabilities of the two answers that a
question allows count; that tells repetition and confusion. And its own reading counts: how much the opening helps it
to read the continuation, which tells whether one goes on from the other, and how hard the continuation is to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from benchmarks.everyday.qwen2 import load_qwen2
from benchmarks.protocol.runs import key_of
from reviser.scoring.loading import default_device, fingerprint

_RUBRIC = (
    "<|im_start|>system\nYou are an experienced editor with a sharp eye.<|im_end|>\n<|im_start|>user\n"
    "A writer was given the opening of a text and went on from it. A good continuation keeps to the subject of the "
    "opening, makes sense, and has no broken sentences and no repetition.\n\nOpening:\n"
)
_BETWEEN = "\n\nContinuation:\n"
_ASK = "\n\n{question}<|im_end|>\n<|im_start|>assistant\n"
# Each way of asking, with the answers that are praise and blame.
WAYS = (
    ("Is this a good continuation? Answer Yes or No.", "Yes", "No"),
    (
        "Did a careful writer write this continuation, or is it garbled? Answer Careful or Garbled.",
        "Careful",
        "Garbled",
    ),
)


# What stands where the opening would.
_NO_OPENING = "(not given)"
# What a nat per byte weighs against a nat of log-odds: one that the opening saves, and one that reading costs.
HELP_WEIGHT, COST_WEIGHT = 20.0, 2.0
# Continuations whose scores differ by less are equally good.
MARGIN = 0.1
# Comparisons that a GPU makes at once.
_TOGETHER = 32


@dataclass(frozen=True)
class Opinion:
    """What the critic thinks of one continuation.

    `praise` are the log-odds of praise by each way of asking, `cost` the nats it takes to read a byte of the
    continuation, and `help` how many more it would take without the opening.
    """

    praise: tuple[float, ...]
    cost: float
    help: float

    @property
    def answers(self) -> float:
        return fmean(self.praise)

    @property
    def reading(self) -> float:
        return HELP_WEIGHT * self.help - COST_WEIGHT * self.cost


@dataclass(frozen=True)
class Preference:
    """How much better the first of two continuations is, by the critic's answers and by its reading."""

    answers: float
    reading: float

    @classmethod
    def between(cls, first: Opinion, second: Opinion) -> Preference:
        return cls(first.answers - second.answers, first.reading - second.reading)

    @property
    def agrees(self) -> bool:
        """Whether answers and reading prefer the same one."""
        return self.answers * self.reading > 0

    @property
    def points(self) -> float:
        """1 if the first is better, 0 if the second is, a half where they are equally good."""
        better = self.answers + self.reading
        if abs(better) < MARGIN:
            return 0.5
        return float(better > 0)


def _without_text(first: str, second: str) -> Preference:
    """A preference where one continuation, or both, is blank."""
    better = float(not second.strip()) - float(not first.strip())
    return Preference(better, better)


class _Context:
    """A text that the model has read, from which it can read on and go back."""

    def __init__(self, model: Any, device: torch.device) -> None:
        from transformers import DynamicCache

        self._model = model
        self._device = device
        self._cache: Any = DynamicCache()

    @property
    def length(self) -> int:
        return int(self._cache.get_seq_length())

    def cut(self, length: int) -> None:
        if (extra := self.length - length) > 0:
            self._cache.crop(-extra)

    def read(self, ids: Sequence[int], keep: int = 1) -> torch.Tensor:
        """Read on; the log-likelihoods of what may follow each of the last `keep` tokens."""
        made = self._model(
            input_ids=torch.tensor([list(ids)], device=self._device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        return torch.log_softmax(made.logits[0].float(), dim=-1)

    def cost(self, ids: Sequence[int]) -> float:
        """Read on; the nats that the ids but the first take."""
        chances = self.read(ids, keep=len(ids))
        return -sum(float(chances[at, id]) for at, id in enumerate(ids[1:]))


class Critic:
    """A Qwen2 chat model that is asked about continuations."""

    def __init__(self, name: str, weights: str, model: Any, tokenizer: Any) -> None:
        device = model.model.embed_tokens.weight.device
        self._model, self._device = model, device
        self.name = name
        self.fingerprint = key_of(
            weights=weights,
            texts=[_RUBRIC, _BETWEEN, _ASK, _NO_OPENING],
            ways=WAYS,
            weights_of_reading=(HELP_WEIGHT, COST_WEIGHT),
            device=device.type,
        )
        self._tokenizer = tokenizer
        self._asked = [self._ids(_ASK.format(question=question)) for question, _, _ in WAYS]
        self._answers = [(self._ids(good)[0], self._ids(bad)[0]) for _, good, bad in WAYS]
        self._given, self._alone = _Context(model, device), _Context(model, device)
        self._opening: str | None = None

    @classmethod
    def load(cls, path: Path, device: torch.device | None = None) -> Critic:
        """From a GGUF file; on a processor in 8 bits, on a GPU in 16."""
        model, tokenizer = load_qwen2(path, device or default_device())
        return cls(path.stem, fingerprint(str(path)), model, tokenizer)

    @property
    def together(self) -> int:
        """How many comparisons are best made at once: on a processor each by itself, as it reads an opening only
        once."""
        return 1 if self._device.type == "cpu" else _TOGETHER

    def prefer(self, opening: str, first: str, second: str) -> Preference:
        """Which of two continuations of an opening is better; a blank one is worse than any other."""
        (found,) = self.preferences([(opening, first, second)])
        return found

    def preferences(self, cases: Sequence[tuple[str, str, str]]) -> list[Preference]:
        """Which of the two continuations is better, for openings with two each."""
        asked = [
            (opening, text)
            for opening, first, second in cases
            if first.strip() and second.strip()
            for text in (first, second)
        ]
        opinions = iter(self.opinions(asked))
        return [
            Preference.between(next(opinions), next(opinions))
            if first.strip() and second.strip()
            else _without_text(first, second)
            for _, first, second in cases
        ]

    def opinions(self, cases: Sequence[tuple[str, str]]) -> list[Opinion]:
        """What the critic thinks of each continuation of an opening."""
        if self._device.type == "cpu":
            return [self.opinion(*case) for case in cases]
        return self.opinions_together(cases)

    @torch.no_grad()
    def opinions_together(self, cases: Sequence[tuple[str, str]]) -> list[Opinion]:
        """The same as `opinion` gives for each, by few passes over many texts: for GPUs."""
        found = []
        for start in range(0, len(cases), _TOGETHER):
            found += self._opinions_of(cases[start : start + _TOGETHER])
        return found

    def _opinions_of(self, cases: Sequence[tuple[str, str]]) -> list[Opinion]:
        rubric, nothing = self._ids(_RUBRIC), self._ids(_NO_OPENING + _BETWEEN)
        texts = [text.strip() for _, text in cases]
        written = [self._ids(text) for text in texts]
        given = [rubric + self._ids(opening + _BETWEEN) for opening, _ in cases]
        alone = [rubric + nothing for _ in cases]
        costs = self._costs(given, written)
        without = self._costs(alone, written)
        praises = [
            self._odds([a + b + question for a, b in zip(given, written, strict=True)], answers)
            for question, answers in zip(self._asked, self._answers, strict=True)
        ]
        sizes = [len(text.encode()) for text in texts]
        return [
            Opinion(praise, cost / size, (other - cost) / size)
            for size, cost, other, praise in zip(sizes, costs, without, zip(*praises, strict=True), strict=True)
        ]

    def _hidden(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """The last layer's states. Rows are filled up at their ends, which no token before them sees."""
        longest = max(map(len, rows))
        filled = [[*row, *[0] * (longest - len(row))] for row in rows]
        ids = torch.tensor(filled, device=self._device)
        states: torch.Tensor = self._model.model(input_ids=ids, use_cache=False).last_hidden_state
        return states

    def _costs(self, given: Sequence[list[int]], written: Sequence[list[int]]) -> list[float]:
        """The nats that what is written takes, but its first token."""
        states = self._hidden([[*a, *b] for a, b in zip(given, written, strict=True)])
        costs = []
        for row, before, ids in zip(states, given, written, strict=True):
            logits = self._model.lm_head(row[len(before) : len(before) + len(ids) - 1]).float()
            wanted = torch.tensor(ids[1:], device=self._device, dtype=torch.long)
            costs.append(float(torch.nn.functional.cross_entropy(logits, wanted, reduction="sum")))
        return costs

    def _odds(self, rows: Sequence[list[int]], answers: tuple[int, int]) -> list[float]:
        """The log-odds of the first answer to the second behind each row."""
        states = self._hidden(rows)
        ends = torch.tensor([len(row) - 1 for row in rows], device=self._device)
        logits = self._model.lm_head(states[torch.arange(len(rows)), ends]).float()
        good, bad = answers
        return [float(row[good] - row[bad]) for row in logits]

    @torch.no_grad()
    def opinion(self, opening: str, continuation: str) -> Opinion:
        """What the critic thinks of one continuation; it reads the rubric once, and an opening once in a row."""
        self._read_openings(opening)
        # Whatever white space leads on from the opening is not part of what is judged.
        text = continuation.strip()
        ids, size = self._ids(text), len(text.encode())
        before, alone = self._given.length, self._alone.length
        cost = self._given.cost(ids)
        without = self._alone.cost(ids)
        praise = []
        for question, (good, bad) in zip(self._asked, self._answers, strict=True):
            chances = self._given.read(question)[-1]
            praise.append(float(chances[good] - chances[bad]))
            self._given.cut(before + len(ids))
        self._given.cut(before)
        self._alone.cut(alone)
        return Opinion(tuple(praise), cost / size, (without - cost) / size)

    def _read_openings(self, opening: str) -> None:
        if opening == self._opening:
            return
        rubric = self._ids(_RUBRIC)
        if self._opening is None:
            self._given.read(rubric)
            self._alone.read(rubric)
            self._alone.read(self._ids(_NO_OPENING + _BETWEEN))
        self._given.cut(len(rubric))
        self._given.read(self._ids(opening + _BETWEEN))
        self._opening = opening

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids
