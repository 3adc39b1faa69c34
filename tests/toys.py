"""Small real parts for tests: a tokenizer of bytes and words, and a tiny random model over it."""

from __future__ import annotations

import torch

from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.model import Reviser, preset
from reviser.model.quantised import quantise_model
from reviser.model.scoring import Decoder
from reviser.model.torch_decoder import TorchDecoder
from reviser.native import available
from reviser.native.decoder import NativeDecoder

WORDS = [" the", " cat", " sat", " on", " mat", ".", "\n", " 漢", ", ", "The"]


class ToyTokenizer:
    """Every byte is a token, and so are a few words, longest first."""

    name = "toy"
    size = 256 + len(WORDS)
    markers: frozenset[int] = frozenset()

    def encode(self, text: str) -> list[int]:
        data = text.encode()
        words = sorted(enumerate(WORDS, start=256), key=lambda item: -len(item[1].encode()))
        ids: list[int] = []
        at = 0
        while at < len(data):
            id = next((id for id, word in words if data.startswith(word.encode(), at)), data[at])
            ids.append(id)
            at += len(self.token_bytes(id))
        return ids

    def token_bytes(self, token: int) -> bytes:
        return bytes([token]) if token < 256 else WORDS[token - 256].encode()


VOCABULARY = Vocabulary(base_size=ToyTokenizer.size, kinds=PAPER_KINDS, name="toy")


def toy_model(kind: str = "tiny", seed: int = 0, **changes: object) -> Reviser:
    """A tiny model with opinions: random weights, larger than at the start of training."""
    torch.manual_seed(seed)
    model = Reviser(preset(kind, vocab_size=VOCABULARY.size, dropout=0.0, **changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(8)
    return model


def toy_policy(seed: int = 0, **changes: object) -> ModelPolicy:
    model = toy_model(seed=seed, **changes)
    return ModelPolicy(TorchDecoder(model), VOCABULARY, max_length=model.config.canvas_length)


def quick_decoder(model: Reviser, capacity: int | None = None) -> Decoder:
    """A small model in eight bits, decoded natively, which takes a tenth of the time; in torch where that cannot be.

    For tests of what is done with a model's scores, whatever they are.
    """
    if not available():
        return TorchDecoder(model, capacity)
    return NativeDecoder(model.config, quantise_model(model, 8), threads=1, capacity=capacity)


def quick_toy_policy(seed: int = 0, **changes: object) -> ModelPolicy:
    model = toy_model(seed=seed, **changes)
    return ModelPolicy(quick_decoder(model), VOCABULARY, max_length=model.config.canvas_length)
