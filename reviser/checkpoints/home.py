"""The home format: a folder with config.json, safetensors weights and the tokenizer."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import torch

from reviser.checkpoints.building import build_model, expected_shapes, make_config
from reviser.checkpoints.folders import made_whole
from reviser.checkpoints.tensors import (
    SHARD_BYTES,
    Stored,
    check_tensors,
    read_headers,
    read_tensors,
    write_tensors,
)
from reviser.checkpoints.tokenizer_files import (
    BUILT_IN,
    TOKENIZER_FILE,
    make_tokenizer,
    read_tokenizer_json,
)
from reviser.errors import ReviserError
from reviser.files import read_utf8
from reviser.model import ModelConfig, Reviser
from reviser.tokenizer import Tokenizer
from reviser.vocabulary import Vocabulary

CONFIG_FILE = "config.json"
FORMAT = "reviser"
VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """A model with all that is needed to use it; `tokenizer_json` is None for the built-in GPT-2."""

    model: Reviser
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    tokenizer_json: bytes | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """What a checkpoint is, from its configuration and its headers alone."""

    folder: Path
    config: ModelConfig
    vocabulary: Vocabulary
    tokenizer: str
    metadata: dict[str, Any]
    parameters: int
    file_bytes: int
    dtypes: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "model": self.config.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
            "tokenizer": self.tokenizer,
            "parameters": self.parameters,
            "file_bytes": self.file_bytes,
            "dtypes": self.dtypes,
            "metadata": self.metadata,
        }


def save(
    folder: Path,
    model: Reviser,
    vocabulary: Vocabulary,
    tokenizer_source: str | Path | bytes,
    *,
    metadata: dict[str, Any] | None = None,
    dtype: torch.dtype | None = None,
    replace: bool = False,
    shard_bytes: int = SHARD_BYTES,
) -> Path:
    """Write a checkpoint, whole or not at all.

    `tokenizer_source` is `gpt2`, the path of a tokenizer.json or of its folder, or its bytes.
    `metadata` is free, but must be JSON: how the model was made, for example.
    """
    tokenizer_json = read_tokenizer_json(tokenizer_source)
    _check_vocabulary(vocabulary, model.config, folder)
    config = {
        "format": FORMAT,
        "version": VERSION,
        "model": model.config.to_dict(),
        "vocabulary": vocabulary.to_dict(),
        "tokenizer": BUILT_IN if tokenizer_json is None else TOKENIZER_FILE,
        "metadata": metadata or {},
    }
    with made_whole(folder, replace=replace) as temporary:
        text = json.dumps(config, ensure_ascii=False, indent=2) + "\n"
        (temporary / CONFIG_FILE).write_text(text, "utf-8")
        if tokenizer_json is not None:
            (temporary / TOKENIZER_FILE).write_bytes(tokenizer_json)
        write_tensors(temporary, weights_of(model, dtype), shard_bytes)
    return folder


def save_checkpoint(
    folder: Path, checkpoint: Checkpoint, *, dtype: torch.dtype | None = None, replace: bool = False
) -> Path:
    """`save` for a checkpoint in hand."""
    return save(
        folder,
        checkpoint.model,
        checkpoint.vocabulary,
        checkpoint.tokenizer_json or BUILT_IN,
        metadata=checkpoint.metadata,
        dtype=dtype,
        replace=replace,
    )


def weights_of(model: Reviser, dtype: torch.dtype | None = None) -> dict[str, torch.Tensor]:
    """A model's weights on the host, ready to be written."""
    return {
        name: tensor.detach().to("cpu", dtype or tensor.dtype).contiguous()
        for name, tensor in model.state_dict().items()
    }


