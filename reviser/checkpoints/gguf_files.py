"""GGUF files of the Llama family, in and out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from reviser.checkpoints.building import Progress, build_model, expected_shapes, no_progress
from reviser.checkpoints.description import make_config
from reviser.checkpoints.folders import sync
from reviser.checkpoints.gguf_tokens import GgufTokens, tokenizer_from_gguf, tokenizer_to_gguf
from reviser.checkpoints.home import Checkpoint, weights_of
from reviser.checkpoints.llama import EXPORT_VERSION, export_record
from reviser.checkpoints.llama_names import check_exportable, gguf_names
from reviser.checkpoints.operators import append_operators
from reviser.checkpoints.tensors import Stored, check_tensors
from reviser.checkpoints.tokenizer_files import make_tokenizer, tokenizer_data
from reviser.errors import ReviserError
from reviser.model import ModelConfig
from reviser.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, ReaderTensor

Fields = Mapping[str, Any]

READABLE = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K")
# Settings that change what the model computes, each with the values that are understood here.
_REQUIRED = {
    "rope.scaling.type": (None, "none"),
    "expert_count": (None, 0),
    "attention.sliding_window": (None, 0),
}
_TOKENIZER_JSON = "tokenizer.huggingface.json"


class GgufType(StrEnum):
    """How weights are stored in an exported file; norms are always f32."""

    f32 = "f32"
    f16 = "f16"
    bf16 = "bf16"
    q8_0 = "q8_0"


def read_gguf(path: Path, name: str | None = None, progress: Progress = no_progress) -> Checkpoint:
    """A Llama-like model from a GGUF file, dequantised to single precision.

    A base model gets operator rows, still untrained; an export of ours comes back as it was.
    """
    reader = _open(path)
    fields = {key: field.contents() for key, field in reader.fields.items()}
    record = _read_record(fields, path)
    tied = "output.weight" not in {tensor.name for tensor in reader.tensors}
    settings = record["model"] if record else _our_settings(fields, tied, reader, path)
    config = make_config(settings, path)
    weights = _read_weights(reader, config, path, progress)
    model = build_model(config, weights)
    name = name or str(fields.get("general.basename") or path.stem)
    tokenizer_json = _read_tokenizer(fields, record, path)
    if record:
        vocabulary = _read_vocabulary(record, config, path)
        tokenizer = make_tokenizer(tokenizer_json, vocabulary.name)
        return Checkpoint(model, vocabulary, tokenizer, tokenizer_json, record["metadata"])
    tokenizer = make_tokenizer(tokenizer_json, name)
    vocabulary = append_operators(model, tokenizer, name)
    kinds = sorted({tensor.tensor_type.name for tensor in reader.tensors})
    metadata = {
        "source": path.name,
        "format": f"gguf ({', '.join(kinds)})",
        "operators": "untrained",
    }
    if licence := fields.get("general.license"):
        metadata["license"] = licence
    return Checkpoint(model, vocabulary, tokenizer, tokenizer_json, metadata)


def _open(path: Path) -> GGUFReader:
    _require_gguf()
    from gguf import GGUFReader

    if not path.is_file():
        raise ReviserError(f"there is no file {path}")
    try:
        return GGUFReader(path)
    except OSError as error:
        raise ReviserError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, IndexError, KeyError, OverflowError, MemoryError) as error:
        raise ReviserError(f"{path} is damaged or no GGUF file: {error}") from None


def _require_gguf() -> None:
    try:
        import gguf  # noqa: F401
    except ImportError:
        raise ReviserError("GGUF files need the gguf package: pip install gguf") from None


def _read_record(fields: Fields, path: Path) -> dict[str, Any] | None:
    """What an export of ours says about itself."""
    if "reviser.model" not in fields:
        return None
    if fields.get("reviser.version") != EXPORT_VERSION:
        raise ReviserError(f"{path} was exported by another version of this program")
    try:
        keys = ("model", "vocabulary", "tokenizer", "metadata")
        return {key: json.loads(fields[f"reviser.{key}"]) for key in keys}
    except (KeyError, ValueError):
        raise ReviserError(f"{path} has damaged 'reviser' entries") from None


def _read_vocabulary(record: dict[str, Any], config: ModelConfig, path: Path) -> Vocabulary:
    try:
        vocabulary = Vocabulary.from_dict(record["vocabulary"])
    except (KeyError, TypeError):
        raise ReviserError(f"{path} has damaged 'reviser' entries") from None
    if vocabulary.size != config.vocab_size:
        raise ReviserError(f"{path} has a vocabulary that does not match its model")
    return vocabulary


def _our_settings(fields: Fields, tied: bool, reader: GGUFReader, path: Path) -> dict[str, Any]:
    architecture = fields.get("general.architecture")
    if architecture != "llama":
        raise ReviserError(
            f"{path} is for the architecture {architecture}; only llama is supported"
        )
    for key, understood in _REQUIRED.items():
        if fields.get(f"llama.{key}") not in understood:
            value = fields[f"llama.{key}"]
            raise ReviserError(f"{path} sets llama.{key} to {value}, which is not supported")
    rows = [tensor.shape for tensor in reader.tensors if tensor.name == "token_embd.weight"]
    if not rows:
        raise ReviserError(f"{path} lacks the tensor token_embd.weight")
    try:
        heads = fields["llama.attention.head_count"]
        width = fields["llama.embedding_length"]
        context = fields["llama.context_length"]
        found = {
            "kind": "llama",
            "vocab_size": int(rows[0][-1]),
            "layers": fields["llama.block_count"],
            "width": width,
            "heads": heads,
            "kv_heads": fields.get("llama.attention.head_count_kv", heads),
            "ff": fields["llama.feed_forward_length"],
            "context": context,
            "canvas_length": context,
            "norm_eps": _short(fields["llama.attention.layer_norm_rms_epsilon"]),
            "rope_theta": _short(fields.get("llama.rope.freq_base", 10_000.0)),
            "tied": tied,
        }
    except KeyError as error:
        raise ReviserError(f"{path} lacks the setting {error.args[0]}") from None
    for key in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if fields.get(f"llama.{key}", width // heads) != width // heads:
            raise ReviserError(f"{path} has heads of an unusual size, which is not supported")
    return found


def _short(value: float) -> float:
    """GGUF keeps single precision: 9.99999974e-06 was written as 1e-05, and is read as that."""
    return float(str(np.float32(value)))


def _read_weights(
    reader: GGUFReader, config: ModelConfig, path: Path, progress: Progress
) -> dict[str, torch.Tensor]:
    ours = {theirs: ours for ours, theirs in gguf_names(config.layers, config.tied).items()}
    shapes = expected_shapes(config)
    found = {tensor.name: _stored(tensor, path) for tensor in reader.tensors}
    if "rope_freqs.weight" in found:
        raise ReviserError(f"{path} scales its rotary frequencies, which is not supported")
    check_tensors({theirs: shapes[ours[theirs]] for theirs in ours}, found, path)
    weights = {}
    for done, tensor in enumerate(reader.tensors):
        progress("reading weights", done, len(reader.tensors))
        name = ours[tensor.name]
        weights[name] = _unpermuted(_dequantised(tensor), name, config)
    progress("reading weights", len(reader.tensors), len(reader.tensors))
    return weights


def _stored(tensor: ReaderTensor, path: Path) -> Stored:
    kind = tensor.tensor_type.name
    if kind not in READABLE:
        raise ReviserError(
            f"the tensor {tensor.name} in {path} is stored as {kind}, "
            f"which is none of {', '.join(READABLE)}"
        )
    # GGUF counts dimensions from the innermost; what is stored becomes single precision.
    return Stored(path, tuple(int(size) for size in reversed(tensor.shape)), "F32")


def _dequantised(tensor: ReaderTensor) -> torch.Tensor:
    from gguf.quants import dequantize

    values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    return torch.from_numpy(np.array(values)).reshape(tuple(map(int, reversed(tensor.shape))))


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
    """How many heads' rows a tensor holds, for those that RoPE turns."""
    if name.endswith("attention.q.weight"):
        return config.heads
    return config.kv_heads if name.endswith("attention.k.weight") else None


