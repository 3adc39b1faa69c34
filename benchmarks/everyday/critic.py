"""A critic: a chat model of another family that says which of two continuations is better.

Asked for the number of the better one of two, a model of this size hardly tells good from bad: the place at which a
text is shown weighs more than the text. It does tell when asked about one continuation at a time. So each is
put after its opening, and the model is asked in two ways. What counts are not the words it would say but the chances
of the two answers that a question allows. A preference stands where both ways give it; where they differ it is a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class Opinion:
    """What the critic thinks of one continuation: the log-odds of praise by each way of asking.

    `nats_per_byte` is how much each byte surprised it; that decides nothing, and is told for comparison.
    """

    praise: tuple[float, ...]
    nats_per_byte: float


@dataclass(frozen=True)
class Preference:
    """How much better the first of two continuations is, by each way of asking."""

    ways: tuple[float, ...]

    @classmethod
    def between(cls, first: Opinion, second: Opinion) -> Preference:
        pairs = zip(first.praise, second.praise, strict=True)
        return cls(tuple(one - two for one, two in pairs))

    @property
    def agrees(self) -> bool:
        """Whether all ways of asking come to the same."""
        return self.points != 0.5

    @property
    def points(self) -> float:
        """1 if the first is better, 0 if the second is, a half where the ways differ."""
        if all(way > 0 for way in self.ways):
            return 1.0
        return 0.0 if all(way < 0 for way in self.ways) else 0.5


class Critic:
    """A Qwen2 chat model that is asked about continuations."""

    def __init__(self, name: str, weights: str, model: Any, tokenizer: Any) -> None:
        self.name = name
        self.fingerprint = key_of(
            weights=weights,
            rubric=_RUBRIC + _BETWEEN + _ASK,
            ways=WAYS,
            device=model.model.embed_tokens.weight.device.type,
        )
        self._model = model
        self._tokenizer = tokenizer
        self._device = model.model.embed_tokens.weight.device
        self._cache: Any = None
        self._rubric = 0
        self._opening: tuple[str, int] | None = None
        self._asked = [self._ids(_ASK.format(question=question)) for question, _, _ in WAYS]
        self._answers = [(self._ids(good)[0], self._ids(bad)[0]) for _, good, bad in WAYS]

    @classmethod
    def load(cls, path: Path, device: torch.device | None = None) -> Critic:
        """From a GGUF file; on a processor in 8 bits, on a GPU in 16."""
        model, tokenizer = load_qwen2(path, device or default_device())
        return cls(path.stem, fingerprint(str(path)), model, tokenizer)

    def prefer(self, opening: str, first: str, second: str) -> Preference:
        """Which of two continuations of an opening is better; a blank one is worse than any other."""
        blank = [not text.strip() for text in (first, second)]
        if any(blank):
            return Preference((float(blank[1]) - float(blank[0]),) * len(WAYS))
        return Preference.between(self.opinion(opening, first), self.opinion(opening, second))

    @torch.no_grad()
    def opinion(self, opening: str, continuation: str) -> Opinion:
        """What the critic thinks of one continuation; it reads the rubric once and an opening once in a row."""
        self._read_opening(opening)
        length = self._length()
        # Whatever white space leads on from the opening is not part of what is judged.
        text = continuation.strip()
        ids = self._ids(text)
        read = self._feed(ids, keep=len(ids))
        costs = [-float(read[at, id]) for at, id in enumerate(ids[1:])]
        praise = []
        for question, (good, bad) in zip(self._asked, self._answers, strict=True):
            chances = self._feed(question)[-1]
            praise.append(float(chances[good] - chances[bad]))
            self._cut(length + len(ids))
        self._cut(length)
        return Opinion(tuple(praise), sum(costs) / len(text.encode()))

    def _read_opening(self, opening: str) -> None:
        if self._opening is not None and self._opening[0] == opening:
            return
        if self._cache is None:
            from transformers import DynamicCache

            self._cache = DynamicCache()
            self._feed(self._ids(_RUBRIC))
            self._rubric = self._length()
        self._cut(self._rubric)
        self._feed(self._ids(opening + _BETWEEN))
        self._opening = (opening, self._length())

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def _length(self) -> int:
        return int(self._cache.get_seq_length())

    def _cut(self, length: int) -> None:
        if (extra := self._length() - length) > 0:
            self._cache.crop(-extra)

    def _feed(self, ids: Sequence[int], keep: int = 1) -> torch.Tensor:
        """Read on; the log-likelihoods of what may follow each of the last `keep` tokens."""
        made = self._model(
            input_ids=torch.tensor([list(ids)], device=self._device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        return torch.log_softmax(made.logits[0].float(), dim=-1)
