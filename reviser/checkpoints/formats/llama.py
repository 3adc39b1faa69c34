"""Import and export of Hugging Face folders of the Llama family."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

import torch

from reviser.checkpoints.bounded import LARGEST_TOKENIZER, parse_json, read_bounded, read_json
from reviser.checkpoints.building import build_model
from reviser.checkpoints.description import CONFIG_FILE, check_declared, make_config
from reviser.checkpoints.folders import atomic_folder
from reviser.checkpoints.formats.llama_names import check_exportable, hugging_face_names
from reviser.checkpoints.home import Checkpoint, weights_of
from reviser.checkpoints.operators import append_operators, operator_names
from reviser.checkpoints.tensors import SHARD_BYTES, check_tensors, read_headers, read_tensors, write_tensors
from reviser.checkpoints.tokenizer_files import (
    TOKENIZER_FILE,
    make_tokenizer,
    tokenizer_data,
    with_operators,
    without_operators,
)
from reviser.core.errors import ReviserError
from reviser.core.tokenizer_json import Component, TokenizerJson
from reviser.core.vocabulary import Vocabulary, VocabularyJson
from reviser.model import ModelConfig, Reviser
from reviser.model.layout import tensor_shapes

# Mistral's is Llama's architecture when no window limits its attention.
_ARCHITECTURES = ("LlamaForCausalLM", "MistralForCausalLM")
# Settings that change what the model computes, each with the only value that is understood here.
_REQUIRED = {
    "hidden_act": ("silu", "swish"),
    "attention_bias": (False,),
    "mlp_bias": (False,),
    "rope_interleaved": (False,),
    "sliding_window": (None,),
    "rope_scaling": (None,),
    "quantization_config": (None,),
    "partial_rotary_factor": (1.0,),
}
EXPORT_KEY = "reviser"
EXPORT_VERSION = 1


class TokenizerRecord(TypedDict):
    """The tokenizer of an export before operators were added to it."""

    built_in: bool
    size: NotRequired[int]
    post_processor: NotRequired[Component | None]


class ExportRecord(TypedDict):
    """The record that an export of ours carries about itself."""

    version: NotRequired[int]
    model: dict[str, object]
    vocabulary: VocabularyJson
    tokenizer: TokenizerRecord
    metadata: Mapping[str, object]


def read_llama(folder: Path, name: str | None = None) -> Checkpoint:
    """A Llama-like model from a Hugging Face folder.

    A base model gets operator rows, still untrained; an export of ours comes back as it was.
    """
    path = folder / CONFIG_FILE
    settings = _read_settings(path)
    record = _read_record(settings, path)
    config = _recorded_config(record, path) if record else _config_of(settings, path)
    weights = _read_weights(folder, config)
    tokenizer_json = _read_tokenizer(folder)
    model = build_model(config, weights)
    if record:
        return _recover(model, record, tokenizer_json, path)
    name = name or folder.resolve().name
    tokenizer = make_tokenizer(tokenizer_json, name)
    vocabulary = append_operators(model, tokenizer, name)
    metadata = {"source": name, "format": "hugging face", "operators": "untrained"}
    return Checkpoint(model, vocabulary, tokenizer, tokenizer_json, metadata)


def _read_weights(folder: Path, config: ModelConfig) -> dict[str, torch.Tensor]:
    ours = {theirs: ours for ours, theirs in hugging_face_names(config.layers, config.tied).items()}
    stored = {name: place for name, place in read_headers(folder).items() if not _is_spare(name, config)}
    size = sum(path.stat().st_size for path in {place.file for place in stored.values()})
    check_declared(config, len(stored), size, folder)
    shapes = tensor_shapes(config)
    check_tensors({theirs: shapes[ours[theirs]] for theirs in ours}, stored, folder)
    return {ours[name]: tensor for name, tensor in read_tensors(stored).items()}


def _read_settings(path: Path) -> dict[str, Any]:
    settings = read_json(path)
    if not isinstance(settings, dict):
        raise ReviserError(f"{path} is not a model's configuration")
    return settings


def _read_record(settings: Mapping[str, Any], path: Path) -> ExportRecord | None:
    """The record that an export of ours carries; None in other folders."""
    record = settings.get(EXPORT_KEY)
    if record is None:
        return None
    keys = ("model", "vocabulary", "tokenizer", "metadata")
    if not isinstance(record, dict) or not all(isinstance(record.get(key), dict) for key in keys):
        raise ReviserError(f"{path} has a damaged '{EXPORT_KEY}' entry")
    return cast(ExportRecord, record)


def _config_of(settings: Mapping[str, Any], path: Path) -> ModelConfig:
    architectures = settings.get("architectures")
    if not isinstance(architectures, list) or not architectures:
        architectures = ["an unnamed one"]
    architecture = architectures[0]
    if architecture not in _ARCHITECTURES:
        raise ReviserError(
            f"{path} is for the architecture {architecture}; only {' and '.join(_ARCHITECTURES)} can be imported"
        )
    for key, understood in _REQUIRED.items():
        if settings.get(key, understood[0]) not in understood:
            raise ReviserError(f"{path} sets {key} to {settings[key]}, which is not supported")
    config = make_config(_our_settings(settings, path), path)
    head_dim = settings.get("head_dim") or config.head_dim
    if head_dim != config.head_dim:
        raise ReviserError(
            f"{path} has {config.heads} heads of {head_dim}, which do not fill its width of {config.width}"
        )
    return config


def _our_settings(settings: Mapping[str, Any], path: Path) -> dict[str, Any]:
    try:
        heads = settings["num_attention_heads"]
        context = settings.get("max_position_embeddings", 2048)
        return {
            "kind": "llama",
            "vocab_size": settings["vocab_size"],
            "layers": settings["num_hidden_layers"],
            "width": settings["hidden_size"],
            "heads": heads,
            "kv_heads": settings.get("num_key_value_heads") or heads,
            "ff": settings["intermediate_size"],
            "context": context,
            "canvas_length": context,
            "norm_eps": settings.get("rms_norm_eps", 1e-6),
            "rope_theta": _rope_theta(settings, path),
            "tied": settings.get("tie_word_embeddings", False),
        }
    except KeyError as error:
        raise ReviserError(f"{path} lacks the setting {error.args[0]}") from None


def _rope_theta(settings: Mapping[str, Any], path: Path) -> Any:
    """The RoPE base; older files have `rope_theta` and `rope_scaling`, newer ones both in `rope_parameters`."""
    rope = settings.get("rope_parameters") or {}
    if not isinstance(rope, dict):
        raise ReviserError(f"{path} sets rope_parameters to {rope}, which is not supported")
    kind = rope.get("rope_type", "default")
    if kind != "default":
        raise ReviserError(f"{path} sets rope_type to {kind}, which is not supported")
    return rope.get("rope_theta") or settings.get("rope_theta") or 10_000.0


def _is_spare(name: str, config: ModelConfig) -> bool:
    """Whether a tensor is redundant: a table, or the second copy of tied rows."""
    return name.endswith("rotary_emb.inv_freq") or (config.tied and name == "lm_head.weight")


def _read_tokenizer(folder: Path) -> bytes:
    path = folder / TOKENIZER_FILE
    if not path.is_file():
        raise ReviserError(f"{folder} has no {TOKENIZER_FILE}; only tokenizers in that form can be imported")
    return read_bounded(path, LARGEST_TOKENIZER)


def _recorded_config(record: ExportRecord, path: Path) -> ModelConfig:
    if record.get("version") != EXPORT_VERSION:
        raise ReviserError(f"{path} was exported by another version of this program")
    return make_config(record["model"], path)


def _recover(model: Reviser, record: ExportRecord, tokenizer: bytes, path: Path) -> Checkpoint:
    """The checkpoint from which an export of ours was made."""
    try:
        vocabulary = Vocabulary.from_dict(record["vocabulary"])
        data = parse_json(tokenizer, f"{TOKENIZER_FILE} beside {path}")
        original = restored_tokenizer(data, record["tokenizer"])
    except (KeyError, TypeError):
        raise ReviserError(f"{path} has a damaged '{EXPORT_KEY}' entry") from None
    if vocabulary.size != model.config.vocab_size:
        raise ReviserError(f"{path} has a vocabulary that does not match its model")
    return Checkpoint(model, vocabulary, make_tokenizer(original, vocabulary.name), original, record["metadata"])


def write_llama(
    checkpoint: Checkpoint, folder: Path, *, dtype: torch.dtype | None = None, shard_bytes: int = SHARD_BYTES
) -> Path:
    """Write a `LlamaForCausalLM` folder, the operators as special tokens under their own ids."""
    config = checkpoint.model.config
    check_exportable(config)
    names = hugging_face_names(config.layers, config.tied)
    weights = {names[name]: tensor for name, tensor in weights_of(checkpoint.model, dtype).items()}
    tokenizer = with_operators(
        tokenizer_data(checkpoint.tokenizer_json), checkpoint.vocabulary, checkpoint.tokenizer.size
    )
    precision = str(weights[names["embedding.weight"]].dtype).removeprefix("torch.")
    with atomic_folder(folder) as temporary:
        _write_json(temporary / CONFIG_FILE, _their_settings(checkpoint, precision))
        _write_json(temporary / "generation_config.json", _generation(checkpoint.vocabulary))
        _write_json(temporary / TOKENIZER_FILE, tokenizer)
        _write_json(temporary / "tokenizer_config.json", _tokenizer_settings(checkpoint))
        write_tensors(temporary, weights, shard_bytes)
    return folder


def _write_json(path: Path, data: Mapping[str, object]) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")


def _their_settings(checkpoint: Checkpoint, precision: str) -> dict[str, object]:
    config, vocabulary = checkpoint.model.config, checkpoint.vocabulary
    return {
        "architectures": [_ARCHITECTURES[0]],
        "model_type": "llama",
        "vocab_size": config.vocab_size,
        "hidden_size": config.width,
        "intermediate_size": config.ff,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": config.context,
        "rms_norm_eps": config.norm_eps,
        "rope_theta": config.rope_theta,
        "rope_scaling": None,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": config.tied,
        "bos_token_id": vocabulary.start_id,
        "eos_token_id": vocabulary.stop_id,
        "pad_token_id": vocabulary.stop_id,
        "dtype": precision,
        EXPORT_KEY: export_record(checkpoint),
    }


def export_record(checkpoint: Checkpoint) -> ExportRecord:
    """The record of an export, with which it can be served with the mask and imported again exactly."""
    return {
        "version": EXPORT_VERSION,
        "model": checkpoint.model.config.to_dict(),
        "vocabulary": checkpoint.vocabulary.to_dict(),
        "tokenizer": _tokenizer_record(checkpoint),
        "metadata": checkpoint.metadata,
    }


def _tokenizer_record(checkpoint: Checkpoint) -> TokenizerRecord:
    if checkpoint.tokenizer_json is None:
        return {"built_in": True}
    original = tokenizer_data(checkpoint.tokenizer_json)
    return {"built_in": False, "size": checkpoint.tokenizer.size, "post_processor": original.get("post_processor")}


def restored_tokenizer(data: TokenizerJson, record: TokenizerRecord) -> bytes | None:
    """The tokenizer.json from before `with_operators`; None for the built-in tokenizer."""
    if record["built_in"]:
        return None
    original = without_operators(data, record["size"], record["post_processor"])
    return json.dumps(original, ensure_ascii=False, indent=2).encode()


def _generation(vocabulary: Vocabulary) -> dict[str, object]:
    """The sampling settings of the paper's reported runs, as a generation_config.json."""
    return {
        "bos_token_id": vocabulary.start_id,
        "eos_token_id": vocabulary.stop_id,
        "pad_token_id": vocabulary.stop_id,
        "do_sample": True,
        "temperature": 0.9,
        "top_k": 50,
        "top_p": 1.0,
        "max_new_tokens": 256,
    }


def _tokenizer_settings(checkpoint: Checkpoint) -> dict[str, object]:
    names = operator_names(checkpoint.vocabulary)
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": names[checkpoint.vocabulary.start_id],
        "eos_token": names[checkpoint.vocabulary.stop_id],
        "pad_token": names[checkpoint.vocabulary.stop_id],
        "padding_side": "left",
        "model_max_length": checkpoint.model.config.context,
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
    }