def _read_tokenizer(fields: Fields, record: dict[str, Any] | None, path: Path) -> bytes | None:
    if record and record["tokenizer"].get("built_in"):
        return None
    if isinstance(whole := fields.get(_TOKENIZER_JSON), str):
        return whole.encode()
    if fields.get("tokenizer.ggml.model") != "gpt2":
        raise ReviserError(f"{path} has no byte-level BPE tokenizer, and others are not supported")
    try:
        tokens = fields["tokenizer.ggml.tokens"]
        source = GgufTokens(
            fields.get("tokenizer.ggml.pre", "default"),
            tokens,
            fields.get("tokenizer.ggml.token_type", [1] * len(tokens)),
            fields["tokenizer.ggml.merges"],
        )
        data = tokenizer_from_gguf(source)
    except KeyError as error:
        raise ReviserError(f"{path} lacks {error.args[0]}") from None
    except ReviserError as error:
        raise ReviserError(f"{path} cannot be imported: {error}") from None
    return json.dumps(data, ensure_ascii=False, indent=2).encode()


def write_gguf(
    checkpoint: Checkpoint,
    path: Path,
    kind: GgufType = GgufType.f16,
    progress: Progress = no_progress,
) -> Path:
    """Write a GGUF file, whole or not at all, the operators as control tokens under their own ids."""
    check_exportable(checkpoint.model.config)
    _require_gguf()
    tokens = tokenizer_to_gguf(tokenizer_data(checkpoint.tokenizer_json), checkpoint.vocabulary)
    if path.exists():
        raise ReviserError(f"{path} already exists")
    try:
        with tempfile.TemporaryDirectory(
            prefix=f".{path.name}.", suffix=".tmp", dir=path.parent
        ) as folder:
            temporary = Path(folder, path.name)
            _write(temporary, checkpoint, tokens, kind, progress)
            sync(temporary)
            temporary.replace(path)
            sync(path.parent)
    except OSError as error:
        raise ReviserError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def _write(
    path: Path, checkpoint: Checkpoint, tokens: GgufTokens, kind: GgufType, progress: Progress
) -> None:
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
    for key, value in export_record(checkpoint).items():
        if key == "version":
            writer.add_uint32("reviser.version", value)
        else:
            writer.add_string(f"reviser.{key}", json.dumps(value, ensure_ascii=False))


def _add_weights(
    writer: GGUFWriter, checkpoint: Checkpoint, kind: GgufType, progress: Progress
) -> None:
    config = checkpoint.model.config
    weights = weights_of(checkpoint.model, torch.float32)
    for done, (ours, theirs) in enumerate(gguf_names(config.layers, config.tied).items()):
        progress("converting weights", done, len(weights))
        values = _permuted(weights.pop(ours), ours, config).numpy()
        data, raw_type = _encoded(values, kind)
        writer.add_tensor(theirs, data, raw_dtype=raw_type)
    progress("converting weights", 1, 1)


def _encoded(
    values: NDArray[np.float32], kind: GgufType
) -> tuple[NDArray[Any], GGMLQuantizationType | None]:
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
