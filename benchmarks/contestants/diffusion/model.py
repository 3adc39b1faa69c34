"""The trunk of both diffusion models: a Transformer that sees in both directions and is told the noise.

It is the published one (a diffusion Transformer with adaptive layer norms), of any size:

    embedding.weight                        (vocab, width); the mask is the last id
    time.{fc1,fc2}.{weight,bias}            256 frequencies of the noise to `condition` numbers
    blocks.N.attention_norm.weight          norms have no bias: the noise shifts and scales instead
    blocks.N.attention.{qkv,o}.weight       rotate-half RoPE
    blocks.N.mlp_norm.weight
    blocks.N.mlp.{fc1,fc2}.{weight,bias}    tanh GELU
    blocks.N.modulation.{weight,bias}       shift, scale and gate for attention, then for the MLP
    final_norm.weight
    final_modulation.{weight,bias}          shift and scale
    head.{weight,bias}                      bias alone where the output is tied to the embedding
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from reviser.core.errors import ReviserError
from reviser.model import ModelConfig

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask


class Schedule(Protocol):
    def total(self, t: Tensor) -> Tensor:
        """sigma(t)"""

    def rate(self, t: Tensor) -> Tensor:
        """The derivative of sigma at t."""


@dataclass(frozen=True)
class LogLinear:
    """The share of masked tokens grows evenly, from 0 to 1 - eps."""

    eps: float = 1e-3

    def total(self, t: Tensor) -> Tensor:
        return -torch.log1p(-(1 - self.eps) * t)

    def rate(self, t: Tensor) -> Tensor:
        return (1 - self.eps) / (1 - (1 - self.eps) * t)


@dataclass(frozen=True)
class Geometric:
    """The total noise grows by the same factor in the same time."""

    low: float = 1e-4
    high: float = 20.0

    def total(self, t: Tensor) -> Tensor:
        return self.low ** (1 - t) * self.high**t

    def rate(self, t: Tensor) -> Tensor:
        return self.total(t) * math.log(self.high / self.low)


def masked_share(sigma: Tensor) -> Tensor:
    """The probability that a token is masked after this much noise."""
    return -torch.expm1(-sigma)


_FREQUENCIES = 256
_ROPE_THETA = 10_000.0
# Rows that block-sparse attention cuts into four blocks at most: there is little in them to be skipped.
_SHORT_ROWS = 256


@dataclass(frozen=True)
class DiffusionConfig:
    """Everything that decides a model's parameters and what they mean.

    `kind` says what the output is: logarithms of scores (SEDD) or logits of the clean token (MDLM).
    A model that is not `timed` is always told that there is no noise.
    """

    kind: Literal["sedd", "mdlm"]
    vocab_size: int
    layers: int
    width: int
    heads: int
    ff: int
    context: int
    condition: int = 128
    dropout: float = 0.0
    tied: bool = False
    timed: bool = True
    scaled: bool = True
    noise: Literal["loglinear", "geometric"] = "loglinear"
    noise_range: tuple[float, float] = (1e-4, 20.0)

    def __post_init__(self) -> None:
        if self.width % self.heads or (self.width // self.heads) % 2:
            raise ReviserError(f"a width of {self.width} does not make {self.heads} even heads")

    @classmethod
    def like(cls, kind: Literal["sedd", "mdlm"], trunk: ModelConfig, vocab_size: int) -> DiffusionConfig:
        """A model with the layers, width, heads and MLP of one of our decoders."""
        return cls(
            kind=kind,
            vocab_size=vocab_size,
            layers=trunk.layers,
            width=trunk.width,
            heads=trunk.heads,
            ff=trunk.ff,
            context=trunk.context,
            dropout=trunk.dropout,
            tied=trunk.tied,
            timed=kind == "sedd",
        )

    @property
    def mask_id(self) -> int:
        return self.vocab_size - 1

    @property
    def schedule(self) -> Schedule:
        return LogLinear() if self.noise == "loglinear" else Geometric(*self.noise_range)

    def to_dict(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DiffusionConfig:
        try:
            return cls(**dict(values) | {"noise_range": tuple(values["noise_range"])})
        except (TypeError, KeyError) as error:
            raise ReviserError(f"this is not a diffusion model's configuration: {error}") from None


@dataclass(frozen=True)
class Visibility:
    """Who sees whom in rows of ids, and where each id stands in its own text.

    Without a mask or blocks, all ids of a row see one another.
    """

    positions: Tensor
    mask: Tensor | None = None
    blocks: BlockMask | None = None

    @classmethod
    def whole_rows(cls, length: int, device: torch.device) -> Visibility:
        return cls(torch.arange(length, device=device)[None])

    @classmethod
    def within_texts(cls, texts: Tensor, positions: Tensor) -> Visibility:
        """Rows that hold several texts, numbered in `texts` (rows, ids): each sees itself alone."""
        if cls.is_dense(texts):
            return cls(positions, (texts[:, :, None] == texts[:, None, :])[:, None])
        return cls.in_blocks(texts, positions)

    @classmethod
    def is_dense(cls, texts: Tensor) -> bool:
        """Whether `within_texts` makes a mask of all pairs: block-sparse attention has gradients on a GPU only."""
        return texts.device.type == "cpu" or texts.shape[1] <= _SHORT_ROWS

    @classmethod
    def in_blocks(cls, texts: Tensor, positions: Tensor) -> Visibility:
        """The same for block-sparse attention."""
        from torch.nn.attention.flex_attention import create_block_mask

        def visible(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
            return texts[row, query] == texts[row, key]

        rows, length = texts.shape
        blocks = create_block_mask(visible, rows, None, length, length, device=texts.device)
        return cls(positions, blocks=blocks)


class Norm(nn.Module):
    """A layer norm in single precision, scaled but not shifted."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x.float(), x.shape[-1:], self.weight.float())