def load(
    folder: Path, *, device: torch.device | str = "cpu", dtype: torch.dtype | None = None
) -> Checkpoint:
    """Load a checkpoint, by default in the precision it is stored in.

    On the CPU and in that precision, weights are mapped from the file: loading reads none of them,
    and two processes share them.
    """
    description = _describe(folder)
    tensors = read_tensors(_checked_headers(description))
    tokenizer_json, tokenizer = _load_tokenizer(description)
    return Checkpoint(
        build_model(description.config, tensors, device, dtype),
        description.vocabulary,
        tokenizer,
        tokenizer_json,
        description.metadata,
    )


def inspect(folder: Path) -> Summary:
    """What `load` would give, without reading any weights."""
    description = _describe(folder)
    headers = _checked_headers(description)
    sizes = {name: prod(stored.shape) for name, stored in headers.items()}
    dtypes: Counter[str] = Counter()
    for name, stored in headers.items():
        dtypes[stored.dtype] += sizes[name]
    files = {stored.file for stored in headers.values()}
    return Summary(
        folder,
        description.config,
        description.vocabulary,
        description.tokenizer,
        description.metadata,
        parameters=sum(sizes.values()),
        file_bytes=sum(file.stat().st_size for file in files),
        dtypes=dict(dtypes),
    )


@dataclass(frozen=True)
class _Description:
    """A config.json, read and checked."""

    folder: Path
    config: ModelConfig
    vocabulary: Vocabulary
    tokenizer: str
    metadata: dict[str, Any]


def is_home(folder: Path) -> bool:
    """Whether `folder` looks like a checkpoint of ours, sound or not."""
    try:
        data = json.loads((folder / CONFIG_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT


def _describe(folder: Path) -> _Description:
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise ReviserError(f"{folder} is not a model: there is no {CONFIG_FILE} in it")
    data = _read_config(path)
    config = make_config(data["model"], path)
    vocabulary = _read_vocabulary(data["vocabulary"], path)
    _check_vocabulary(vocabulary, config, path)
    return _Description(folder, config, vocabulary, data["tokenizer"], data.get("metadata") or {})


def _read_config(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_utf8(path))
    except ValueError as error:
        raise ReviserError(f"{path} is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReviserError(
            f"{path} does not describe a Reviser model; `reviser models import` may read it"
        )
    if data.get("version") != VERSION:
        raise ReviserError(
            f"{path} has the format version {data.get('version')}, and this program knows {VERSION}"
        )
    for key, kind in (("model", dict), ("vocabulary", dict), ("tokenizer", str)):
        if not isinstance(data.get(key), kind):
            raise ReviserError(f"{path} lacks a usable '{key}'")
    return data


def _read_vocabulary(data: dict[str, Any], path: Path) -> Vocabulary:
    try:
        return Vocabulary.from_dict(data)
    except (KeyError, TypeError, ReviserError) as error:
        raise ReviserError(f"{path} does not describe a usable vocabulary: {error}") from None


def _check_vocabulary(vocabulary: Vocabulary, config: ModelConfig, source: Path) -> None:
    if vocabulary.size != config.vocab_size:
        raise ReviserError(
            f"the vocabulary in {source} has {vocabulary.size} ids and the model {config.vocab_size}"
        )


def _checked_headers(description: _Description) -> dict[str, Stored]:
    headers = read_headers(description.folder)
    check_tensors(expected_shapes(description.config), headers, description.folder)
    return headers


def _load_tokenizer(description: _Description) -> tuple[bytes | None, Tokenizer]:
    name = description.tokenizer
    if name not in (BUILT_IN, TOKENIZER_FILE):
        raise ReviserError(f"{description.folder} names an unknown tokenizer: {name}")
    data = read_tokenizer_json(name if name == BUILT_IN else description.folder / name)
    tokenizer = make_tokenizer(data, description.vocabulary.name or description.folder.name)
    if tokenizer.size > description.vocabulary.base_size:
        raise ReviserError(
            f"the tokenizer in {description.folder} has {tokenizer.size} ids, "
            f"more than the {description.vocabulary.base_size} of the vocabulary"
        )
    return data, tokenizer
