"""Qwen2 models from GGUF files, as transformers' models with dequantised weights.

On a GPU the weights have 16 bits. On a CPU each matrix is rounded to 8 bits with a scale for each row, and its
inputs likewise with a scale for each token: integer products are three to four times as fast as those in single
precision, and the model needs a quarter of the memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import torch
from torch import Tensor, nn

from reviser.checkpoints.formats.gguf_header import GgufFile, GgufTensor, read_gguf_file
from reviser.checkpoints.formats.gguf_tokens import TokenType
from reviser.checkpoints.tokenizer_files import added_token, byte_level, byte_level_bpe
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ARCHITECTURE = "qwen2"
_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_OUTSIDE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_INSIDE = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_EMBEDDING = "model.embed_tokens.weight"
_LARGEST = 127


class RopeParameters(TypedDict):
    rope_type: str
    rope_theta: float


class Qwen2Settings(TypedDict):
    """The arguments of transformers' `Qwen2Config`, under its own names."""

    vocab_size: int
    num_hidden_layers: int
    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_parameters: RopeParameters


class RoundedLinear(nn.Module):
    """A linear layer of integers from -127 to 127 with a scale for each row; inputs are rounded likewise."""

    weight: Tensor
    scale: Tensor
    bias: Tensor | None

    def __init__(self, weight: Tensor, scale: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("scale", scale)
        self.register_buffer("bias", bias)

    def forward(self, given: Tensor) -> Tensor:
        rows = given.reshape(-1, given.shape[-1])
        steps = rows.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / _LARGEST
        whole = torch._int_mm((rows / steps).round().to(torch.int8), self.weight.t())
        made = whole.to(given.dtype).mul_(steps).mul_(self.scale)
        if self.bias is not None:
            made += self.bias
        return made.reshape(*given.shape[:-1], -1)


def rounded(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Rounds a matrix to integers; returns them and the scale of each row."""
    steps = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / _LARGEST
    return (weight / steps).round().to(torch.int8), steps.squeeze(1)


def check_architecture(content: GgufFile, path: Path) -> None:
    """Raises `ReviserError` if a file does not contain a Qwen2 model."""
    found = content.fields.get("general.architecture")
    if found != ARCHITECTURE:
        raise ReviserError(f"{path} is for the architecture {found}, not {ARCHITECTURE}")


def load_qwen2(path: Path, device: torch.device, *, exact: bool = False) -> tuple[Any, Tokenizer]:
    """Loads the model of a GGUF file, in evaluation mode, and its tokenizer.

    On a CPU, `exact` keeps single precision.
    """
    try:
        from transformers import Qwen2Config, Qwen2ForCausalLM
    except ImportError:
        raise ReviserError(f"{path} needs the transformers package: pip install 'reviser[bench]'") from None
    content = read_gguf_file(path)
    check_architecture(content, path)
    settings = _settings(content.fields, path)
    tied = all(tensor.name != "output.weight" for tensor in content.tensors)
    # Some releases of transformers have types here, and others none.
    build: Any = Qwen2ForCausalLM
    configure: Any = Qwen2Config
    with torch.device("meta"):
        model = build(configure(**settings, tie_word_embeddings=tied))
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    weights: dict[str, Tensor] = {}
    rounds = device.type == "cpu" and not exact
    for tensor in content.tensors:
        name = _name(tensor, path)
        if expected.pop(name, None) != tensor.shape:
            raise ReviserError(f"{path} has a tensor {tensor.name} that does not fit its settings")
        values = _dequantised(tensor)
        if rounds and values.ndim == 2 and name != _EMBEDDING:
            _put_rounded(model, name, *rounded(values))
        else:
            half = device.type != "cpu" or (name == _EMBEDDING and not exact and not tied)
            weights[name] = values.to(device, torch.bfloat16 if half else torch.float32)
    if expected.keys() - ({"lm_head.weight"} if tied else set()):
        raise ReviserError(f"{path} lacks the tensor of {min(expected)}")
    _put(model, weights, tied=tied)
    # What is computed and not stored was made on no device at all.
    with torch.device(device):
        model.model.rotary_emb = type(model.model.rotary_emb)(model.config)
    if rounds:
        model.model.embed_tokens.register_forward_hook(lambda *call: call[-1].float())
    return model.eval(), read_tokenizer(content.fields, path)


def _put_rounded(model: nn.Module, name: str, weight: Tensor, scale: Tensor) -> None:
    """Replaces a linear layer of the model by a rounded one; its bias, if any, is set later."""
    parent, _, own = name.removesuffix(".weight").rpartition(".")
    linear = model.get_submodule(f"{parent}.{own}" if parent else own)
    place = model.get_submodule(parent) if parent else model
    setattr(place, own, RoundedLinear(weight, scale, getattr(linear, "bias", None)))


def _put(model: nn.Module, weights: dict[str, Tensor], *, tied: bool) -> None:
    if tied:
        weights["lm_head.weight"] = weights[_EMBEDDING]
    for name, value in weights.items():
        parent, _, own = name.rpartition(".")
        module = model.get_submodule(parent)
        kept = nn.Parameter(value, requires_grad=False)
        setattr(module, own, kept if own in module._parameters else value)


def _settings(fields: Mapping[str, Any], path: Path) -> Qwen2Settings:
    try:
        tokens = fields["tokenizer.ggml.tokens"]
        heads = fields[f"{ARCHITECTURE}.attention.head_count"]
        return {
            "vocab_size": len(tokens),
            "num_hidden_layers": fields[f"{ARCHITECTURE}.block_count"],
            "hidden_size": fields[f"{ARCHITECTURE}.embedding_length"],
            "intermediate_size": fields[f"{ARCHITECTURE}.feed_forward_length"],
            "num_attention_heads": heads,
            "num_key_value_heads": fields.get(f"{ARCHITECTURE}.attention.head_count_kv", heads),
            "max_position_embeddings": fields[f"{ARCHITECTURE}.context_length"],
            "rms_norm_eps": fields[f"{ARCHITECTURE}.attention.layer_norm_rms_epsilon"],
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": fields.get(f"{ARCHITECTURE}.rope.freq_base", 1e6),
            },
        }
    except (KeyError, TypeError) as error:
        raise ReviserError(f"{path} lacks the setting {error.args[0]}") from None


def _name(tensor: GgufTensor, path: Path) -> str:
    if tensor.name in _OUTSIDE:
        return _OUTSIDE[tensor.name]
    start, _, rest = tensor.name.partition(".")
    number, _, rest = rest.partition(".")
    part, _, kind = rest.partition(".")
    if start != "blk" or part not in _INSIDE:
        raise ReviserError(f"{path} has the tensor {tensor.name}, which such a model has not")
    return f"model.layers.{number}.{_INSIDE[part]}.{kind}"


def _dequantised(tensor: GgufTensor) -> Tensor:
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    values = dequantize(tensor.data, GGMLQuantizationType[tensor.kind]).astype(np.float32)
    return torch.from_numpy(values).reshape(tensor.shape)


def read_tokenizer(fields: Mapping[str, Any], path: Path) -> Tokenizer:
    """The tokenizer of a GGUF file; it parses the markers of chat turns in a text."""
    from tokenizers import Tokenizer

    tokens, merges, types = (fields.get(f"tokenizer.ggml.{key}") for key in ("tokens", "merges", "token_type"))
    if not (tokens and merges is not None and types and len(types) == len(tokens)):
        raise ReviserError(f"{path} has no byte-level BPE tokenizer")
    if fields.get("tokenizer.ggml.pre") != ARCHITECTURE:
        raise ReviserError(f"{path} splits text in a way that is not {ARCHITECTURE}'s")
    added = [
        added_token(id, token)
        for id, (token, kind) in enumerate(zip(tokens, types, strict=True))
        if kind != TokenType.NORMAL
    ]
    split = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": _PATTERN}, "behavior": "Isolated", "invert": False},
            byte_level(use_regex=False),
        ],
    }
    vocabulary = {token: id for id, token in enumerate(tokens)}
    data = byte_level_bpe(vocabulary, merges, added, split)
    data["normalizer"] = {"type": "NFC"}
    return Tokenizer.from_str(json.dumps(data))