class TimeEmbedding(nn.Module):
    """The noise as a vector: waves of many frequencies through a small MLP."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(_FREQUENCIES, width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, sigma: Tensor) -> Tensor:
        half = torch.arange(_FREQUENCIES // 2, dtype=torch.float32, device=sigma.device)
        angles = sigma[:, None].float() * 10_000.0 ** (-half / len(half))
        waves = torch.cat((angles.cos(), angles.sin()), dim=-1).to(self.fc1.weight.dtype)
        vector: Tensor = self.fc2(functional.silu(self.fc1(waves)))
        return functional.silu(vector)


class DiffusionAttention(nn.Module):
    """Self-attention in both directions."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.o = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor], visibility: Visibility) -> Tensor:
        qkv = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3)
        q, k, v = qkv.unbind(dim=2)
        q, k = rotated(q, *rope), rotated(k, *rope)
        if visibility.blocks is not None:
            from torch.nn.attention.flex_attention import flex_attention

            mixed: Tensor = flex_attention(q, k, v, block_mask=visibility.blocks)
        else:
            mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=visibility.mask)
        out: Tensor = self.o(mixed.transpose(1, 2).flatten(-2))
        return out


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)


class Mlp(nn.Module):
    def __init__(self, width: int, ff: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, ff)
        self.fc2 = nn.Linear(ff, width)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc2(functional.gelu(self.fc1(x), approximate="tanh"))
        return out


class DiffusionLayer(nn.Module):
    """A residual layer whose norms are shifted and scaled, and whose results are gated, by the noise."""

    def __init__(self, config: DiffusionConfig) -> None:
        super().__init__()
        self.attention_norm = Norm(config.width)
        self.attention = DiffusionAttention(config.width, config.heads)
        self.mlp_norm = Norm(config.width)
        self.mlp = Mlp(config.width, config.ff)
        self.modulation = nn.Linear(config.condition, 6 * config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, condition: Tensor, rope: tuple[Tensor, Tensor], visibility: Visibility) -> Tensor:
        parts = self.modulation(condition)[:, None].chunk(6, dim=-1)
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = parts
        seen = _modulated(self.attention_norm(x), shift, scale).to(x.dtype)
        x = x + gate * self.dropout(self.attention(seen, rope, visibility))
        seen = _modulated(self.mlp_norm(x), mlp_shift, mlp_scale).to(x.dtype)
        out: Tensor = x + mlp_gate * self.dropout(self.mlp(seen))
        return out


