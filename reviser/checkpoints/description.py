"""Description of a model folder: its configuration, read and checked; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from reviser.checkpoints.bounded import read_json
from reviser.checkpoints.tensors import Array, Stored, check_tensors, read_arrays, read_headers
from reviser.checkpoints.tokenizer_files import (
    BUILT_IN,
    PACKED_FILE,
    TOKENIZER_FILE,
    make_tokenizer,
    read_table,
    read_tokenizer_json,
)
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import HuggingFaceTokenizer, Tokenizer
from reviser.core.vocabulary import Vocabulary, VocabularyJson
from reviser.model import ModelConfig
from reviser.model.layout import Quantisation, quantised_tensors, tensor_shapes

CONFIG_FILE = "config.json"
FORMAT = "reviser"
VERSION = 1
_SMALL_TABLES = 64 << 20
# Of each file of weights, so many stretches and the last are part of its digest, each of so many bytes.
_PARTS = 16
_PART = 4096


class ConfigJson(TypedDict):
    """The config.json of a model."""

    format: str
    version: int
    model: dict[str, object]
    vocabulary: VocabularyJson
    tokenizer: str
    metadata: Mapping[str, object]
    quantisation: NotRequired[object]


@dataclass(frozen=True)
class Description:
    """The checked config.json of a folder; `quantisation` is None for weights in full precision."""

    folder: Path
    config: ModelConfig
    vocabulary: Vocabulary
    tokenizer: str
    metadata: Mapping[str, object]
    quantisation: Quantisation | None

    def to_dict(self) -> ConfigJson:
        """The JSON form."""
        data: ConfigJson = {
            "format": FORMAT,
            "version": VERSION,
            "model": self.config.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
            "tokenizer": self.tokenizer,
            "metadata": self.metadata,
        }
        if self.quantisation is not None:
            data["quantisation"] = self.quantisation.to_dict()
        return data


def describe(folder: Path) -> Description:
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise ReviserError(f"{folder} is not a model: there is no {CONFIG_FILE} in it")
    data = _read_config(path)
    config = make_config(data["model"], path)
    vocabulary = _read_vocabulary(data["vocabulary"], path)
    check_vocabulary(vocabulary, config, path)
    quantisation = _read_quantisation(data.get("quantisation"), config, path)
    return Description(folder, config, vocabulary, data["tokenizer"], data["metadata"], quantisation)


def digest_of(folder: Path) -> str:
    """An identifier of a model's weights: a digest of the sizes of its files, and of samples from all over them.

    The files are not read whole, so it is fast.
    """
    import hashlib  # it loads a large library, and most commands need no digest

    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.glob("*.safetensors")):
        size = path.stat().st_size
        digest.update(size.to_bytes(8, "little"))
        with path.open("rb") as file:
            for part in range(_PARTS + 1):
                file.seek(max(0, size - _PART) * part // _PARTS)
                digest.update(file.read(_PART))
    return digest.hexdigest()


def _read_config(path: Path) -> ConfigJson:
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReviserError(f"{path} does not describe a Reviser model; `reviser models import` may read it")
    if data.get("version") != VERSION:
        raise ReviserError(f"{path} has the format version {data.get('version')}, and this program knows {VERSION}")
    data["metadata"] = data.get("metadata") or {}
    kinds = {"model": dict, "vocabulary": dict, "tokenizer": str, "metadata": dict}
    for key, kind in kinds.items():
        if not isinstance(data.get(key), kind):
            raise ReviserError(f"{path} lacks a usable '{key}'")
    return cast(ConfigJson, data)


def make_config(settings: Mapping[str, Any], source: Path) -> ModelConfig:
    """The configuration in a file's settings; raises an error that names `source` if they are invalid."""
    try:
        return ModelConfig.from_dict(settings)
    except (ValueError, TypeError) as error:
        raise ReviserError(f"{source} does not describe a usable model: {error}") from None


def check_declared(config: ModelConfig, tensors: int, file_bytes: int, source: Path) -> None:
    """Raise an error if a configuration is of a far larger model than the file; called before memory is allocated."""
    if config.layers > tensors:
        raise ReviserError(f"{source} says that it has {config.layers} layers, and holds {tensors} tensors")
    # The sines and cosines of all positions are made when a model is.
    tables = 8 * config.context * config.head_dim
    if tables > max(_SMALL_TABLES, 4 * file_bytes):
        raise ReviserError(
            f"{source} says that its context is {config.context} ids, which is far too many for a model of its size"
        )


