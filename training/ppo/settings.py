"""Everything that decides a PPO run, as one plain dataclass."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, get_args

from reviser.core.errors import ReviserError
from reviser.core.vocabulary import KINDS

Writing = Literal["plain", "paper", "structured", "local"]
Precision = Literal["bf16", "fp32"]
_CHOICES: dict[str, tuple[str, ...]] = {"oracle": get_args(Writing), "precision": get_args(Precision)}
_COUNTS = (
    "prompts",
    "candidates",
    "prompt_tokens",
    "text_tokens",
    "max_actions",
    "epochs",
    "minibatch_rows",
    "generation_rows",
    "checkpoint_every",
)


@dataclass(frozen=True)
class PpoSettings:
    """One run. An iteration lets the policy write `candidates` times after each of `prompts` prompts,
    rewards what it wrote, and learns from it for `epochs` passes. The run ends after `iterations`, or,
    with `minutes`, when that time is over; rates and the oracle's share follow whichever it is.
    """

    iterations: int | None = None
    minutes: float | None = None
    prompts: int = 64
    candidates: int = 8
    prompt_tokens: int = 35
    """Tokens at the beginning of a document that are given."""

    text_tokens: int = 145
    """Tokens that follow them, at the most: what oracle prefixes and `perplexity:…:real` know of the text."""

    max_actions: int = 192
    temperature: float = 0.9
    """The policy is the masked distribution at this temperature, whole: nothing is cut off by top-k."""

    epochs: int = 2
    row_length: int = 1024
    minibatch_rows: int = 32
    peak_rate: float = 1e-5
    final_rate: float = 1e-6
    warmup_steps: int = 10
    value_rate: float = 1e-3
    """The learning rate of the value head, which shares no weights with the model."""

    clip_ratio: float = 0.2
    gamma: float = 1.0
    gae_lambda: float = 0.99
    entropy_weight: float = 0.001
    kl_weight: float = 0.05
    kl_target: float | None = None
    """Nats per action from the reference that `kl_weight` is adapted to; without it the weight stays."""

    type_weight: float = 0.1
    types: str = ""
    """Shares of action types to stay near, `insert=0.9,move=0.1`; by default the reference's."""

    stop_kl: float = 0.02
    """Nats per action from the policy that acted; an iteration that has gone further learns no more."""

    clip: float = 1.0
    oracle_share: float = 0.25
    """Share of a restoration of the real text that is played before the policy acts, at first."""

    oracle_until: float = 0.5
    """Share of the run after which nothing is played before it any more."""

    oracle: Writing = "structured"
    generation_rows: int = 512
    precision: Precision = "bf16"
    """On a GPU; processors compute in single precision."""

    compile: bool = True
    """On a GPU."""

    round_bits: int | None = None
    """The policy's weights are rounded to so many bits (4 or 8), as a quantised file has them; updates change
    the exact ones behind them."""

    seed: int = 0
    checkpoint_every: int = 20

    def __post_init__(self) -> None:
        if (self.iterations is None) == (self.minutes is None):
            raise ReviserError("give a run either a number of iterations or a number of minutes")
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ReviserError(f"{name.replace('_', ' ')} must be 1 or more")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ReviserError(f"the {name} is one of {', '.join(choices)}")
        if self.temperature <= 0:
            raise ReviserError("the temperature must be above 0: a greedy policy explores nothing")
        for name in ("gamma", "gae_lambda", "oracle_share", "oracle_until"):
            if not 0 <= getattr(self, name) <= 1:
                raise ReviserError(f"{name.replace('_', ' ')} lies between 0 and 1")
        if not 0 < self.clip_ratio < 1:
            raise ReviserError("the clip ratio lies between 0 and 1")
        if self.round_bits not in (None, 4, 8):
            raise ReviserError("weights are rounded to 4 or 8 bits")
        if self.kl_target is not None and self.kl_target <= 0:
            raise ReviserError("the target of the KL penalty must be above 0")
        if self.row_length < self.longest:
            raise ReviserError(f"rows of {self.row_length} ids have no room for histories of {self.longest}")
        self.type_shares()

    @property
    def longest(self) -> int:
        """Ids of the longest history: its start marker, its prompt and its actions."""
        return 1 + self.prompt_tokens + self.max_actions

    def type_shares(self) -> dict[str, float]:
        """The wanted shares of action types, made to add up to 1; empty for those of the reference."""
        shares = {}
        for part in filter(None, self.types.split(",")):
            kind, _, share = part.strip().partition("=")
            try:
                shares[kind] = float(share)
            except ValueError:
                raise ReviserError(f"{part.strip()} is not a kind of action and its share") from None
        if unknown := sorted(set(shares) - set(KINDS)):
            raise ReviserError(f"unknown kind of action: {', '.join(unknown)}")
        total = sum(shares.values())
        if shares and (min(shares.values()) < 0 or total <= 0):
            raise ReviserError("the shares of action types are 0 or more, and not all 0")
        return {kind: share / total for kind, share in shares.items()}

    def to_dict(self) -> dict[str, object]:
        return dataclasses.asdict(self)
