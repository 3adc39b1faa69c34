"""The C library behind ctypes: its path, structures and functions."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = "_kernels.so"
"""The library's file in this folder; `setup.py` builds it."""
# Must equal REVISER_NATIVE_VERSION: an old build beside newer Python is not used.
VERSION: Final = 9
LEVELS: Final = ("amx", "vnni", "avxvnni", "avx2", "neon", "portable")

MATRICES: Final = ("embedding", "head", "q", "k", "v", "o", "gate", "up", "down")
VECTORS: Final = (
    "attention_norm.weight",
    "attention_norm.bias",
    "mlp_norm.weight",
    "mlp_norm.bias",
    "up.bias",
    "down.bias",
    "final_norm.weight",
    "final_norm.bias",
)
KINDS: Final = ("llama", "paper")

OK, NO_MEMORY, NO_ROOM, BAD_ID, BAD_VALUE = range(5)
MOST_ROWS: Final = 128
"""Histories that can be read together, at the most."""


class ShapeStruct(ctypes.Structure):
    _fields_ = [
        *((name, c_int32) for name in ("kind", "vocab", "layers", "width", "heads", "kv_heads")),
        *((name, c_int32) for name in ("ff", "capacity", "tied")),
        ("norm_eps", c_float),
        *((name, c_int32) for name in ("bits", "table_bits", "threads")),
    ]


class RowsStruct(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("codes", "scales", "minima", "row_scales", "row_minima")]


class ProfileFields(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in ("steps", "total_ns", "matrix_ns", "attention_ns", "prepare_ns")]


class Ranked(ctypes.Structure):
    _fields_ = [("id", c_int64), ("value", c_double)]


class ChoosingStruct(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("scores", "allowed", "candidates")),
        ("picked", Ranked),
        *((name, c_double) for name in ("temperature", "top_p", "min_p", "power", "odds")),
        *((name, c_int32) for name in ("count", "wanted", "first_move", "end_of_moves")),
    ]


class ChoicesStruct(ctypes.Structure):
    _fields_ = [
        ("insertable", c_void_p),
        *((name, c_int32) for name in ("tokens", "delete_id", "stop_id", "common")),
        ("enough", c_double),
    ]


class ChoiceScoresStruct(ctypes.Structure):
    _fields_ = [
        *((name, c_double) for name in ("expected", "delete", "stop")),
        *((name, c_double) for name in ("first_chance", "second_chance")),
        *((name, c_int32) for name in ("first", "second")),
    ]


class Questions(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("starts", "ids", "chances")]


def library() -> ctypes.CDLL | None:
    """The library, or None if it was not built, is out of date or is switched off."""
    found = _load()
    return None if isinstance(found, str) else found


def why_missing() -> str:
    """Why the library cannot be used, in a few words; empty where it can be."""
    found = _load()
    return found if isinstance(found, str) else ""


@cache
def _load() -> ctypes.CDLL | str:
    """The library, or the reason why it cannot be used."""
    if os.environ.get("REVISER_NATIVE") == "0":
        return "REVISER_NATIVE=0 switches them off"
    path = Path(os.environ.get("REVISER_NATIVE_LIBRARY") or Path(__file__).parent / FILE)
    if not path.exists():
        return "this package was built without a C compiler"
    try:
        loaded = ctypes.CDLL(str(path))
        if loaded.reviser_version() != VERSION:
            return f"{path} is of another version"
        return _declare(loaded)
    except (OSError, AttributeError) as error:
        return f"{path} cannot be loaded: {error}"


def _declare(loaded: ctypes.CDLL) -> ctypes.CDLL:
    signatures: dict[str, tuple[object, list[object]]] = {
        "reviser_level": (c_char_p, [c_char_p]),
        "reviser_create": (c_void_p, [POINTER(ShapeStruct), c_char_p]),
        "reviser_free": (None, [c_void_p]),
        "reviser_set_matrix": (c_int, [c_void_p, c_int, c_int, POINTER(RowsStruct)]),
        "reviser_set_vector": (c_int, [c_void_p, c_int, c_int, c_void_p]),
        "reviser_set_rotary": (c_int, [c_void_p, c_void_p, c_void_p]),
        "reviser_read": (c_int, [c_void_p, c_int, c_void_p, c_int, c_void_p]),
        "reviser_read_one": (c_int, [c_void_p, c_int, c_int32, c_void_p]),
        "reviser_batch_create": (c_void_p, [c_void_p, c_int, c_int, c_int]),
        "reviser_batch_free": (None, [c_void_p]),
        "reviser_batch_read": (c_int, [c_void_p, c_int, *[c_void_p] * 5]),
        "reviser_batch_outlooks": (
            c_int,
            [c_void_p, c_int, *[c_void_p] * 6, POINTER(ChoicesStruct), c_void_p, POINTER(Questions)],
        ),
        "reviser_choose": (c_int, [c_void_p, c_int, c_double]),
        "reviser_step_bytes": (c_int64, [c_void_p]),
        "reviser_held_bytes": (c_int64, [c_void_p]),
        "reviser_profile": (None, [c_void_p, c_int, POINTER(ProfileFields)]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def available() -> bool:
    """Whether the library can be used here."""
    return library() is not None


def slow_notice() -> str:
    """A sentence for users whose models run slowly because the library is missing; empty otherwise."""
    reason = why_missing()
    return f"compiled kernels are missing, so models run slowly, in torch: {reason}" if reason else ""


def levels() -> tuple[str, ...]:
    """The instruction sets that this processor and the library both have, best first."""
    loaded = library()
    if loaded is None:
        return ()
    return tuple(level for level in LEVELS if loaded.reviser_level(level.encode()))