def _read_vocabulary(data: VocabularyJson, path: Path) -> Vocabulary:
    try:
        return Vocabulary.from_dict(data)
    except ReviserError as error:
        raise ReviserError(f"{path} does not describe a usable vocabulary: {error}") from None


def check_vocabulary(vocabulary: Vocabulary, config: ModelConfig, source: Path) -> None:
    if vocabulary.size != config.vocab_size:
        raise ReviserError(f"the vocabulary in {source} has {vocabulary.size} ids and the model {config.vocab_size}")


def _read_quantisation(data: object, config: ModelConfig, path: Path) -> Quantisation | None:
    if data is None:
        return None
    if not isinstance(data, dict):
        raise ReviserError(f"{path} lacks a usable 'quantisation'")
    if config.uses_canvas:
        raise ReviserError(f"{path} is quantised and sees the canvas, which do not go together")
    try:
        return Quantisation.from_dict(data)
    except ValueError as error:
        raise ReviserError(f"{path} does not describe a usable quantisation: {error}") from None


def declared_headers(description: Description) -> dict[str, Stored]:
    """The tensors in their files' headers; raises an error if the configuration cannot be theirs."""
    headers = read_headers(description.folder)
    size = sum(path.stat().st_size for path in {stored.file for stored in headers.values()})
    check_declared(description.config, len(headers), size, description.folder)
    return headers


def quantised_headers(description: Description, quantisation: Quantisation) -> dict[str, Stored]:
    """The tensors of a quantised model in their files' headers, checked."""
    headers = declared_headers(description)
    parts = quantised_tensors(description.config, quantisation)
    check_tensors(
        {name: part.shape for name, part in parts.items()},
        headers,
        description.folder,
        {name: part.dtype for name, part in parts.items()},
    )
    return headers


def checked_headers(description: Description) -> dict[str, Stored]:
    """The tensors in their files' headers, checked against the configuration."""
    if description.quantisation is not None:
        return quantised_headers(description, description.quantisation)
    headers = declared_headers(description)
    check_tensors(tensor_shapes(description.config), headers, description.folder)
    return headers


def quantised_arrays(description: Description, quantisation: Quantisation) -> dict[str, Array]:
    """The tensors of a quantised model, mapped from their files."""
    return read_arrays(quantised_headers(description, quantisation))


def load_tokenizer(description: Description) -> tuple[bytes | None, Tokenizer]:
    """The content of the tokenizer.json, or None for the built-in one; and the tokenizer."""
    data = _tokenizer_json(description)
    # What is packed was written by an export, so it is in order.
    late = description.tokenizer == PACKED_FILE
    tokenizer = make_tokenizer(data, _tokenizer_name(description), late=late)
    _check_size(tokenizer, description)
    return data, tokenizer


def quick_tokenizer(description: Description) -> Tokenizer:
    """The tokenizer alone: from its token table, if there is one."""
    if description.tokenizer == PACKED_FILE and (table := read_table(description.folder)):
        tokenizer = HuggingFaceTokenizer.from_table(
            table, _tokenizer_name(description), lambda: _tokenizer_json(description) or b""
        )
        _check_size(tokenizer, description)
        return tokenizer
    return load_tokenizer(description)[1]


def _tokenizer_name(description: Description) -> str:
    return description.vocabulary.name or description.folder.name


def _tokenizer_json(description: Description) -> bytes | None:
    name = description.tokenizer
    if name not in (BUILT_IN, TOKENIZER_FILE, PACKED_FILE):
        raise ReviserError(f"{description.folder} names an unknown tokenizer: {name}")
    return read_tokenizer_json(name if name == BUILT_IN else description.folder / name)


def _check_size(tokenizer: Tokenizer, description: Description) -> None:
    if tokenizer.size > description.vocabulary.base_size:
        raise ReviserError(
            f"the tokenizer in {description.folder} has {tokenizer.size} ids, "
            f"more than the {description.vocabulary.base_size} of the vocabulary"
        )
