"""Tensors in safetensors files: one file, or numbered shards with an index."""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypedDict

import numpy as np
from numpy.typing import NDArray

from reviser.checkpoints.bounded import read_json
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from torch import Tensor

SINGLE_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
SHARD_BYTES = 4 << 30

Array = NDArray[Any]

_FLOATS = ("F64", "F32", "F16", "BF16")
# numpy has no bfloat16: it is read as the upper halves of single precision.
_ARRAYS = {"F32": "<f4", "BF16": "<u2", "U8": "u1", "I8": "i1"}
# What a tensor's name, type, shape and place take in a header, besides the name itself.
_ENTRY_BYTES = 128


class _Entry(TypedDict):
    """A tensor in the header of a safetensors file."""

    data_offsets: tuple[int, int]
    shape: list[int]
    dtype: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor as its file's header describes it."""

    file: Path
    shape: tuple[int, ...]
    dtype: str


def read_headers(folder: Path) -> dict[str, Stored]:
    """Every tensor in `folder` by name; no weights are read."""
    if (folder / INDEX_FILE).is_file():
        return _read_shards(folder)
    if (folder / SINGLE_FILE).is_file():
        return _read_header(folder / SINGLE_FILE)
    raise ReviserError(f"{folder} holds no weights: there is no {SINGLE_FILE} in it")


def _read_shards(folder: Path) -> dict[str, Stored]:
    places = _read_index(folder / INDEX_FILE)
    found: dict[str, Stored] = {}
    for name in sorted(set(places.values())):
        if not (folder / name).is_file():
            raise ReviserError(f"{folder} lacks the shard {name}")
        found |= _read_header(folder / name)
    for tensor, name in places.items():
        if tensor not in found:
            raise ReviserError(f"{folder / name} lacks the tensor {tensor} that its index promises")
    return found


def _read_index(path: Path) -> dict[str, str]:
    try:
        places = read_json(path)["weight_map"]
        # A shard is a neighbour of its index: a path that leads elsewhere is a mistake or a trick.
        if all(Path(file).name == file for file in set(places.values())):
            return dict(places)
    except (TypeError, KeyError, AttributeError):
        pass
    raise ReviserError(f"{path} is not a usable index of shards")


def _read_header(path: Path) -> dict[str, Stored]:
    # Opening checks the whole header. To ask for each tensor takes longer than to read the header once more.
    with _open(path, "np"), path.open("rb") as file:
        places = _places(file)
    return {name: Stored(path, tuple(place["shape"]), place["dtype"]) for name, place in places.items()}


def _places(file: BinaryIO) -> dict[str, _Entry]:
    """The tensors in a file's header, which has been checked; the file is then read up to its data."""
    size = int.from_bytes(file.read(8), "little")
    places: dict[str, _Entry] = json.loads(file.read(size))
    places.pop("__metadata__", None)
    return places


def _open(path: Path, framework: str) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, framework=framework)
    except SafetensorError as error:
        raise ReviserError(f"{path} is damaged or no safetensors file: {error}") from None
    except OSError as error:
        raise ReviserError(f"{path} cannot be read: {error.strerror or error}") from None


def read_tensors(stored: Mapping[str, Stored]) -> dict[str, Tensor]:
    """The tensors, mapped from their files: pages are read when they are used."""
    tensors: dict[str, Tensor] = {}
    for path in {place.file for place in stored.values()}:
        with _open(path, "pt") as file:
            tensors |= {name: file.get_tensor(name) for name, place in stored.items() if place.file == path}
    return tensors


def read_arrays(stored: Mapping[str, Stored]) -> dict[str, Array]:
    """`read_tensors` without torch, for the types that quantised models have.

    bfloat16 becomes single precision.
    """
    arrays: dict[str, Array] = {}
    mapped: dict[Path, tuple[mmap.mmap, int, dict[str, _Entry]]] = {}
    for name, place in stored.items():
        path = place.file
        if path not in mapped:
            mapped[path] = _map(path)
        data, first, places = mapped[path]
        start, _ = places[name]["data_offsets"]
        count = math.prod(place.shape)
        values = np.frombuffer(data, _ARRAYS[place.dtype], count, first + start)
        values = values.reshape(place.shape)
        arrays[name] = _widened(values) if place.dtype == "BF16" else values
    return arrays


def _map(path: Path) -> tuple[mmap.mmap, int, dict[str, _Entry]]:
    """A mapped file whose header has been checked, the offset of its data, and the tensors in it."""
    with path.open("rb") as file:
        places = _places(file)
        first = file.tell()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_WILLNEED"):
        mapped.madvise(mmap.MADV_WILLNEED)
    return mapped, first, places


def _widened(halves: Array) -> Array:
    return (halves.astype(np.uint32) << 16).view(np.float32)


def check_tensors(
    expected: Mapping[str, tuple[int, ...]],
    found: Mapping[str, Stored],
    source: Path,
    dtypes: Mapping[str, str] | None = None,
) -> None:
    """Raise an error if weights are not exactly those that a model needs.

    Without `dtypes`, any precision is accepted.
    """
    if missing := [name for name in expected if name not in found]:
        raise ReviserError(f"{source} lacks the tensor {_some(missing)}")
    if unexpected := [name for name in found if name not in expected]:
        raise ReviserError(f"{source} has a tensor that this model does not: {_some(unexpected)}")
    for name, shape in expected.items():
        stored = found[name]
        if stored.shape != shape:
            raise ReviserError(
                f"the tensor {name} in {source} has the shape {_by(stored.shape)}, "
                f"and the configuration asks for {_by(shape)}"
            )
        allowed = _FLOATS if dtypes is None else (dtypes[name],)
        if stored.dtype not in allowed:
            raise ReviserError(
                f"the tensor {name} in {source} is stored as {stored.dtype}, "
                f"which is {'none of ' if dtypes is None else 'not '}{', '.join(allowed)}"
            )


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} (and {len(names) - 1} more)"


def _by(shape: Iterable[int]) -> str:
    return "×".join(map(str, shape)) or "of a single number"


def write_tensors(folder: Path, tensors: Mapping[str, Tensor], shard_bytes: int = SHARD_BYTES) -> None:
    """Write one file, or shards of at most `shard_bytes` (but at least one tensor) and their index."""
    shards = _split(tensors, shard_bytes)
    if len(shards) == 1:
        _write(folder / SINGLE_FILE, shards[0])
        return
    places: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        _write(folder / name, shard)
        places |= dict.fromkeys(shard, name)
    total = sum(tensor.nbytes for tensor in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": places}
    (folder / INDEX_FILE).write_text(json.dumps(index, indent=2) + "\n", "utf-8")


def _split(tensors: Mapping[str, Tensor], shard_bytes: int) -> list[dict[str, Tensor]]:
    shards: list[dict[str, Tensor]] = [{}]
    room = shard_bytes
    for name, tensor in tensors.items():
        size = tensor.nbytes + len(name) + _ENTRY_BYTES
        if shards[-1] and size > room:
            shards.append({})
            room = shard_bytes
        shards[-1][name] = tensor
        room -= size
    return shards


def _write(path: Path, tensors: dict[str, Tensor]) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        # The format field is what transformers asks for before it loads a file.
        save_file(tensors, path, metadata={"format": "pt"})
    except SafetensorError as error:
        raise ReviserError(f"{path} cannot be written: {error}") from None
