"""The home format of models: a folder with config.json, safetensors weights and the tokenizer, saved and loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from reviser.checkpoints.building import build_model
from reviser.checkpoints.description import (
    CONFIG_FILE,
    Description,
    check_vocabulary,
    checked_headers,
    describe,
    load_tokenizer,
)
from reviser.checkpoints.folders import atomic_folder
from reviser.checkpoints.tensors import SHARD_BYTES, read_tensors, write_tensors
from reviser.checkpoints.tokenizer_files import (
    BUILT_IN,
    PACKED_FILE,
    TABLE_FILE,
    TOKENIZER_FILE,
    pack_table,
    pack_tokenizer_json,
    read_tokenizer_json,
)
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.model import Reviser
from reviser.model.layout import Quantisation, quantised_tensors
from reviser.model.quantised import dequantise_model, quantise_model

# Quantised models are for giving away, and many places that keep files refuse larger ones.
QUANTISED_SHARD_BYTES = 45_000_000


@dataclass(frozen=True)
class Checkpoint:
    """A model with its vocabulary and tokenizer; `tokenizer_json` is None for the built-in GPT-2."""

    model: Reviser
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    tokenizer_json: bytes | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


def save(
    folder: Path,
    model: Reviser,
    vocabulary: Vocabulary,
    tokenizer_source: str | Path | bytes,
    *,
    metadata: Mapping[str, object] | None = None,
    dtype: torch.dtype | None = None,
    quantisation: Quantisation | None = None,
    replace: bool = False,
    shard_bytes: int | None = None,
) -> Path:
    """Write a checkpoint, whole or not at all.

    `tokenizer_source` is `gpt2`, the path of a tokenizer.json or of its folder, or its bytes. `metadata` is any JSON:
    how the model was made, for example. With `quantisation`, which replaces `dtype`, everything is stored as small as
    possible.
    """
    tokenizer_json = read_tokenizer_json(tokenizer_source)
    check_vocabulary(vocabulary, model.config, folder)
    if tokenizer_json is None:
        tokenizer = BUILT_IN
    elif quantisation is None:
        tokenizer = TOKENIZER_FILE
    else:
        tokenizer = PACKED_FILE
        tokenizer_json = pack_tokenizer_json(tokenizer_json)
    description = Description(folder, model.config, vocabulary, tokenizer, metadata or {}, quantisation)
    with atomic_folder(folder, replace=replace) as temporary:
        text = json.dumps(description.to_dict(), ensure_ascii=False, indent=2) + "\n"
        (temporary / CONFIG_FILE).write_text(text, "utf-8")
        if tokenizer_json is not None:
            (temporary / tokenizer).write_bytes(tokenizer_json)
        if tokenizer == PACKED_FILE and (table := pack_table(tokenizer_json or b"")):
            (temporary / TABLE_FILE).write_bytes(table)
        if quantisation is None:
            write_tensors(temporary, weights_of(model, dtype), shard_bytes or SHARD_BYTES)
        else:
            tensors = quantised_weights_of(model, quantisation)
            write_tensors(temporary, tensors, shard_bytes or QUANTISED_SHARD_BYTES)
    return folder


def save_checkpoint(
    folder: Path,
    checkpoint: Checkpoint,
    *,
    dtype: torch.dtype | None = None,
    quantisation: Quantisation | None = None,
    replace: bool = False,
    shard_bytes: int | None = None,
) -> Path:
    """`save` for a `Checkpoint`."""
    return save(
        folder,
        checkpoint.model,
        checkpoint.vocabulary,
        checkpoint.tokenizer_json or BUILT_IN,
        metadata=checkpoint.metadata,
        dtype=dtype,
        quantisation=quantisation,
        replace=replace,
        shard_bytes=shard_bytes,
    )


def weights_of(model: Reviser, dtype: torch.dtype | None = None) -> dict[str, torch.Tensor]:
    """A model's weights in host memory, in the form that is written."""
    return {
        name: tensor.detach().to("cpu", dtype or tensor.dtype).contiguous()
        for name, tensor in model.state_dict().items()
    }


def quantised_weights_of(model: Reviser, quantisation: Quantisation) -> dict[str, torch.Tensor]:
    """A model's weights, quantised, in the form that is written."""
    if model.config.uses_canvas:
        raise ReviserError("a model that sees the canvas cannot be quantised")
    tensors = quantise_model(model, quantisation.bits, quantisation.table_bits, thorough=True)
    short = {name for name, part in quantised_tensors(model.config, quantisation).items() if part.dtype == "BF16"}
    return {
        name: tensor.to("cpu", torch.bfloat16 if name in short else tensor.dtype) for name, tensor in tensors.items()
    }


def load(folder: Path, *, device: torch.device | str = "cpu", dtype: torch.dtype | None = None) -> Checkpoint:
    """Load a checkpoint, by default in the precision it is stored in; single, if it is quantised.

    On the CPU and in that precision, weights are mapped from the file: loading reads none of them,
    and two processes share them. Quantised ones are read and take their full size.
    """
    description = describe(folder)
    tensors = read_tensors(checked_headers(description))
    if description.quantisation is not None:
        tensors = dequantise_model(description.config, tensors)
    tokenizer_json, tokenizer = load_tokenizer(description)
    return Checkpoint(
        build_model(description.config, tensors, device, dtype),
        description.vocabulary,
        tokenizer,
        tokenizer_json,
        description.metadata,
    )
