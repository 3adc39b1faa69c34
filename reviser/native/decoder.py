"""The native decoder of one history, and the choice between it and the torch model."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.model.config import ModelConfig
from reviser.model.layout import Bits, bits_of, matrix_parts, matrix_shapes, parts_of, vector_sizes
from reviser.model.rotary import rope_tables
from reviser.model.scoring import Decoder
from reviser.native import library as native
from reviser.native.refusals import CacheFull, refusal

if TYPE_CHECKING:
    from torch import Tensor

    from reviser.model import Reviser
    from reviser.native.batch import NativeBatch

Logits = NDArray[np.float32]
Array = NDArray[Any]

# How the parts of a matrix must come; scales of rows are widened when they are read.
_KINDS = {"U8": np.dtype(np.uint8), "I8": np.dtype(np.int8), "BF16": np.dtype(np.float32), "F32": np.dtype(np.float32)}


@dataclass(frozen=True)
class Profile:
    """Seconds spent since profiling began, measured on the calling thread.

    `matrices` counts products with weights, and `preparation` the part of them that is norms and rounding of their
    input. `attention` includes rotation and the cache.
    """

    steps: int
    total: float
    matrices: float
    attention: float
    preparation: float


def supports(config: ModelConfig) -> bool:
    """Whether the native decoder can run such a model: any that is not conditioned on the canvas."""
    return not config.uses_canvas


def _capacity(config: ModelConfig, wanted: int | None) -> int:
    capacity = config.context if wanted is None else wanted
    if not 1 <= capacity <= config.context:
        raise ReviserError(f"a decoder for this model holds 1 to {config.context} ids")
    return capacity


class NativeDecoder:
    """A `reviser.model.scoring.ReadingDecoder` in the C library.

    The next call overwrites the array that `prefill` and `decode` return.

    Calls may come from any thread; they wait for one another. A forked child may go on with its copy. `close`, or
    leaving a `with` block, frees the memory and ends the threads.
    """

    rereads = False

    def __init__(
        self,
        config: ModelConfig,
        tensors: Mapping[str, Array | Tensor],
        *,
        threads: int | None = None,
        capacity: int | None = None,
        level: str | None = None,
    ) -> None:
        """Pack the tensors of `quantise_model`, of torch's or numpy's kind.

        `threads` is by default `REVISER_THREADS`, else the number of processors, at most 8. `level` chooses an
        instruction set among `levels()`, by default `REVISER_LEVEL`, else the best.
        """
        self._handle: int | None = None
        # Held during every call, as the library takes one at a time.
        self.lock = threading.RLock()
        loaded = native.library()
        if loaded is None:
            raise ReviserError(f"compiled kernels are missing: {native.why_missing()}")
        if not supports(config):
            raise ReviserError("the native decoder has no canvas conditioning")
        self.library = loaded
        self.config = config
        self.capacity = _capacity(config, capacity)
        self.threads = _thread_count(threads)
        self.level = _level(loaded, level)
        self.bits = bits_of(parts_of(tensors, "blocks.0.attention.q.weight"))
        self.table_bits = bits_of(parts_of(tensors, "embedding.weight"))
        self._logits: Logits = np.empty(config.vocab_size, dtype=np.float32)
        self._logits_at = self._logits.ctypes.data
        self._read_one = loaded.reviser_read_one
        self._length = 0
        self._handle = self._create()
        try:
            self._fill(tensors)
        except BaseException:
            self.close()
            raise

    @classmethod
    def from_model(
        cls,
        model: Reviser,
        bits: Bits = 4,
        *,
        threads: int | None = None,
        capacity: int | None = None,
        level: str | None = None,
    ) -> Self:
        """Quantise a model and pack it."""
        if not supports(model.config):
            raise ReviserError("the native decoder has no canvas conditioning")
        from reviser.model.quantised import quantise_model

        tensors = quantise_model(model, bits)
        return cls(model.config, tensors, threads=threads, capacity=capacity, level=level)

    def _create(self) -> int:
        config = self.config
        shape = native.ShapeStruct(
            kind=native.KINDS.index(config.kind),
            vocab=config.vocab_size,
            layers=config.layers,
            width=config.width,
            heads=config.heads,
            kv_heads=config.kv_heads,
            ff=config.ff,
            capacity=self.capacity,
            tied=config.tied,
            norm_eps=config.norm_eps,
            bits=self.bits,
            table_bits=self.table_bits,
            threads=self.threads,
        )
        handle: int | None = self.library.reviser_create(shape, self.level.encode())
        if handle is None:
            raise MemoryError("The native decoder could not get its memory or threads.")
        return handle

    def _fill(self, tensors: Mapping[str, Array | Tensor]) -> None:
        for name, shape in matrix_shapes(self.config).items():
            self._set_matrix(name, shape, parts_of(tensors, name))
        for name, size in vector_sizes(self.config).items():
            self._set_vector(name, size, tensors[name])
        cosine, sine = rope_tables(self.config, self.capacity)
        status = self.library.reviser_set_rotary(self.handle, cosine.ctypes.data, sine.ctypes.data)
        _check_filled(status, "rotary tables")

    def _set_vector(self, name: str, size: int, vector: Array | Tensor) -> None:
        values = np.ascontiguousarray(vector, dtype=np.float32)
        if values.shape != (size,):
            raise ReviserError(f"a vector of the model has {values.size} numbers, not {size}")
        owner, layer = _slot(name.rpartition(".")[0])
        index = native.VECTORS.index(f"{owner}.{name.rpartition('.')[2]}")
        status = self.library.reviser_set_vector(self.handle, index, layer, values.ctypes.data)
        _check_filled(status, name)

    def _set_matrix(self, name: str, shape: tuple[int, int], parts: Mapping[str, Array | Tensor]) -> None:
        slot, layer = _slot(name.removesuffix(".weight"))
        bits = bits_of(parts)
        if bits != (self.table_bits if slot in ("embedding", "head") else self.bits):
            raise ReviserError("all layers of a quantised model must have the same bits")
        kept = {part: np.ascontiguousarray(values) for part, values in parts.items()}
        # The library trusts these sizes, so a file that lies about them must not come so far.
        wanted = {part: (kind.shape, _KINDS[kind.dtype]) for part, kind in matrix_parts(*shape, bits).items()}
        if {part: (values.shape, values.dtype) for part, values in kept.items()} != wanted:
            raise ReviserError(f"the quantised matrix '{name}' does not fit this model")
        codes = kept.pop("values" if bits == 32 else "codes")
        places = {part: values.ctypes.data for part, values in kept.items()}
        rows = native.RowsStruct(codes=codes.ctypes.data, **places)
        index = native.MATRICES.index(slot)
        status = self.library.reviser_set_matrix(self.handle, index, layer, rows)
        _check_filled(status, name)
        # The rest is small, and to ask for each part would take as long as to pack it.
        _forget_pages(codes)

    @property
    def handle(self) -> int:
        """The library's pointer to the decoder, valid only while the lock is held; raises an error after `close`."""
        if self._handle is None:
            raise ReviserError("the decoder is closed")
        return self._handle

    @property
    def length(self) -> int:
        """How many ids have been read."""
        return self._length

    def prefill(self, ids: Sequence[int]) -> Logits:
        """Read several ids and score the next one."""
        row = np.ascontiguousarray(ids, dtype=np.int32)
        with self.lock:
            start, at = self._length, self._logits_at
            status = self.library.reviser_read(self.handle, start, row.ctypes.data, len(row), at)
            return self._have_read(len(row), status)

    def decode(self, id: int) -> Logits:
        """Read one id and score the next one."""
        with self.lock:
            status = self._read_one(self.handle, self._length, id, self._logits_at)
            return self._have_read(1, status)

    def _have_read(self, count: int, status: int) -> Logits:
        """The scores after `count` more ids; raises an error if the library refused them."""
        if status == native.OK:
            self._length += count
            return self._logits
        if status == native.NO_ROOM:
            raise CacheFull(f"the history of {self.length} ids and {count} more exceed the room for {self.capacity}")
        raise refusal(status, self.config)

    def truncate(self, length: int) -> None:
        """Forget everything after the first `length` ids; costs no time."""
        with self.lock:
            if not 0 <= length <= self._length:
                raise ReviserError(f"{self._length} ids were read: they cannot be cut to {length}")
            self._length = length

    def rows(self, count: int, room: int | None = None, *, halved: bool = False) -> NativeBatch:
        from reviser.native.batch import NativeBatch

        return NativeBatch(self, count, room, halved=halved)

    @property
    def step_bytes(self) -> int:
        """The bytes of weights that are read for one id."""
        with self.lock:
            held: int = self.library.reviser_step_bytes(self.handle)
        return held

    @property
    def held_bytes(self) -> int:
        """All bytes the decoder holds: weights, cache and working memory."""
        with self.lock:
            held: int = self.library.reviser_held_bytes(self.handle)
        return held

    def start_profile(self) -> None:
        """Measure from here on; slows decoding by about one percent."""
        with self.lock:
            self.library.reviser_profile(self.handle, 1, None)

    def stop_profile(self) -> Profile:
        fields = native.ProfileFields()
        with self.lock:
            self.library.reviser_profile(self.handle, 0, fields)
        return Profile(
            fields.steps,
            fields.total_ns / 1e9,
            fields.matrix_ns / 1e9,
            fields.attention_ns / 1e9,
            fields.prepare_ns / 1e9,
        )

    def close(self) -> None:
        """Free memory and threads, after a call in progress on another thread."""
        with self.lock:
            if self._handle is not None:
                self.library.reviser_free(self._handle)
                self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _check_filled(status: int, name: str) -> None:
    if status != native.OK:
        raise ReviserError(f"the native decoder has no place for '{name}'")


