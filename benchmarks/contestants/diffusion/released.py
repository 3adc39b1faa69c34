"""Reads the released weights of SEDD (`louaaron/sedd-small`, `-medium`) and MDLM (`kuleshov-group/mdlm-owt`).

Both are GPT-2's ids and a mask after them, in one architecture under nearly the same names; MDLM's
begin with `backbone.`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

import torch
from torch import Tensor

from benchmarks.contestants.diffusion.checkpoint import DiffusionModel, build
from benchmarks.contestants.diffusion.model import DiffusionConfig
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import GPT2_BASE_SIZE, GPT2_END_OF_TEXT

_FILES = ("config.json", "model.safetensors", "pytorch_model.bin")
_PARTS = {
    "vocab_embed.embedding": "embedding.weight",
    "sigma_map.mlp.0": "time.fc1",
    "sigma_map.mlp.2": "time.fc2",
    "norm1": "attention_norm",
    "attn_qkv": "attention.qkv",
    "attn_out": "attention.o",
    "norm2": "mlp_norm",
    "mlp.0": "mlp.fc1",
    "mlp.2": "mlp.fc2",
    "output_layer.adaLN_modulation": "final_modulation",
    "output_layer.norm_final": "final_norm",
    "output_layer.linear": "head",
    "adaLN_modulation": "modulation",
}
# A table that follows from the configuration.
_DERIVED = "rotary_emb.inv_freq"


class _SeddModel(TypedDict):
    n_blocks: int
    hidden_size: int
    n_heads: int
    length: int
    cond_dim: int
    scale_by_sigma: bool


class _SeddNoise(TypedDict):
    type: Literal["geometric", "loglinear"]
    sigma_min: NotRequired[float]
    sigma_max: NotRequired[float]


class _SeddGraph(TypedDict):
    type: str


class SeddJson(TypedDict):
    """The config.json of a released SEDD."""

    tokens: int
    graph: _SeddGraph
    model: _SeddModel
    noise: _SeddNoise


class MdlmJson(TypedDict):
    """The config.json of a released MDLM."""

    vocab_size: int
    n_blocks: int
    hidden_dim: int
    n_heads: int
    model_length: int
    cond_dim: int
    time_conditioning: bool


def is_released(config: Mapping[str, object]) -> bool:
    """Whether a config.json is that of a released SEDD or MDLM."""
    return config.get("model_type") == "mdlm" or {"graph", "model", "noise"} <= config.keys()


def read_released(source: str, device: torch.device, dtype: torch.dtype = torch.float32) -> DiffusionModel:
    """A released model from a folder, or from the hub by its name."""
    folder = Path(source) if Path(source).is_dir() else _fetch(source)
    data = json.loads(read_utf8(folder / "config.json"))
    config = sedd_config(data) if "graph" in data else mdlm_config(data)
    weights = {our_name(name): tensor for name, tensor in _weights(folder).items() if _DERIVED not in name}
    if config.vocab_size != GPT2_BASE_SIZE + 1:
        raise ReviserError(f"{source} does not write GPT-2's tokens")
    return DiffusionModel(
        build(config, weights, device, dtype, source),
        Gpt2Tokenizer(),
        ends=frozenset({GPT2_END_OF_TEXT}),
        metadata={"source": source},
    )


def sedd_config(data: SeddJson) -> DiffusionConfig:
    """SEDD's configuration; only the absorbing kind masks tokens."""
    if data["graph"]["type"] != "absorb":
        raise ReviserError("this SEDD does not mask tokens: only the absorbing kind is read")
    model, noise = data["model"], data["noise"]
    return DiffusionConfig(
        kind="sedd",
        vocab_size=data["tokens"] + 1,
        layers=model["n_blocks"],
        width=model["hidden_size"],
        heads=model["n_heads"],
        ff=4 * model["hidden_size"],
        context=model["length"],
        condition=model["cond_dim"],
        scaled=model["scale_by_sigma"],
        noise=noise["type"],
        noise_range=(noise.get("sigma_min", 1e-4), noise.get("sigma_max", 20.0)),
    )


def mdlm_config(data: MdlmJson) -> DiffusionConfig:
    return DiffusionConfig(
        kind="mdlm",
        vocab_size=data["vocab_size"],
        layers=data["n_blocks"],
        width=data["hidden_dim"],
        heads=data["n_heads"],
        ff=4 * data["hidden_dim"],
        context=data["model_length"],
        condition=data["cond_dim"],
        timed=data["time_conditioning"],
    )


def our_name(name: str) -> str:
    """What a released parameter is called here."""
    name = name.removeprefix("backbone.")
    home, _, rest = name.rpartition("blocks.")
    number = ""
    if found := re.fullmatch(r"(\d+)\.(.+)", rest):
        number, rest = f"blocks.{found[1]}.", found[2]
    for theirs, ours in _PARTS.items():
        if rest == theirs or rest.startswith(f"{theirs}."):
            return home + number + ours + rest[len(theirs) :]
    return name


def _weights(folder: Path) -> dict[str, Tensor]:
    if (folder / "model.safetensors").is_file():
        from safetensors.torch import load_file

        return load_file(folder / "model.safetensors")
    files = sorted([*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")])
    if not files:
        raise ReviserError(f"there are no weights in {folder}")
    try:
        held = torch.load(files[0], map_location="cpu", weights_only=True)
    except Exception as error:  # unpickling raises whatever a file makes it raise
        reason = str(error).partition("\n")[0]
        raise ReviserError(f"{files[0]} is not a plain file of weights: {reason}") from None
    return dict(held.get("model", held))


def _fetch(source: str) -> Path:
    from reviser.scoring.loading import plain_errors

    with plain_errors(source):
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(source, allow_patterns=list(_FILES)))
