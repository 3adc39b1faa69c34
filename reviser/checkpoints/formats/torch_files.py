"""Torch's files of weights, read as data: no code in them is run, and no result is larger than the file.

Such a file is a zip archive, its members stored uncompressed: `data.pkl` describes the tensors in pickle's format, and
`data/KEY` holds the numbers of one storage. The few pickle operations that describe tensors are understood here; pickle
itself, which can run any code, is not used.
"""

from __future__ import annotations

import mmap
import pickletools
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import torch

from reviser.checkpoints.bounded import file_size
from reviser.core.errors import ReviserError

# A model of a thousand layers is described in a tenth of it.
_LARGEST_DESCRIPTION = 4 << 20
_LOCAL_HEADER = 30
_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_STORAGES = {
    "torch.DoubleStorage": "F64",
    "torch.FloatStorage": "F32",
    "torch.HalfStorage": "F16",
    "torch.BFloat16Storage": "BF16",
}
# Calls that stand for a dictionary, and calls whose results no weight depends on.
_DICTIONARIES = ("collections.OrderedDict", "collections.defaultdict", "collections.Counter")
_IGNORED = (
    "torch.Size",
    "torch.device",
    "torch._utils._rebuild_tensor_v3",
    "torch.serialization._get_layout",
    "_codecs.encode",
    "builtins.set",
    "builtins.complex",
    "__builtin__.set",
    "__builtin__.complex",
)


@dataclass(frozen=True)
class TorchTensor:
    """A tensor in a file, with the place of its storage in the mapped file.

    `dtype` is safetensors' name, or torch's name of the storage if it is not a float.
    """

    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    storage: _Storage

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * _DTYPES[self.dtype].itemsize

    def load(self) -> torch.Tensor:
        """The tensor, mapped from the file."""
        dtype = _DTYPES[self.dtype]
        if not self.numel:
            return torch.empty(self.shape, dtype=dtype)
        whole = torch.frombuffer(self.storage.data, dtype=dtype, count=self.storage.numel, offset=self.storage.start)
        return whole.as_strided(self.shape, self.stride, self.offset)


@dataclass(frozen=True)
class _Storage:
    data: mmap.mmap
    start: int
    numel: int
    dtype: str


@dataclass(frozen=True)
class _Name:
    """A global name in a module, which is only compared, never imported."""

    full: str


class _RunsCode(Exception):
    """The file's pickle does more than describe tensors."""


def read_torch(path: Path) -> Any:
    """The content of a torch file: dictionaries and lists, with `TorchTensor`s for tensors."""
    if not file_size(path):
        raise ReviserError(f"{path} is empty")
    try:
        archive = _Archive.of(path)
        return _Description(archive).read()
    except _RunsCode:
        raise ReviserError(f"{path} holds more than weights: reading it would run code, so it is refused") from None
    except OSError as error:
        raise ReviserError(f"{path} cannot be read: {error.strerror or error}") from None
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        ArithmeticError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        struct.error,
    ) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ReviserError(f"{path} is damaged or not a torch file of weights: {reason}") from None


@dataclass(frozen=True)
class _Archive:
    """A mapped zip archive, with the byte range of each member."""

    data: mmap.mmap
    members: Mapping[str, tuple[int, int]]
    folder: str

    @classmethod
    def of(cls, path: Path) -> _Archive:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no zip archive, as torch has written since version 1.6")
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
            # A private mapping, so that torch may have it as memory that can be written.
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        members = {entry.filename: _place(entry, data) for entry in entries}
        found = [name for name in members if name.count("/") == 1 and name.endswith("/data.pkl")]
        if len(found) != 1:
            raise ValueError("it has no data.pkl")
        folder = found[0].removesuffix("data.pkl")
        order = members.get(f"{folder}byteorder")
        if order is not None and data[order[0] : order[1]] != b"little":
            raise ValueError("its numbers are not in little-endian order")
        return cls(data, members, folder)

    def description(self) -> bytes:
        start, end = self.members[f"{self.folder}data.pkl"]
        if end - start > _LARGEST_DESCRIPTION:
            raise ValueError(f"its data.pkl has {end - start} bytes, and {_LARGEST_DESCRIPTION} are the most")
        return self.data[start:end]


def _place(entry: zipfile.ZipInfo, data: mmap.mmap) -> tuple[int, int]:
    """The byte range of a member; raises an error if it is compressed, which torch never does."""
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
        raise ValueError(f"{entry.filename} in it is compressed, which torch never does")
    header = data[entry.header_offset : entry.header_offset + _LOCAL_HEADER]
    if header[:4] != b"PK\x03\x04" or len(header) < _LOCAL_HEADER:
        raise ValueError(f"{entry.filename} in it has no header")
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    start = entry.header_offset + _LOCAL_HEADER + name_length + extra_length
    end = start + entry.file_size
    if entry.compress_size != entry.file_size or end > len(data):
        raise ValueError(f"{entry.filename} in it reaches beyond the end of the file")
    return start, end