def _forget_pages(values: Array) -> None:
    """Release the mapped pages of an array that the library has packed, since it will not be read soon again."""
    owner: Any = values
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    if not isinstance(owner, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = values.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
    # Pages that the array fills alone; those that it shares with a neighbour stay.
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
    length = (start + values.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE - first
    # A copy of one's own would lose what was written to it; a file that is only read comes back from the file.
    if length > 0 and memoryview(owner).readonly:
        owner.madvise(mmap.MADV_DONTNEED, first, length)


def _slot(module: str) -> tuple[str, int]:
    """The library's name for a module of the model, and the layer it is in (0 if in none)."""
    last = module.rpartition(".")[2]
    layer = int(module.split(".")[1]) if module.startswith("blocks.") else 0
    return {"fc1": "up", "fc2": "down"}.get(last, last), layer


def _thread_count(wanted: int | None) -> int:
    if wanted is None and (setting := os.environ.get("REVISER_THREADS")):
        if not setting.isdecimal():
            raise ReviserError("REVISER_THREADS must be a number of threads")
        wanted = int(setting)
    if wanted is None:
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        # Memory is what a step waits for, and a few threads can use all of it.
        wanted = min(usable or 1, 8)
    if not 1 <= wanted <= 64:
        raise ReviserError("the number of threads must lie between 1 and 64")
    return wanted


def _level(loaded: ctypes.CDLL, wanted: str | None) -> str:
    wanted = wanted or os.environ.get("REVISER_LEVEL") or None
    found: bytes | None = loaded.reviser_level(wanted.encode() if wanted else None)
    if found is None:
        raise ReviserError(f"this processor has no level '{wanted}': choose from {', '.join(native.levels())}")
    return found.decode()


def make_decoder(model: Reviser, bits: Bits = 4, *, threads: int | None = None, capacity: int | None = None) -> Decoder:
    """The fastest decoder for a model here: native on a processor, graphs on a GPU, else the model in torch."""
    device = model.embedding.weight.device.type
    if device == "cpu" and native.available() and supports(model.config):
        return NativeDecoder.from_model(model, bits, threads=threads, capacity=capacity)
    if device == "cuda":
        from reviser.model.graph_decoder import GraphDecoder

        return GraphDecoder(model, capacity)
    from reviser.model.torch_decoder import TorchDecoder

    return TorchDecoder(model, capacity)
