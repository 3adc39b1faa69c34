"""The header of a GGUF file, read within the file's bounds: its settings, and where its tensors are.

The layout is that of GGUF 2 and 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reviser.checkpoints.bounded import file_size
from reviser.core.errors import ReviserError

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}
_TRUTH, _TEXT, _LIST = 7, 8, 9
# Beyond any model: settings, tensors, entries of a list, lists within lists, dimensions of a tensor.
_MOST_SETTINGS = 1 << 16
_MOST_TENSORS = 1 << 16
_LONGEST_LIST = 1 << 22
_DEEPEST_LIST = 2
_MOST_DIMENSIONS = 4
_LARGEST_ALIGNMENT = 1 << 20


@dataclass(frozen=True)
class GgufTensor:
    """A stored tensor; `shape` counts numbers, from the outermost dimension."""

    name: str
    kind: str
    shape: tuple[int, ...]
    data: NDArray[np.uint8]


@dataclass(frozen=True)
class GgufFile:
    fields: dict[str, object]
    tensors: tuple[GgufTensor, ...]


def read_gguf_file(path: Path) -> GgufFile:
    """The settings of a GGUF file, and its tensors, mapped from the file."""
    if not file_size(path):
        raise ReviserError(f"{path} is empty")
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise ReviserError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        return _read(data)
    except _Damaged as error:
        raise ReviserError(f"{path} is damaged or no GGUF file: {error}") from None


class _Damaged(Exception):
    """A fault of a file, with its description."""


class _HeaderReader:
    """A reader of the header's values, one after the other."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise _Damaged("it ends within its header")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code: str) -> Any:
        (value,) = struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))
        return value

    def text(self) -> str:
        try:
            return self.take(self.number("Q")).decode("utf-8")
        except UnicodeDecodeError:
            raise _Damaged("a text in its header is not UTF-8") from None

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TRUTH:
            return bool(self.number("B"))
        if kind == _TEXT:
            return self.text()
        if kind != _LIST:
            raise _Damaged(f"a setting is of the unknown type {kind}")
        if depth == _DEEPEST_LIST:
            raise _Damaged("lists in its header are nested too deeply")
        kind, count = self.number("I"), self.number("Q")
        if count > _LONGEST_LIST:
            raise _Damaged(f"a list in its header has {count} entries")
        if kind in _NUMBERS:
            code = np.dtype(f"<{_NUMBERS[kind]}")
            return np.frombuffer(self.take(count * code.itemsize), code).tolist()
        return [self.value(kind, depth + 1) for _ in range(count)]

    def aligned(self, alignment: int) -> int:
        return -(-self.at // alignment) * alignment


def _read(data: mmap.mmap) -> GgufFile:
    reader = _HeaderReader(data)
    if reader.take(len(MAGIC)) != MAGIC:
        raise _Damaged("it does not begin as one")
    if (version := reader.number("I")) not in _VERSIONS:
        raise _Damaged(f"it is of the version {version}, and 2 and 3 are known")
    tensor_count, field_count = reader.number("Q"), reader.number("Q")
    for count, most, what in ((tensor_count, _MOST_TENSORS, "tensors"), (field_count, _MOST_SETTINGS, "settings")):
        if count > most:
            raise _Damaged(f"its header promises {count} {what}")
    fields: dict[str, object] = {}
    for _ in range(field_count):
        key = reader.text()
        if key in fields:
            raise _Damaged(f"it sets {key} twice")
        fields[key] = reader.value(reader.number("I"))
    described = [_described(reader) for _ in range(tensor_count)]
    start = reader.aligned(_alignment(fields))
    tensors = tuple(_tensor(data, start, *each) for each in described)
    if len({tensor.name for tensor in tensors}) < len(tensors):
        raise _Damaged("two of its tensors have the same name")
    return GgufFile(fields, tensors)


def _alignment(fields: dict[str, object]) -> int:
    alignment = fields.get("general.alignment", 32)
    if type(alignment) is not int or not 1 <= alignment <= _LARGEST_ALIGNMENT or alignment & (alignment - 1):
        raise _Damaged(f"its general.alignment is {alignment}")
    return alignment


def _described(reader: _HeaderReader) -> tuple[str, tuple[int, ...], int, int]:
    name = reader.text()
    if (dimensions := reader.number("I")) > _MOST_DIMENSIONS:
        raise _Damaged(f"the tensor {name} has {dimensions} dimensions")
    # GGUF counts dimensions from the innermost.
    shape = tuple(reader.number("Q") for _ in range(dimensions))[::-1]
    return name, shape, reader.number("I"), reader.number("Q")


def _tensor(data: mmap.mmap, start: int, name: str, shape: tuple[int, ...], kind: int, offset: int) -> GgufTensor:
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    try:
        stored = GGMLQuantizationType(kind)
    except ValueError:
        raise _Damaged(f"the tensor {name} is stored as the unknown type {kind}") from None
    block, block_bytes = GGML_QUANT_SIZES[stored]
    columns = shape[-1] if shape else 1
    if columns % block:
        raise _Damaged(f"the rows of the tensor {name} are no whole blocks of {block} numbers")
    row_bytes = columns // block * block_bytes
    size = prod(shape[:-1]) * row_bytes
    if start + offset + size > len(data):
        raise _Damaged(f"the tensor {name} reaches beyond the end of the file")
    values = np.frombuffer(data, np.uint8, size, start + offset)
    return GgufTensor(name, stored.name, shape, values.reshape(*shape[:-1], row_bytes))
