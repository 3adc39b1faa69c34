"""The settings of a PPO run, as one plain dataclass."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated

from reviser.cli.options import Option
from reviser.core.errors import ReviserError

_COUNTS = (
    *("prompts", "candidates", "prompt_tokens", "text_tokens", "max_actions"),
    *("epochs", "minibatch_rows", "generation_rows", "checkpoint_every"),
)


@dataclass(frozen=True)
class PpoSettings:
    """One run. An iteration samples `candidates` continuations of each of `prompts` prompts, rewards them, and
    learns from them for `epochs` passes. The run ends after `iterations`, or, with `minutes`, when that time is
    over; the learning rate and the oracle's share follow the same measure. The policy is the whole masked
    distribution at its temperature, without top-k.
    """

    iterations: int | None = None
    minutes: float | None = None
    prompts: Annotated[int, Option("prompts of an iteration")] = 64
    candidates: Annotated[int, Option("candidates of each prompt")] = 8
    prompt_tokens: Annotated[int, Option("tokens at the beginning of a document that are given")] = 35
    text_tokens: Annotated[int, Option("tokens after them, of which oracle and real perplexities know")] = 145
    max_actions: Annotated[int, Option("actions after which an episode ends")] = 192
    temperature: Annotated[float, Option("of the policy")] = 0.9
    epochs: Annotated[int, Option("passes over the episodes of an iteration")] = 2
    row_length: Annotated[int, Option("ids in a row")] = 1024
    minibatch_rows: Annotated[int, Option("rows in a minibatch")] = 32
    peak_rate: Annotated[float, Option("learning rate after the warmup")] = 1e-5
    final_rate: Annotated[float, Option("learning rate at the end")] = 1e-6
    warmup_steps: Annotated[int, Option("updates in which the rate rises")] = 10
    value_rate: Annotated[float, Option("learning rate of the value head")] = 1e-3
    clip_ratio: Annotated[float, Option("how far a ratio may leave 1 before it counts no more")] = 0.2
    gamma: Annotated[float, Option("of the advantages")] = 1.0
    gae_lambda: Annotated[float, Option("of the advantages")] = 0.99
    entropy_weight: Annotated[float, Option("weight of the policy's entropy")] = 0.001
    kl_weight: Annotated[float, Option("weight of the KL from the reference")] = 0.05
    kl_target: Annotated[float | None, Option("nats per action that this weight is adapted to")] = None
    type_weight: Annotated[float, Option("weight of how far the shares of action types are from the reference's")] = 0.1
    stop_kl: Annotated[float, Option("nats per action from the policy that acted, which end an iteration")] = 0.02
    clip: Annotated[float, Option("largest norm of a gradient")] = 1.0
    oracle_share: Annotated[float, Option("share of a restoration that is played before the policy, at first")] = 0.25
    oracle_until: Annotated[float, Option("share of the run after which nothing is played any more")] = 0.5
    generation_rows: Annotated[int, Option("episodes at a time")] = 512
    seed: Annotated[int, Option("of prompts and choices")] = 0
    checkpoint_every: Annotated[int, Option("iterations between checkpoints")] = 20

    def __post_init__(self) -> None:
        if (self.iterations is None) == (self.minutes is None):
            raise ReviserError("give a run either a number of iterations or a number of minutes")
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ReviserError(f"{name.replace('_', ' ')} must be 1 or more")
        if self.temperature <= 0:
            raise ReviserError("the temperature must be above 0: a greedy policy explores nothing")
        for name in ("gamma", "gae_lambda", "oracle_share", "oracle_until"):
            if not 0 <= getattr(self, name) <= 1:
                raise ReviserError(f"{name.replace('_', ' ')} lies between 0 and 1")
        if not 0 < self.clip_ratio < 1:
            raise ReviserError("the clip ratio lies between 0 and 1")
        if self.kl_target is not None and self.kl_target <= 0:
            raise ReviserError("the target of the KL penalty must be above 0")
        if self.row_length < self.longest:
            raise ReviserError(f"rows of {self.row_length} ids have no room for histories of {self.longest}")

    @property
    def longest(self) -> int:
        """The number of ids of the longest history: start marker, prompt and actions."""
        return 1 + self.prompt_tokens + self.max_actions

    def to_dict(self) -> dict[str, object]:
        return dataclasses.asdict(self)
