"""Import and export of GGUF files of the Llama family."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from reviser.checkpoints.bounded import parse_json
from reviser.checkpoints.building import Progress, build_model, no_progress
from reviser.checkpoints.description import check_declared, make_config
from reviser.checkpoints.formats.gguf_header import GgufTensor, read_gguf_file
from reviser.checkpoints.formats.gguf_tokens import GgufTokens, tokenizer_from_gguf, tokenizer_to_gguf
from reviser.checkpoints.formats.llama import EXPORT_VERSION, ExportRecord, export_record
from reviser.checkpoints.formats.llama_names import check_exportable, gguf_names
from reviser.checkpoints.home import Checkpoint, weights_of
from reviser.checkpoints.operators import append_operators
from reviser.checkpoints.tensors import Stored, check_tensors
from reviser.checkpoints.tokenizer_files import make_tokenizer, tokenizer_data
from reviser.core.errors import ReviserError
from reviser.core.files import sync
from reviser.core.vocabulary import Vocabulary
from reviser.model import ModelConfig
from reviser.model.layout import tensor_shapes

if TYPE_CHECKING:
    from gguf import GGMLQuantizationType, GGUFWriter

Fields = Mapping[str, Any]

READABLE = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K")
# Settings that change what the model computes, each with the values that are understood here.
_REQUIRED = {"rope.scaling.type": (None, "none"), "expert_count": (None, 0), "attention.sliding_window": (None, 0)}
_TOKENIZER_JSON = "tokenizer.huggingface.json"


class GgufType(StrEnum):
    """The number format of weights in an exported file; norms are always f32."""

    f32 = "f32"
    f16 = "f16"
    bf16 = "bf16"
    q8_0 = "q8_0"


def read_gguf(path: Path, name: str | None = None, progress: Progress = no_progress) -> Checkpoint:
    """A Llama-like model from a GGUF file, dequantised to single precision.

    A base model gets operator rows, still untrained; an export of ours comes back as it was.
    """
    _require_gguf()
    content = read_gguf_file(path)
    fields, tensors = content.fields, content.tensors
    record = _read_record(fields, path)
    config = make_config(record["model"], path) if record else _our_config(fields, tensors, path)
    check_declared(config, len(tensors), path.stat().st_size, path)
    weights = _read_weights(tensors, config, path, progress)
    model = build_model(config, weights)
    name = name or str(fields.get("general.basename") or path.stem)
    tokenizer_json = _read_tokenizer(fields, record, path)
    if record:
        vocabulary = _read_vocabulary(record, config, path)
        tokenizer = make_tokenizer(tokenizer_json, vocabulary.name)
        return Checkpoint(model, vocabulary, tokenizer, tokenizer_json, record["metadata"])
    tokenizer = make_tokenizer(tokenizer_json, name)
    vocabulary = append_operators(model, tokenizer, name)
    kinds = sorted({tensor.kind for tensor in tensors})
    metadata = {"source": path.name, "format": f"gguf ({', '.join(kinds)})", "operators": "untrained"}
    if licence := fields.get("general.license"):
        metadata["license"] = str(licence)
    return Checkpoint(model, vocabulary, tokenizer, tokenizer_json, metadata)


def _require_gguf() -> None:
    try:
        import gguf  # noqa: F401
    except ImportError:
        raise ReviserError("GGUF files need gguf; install it with: pip install 'reviser[torch]'") from None


def _read_record(fields: Fields, path: Path) -> ExportRecord | None:
    """The record that an export of ours carries; None in other files."""
    if "reviser.model" not in fields:
        return None
    if fields.get("reviser.version") != EXPORT_VERSION:
        raise ReviserError(f"{path} was exported by another version of this program")
    record = {
        key: parse_json(value, f"reviser.{key} in {path}")
        for key in ("model", "vocabulary", "tokenizer", "metadata")
        if isinstance(value := fields.get(f"reviser.{key}"), str)
    }
    if len(record) < 4 or not all(isinstance(part, dict) for part in record.values()):
        raise ReviserError(f"{path} has damaged 'reviser' entries")
    return cast(ExportRecord, record)


def _read_vocabulary(record: ExportRecord, config: ModelConfig, path: Path) -> Vocabulary:
    try:
        vocabulary = Vocabulary.from_dict(record["vocabulary"])
    except ReviserError as error:
        raise ReviserError(f"{path} does not describe a usable vocabulary: {error}") from None
    if vocabulary.size != config.vocab_size:
        raise ReviserError(f"{path} has a vocabulary that does not match its model")
    return vocabulary


def _our_config(fields: Fields, tensors: Sequence[GgufTensor], path: Path) -> ModelConfig:
    architecture = fields.get("general.architecture")
    if architecture != "llama":
        raise ReviserError(f"{path} is for the architecture {architecture}; only llama is supported")
    for key, understood in _REQUIRED.items():
        if fields.get(f"llama.{key}") not in understood:
            value = fields[f"llama.{key}"]
            raise ReviserError(f"{path} sets llama.{key} to {value}, which is not supported")
    shapes = {tensor.name: tensor.shape for tensor in tensors}
    if not (embedding := shapes.get("token_embd.weight")):
        raise ReviserError(f"{path} lacks the tensor token_embd.weight")
    try:
        heads = fields["llama.attention.head_count"]
        context = fields["llama.context_length"]
        found = {
            "kind": "llama",
            "vocab_size": embedding[0],
            "layers": fields["llama.block_count"],
            "width": fields["llama.embedding_length"],
            "heads": heads,
            "kv_heads": fields.get("llama.attention.head_count_kv", heads),
            "ff": fields["llama.feed_forward_length"],
            "context": context,
            "canvas_length": context,
            "norm_eps": _short(fields["llama.attention.layer_norm_rms_epsilon"]),
            "rope_theta": _short(fields.get("llama.rope.freq_base", 10_000.0)),
            "tied": "output.weight" not in shapes,
        }
    except KeyError as error:
        raise ReviserError(f"{path} lacks the setting {error.args[0]}") from None
    config = make_config(found, path)
    for key in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if fields.get(f"llama.{key}", config.head_dim) != config.head_dim:
            raise ReviserError(f"{path} has heads of an unusual size, which is not supported")
    return config


def _short(value: Any) -> Any:
    """A number in its shortest form: GGUF keeps single precision, so 1e-05 comes back as 9.99999974e-06."""
    return float(str(np.float32(value))) if isinstance(value, float) else value


def _read_weights(
    tensors: Sequence[GgufTensor], config: ModelConfig, path: Path, progress: Progress
) -> dict[str, torch.Tensor]:
    ours = {theirs: ours for ours, theirs in gguf_names(config.layers, config.tied).items()}
    shapes = tensor_shapes(config)
    found = {tensor.name: _stored(tensor, path) for tensor in tensors}
    if "rope_freqs.weight" in found:
        raise ReviserError(f"{path} scales its rotary frequencies, which is not supported")
    check_tensors({theirs: shapes[ours[theirs]] for theirs in ours}, found, path)
    weights = {}
    for done, tensor in enumerate(tensors):
        progress("reading weights", done, len(tensors))
        name = ours[tensor.name]
        weights[name] = _unpermuted(_dequantised(tensor), name, config)
    progress("reading weights", len(tensors), len(tensors))
    return weights


def _stored(tensor: GgufTensor, path: Path) -> Stored:
    if tensor.kind not in READABLE:
        raise ReviserError(
            f"the tensor {tensor.name} in {path} is stored as {tensor.kind}, which is none of {', '.join(READABLE)}"
        )
    # What is stored becomes single precision.
    return Stored(path, tensor.shape, "F32")


def _dequantised(tensor: GgufTensor) -> torch.Tensor:
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    # Where scales are no numbers, so are weights, which are refused when all are there.
    with np.errstate(all="ignore"):
        values = dequantize(tensor.data, GGMLQuantizationType[tensor.kind]).astype(np.float32)
    return torch.from_numpy(np.array(values)).reshape(tensor.shape)


def _unpermuted(weight: torch.Tensor, name: str, config: ModelConfig) -> torch.Tensor:
    """GGUF pairs neighbouring rows of q and k for RoPE; here the pairs are half a head apart."""
    heads = _heads(name, config)
    if heads is None:
        return weight
    return weight.view(heads, -1, 2, weight.shape[-1]).transpose(1, 2).reshape(weight.shape)


def _permuted(weight: torch.Tensor, name: str, config: ModelConfig) -> torch.Tensor:
    heads = _heads(name, config)
    if heads is None:
        return weight
    return weight.view(heads, 2, -1, weight.shape[-1]).transpose(1, 2).reshape(weight.shape)


def _heads(name: str, config: ModelConfig) -> int | None:
    """The number of heads of a tensor that RoPE rotates; None for others."""
    if name.endswith("attention.q.weight"):
        return config.heads
    return config.kv_heads if name.endswith("attention.k.weight") else None


def _read_tokenizer(fields: Fields, record: ExportRecord | None, path: Path) -> bytes | None:
    if record and record["tokenizer"].get("built_in"):
        return None
    if isinstance(whole := fields.get(_TOKENIZER_JSON), str):
        return whole.encode()
    if fields.get("tokenizer.ggml.model") != "gpt2":
        raise ReviserError(f"{path} has no byte-level BPE tokenizer, and others are not supported")
    tokens, merges = (_texts(fields, f"tokenizer.ggml.{key}", path) for key in ("tokens", "merges"))
    types = fields.get("tokenizer.ggml.token_type", [1] * len(tokens))
    if not isinstance(types, list) or len(types) != len(tokens):
        raise ReviserError(f"{path} does not say of each token what kind it is")
    pre = str(fields.get("tokenizer.ggml.pre", "default"))
    try:
        data = tokenizer_from_gguf(GgufTokens(pre, tokens, types, merges))
    except ReviserError as error:
        raise ReviserError(f"{path} cannot be imported: {error}") from None
    return json.dumps(data, ensure_ascii=False, indent=2).encode()


def _texts(fields: Fields, key: str, path: Path) -> list[str]:
    found = fields.get(key)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ReviserError(f"{path} lacks {key}, a list of texts")
    return found


def write_gguf(
    checkpoint: Checkpoint, path: Path, kind: GgufType = GgufType.f16, progress: Progress = no_progress
) -> Path:
    """Write a GGUF file, whole or not at all, the operators as control tokens under their own ids."""
    check_exportable(checkpoint.model.config)
    _require_gguf()
    tokens = tokenizer_to_gguf(tokenizer_data(checkpoint.tokenizer_json), checkpoint.vocabulary)
    if path.exists():
        raise ReviserError(f"{path} already exists")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent) as folder:
            temporary = Path(folder, path.name)
            _write(temporary, checkpoint, tokens, kind, progress)
            sync(temporary)
            temporary.replace(path)
            sync(path.parent)
    except OSError as error:
        raise ReviserError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def _write(path: Path, checkpoint: Checkpoint, tokens: GgufTokens, kind: GgufType, progress: Progress) -> None:
    from gguf import GGUFWriter

    writer = GGUFWriter(path, "llama")
    try:
        _add_settings(writer, checkpoint, kind)
        _add_tokenizer(writer, checkpoint, tokens)
        _add_record(writer, checkpoint)
        _add_weights(writer, checkpoint, kind, progress)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _add_settings(writer: GGUFWriter, checkpoint: Checkpoint, kind: GgufType) -> None:
    import gguf

    config = checkpoint.model.config
    writer.add_type("model")
    writer.add_name(checkpoint.vocabulary.name or "reviser")
    writer.add_block_count(config.layers)
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.width)
    writer.add_feed_forward_length(config.ff)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    types = {
        GgufType.f32: gguf.LlamaFileType.ALL_F32,
        GgufType.f16: gguf.LlamaFileType.MOSTLY_F16,
        GgufType.bf16: gguf.LlamaFileType.MOSTLY_BF16,
        GgufType.q8_0: gguf.LlamaFileType.MOSTLY_Q8_0,
    }
    writer.add_file_type(types[kind])
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)


def _add_tokenizer(writer: GGUFWriter, checkpoint: Checkpoint, tokens: GgufTokens) -> None:
    vocabulary = checkpoint.vocabulary
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(tokens.pre)
    writer.add_token_list(tokens.tokens)
    writer.add_token_types(tokens.types)
    writer.add_token_merges(tokens.merges)
    # A prompt of plain text then becomes a history: the start marker, then its tokens.
    writer.add_bos_token_id(vocabulary.start_id)
    writer.add_add_bos_token(True)
    writer.add_eos_token_id(vocabulary.stop_id)
    writer.add_pad_token_id(vocabulary.stop_id)
    writer.add_add_space_prefix(False)
    if checkpoint.tokenizer_json is not None:
        writer.add_string(_TOKENIZER_JSON, checkpoint.tokenizer_json.decode("utf-8"))


def _add_record(writer: GGUFWriter, checkpoint: Checkpoint) -> None:
    writer.add_uint32("reviser.version", EXPORT_VERSION)
    for key, value in export_record(checkpoint).items():
        if key != "version":
            writer.add_string(f"reviser.{key}", json.dumps(value, ensure_ascii=False))


def _add_weights(writer: GGUFWriter, checkpoint: Checkpoint, kind: GgufType, progress: Progress) -> None:
    config = checkpoint.model.config
    weights = weights_of(checkpoint.model, torch.float32)
    for done, (ours, theirs) in enumerate(gguf_names(config.layers, config.tied).items()):
        progress("converting weights", done, len(weights))
        values = _permuted(weights.pop(ours), ours, config).numpy()
        data, raw_type = _encoded(values, kind)
        writer.add_tensor(theirs, data, raw_dtype=raw_type)
    progress("converting weights", 1, 1)


def _encoded(values: NDArray[np.float32], kind: GgufType) -> tuple[NDArray[Any], GGMLQuantizationType | None]:
    from gguf import GGMLQuantizationType
    from gguf.quants import quantize

    if values.ndim == 1 or kind == GgufType.f32:
        return values, None
    if kind == GgufType.bf16:
        return quantize(values, GGMLQuantizationType.BF16), GGMLQuantizationType.BF16
    # Blocks of Q8_0 are 32 numbers of one row; llama.cpp too keeps other rows in half precision.
    if kind == GgufType.q8_0 and values.shape[-1] % 32 == 0:
        return quantize(values, GGMLQuantizationType.Q8_0), GGMLQuantizationType.Q8_0
    return values.astype(np.float16), None
