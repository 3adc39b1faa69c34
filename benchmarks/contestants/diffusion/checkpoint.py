"""A diffusion model with its tokenizer, and the folder that holds them: config.json and model.safetensors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from benchmarks.contestants.diffusion.model import DiffusionConfig, DiffusionTransformer, Schedule
from reviser.checkpoints.folders import atomic_folder
from reviser.checkpoints.tokenizer_files import BUILT_IN, TOKENIZER_FILE, make_tokenizer
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8
from reviser.core.tokenizer import Tokenizer

FORMAT = "reviser diffusion"
VERSION = 1
_CONFIG_FILE = "config.json"
_WEIGHTS_FILE = "model.safetensors"


@dataclass(frozen=True)
class DiffusionModel:
    """A model ready to write or to measure.

    `start` are ids that stand before every text, and `ends` those that end one. Our own models write an
    end at the last place of a text, so they are given one place more than a text has tokens: `closing`.
    """

    model: DiffusionTransformer
    tokenizer: Tokenizer
    start: tuple[int, ...] = ()
    ends: frozenset[int] = frozenset()
    closing: int = 0
    tokenizer_json: bytes | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def config(self) -> DiffusionConfig:
        return self.model.config

    @property
    def mask_id(self) -> int:
        return self.config.mask_id

    @property
    def schedule(self) -> Schedule:
        return self.config.schedule

    @property
    def device(self) -> torch.device:
        return self.model.device

    def states(self, ids: Tensor, sigma: Tensor) -> Tensor:
        return self.model.hidden(ids, sigma)

    def outputs(self, states: Tensor, sigma: Tensor) -> Tensor:
        return self.model.output(states, sigma)

    def log_likelihoods(self, ids: Tensor, where: Tensor, tokens: Tensor) -> Tensor:
        """Of `tokens` at the places of `ids` that `where` marks; for models that need not be told the noise."""
        if self.config.timed or self.config.kind != "mdlm":
            raise ReviserError("only an MDLM that is not told the noise can measure texts")
        still = torch.zeros(len(ids), device=ids.device)
        states = self.model.hidden(ids, still)[where]
        found = self.model.output(states, still[:1].expand(len(states)))
        return found.gather(1, tokens[:, None]).squeeze(1) - found.logsumexp(dim=-1)


def is_diffusion(folder: Path) -> bool:
    """Whether `folder` holds a diffusion model in this format."""
    try:
        data = json.loads((folder / _CONFIG_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT


def save_diffusion(folder: Path, made: DiffusionModel, *, replace: bool = False) -> Path:
    """Write a model, whole or not at all."""
    config = {
        "format": FORMAT,
        "version": VERSION,
        "model": made.config.to_dict(),
        "start": list(made.start),
        "ends": sorted(made.ends),
        "closing": made.closing,
        "tokenizer": BUILT_IN if made.tokenizer_json is None else TOKENIZER_FILE,
        "metadata": made.metadata,
    }
    weights = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in made.model.state_dict().items()
        if not (made.config.tied and name == "head.weight")
    }
    with atomic_folder(folder, replace=replace) as temporary:
        (temporary / _CONFIG_FILE).write_text(json.dumps(config, indent=2) + "\n", "utf-8")
        if made.tokenizer_json is not None:
            (temporary / TOKENIZER_FILE).write_bytes(made.tokenizer_json)
        save_file(weights, temporary / _WEIGHTS_FILE)
    return folder


def load_diffusion(folder: Path, device: torch.device, dtype: torch.dtype = torch.float32) -> DiffusionModel:
    """Read a model that `save_diffusion` wrote."""
    path = folder / _CONFIG_FILE
    data = json.loads(read_utf8(path))
    if data.get("version") != VERSION:
        raise ReviserError(f"{path} is of a version that this program does not know")
    tokenizer_json = None
    if data["tokenizer"] != BUILT_IN:
        tokenizer_json = (folder / TOKENIZER_FILE).read_bytes()
    config = DiffusionConfig.from_dict(data["model"])
    weights = load_file(folder / _WEIGHTS_FILE)
    return DiffusionModel(
        build(config, weights, device, dtype, folder),
        make_tokenizer(tokenizer_json, folder.name),
        tuple(data["start"]),
        frozenset(data["ends"]),
        data["closing"],
        tokenizer_json,
        data["metadata"],
    )


def build(
    config: DiffusionConfig, weights: dict[str, Tensor], device: torch.device, dtype: torch.dtype, source: Path | str
) -> DiffusionTransformer:
    """The model of a configuration with these weights, none missing and none left over."""
    with torch.device("meta"):
        model = DiffusionTransformer(config)
    if config.tied:
        weights = weights | {"head.weight": weights.get("embedding.weight", torch.empty(0))}
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if wanted != found:
        wrong = sorted(name for name in wanted | found if wanted.get(name) != found.get(name))
        raise ReviserError(f"the weights in {source} are not those of its configuration: {', '.join(wrong[:3])}")
    model.load_state_dict(weights, assign=True)
    if config.tied:
        model.head.weight = model.embedding.weight
    return model.to(device=device, dtype=dtype).eval().requires_grad_(False)
