"""The native decoder of one history, and the choice between it and the model in torch."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reviser.errors import ReviserError
from reviser.model.config import ModelConfig
from reviser.model.decoder import Reviser, _rope_tables
from reviser.model.quantised import Bits, bits_of, parts_of, quantise_model
from reviser.native import library as native
from reviser.policy import Decoder

Logits = NDArray[np.float32]


class CacheFull(ReviserError):
    """More ids than a decoder has room for."""


@dataclass(frozen=True)
class Profile:
    """Seconds spent since profiling began, as the calling thread saw them.

    `matrices` counts products with weights, and `preparation` the part of them that is norms and
    rounding of their input. `attention` counts rotation and the cache, too.
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
    """Decodes in the C library: a `Decoder` of `reviser.policy`.

    The array that `prefill` and `decode` return is overwritten by the next call.

    Calls may come from any thread, one at a time. A forked child may go on with its copy. `close`, or
    leaving a `with` block, gives back the memory and the threads.
    """

    def __init__(
        self,
        config: ModelConfig,
        tensors: Mapping[str, Tensor],
        *,
        threads: int | None = None,
        capacity: int | None = None,
        level: str | None = None,
    ) -> None:
        """Pack the tensors of `quantise_model`.

        `threads` is the number of processors by default, at most 8, or `REVISER_THREADS`. `level`
        chooses an instruction set among `levels()`, the best by default, or `REVISER_LEVEL`.
        """
        self._handle: int | None = None
        loaded = native.library()
        if loaded is None:
            raise ReviserError("the native library was not built when this package was installed")
        if not supports(config):
            raise ReviserError("the native decoder has no canvas conditioning")
        self._library = loaded
        self._lock = threading.RLock()
        self.config = config
        self.capacity = _capacity(config, capacity)
        self.threads = _thread_count(threads)
        self.level = _level(loaded, level)
        self.bits = bits_of(parts_of(tensors, "blocks.0.attention.q.weight"))
        self.table_bits = bits_of(parts_of(tensors, "embedding.weight"))
        self._logits: Logits = np.empty(config.vocab_size, dtype=np.float32)
        self._logits_at = self._logits.ctypes.data
        self._one_id = ctypes.c_int32()
        self._one_id_at = ctypes.addressof(self._one_id)
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
        tensors = quantise_model(model, bits)
        return cls(model.config, tensors, threads=threads, capacity=capacity, level=level)

    @classmethod
    def from_quantised(
        cls,
        config: ModelConfig,
        tensors: Mapping[str, Tensor],
        *,
        threads: int | None = None,
        capacity: int | None = None,
        level: str | None = None,
    ) -> Self:
        """Pack tensors from `quantise_model` or `load_quantised`."""
        return cls(config, tensors, threads=threads, capacity=capacity, level=level)

    def _create(self) -> int:
        config = self.config
        shape = native.Shape(
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
        handle: int | None = self._library.reviser_create(shape, self.level.encode())
        if handle is None:
            raise MemoryError("The native decoder could not get its memory or threads.")
        return handle

    def _fill(self, tensors: Mapping[str, Tensor]) -> None:
        config = self.config
        self._set_matrix("embedding", 0, tensors, "embedding.weight")
        if not config.tied:
            self._set_matrix("head", 0, tensors, "head.weight")
        mlp = (
            {"fc1": "up", "fc2": "down"}
            if config.kind == "paper"
            else {"gate": "gate", "up": "up", "down": "down"}
        )
        for layer in range(config.layers):
            block = f"blocks.{layer}"
            for part in ("q", "k", "v", "o"):
                self._set_matrix(part, layer, tensors, f"{block}.attention.{part}.weight")
            for part, slot in mlp.items():
                self._set_matrix(slot, layer, tensors, f"{block}.mlp.{part}.weight")
                if config.kind == "paper":
                    self._set_vector(f"{slot}.bias", layer, tensors[f"{block}.mlp.{part}.bias"])
            for norm in ("attention_norm", "mlp_norm"):
                self._set_norm(norm, layer, tensors, f"{block}.{norm}")
        self._set_norm("final_norm", 0, tensors, "final_norm")
        cos, sin = _rope_tables(config)
        half = config.head_dim // 2
        cosine = cos[: self.capacity, :half].contiguous()
        sine = sin[: self.capacity, half:].contiguous()
        self._library.reviser_set_rotary(self._open, cosine.data_ptr(), sine.data_ptr())

    def _set_norm(self, slot: str, layer: int, tensors: Mapping[str, Tensor], name: str) -> None:
        self._set_vector(f"{slot}.weight", layer, tensors[f"{name}.weight"])
        if self.config.kind == "paper":
            self._set_vector(f"{slot}.bias", layer, tensors[f"{name}.bias"])

    def _set_vector(self, slot: str, layer: int, vector: Tensor) -> None:
        values = vector.detach().float().contiguous()
        size = self.config.ff if slot == "up.bias" else self.config.width
        if values.numel() != size:
            raise ReviserError(f"a vector of the model has {values.numel()} numbers, not {size}")
        index = native.VECTORS.index(slot)
        self._library.reviser_set_vector(self._open, index, layer, values.data_ptr())

    def _set_matrix(self, slot: str, layer: int, tensors: Mapping[str, Tensor], name: str) -> None:
        parts = parts_of(tensors, name)
        bits = bits_of(parts)
        if bits != (self.table_bits if slot in ("embedding", "head") else self.bits):
            raise ReviserError("all layers of a quantised model must have the same bits")
        kept = {part: tensor.contiguous() for part, tensor in parts.items()}
        self._check_matrix(slot, name, bits, kept)
        codes = kept.pop("values") if bits == 32 else kept.pop("codes")
        places = {part: tensor.data_ptr() for part, tensor in kept.items()}
        rows = native.Rows(codes=codes.data_ptr(), **places)
        index = native.MATRICES.index(slot)
        self._library.reviser_set_matrix(self._open, index, layer, rows)

    def _check_matrix(self, slot: str, name: str, bits: Bits, parts: Mapping[str, Tensor]) -> None:
        """The library trusts these sizes, so a file that lies about them must not come so far."""
        config = self.config
        rows = {
            "embedding": config.vocab_size,
            "head": config.vocab_size,
            "k": config.kv_heads * config.head_dim,
            "v": config.kv_heads * config.head_dim,
            "gate": config.ff,
            "up": config.ff,
        }.get(slot, config.width)
        groups = -(-(config.ff if slot == "down" else config.width) // 32)
        wanted: dict[str, tuple[tuple[int, ...], torch.dtype]]
        if bits == 32:
            wanted = {"values": ((rows, groups * 32), torch.float32)}
        elif bits == 8:
            wanted = {
                "codes": ((rows, groups * 32), torch.int8),
                "row_scales": ((rows,), torch.float32),
            }
        else:
            wanted = {
                "codes": ((rows, groups * 16), torch.uint8),
                "scales": ((rows, groups), torch.uint8),
                "minima": ((rows, groups), torch.uint8),
                "row_scales": ((rows,), torch.float32),
                "row_minima": ((rows,), torch.float32),
            }
        found = {part: (tuple(tensor.shape), tensor.dtype) for part, tensor in parts.items()}
        if found != wanted:
            raise ReviserError(f"the quantised matrix '{name}' does not fit this model")

    @property
    def _open(self) -> int:
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
        return self._read(row.ctypes.data, len(row))

    def decode(self, id: int) -> Logits:
        """Read one id and score the next one."""
        with self._lock:
            self._one_id.value = id
            return self._read(self._one_id_at, 1)

    def _read(self, ids: int, count: int) -> Logits:
        with self._lock:
            status = self._library.reviser_read(
                self._open, self._length, ids, count, self._logits_at
            )
            if status == native.OK:
                self._length += count
                return self._logits
        if status == native.NO_ROOM:
            raise CacheFull(
                f"the history of {self.length} ids and {count} more exceed the room for {self.capacity}"
            )
        if status == native.BAD_ID:
            raise ReviserError(f"an id is outside the vocabulary of {self.config.vocab_size} ids")
        raise ReviserError("a decoder reads at least one id")

    def truncate(self, length: int) -> None:
        """Forget everything after the first `length` ids; costs nothing."""
        with self._lock:
            if not 0 <= length <= self._length:
                raise ReviserError(f"{self._length} ids were read: they cannot be cut to {length}")
            self._length = length

    @property
    def step_bytes(self) -> int:
        """Bytes of weights that reading one id takes."""
        held: int = self._library.reviser_step_bytes(self._open)
        return held

    @property
    def held_bytes(self) -> int:
        """All bytes the decoder holds: weights, cache and working memory."""
        held: int = self._library.reviser_held_bytes(self._open)
        return held

    def start_profile(self) -> None:
        """Measure from here on; costs a hundredth of the speed."""
        with self._lock:
            self._library.reviser_profile(self._open, 1, None)

    def stop_profile(self) -> Profile:
        fields = native.ProfileFields()
        with self._lock:
            self._library.reviser_profile(self._open, 0, fields)
        return Profile(
            fields.steps,
            fields.total_ns / 1e9,
            fields.matrix_ns / 1e9,
            fields.attention_ns / 1e9,
            fields.prepare_ns / 1e9,
        )

    def close(self) -> None:
        if self._handle is not None:
            self._library.reviser_free(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _thread_count(wanted: int | None) -> int:
    if wanted is None and (setting := os.environ.get("REVISER_THREADS")):
        if not setting.isdecimal():
            raise ReviserError("REVISER_THREADS must be a number of threads")
        wanted = int(setting)
    if wanted is None:
        usable = (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        )
        # Memory is what a step waits for, and a few threads can use all of it.
        wanted = min(usable or 1, 8)
    if not 1 <= wanted <= 64:
        raise ReviserError("the number of threads must lie between 1 and 64")
    return wanted


def _level(loaded: ctypes.CDLL, wanted: str | None) -> str:
    wanted = wanted or os.environ.get("REVISER_LEVEL") or None
    found: bytes | None = loaded.reviser_level(wanted.encode() if wanted else None)
    if found is None:
        raise ReviserError(
            f"this processor has no level '{wanted}': choose from {', '.join(native.levels())}"
        )
    return found.decode()


def make_decoder(
    model: Reviser,
    bits: Bits = 4,
    *,
    threads: int | None = None,
    capacity: int | None = None,
) -> Decoder:
    """The fastest decoder for a model here: native on a processor, else the model in torch."""
    on_processor = model.embedding.weight.device.type == "cpu"
    if on_processor and native.available() and supports(model.config):
        return NativeDecoder.from_model(model, bits, threads=threads, capacity=capacity)
    from reviser.torch_policy import TorchDecoder

    return TorchDecoder(model, capacity)
