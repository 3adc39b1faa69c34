"""The released checkpoints of the paper: torch files, read as data and never as programs."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reviser.checkpoints.building import build_model, expected_shapes
from reviser.checkpoints.description import make_config
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.tensors import Stored, check_tensors
from reviser.errors import ReviserError
from reviser.model import ModelConfig
from reviser.tokenizer import Gpt2Tokenizer
from reviser.vocabulary import PAPER_KINDS, Vocabulary

_EMBEDDING = "token_embedding.embedding.weight"
_CANVAS_POSITIONS = "canvas_pool_position_embedding.weight"
# The canvas is not fed to the released models, so its weights have no use; tables are computed.
_UNUSED = re.compile(
    r"canvas_pool_position_embedding\.weight|canvas_embedding\.query|(.*\.)?rope\..*"
)
_RENAMED = (
    (r"layers\.layers\.(\d+)\.ln_self_attn\.", r"blocks.\1.attention_norm."),
    (r"layers\.layers\.(\d+)\.ln_mlp\.", r"blocks.\1.mlp_norm."),
    (r"layers\.layers\.(\d+)\.self_attn\.([qkvo])_proj\.", r"blocks.\1.attention.\2."),
    (r"layers\.layers\.(\d+)\.mlp\.", r"blocks.\1.mlp."),
    (r"final_ln\.", "final_norm."),
    (r"token_embedding\.embedding\.", "embedding."),
)
# What files without rotary tables are taken to have: both released models do.
_HEAD_DIM = 64
_CONTEXT = 512
_TORCH_NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
}


def read_released(path: Path) -> Checkpoint:
    """A released `.pt` file, or one with the same names, as a checkpoint."""
    state = _read_state(path)
    config = _infer_config(state, path)
    weights = {_our_name(name): tensor for name, tensor in state.items() if not _is_unused(name)}
    stored = {
        name: Stored(path, tuple(tensor.shape), _TORCH_NAMES.get(tensor.dtype, str(tensor.dtype)))
        for name, tensor in weights.items()
    }
    check_tensors(expected_shapes(config), stored, path)
    vocabulary = Vocabulary.gpt2(kinds=PAPER_KINDS)
    metadata = {"source": path.name, "format": "released"}
    return Checkpoint(build_model(config, weights), vocabulary, Gpt2Tokenizer(), None, metadata)


def _read_state(path: Path) -> dict[str, Tensor]:
    content = _read_torch(path)
    if isinstance(content, Mapping) and isinstance(content.get("model"), Mapping):
        content = content["model"]
    if not isinstance(content, Mapping) or _EMBEDDING not in content:
        raise ReviserError(f"{path} is not a released Reviser checkpoint: it has no {_EMBEDDING}")
    for name, value in content.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise ReviserError(
                f"{path} has something that is not a tensor among its weights: {name}"
            )
    return dict(content)


def _read_torch(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ReviserError(f"there is no file {path}") from None
    except pickle.UnpicklingError as error:
        if "global" in str(error).lower():
            raise ReviserError(
                f"{path} holds more than weights: reading it would run code, so it is refused"
            ) from None
        raise ReviserError(f"{path} is not a torch file of weights alone") from None
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ReviserError(f"{path} is not a readable torch file: {reason}") from None


def _infer_config(state: Mapping[str, Tensor], path: Path) -> ModelConfig:
    layers = {
        int(found[1]) for name in state if (found := re.match(r"layers\.layers\.(\d+)\.", name))
    }
    first_matrix = state.get("layers.layers.0.mlp.fc1.weight")
    if first_matrix is None or state[_EMBEDDING].ndim != 2:
        raise ReviserError(f"{path} is not a released Reviser checkpoint: its layers are missing")
    vocab_size, width = state[_EMBEDDING].shape
    if vocab_size != (released := Vocabulary.gpt2().size):
        raise ReviserError(f"{path} has {vocab_size} ids, and the released models have {released}")
    head_dim, context = _rotary_shape(state)
    canvas = state.get(_CANVAS_POSITIONS)
    settings = {
        "kind": "paper",
        "vocab_size": vocab_size,
        "layers": len(layers),
        "width": width,
        "heads": max(1, width // head_dim),
        "kv_heads": max(1, width // head_dim),
        "ff": first_matrix.shape[0],
        "context": context,
        "canvas_length": context if canvas is None else canvas.shape[0],
        "cursor_id": Vocabulary.gpt2().cursor_id,
    }
    return make_config(settings, path)


def _rotary_shape(state: Mapping[str, Tensor]) -> tuple[int, int]:
    """Head size and context, from the rotary tables that the released files carry."""
    frequencies = state.get("rope.inv_freq")
    head_dim = _HEAD_DIM if frequencies is None else 2 * frequencies.numel()
    table = state.get("rope.cos_cached")
    return head_dim, _CONTEXT if table is None else table.numel() // head_dim


def _is_unused(name: str) -> bool:
    return _UNUSED.fullmatch(name) is not None


def _our_name(name: str) -> str:
    for pattern, ours in _RENAMED:
        renamed, count = re.subn(f"^{pattern}", ours, name)
        if count:
            return renamed
    return name
