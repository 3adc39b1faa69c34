"""Import of the paper's released checkpoints: torch files, read as data and never as programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from reviser.checkpoints.building import build_model
from reviser.checkpoints.description import check_declared, make_config
from reviser.checkpoints.formats.torch_files import TorchTensor, read_torch
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.tensors import Stored, check_tensors
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import ModelConfig
from reviser.model.layout import tensor_shapes

_EMBEDDING = "token_embedding.embedding.weight"
_CANVAS_POSITIONS = "canvas_pool_position_embedding.weight"
# The canvas is not fed to the released models, so its weights have no use; tables are computed.
_UNUSED = re.compile(r"canvas_pool_position_embedding\.weight|canvas_embedding\.query|(.*\.)?rope\..*")
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


def read_released(path: Path) -> Checkpoint:
    """A released `.pt` file, or one with the same names, as a checkpoint."""
    state = _read_state(path)
    config = _infer_config(state, path)
    check_declared(config, len(state), path.stat().st_size, path)
    weights = {_our_name(name): tensor for name, tensor in state.items() if not _is_unused(name)}
    stored = {name: Stored(path, tensor.shape, tensor.dtype) for name, tensor in weights.items()}
    check_tensors(tensor_shapes(config), stored, path)
    # Tensors may share storage, and so promise more numbers than there are.
    if sum(tensor.nbytes for tensor in weights.values()) > path.stat().st_size:
        raise ReviserError(f"{path} describes more weights than it holds")
    vocabulary = Vocabulary.gpt2(kinds=PAPER_KINDS)
    metadata = {"source": path.name, "format": "released"}
    model = build_model(config, {name: tensor.load() for name, tensor in weights.items()})
    return Checkpoint(model, vocabulary, Gpt2Tokenizer(), None, metadata)


def _read_state(path: Path) -> dict[str, TorchTensor]:
    content = read_torch(path)
    if isinstance(content, dict) and isinstance(content.get("model"), dict):
        content = content["model"]
    if not isinstance(content, dict) or _EMBEDDING not in content:
        raise ReviserError(f"{path} is not a released Reviser checkpoint: it has no {_EMBEDDING}")
    for name, value in content.items():
        if not isinstance(name, str) or not isinstance(value, TorchTensor):
            raise ReviserError(f"{path} has something that is not a tensor among its weights: {name}")
    return content


def _infer_config(state: Mapping[str, TorchTensor], path: Path) -> ModelConfig:
    layers = {int(found[1]) for name in state if (found := re.match(r"layers\.layers\.(\d{1,6})\.", name))}
    first_matrix = state.get("layers.layers.0.mlp.fc1.weight")
    if first_matrix is None or len(first_matrix.shape) != 2 or len(state[_EMBEDDING].shape) != 2:
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
        "canvas_length": canvas.shape[0] if canvas and canvas.shape else context,
        "cursor_id": Vocabulary.gpt2().cursor_id,
    }
    return make_config(settings, path)


def _rotary_shape(state: Mapping[str, TorchTensor]) -> tuple[int, int]:
    """The head size and context, from the rotary tables in the released files."""
    frequencies = state.get("rope.inv_freq")
    head_dim = _HEAD_DIM if frequencies is None else max(2, 2 * frequencies.numel)
    table = state.get("rope.cos_cached")
    return head_dim, _CONTEXT if table is None else table.numel // head_dim


def _is_unused(name: str) -> bool:
    return _UNUSED.fullmatch(name) is not None


def _our_name(name: str) -> str:
    for pattern, ours in _RENAMED:
        renamed, count = re.subn(f"^{pattern}", ours, name)
        if count:
            return renamed
    return name
