"""Perplexity of continuations: an evaluator measures the continuation's tokens alone, given the prompt."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, Protocol

import numpy as np

from reviser.core.errors import ReviserError

Kind = Literal["autoregressive", "diffusion"]


@dataclass(frozen=True)
class PromptedText:
    """A prompt and what was written after it."""

    prompt: str
    continuation: str


@dataclass(frozen=True)
class Loss:
    """The loss of a continuation under an evaluator: nats for each of its tokens, and its number of bytes."""

    nats: tuple[float, ...]
    size: int

    @property
    def total(self) -> float:
        return math.fsum(self.nats)

    @property
    def perplexity(self) -> float:
        """The perplexity; NaN for an empty continuation."""
        return math.exp(self.total / len(self.nats)) if self.nats else math.nan

    @property
    def nats_per_byte(self) -> float:
        return self.total / self.size if self.size else math.nan


class Evaluator(Protocol):
    """A model that measures continuations."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Kind: ...

    def losses(self, texts: Sequence[PromptedText], progress: Callable[[int], None] = lambda done: None) -> list[Loss]:
        """The loss of each text's continuation, in order; an empty one has no tokens.

        `progress` is called with the number of texts done since its last call.
        """


@dataclass(frozen=True)
class Perplexity:
    """The perplexity of many continuations under one evaluator.

    `mean` and `median` are over the examples' perplexities. `over_tokens` weighs all tokens alike, and `median_token`
    is that of the middle token. Empty continuations have none; `empty` counts them. A diffusion-style evaluator gives
    upper bounds, estimated from random draws.
    """

    evaluator: str
    kind: Kind
    examples: int
    empty: int
    tokens: int
    mean: float
    median: float
    over_tokens: float
    median_token: float
    bits_per_byte: float


def summarise(evaluator: Evaluator, losses: Sequence[Loss]) -> Perplexity:
    """The perplexity figures of losses that `evaluator` gave."""
    written = [loss for loss in losses if loss.nats]
    if not written:
        raise ReviserError("no continuation has any tokens, so there is no perplexity")
    nats = np.concatenate([loss.nats for loss in written])
    per_example = [loss.perplexity for loss in written]
    return Perplexity(
        evaluator=evaluator.name,
        kind=evaluator.kind,
        examples=len(written),
        empty=len(losses) - len(written),
        tokens=len(nats),
        mean=fmean(per_example),
        median=median(per_example),
        over_tokens=math.exp(nats.mean()),
        median_token=math.exp(float(np.median(nats))),
        bits_per_byte=float(nats.sum()) / math.log(2) / sum(loss.size for loss in written),
    )
