"""The critic: a chat model of another family that decides which of two continuations is better.

A model of this size cannot choose the better of two texts shown together: their order matters more than their
content. It can rate one continuation at a time by two measures together. First, it is asked in two wordings whether
the continuation is good, and the probabilities of the two allowed answers are compared; this detects repetition and
confusion. Second, its own likelihoods count: how much the opening lowers the loss of the continuation, which detects
whether it follows from the opening, and the loss of the continuation itself.
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


@dataclass(frozen=True)
class Opinion:
    """The critic's rating of one continuation.

    `praise` has the log-odds of a positive answer for each wording, `cost` is the loss of the continuation in nats
    per byte, and `help` is how much larger that loss is without the opening.
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
    """How much better the first of two continuations is, by the critic's answers and by its likelihoods."""

    answers: float
    reading: float

    @classmethod
    def between(cls, first: Opinion, second: Opinion) -> Preference:
        return cls(first.answers - second.answers, first.reading - second.reading)

    @property
    def agrees(self) -> bool:
        """Whether answers and likelihoods prefer the same continuation."""
        return self.answers * self.reading > 0

    @property
    def points(self) -> float:
        """1 if the first is better, 0 if the second is, 0.5 if they are equal."""
        better = self.answers + self.reading
        if abs(better) < MARGIN:
            return 0.5
        return float(better > 0)


def _without_text(first: str, second: str) -> Preference:
    """The preference if one continuation, or both, is blank."""
    better = float(not second.strip()) - float(not first.strip())
    return Preference(better, better)


class _Context:
    """A text in the model's cache, which can be extended and truncated."""

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
        """Appends ids; returns the log-likelihoods of the next token after each of the last `keep` tokens."""
        made = self._model(
            input_ids=torch.tensor([list(ids)], device=self._device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        return torch.log_softmax(made.logits[0].float(), dim=-1)

    def cost(self, ids: Sequence[int]) -> float:
        """Appends ids; returns the loss in nats of all but the first."""
        chances = self.read(ids, keep=len(ids))
        return -sum(float(chances[at, id]) for at, id in enumerate(ids[1:]))


class Critic:
    """A Qwen2 chat model that rates continuations."""

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
        """Loads the critic from a GGUF file; in 8 bits on a CPU, in 16 bits on a GPU."""
        model, tokenizer = load_qwen2(path, device or default_device())
        return cls(path.stem, fingerprint(str(path)), model, tokenizer)

    def preferences(self, cases: Sequence[tuple[str, str, str]]) -> list[Preference]:
        """Compares the two continuations of each (opening, first, second); a blank one is worse than any other."""
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
        """Rates the continuation of each (opening, continuation)."""
        return [self.opinion(*case) for case in cases]

    @torch.no_grad()
    def opinion(self, opening: str, continuation: str) -> Opinion:
        """Rates one continuation; the rubric is read once, and an opening once for consecutive calls."""
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
