"""Models of awkward sizes, and what the native decoder should make of them, in torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from reviser.model import KVCache, ModelConfig, Reviser, preset
from reviser.model.cache import PassSpan
from reviser.model.decoder import Attention
from reviser.model.layout import GROUP, Bits, bits_of, parts_of
from reviser.model.quantised import dequantise_model, quantise_model
from reviser.native import NativeBatch, NativeDecoder, available, levels

CONFIGS = {
    "llama": preset("tiny"),
    "paper": preset("tiny-paper"),
    "llama-untied": preset("tiny", tied=False, vocab_size=131),
    "one-kv-head": preset("tiny", width=96, heads=6, kv_heads=1, ff=160),
    "many-queries": preset("tiny", width=64, heads=8, kv_heads=1, ff=96),
    "odd-llama": preset("tiny", width=40, heads=4, kv_heads=2, ff=77, vocab_size=101),
    "odd-paper": preset("tiny-paper", width=72, heads=2, kv_heads=1, ff=100, vocab_size=67),
    "wide": preset("tiny", width=576, heads=9, kv_heads=3, ff=1536, layers=1, context=600),
}

# Their scores are the same, bit for bit.
X86_LEVELS = ("amx", "vnni", "avxvnni", "avx2")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if available():
        return
    for item in items:
        if "tests/reviser/native" in str(item.path) and "native" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="the native library was not built"))


@pytest.fixture
def native() -> None:
    """Asked for by tests that need the library."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=CONFIGS)
def config(request: pytest.FixtureRequest) -> ModelConfig:
    return CONFIGS[request.param]


@pytest.fixture(params=levels() or ("none",))
def level(request: pytest.FixtureRequest, native: None) -> str:
    return str(request.param)


@dataclass(frozen=True)
class Way:
    """How a batch is read."""

    level: str
    halved: bool

    def batch(self, decoder: NativeDecoder, rows: int, room: int | None = None) -> NativeBatch:
        return NativeBatch(decoder, rows, room, halved=self.halved)


@pytest.fixture(params=[*levels(), *(f"{level}-halved" for level in levels() if level == "amx")])
def way(request: pytest.FixtureRequest, native: None) -> Way:
    level, _, halved = str(request.param).partition("-")
    return Way(level, bool(halved))


@pytest.fixture
def build() -> Callable[[ModelConfig], Reviser]:
    """A model with weights large enough that a mistake anywhere shows."""

    def build(config: ModelConfig) -> Reviser:
        torch.manual_seed(0)
        model = Reviser(config).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                noise = torch.randn_like(parameter)
                parameter.add_(noise * (0.3 if parameter.ndim == 1 else 1.5 / config.width**0.5))
                if name == "embedding.weight":
                    parameter.mul_(3)
        return model

    return build


def random_ids(config: ModelConfig, count: int, seed: int = 1) -> list[int]:
    return np.random.default_rng(seed).integers(0, config.vocab_size, count).tolist()


class RoundingCache(KVCache):
    """Keeps keys and values in the precision that the native cache has."""

    def write(self, layer: int, key: Tensor, value: Tensor, span: PassSpan) -> tuple[Tensor, Tensor]:
        return super().write(layer, key.bfloat16().float(), value.bfloat16().float(), span)


class ByteCache(KVCache):
    """Keeps keys and values as the neon level's rounded attention does (see attention_neon.h)."""

    def write(self, layer: int, key: Tensor, value: Tensor, span: PassSpan) -> tuple[Tensor, Tensor]:
        return super().write(layer, round_halves(key), value.half().float(), span)


class WordCache(KVCache):
    """Keeps keys and values as the rounded attention of x86 does (see attention_x86.h)."""

    def write(self, layer: int, key: Tensor, value: Tensor, span: PassSpan) -> tuple[Tensor, Tensor]:
        return super().write(layer, round_head(key), round_head(value), span)


def rounds_attention(config: ModelConfig, bits: Bits, level: str) -> bool:
    """Whether attention works with keys and queries as whole numbers."""
    step = 8 if level == "neon" else 16 if level in X86_LEVELS else 1000
    return bits != 32 and config.head_dim % step == 0


def round_halves(x: Tensor) -> Tensor:
    """A head's numbers as bytes, with a scale for each half."""
    return _round_groups(x.unflatten(-1, (2, -1)))[0].flatten(-2)


def round_head(x: Tensor) -> Tensor:
    """A head's numbers in twelve bits, with one scale."""
    return _round_groups(x, 2047)[0]


def tolerance(config: ModelConfig, bits: Bits, level: str) -> float:
    """How far scores may be from one another, as `error` counts, if sums have another order.

    A value near the middle of two codes may fall to either side: a hundredth is one such fall. Sums of half
    precision fall more often.
    """
    if bits == 32:
        return 0.002
    return 0.1 if rounds_attention(config, bits, level) else 0.05


def round_input(x: Tensor, bits: Bits) -> Tensor:
    """What the right-hand side of a product becomes on the way into it."""
    return x if bits == 32 else _join(_round_groups(_groups(x))[0], x.shape[-1])