def _modulated(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    return x * (1 + scale) + shift


class DiffusionTransformer(nn.Module):
    """Says of every place of a noisy text what may stand there."""

    def __init__(self, config: DiffusionConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.time = TimeEmbedding(config.condition)
        self.blocks = nn.ModuleList(DiffusionLayer(config) for _ in range(config.layers))
        self.final_norm = Norm(config.width)
        self.final_modulation = nn.Linear(config.condition, 2 * config.width)
        self.head = nn.Linear(config.width, config.vocab_size)
        if config.tied:
            self.head.weight = self.embedding.weight
        self._initialise()

    def _initialise(self) -> None:
        residual = 0.02 / math.sqrt(2 * self.config.layers)
        for name, parameter in self.named_parameters():
            owner = name.rpartition(".")[0]
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.ndim > 1:
                std = residual if owner.endswith(("attention.o", "mlp.fc2")) else 0.02
                nn.init.normal_(parameter, std=std)
        # The published models begin with all gates shut; they open from the first step on.
        for name, parameter in self.named_parameters():
            if "modulation" in name:
                nn.init.zeros_(parameter)

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    def hidden(self, ids: Tensor, sigma: Tensor, visibility: Visibility | None = None) -> Tensor:
        """Final states (rows, ids, width) of rows with `sigma` (rows,) noise each."""
        if ids.shape[1] > self.config.context:
            raise ReviserError(f"a text of {ids.shape[1]} tokens exceeds the model's {self.config.context}")
        visibility = visibility or Visibility.whole_rows(ids.shape[1], ids.device)
        condition = self.time(sigma if self.config.timed else torch.zeros_like(sigma))
        x: Tensor = self.embedding(ids)
        if torch.is_autocast_enabled(x.device.type):
            # Otherwise the residual stream would stay in single precision, at twice the traffic.
            x = x.to(torch.get_autocast_dtype(x.device.type))
        condition = condition.to(x.dtype)
        rope = self._rope(visibility.positions)
        for block in self.blocks:
            x = block(x, condition, rope, visibility)
        shift, scale = self.final_modulation(condition)[:, None].chunk(2, dim=-1)
        return _modulated(self.final_norm(x), shift, scale).to(x.dtype)

    def hidden_of_texts(self, ids: Tensor, sigma: Tensor, texts: Tensor, positions: Tensor) -> Tensor:
        """`hidden` of rows that hold several texts each (see `Visibility.within_texts`)."""
        return self.hidden(ids, sigma, Visibility.within_texts(texts, positions))

    def _rope(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        size = self.config.width // self.config.heads
        even = torch.arange(0, size, 2, dtype=torch.float32, device=positions.device)
        angle = positions[:, None, :, None].float() * _ROPE_THETA ** (-even / size)
        return angle.cos(), angle.sin()

    def output(self, hidden: Tensor, sigma: Tensor) -> Tensor:
        """Of states (places, width) with `sigma` (places,): SEDD's log-scores, or MDLM's logits.

        The mask's own column is -inf: masked places turn into tokens, never into masks.
        """
        found: Tensor = self.head(hidden).float()
        if self._by_noise:
            found = found - self.usual(sigma)[:, None]
        found[:, self.config.mask_id] = float("-inf")
        return found

    def usual(self, sigma: Tensor) -> Tensor:
        """What is taken off the outputs at each noise: scores differ by it with the noise alone."""
        if self._by_noise:
            return torch.expm1(sigma.float()).log() + math.log(self.config.vocab_size - 1)
        return torch.zeros_like(sigma, dtype=torch.float32)

    @property
    def _by_noise(self) -> bool:
        return self.config.kind == "sedd" and self.config.scaled