_MARK = object()
_LITERALS = frozenset(
    [
        "INT",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG",
        "LONG1",
        "LONG4",
        "FLOAT",
        "BINFLOAT",
        "STRING",
        "BINSTRING",
        "SHORT_BINSTRING",
        "UNICODE",
        "BINUNICODE",
        "SHORT_BINUNICODE",
        "BINUNICODE8",
        "BINBYTES",
        "SHORT_BINBYTES",
        "BINBYTES8",
    ]
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_SILENT = ("PROTO", "FRAME")
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _Description:
    """An interpreter of data.pkl: pickle's stack and memo, without calls."""

    def __init__(self, archive: _Archive) -> None:
        self._archive = archive
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._steps: dict[str, Callable[[Any], None]] = {
            "MARK": lambda _: self._stack.append(_MARK),
            "EMPTY_DICT": lambda _: self._stack.append({}),
            "EMPTY_LIST": lambda _: self._stack.append([]),
            "DICT": lambda _: self._stack.append(_pairs(self._since_mark())),
            "LIST": lambda _: self._stack.append(self._since_mark()),
            "TUPLE": lambda _: self._stack.append(tuple(self._since_mark())),
            "APPEND": lambda _: self._extend([self._stack.pop()]),
            "APPENDS": lambda _: self._extend(self._since_mark()),
            "SETITEM": lambda _: self._update(self._pop(2)),
            "SETITEMS": lambda _: self._update(self._since_mark()),
            "PUT": self._keep,
            "BINPUT": self._keep,
            "LONG_BINPUT": self._keep,
            "MEMOIZE": lambda _: self._keep(len(self._memo)),
            "GET": lambda key: self._stack.append(self._memo[key]),
            "BINGET": lambda key: self._stack.append(self._memo[key]),
            "LONG_BINGET": lambda key: self._stack.append(self._memo[key]),
            "GLOBAL": lambda names: self._stack.append(_Name(names.replace(" ", "."))),
            "STACK_GLOBAL": lambda _: self._stack.append(_Name(".".join(self._pop(2)))),
            "BINPERSID": lambda _: self._stack.append(self._storage(self._stack.pop())),
            "REDUCE": lambda _: self._stack.append(self._called(*self._pop(2))),
            # Attributes of a dictionary, which torch gives those of modules: of no use here.
            "BUILD": lambda _: self._ignore_state(),
        }

    def read(self) -> Any:
        for opcode, argument, _ in pickletools.genops(self._archive.description()):
            name = opcode.name
            if name == "STOP":
                return self._stack.pop()
            if name in _LITERALS:
                self._stack.append(argument)
            elif name in _CONSTANTS:
                self._stack.append(_CONSTANTS[name])
            elif name in _TUPLES:
                self._stack.append(tuple(self._pop(_TUPLES[name])))
            elif name in self._steps:
                self._steps[name](argument)
            elif name not in _SILENT:
                raise _RunsCode
        raise ValueError("its data.pkl does not end")

    def _pop(self, count: int) -> list[Any]:
        if count > len(self._stack):
            raise ValueError("its data.pkl makes no sense")
        taken = self._stack[-count:]
        del self._stack[-count:]
        return taken

    def _since_mark(self) -> list[Any]:
        place = len(self._stack) - 1
        while self._stack[place] is not _MARK:
            place -= 1
        taken = self._stack[place + 1 :]
        del self._stack[place:]
        return taken

    def _extend(self, items: list[Any]) -> None:
        if not isinstance(self._stack[-1], list):
            raise _RunsCode
        self._stack[-1] += items

    def _update(self, items: list[Any]) -> None:
        if not isinstance(self._stack[-1], dict):
            raise _RunsCode
        self._stack[-1].update(_pairs(items))

    def _keep(self, key: int) -> None:
        self._memo[key] = self._stack[-1]

    def _ignore_state(self) -> None:
        target, _ = self._pop(2)
        if not isinstance(target, dict):
            raise _RunsCode
        self._stack.append(target)

    def _called(self, function: Any, arguments: Any) -> Any:
        name = function.full if isinstance(function, _Name) else ""
        if name == "torch._utils._rebuild_tensor_v2":
            return _tensor(*arguments[:4])
        if name == "torch._utils._rebuild_parameter":
            return arguments[0]
        if name in _DICTIONARIES:
            pairs = arguments[0] if arguments and isinstance(arguments[0], list) else []
            return dict(map(tuple, pairs))
        if name in _IGNORED:
            return None
        raise _RunsCode

    def _storage(self, words: Any) -> _Storage:
        _, kind, key, _, numel = words
        if not isinstance(kind, _Name) or not isinstance(key, str) or not _is_size(numel):
            raise ValueError("a storage in it is not described")
        dtype = _STORAGES.get(kind.full, kind.full)
        start, end = self._archive.members[f"{self._archive.folder}data/{key}"]
        if dtype in _DTYPES and numel * _DTYPES[dtype].itemsize > end - start:
            raise ValueError(f"the storage {key} in it is cut short")
        return _Storage(self._archive.data, start, numel, dtype)


def _pairs(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 60


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any) -> TorchTensor:
    sizes = (offset, *shape, *stride)
    if not isinstance(storage, _Storage) or len(shape) != len(stride) or not all(map(_is_size, sizes)):
        raise ValueError("a tensor in it is not described")
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    if prod(shape) and last >= storage.numel:
        raise ValueError("a tensor in it reaches beyond its storage")
    return TorchTensor(storage.dtype, tuple(shape), tuple(stride), offset, storage)
