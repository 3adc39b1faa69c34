"""Tensor layout: the tensors of a model, and how its matrices are stored when quantised; needs no torch.

A quantised matrix `name` is stored as tensors `name.codes` (two codes a byte at four bits: column i of a group in the
low half, column i + 16 in the high half), `name.row_scales` and, at four bits, `name.scales`, `name.minima` and
`name.row_minima`. Columns are padded with zeros to whole groups. Other tensors are stored unchanged.

`reviser.model.quantised` says what these numbers mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final, Literal, TypeVar

from reviser.model.config import ModelConfig

Bits = Literal[4, 8, 32]
T = TypeVar("T")
GROUP: Final = 32
TABLES: Final = ("embedding.weight", "head.weight")
_PARTS: Final = ("values", "codes", "row_scales", "scales", "row_minima", "minima")


@dataclass(frozen=True, slots=True)
class Quantisation:
    """The number of bits of a weight; `table_bits` is for the embedding and the output.

    Those two lose much quality at four bits.
    """

    bits: Literal[4, 8]
    table_bits: Literal[4, 8] = 8

    def to_dict(self) -> dict[str, int]:
        return {"bits": self.bits, "table_bits": self.table_bits}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Quantisation:
        known = ("bits", "table_bits")
        if set(values) != set(known):
            raise ValueError(f"It must have {' and '.join(known)}, and nothing else.")
        for name in known:
            if type(values[name]) is not int or values[name] not in (4, 8):
                raise ValueError(f"{name} must be 4 or 8, not {values[name]!r}.")
        return cls(**values)

    def bits_for(self, matrix: str) -> Literal[4, 8]:
        return self.table_bits if matrix in TABLES else self.bits

    def __str__(self) -> str:
        if self.bits == self.table_bits:
            return f"{self.bits} bits"
        return f"{self.bits} bits (embedding {self.table_bits})"


@dataclass(frozen=True, slots=True)
class QuantisedTensor:
    """A tensor of a quantised model: its shape, and its type as safetensors names it."""

    shape: tuple[int, ...]
    dtype: str


def matrix_shapes(config: ModelConfig) -> dict[str, tuple[int, int]]:
    """The matrices of a model without canvas conditioning, as (rows, columns)."""
    width, ff = config.width, config.ff
    kv_width = config.kv_heads * config.head_dim
    block = {
        "attention.q": (width, width),
        "attention.k": (kv_width, width),
        "attention.v": (kv_width, width),
        "attention.o": (width, width),
    }
    if config.kind == "paper":
        block |= {"mlp.fc1": (ff, width), "mlp.fc2": (width, ff)}
    else:
        block |= {"mlp.gate": (ff, width), "mlp.up": (ff, width), "mlp.down": (width, ff)}
    tables = TABLES[:1] if config.tied else TABLES
    return dict.fromkeys(tables, (config.vocab_size, width)) | {
        f"blocks.{layer}.{part}.weight": shape for layer in range(config.layers) for part, shape in block.items()
    }


def vector_sizes(config: ModelConfig) -> dict[str, int]:
    """The vectors of a model without canvas conditioning: its norms and, in the paper kind, biases."""
    norms = ["final_norm"]
    sizes = {}
    for layer in range(config.layers):
        norms += [f"blocks.{layer}.attention_norm", f"blocks.{layer}.mlp_norm"]
        if config.kind == "paper":
            sizes[f"blocks.{layer}.mlp.fc1.bias"] = config.ff
            sizes[f"blocks.{layer}.mlp.fc2.bias"] = config.width
    kinds = ("weight", "bias") if config.kind == "paper" else ("weight",)
    return sizes | {f"{norm}.{kind}": config.width for norm in norms for kind in kinds}


def tensor_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Every tensor of a model in full precision, canvas conditioning included."""
    vectors = {name: (size,) for name, size in vector_sizes(config).items()}
    return matrix_shapes(config) | vectors | _canvas_shapes(config)


def _canvas_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """The tensors of canvas conditioning; none without it."""
    if not config.uses_canvas:
        return {}
    square = (config.width, config.width)
    shapes: dict[str, tuple[int, ...]] = {"canvas.positions.weight": (config.canvas_length, config.width)}
    if config.pools_canvas:
        shapes["canvas.query"] = (config.width,)
    if config.canvas_input == "linear":
        shapes["canvas.projection.weight"] = square
    if config.cross_memory == "pooled":
        cross: dict[str, tuple[int, ...]] = {"cross.v.weight": square}
    else:
        per_head = (config.heads, config.head_dim, config.width)
        cross = {"cross.q.weight": square, "cross.k": per_head, "cross.v": per_head}
        cross["cross.o.weight"] = square
    if config.cross_gate == "scalar":
        cross["cross.gate.value"] = ()
    elif config.cross_gate == "mlp":
        hidden = max(1, config.width // 4)
        cross |= {"cross.gate.fc1.weight": (hidden, config.width), "cross.gate.fc1.bias": (hidden,)}
        cross |= {"cross.gate.fc2.weight": (1, hidden), "cross.gate.fc2.bias": (1,)}
    if config.cross_reads_history:
        kinds = ("weight", "bias") if config.kind == "paper" else ("weight",)
        cross |= {f"cross_norm.{kind}": (config.width,) for kind in kinds}
    return shapes | {
        f"blocks.{layer}.{part}": shape
        for layer in range(config.layers - config.cross_layers, config.layers)
        for part, shape in cross.items()
    }


def matrix_parts(rows: int, columns: int, bits: Bits) -> dict[str, QuantisedTensor]:
    """The tensors that store a matrix of that size.

    The scales of rows are rounded to the range and precision of bfloat16 before anything is derived from them, so a
    file that stores them in two bytes has them exactly.
    """
    groups = -(-columns // GROUP)
    if bits == 32:
        return {"values": QuantisedTensor((rows, groups * GROUP), "F32")}
    row_scales = {"row_scales": QuantisedTensor((rows,), "BF16")}
    if bits == 8:
        return {"codes": QuantisedTensor((rows, groups * GROUP), "I8")} | row_scales
    return {
        "codes": QuantisedTensor((rows, groups * GROUP // 2), "U8"),
        "scales": QuantisedTensor((rows, groups), "U8"),
        "minima": QuantisedTensor((rows, groups), "U8"),
        "row_minima": QuantisedTensor((rows,), "BF16"),
    } | row_scales


def quantised_tensors(config: ModelConfig, quantisation: Quantisation) -> dict[str, QuantisedTensor]:
    """Every tensor of a quantised model."""
    vectors = {name: QuantisedTensor((size,), "F32") for name, size in vector_sizes(config).items()}
    return vectors | {
        f"{name}.{part}": kept
        for name, shape in matrix_shapes(config).items()
        for part, kept in matrix_parts(*shape, quantisation.bits_for(name)).items()
    }


def weight_count(config: ModelConfig) -> int:
    """The number of parameters of a model without canvas conditioning."""
    matrices = sum(prod(shape) for shape in matrix_shapes(config).values())
    return matrices + sum(vector_sizes(config).values())


def parts_of(tensors: Mapping[str, T], name: str) -> dict[str, T]:
    """The tensors of one matrix, by part, among a model's tensors."""
    parts = {part: tensors[f"{name}.{part}"] for part in _PARTS if f"{name}.{part}" in tensors}
    if not parts:
        raise ValueError(f"The quantised matrix '{name}' is missing.")
    return parts


def bits_of(parts: Mapping[str, object]) -> Bits:
    """The number of bits of a weight in a matrix of these parts."""
    if "values" in parts:
        return 32
    return 4 if "scales" in parts else 8