def multiply_pairs(parts: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """A 4-bit product as the neon level computes it (see level_neon.c), in whole numbers as there."""
    first, second = _groups(x).double().chunk(2, dim=-1)
    rounded, scale = _round_groups(torch.cat((first - second / 16, second), dim=-1))
    c, a = (rounded / scale).round().chunk(2, dim=-1)
    both = parts["codes"].view(parts["codes"].shape[0], -1, GROUP // 2).double()
    low, high = both % 16, (both / 16).floor()
    whole = torch.einsum("...gi,rgi->...rg", a, 16 * (high - 8) + low)
    part = torch.einsum("...gi,rgi->...rg", c, low) + 8 * a.sum(-1)[..., None, :]
    dot = part + whole / 16
    step = parts["row_scales"][:, None] * parts["scales"]
    lowered = parts["row_minima"][:, None] * parts["minima"]
    sums = (c.sum(-1) + a.sum(-1) * 17 / 16)[..., None, :]
    scale = scale.squeeze(-1)[..., None, :]
    return (scale * (dot * step - sums * lowered)).sum(-1).float()


def halved_weights(parts: Mapping[str, Tensor]) -> Tensor:
    """4-bit weights as the amx level rounds them (see halves_amx.h): in half precision first, then to seven bits."""
    scales, minima = parts["row_scales"][:, None], parts["row_minima"][:, None]
    last = torch.maximum(scales.abs(), minima.abs() / 16).clamp_min(2.0**-90)
    scale, minimum = (
        ((rows / last).half().double() * parts[name].double()).half().double()
        for rows, name in ((scales, "scales"), (minima, "minima"))
    )
    both = parts["codes"].view(*scale.shape, GROUP // 2).double()
    codes = torch.cat((both % 16, (both / 16).floor()), dim=-1)
    weights = (codes * scale[..., None] - minimum[..., None]).half().flatten(1)
    bits = weights.view(torch.int16).int() & 0x7FFF
    sizes = ((bits + 4) // 8 * 8).short().view(torch.half).float()
    return torch.copysign(sizes, weights.float()) * last


def _groups(x: Tensor) -> Tensor:
    return nn.functional.pad(x, (0, -x.shape[-1] % GROUP)).unflatten(-1, (-1, GROUP))


def _join(groups: Tensor, width: int) -> Tensor:
    return groups.flatten(-2)[..., :width]


def _round_groups(groups: Tensor, most: int = 127) -> tuple[Tensor, Tensor]:
    scale = (groups.abs().amax(dim=-1, keepdim=True) / most).clamp_min(1e-30)
    return (groups / scale).round() * scale, scale


def _imitate(module: nn.Linear, parts: Mapping[str, Tensor], level: str, halved: bool) -> None:
    """Make a layer of the model compute as the native one does."""
    bits = bits_of(parts)
    if halved:
        if bits == 4:
            module.weight.data = halved_weights(parts)[:, : module.in_features]
        module.register_forward_pre_hook(lambda module, x: (x[0].bfloat16().float(),))
    elif bits == 4 and level == "neon":
        bias = 0.0 if module.bias is None else module.bias
        module.forward = lambda x: multiply_pairs(parts, x) + bias  # type: ignore[method-assign]
    else:
        module.register_forward_pre_hook(lambda module, x: (round_input(x[0], bits),))


def _attend_in_halves(q: Tensor, k: Tensor, v: Tensor, span: PassSpan) -> Tensor:
    """Attention of a fresh text with queries of eight bits and weights of half precision."""
    weights = _weights(round_halves(q), k)
    return weights.half().float() @ _for_queries(v, q) / weights.sum(-1, keepdim=True)


def _attend_in_words(q: Tensor, k: Tensor, v: Tensor, span: PassSpan) -> Tensor:
    """Attention of a fresh text with queries of twelve bits. Weights of fourteen are as good as exact."""
    weights = _weights(round_head(q), k)
    return weights @ _for_queries(v, q) / weights.sum(-1, keepdim=True)


def _for_queries(x: Tensor, q: Tensor) -> Tensor:
    """Keys or values, once for each head of queries."""
    return x.repeat_interleave(q.shape[1] // x.shape[1], dim=1)


def _weights(q: Tensor, k: Tensor) -> Tensor:
    size = q.shape[2]
    scores = q @ _for_queries(k, q).transpose(-1, -2) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones(size, size).triu(1) > 0, -torch.inf)
    return (scores - scores.amax(-1, keepdim=True)).exp()


_IN_WORDS = (WordCache, _attend_in_words)
_ROUNDED = {"neon": (ByteCache, _attend_in_halves), **dict.fromkeys(X86_LEVELS, _IN_WORDS)}


@pytest.fixture
def expected() -> Callable[..., np.ndarray]:
    """The scores after `ids` that the native decoder, or a halved batch, should give, computed in torch."""

    def expected(model: Reviser, bits: Bits, ids: Sequence[int], level: str, halved: bool = False) -> np.ndarray:
        tensors = quantise_model(model, bits)
        rounded = Reviser(model.config).eval()
        rounded.load_state_dict(dequantise_model(model.config, tensors))
        for name, module in rounded.named_modules():
            if isinstance(module, nn.Linear):
                _imitate(module, parts_of(tensors, f"{name}.weight"), level, halved)
        kind: type[KVCache] = RoundingCache
        if rounds_attention(model.config, bits, level):
            kind, attend = _ROUNDED[level]
            for module in rounded.modules():
                if isinstance(module, Attention):
                    module._attend = attend  # type: ignore[method-assign]
        cache = kind(model.config, 1, len(ids))
        with torch.no_grad():
            states = rounded.hidden(torch.tensor([ids]), cache=cache)[0, -1]
            table = rounded.embedding if rounded.head is None else rounded.head
            states = states.bfloat16().float() if halved else round_input(states, bits)
            return (states @ table.weight.T).numpy()

    return expected
