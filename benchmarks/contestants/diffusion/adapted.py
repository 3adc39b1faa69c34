"""Diffusion models turned from a pretrained left-to-right model: its weights, attention in both directions, and a mask.

As in Gong et al. (2024), "Scaling Diffusion Language Models via Adaptation from Autoregressive Models": what is to be
said of a place is read off at the place before it, as the model learned it, and the noise is not told. Parameters have
the names of a decoder's (`reviser.model.decoder`), and there is a bias of the output.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.contestants.diffusion.model import DiffusionConfig, DiffusionTransformer, Visibility, rotated
from reviser.core.errors import ReviserError
from reviser.model import Reviser


class _Attention(nn.Module):
    def __init__(self, config: DiffusionConfig) -> None:
        super().__init__()
        size = config.width // config.heads
        self.size = size
        kv_width = (config.kv_heads or config.heads) * size
        self.q = nn.Linear(config.width, config.width, bias=False)
        self.k = nn.Linear(config.width, kv_width, bias=False)
        self.v = nn.Linear(config.width, kv_width, bias=False)
        self.o = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor], visibility: Visibility) -> Tensor:
        q, k, v = (layer(x).unflatten(-1, (-1, self.size)).transpose(1, 2) for layer in (self.q, self.k, self.v))
        q, k = rotated(q, *rope), rotated(k, *rope)
        if visibility.blocks is not None:
            from torch.nn.attention.flex_attention import flex_attention

            mixed: Tensor = flex_attention(q, k, v, block_mask=visibility.blocks, enable_gqa=True)
        else:
            mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=visibility.mask, enable_gqa=True)
        out: Tensor = self.o(mixed.transpose(1, 2).flatten(-2))
        return out


class _Mlp(nn.Module):
    def __init__(self, config: DiffusionConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(config.width, config.ff, bias=False)
        self.up = nn.Linear(config.width, config.ff, bias=False)
        self.down = nn.Linear(config.ff, config.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(functional.silu(self.gate(x)) * self.up(x))
        return out


class _Block(nn.Module):
    def __init__(self, config: DiffusionConfig) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.width, eps=config.norm_eps)
        self.attention = _Attention(config)
        self.mlp_norm = nn.RMSNorm(config.width, eps=config.norm_eps)
        self.mlp = _Mlp(config)

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor], visibility: Visibility) -> Tensor:
        x = x + self.attention(self.attention_norm(x), rope, visibility)
        out: Tensor = x + self.mlp(self.mlp_norm(x))
        return out


class AdaptedTransformer(DiffusionTransformer):
    """A diffusion model with the trunk of a decoder."""

    def __init__(self, config: DiffusionConfig) -> None:
        nn.Module.__init__(self)
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.layers))
        self.final_norm = nn.RMSNorm(config.width, eps=config.norm_eps)  # type: ignore[assignment]
        self.head = nn.Linear(config.width, config.vocab_size)
        if config.tied:
            self.head.weight = self.embedding.weight

    def hidden(self, ids: Tensor, sigma: Tensor, visibility: Visibility | None = None) -> Tensor:
        if ids.shape[1] > self.config.context:
            raise ReviserError(f"a text of {ids.shape[1]} tokens exceeds the model's {self.config.context}")
        visibility = visibility or Visibility.whole_rows(ids.shape[1], ids.device)
        x: Tensor = self.embedding(ids)
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        rope = self._rope(visibility.positions)
        for block in self.blocks:
            x = block(x, rope, visibility)
        found: Tensor = self.final_norm(x).to(x.dtype)
        # A text begins with its marker, of which nothing is asked, so the first state may stay where it is.
        return torch.cat((found[:, :1], found[:, :-1]), dim=1)


def transformer_of(config: DiffusionConfig) -> DiffusionTransformer:
    """An untrained model of this configuration."""
    return AdaptedTransformer(config) if config.adapted else DiffusionTransformer(config)


def adapted(kind: Literal["sedd", "mdlm"], decoder: Reviser) -> AdaptedTransformer:
    """A decoder's weights as a diffusion model over its ids; the last of them is the mask."""
    trunk = decoder.config
    if trunk.kind != "llama" or trunk.uses_canvas:
        raise ReviserError("only a model of the llama kind can be turned into a diffusion model")
    config = DiffusionConfig(
        kind=kind,
        vocab_size=trunk.vocab_size,
        layers=trunk.layers,
        width=trunk.width,
        heads=trunk.heads,
        ff=trunk.ff,
        context=trunk.context,
        tied=trunk.tied,
        timed=False,
        kv_heads=trunk.kv_heads,
        norm_eps=trunk.norm_eps,
        rope_theta=trunk.rope_theta,
    )
    model = AdaptedTransformer(config)
    weights = {name: value.float() for name, value in decoder.state_dict().items()}
    if trunk.tied:
        weights["head.weight"] = weights["embedding.weight"]
    model.load_state_dict(weights | {"head.bias": torch.zeros(trunk.vocab_size)})
    return model
