"""Tables of rotary positions; needs no torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reviser.model.config import ModelConfig

Table = NDArray[np.float32]


def rope_tables(config: ModelConfig, positions: int) -> tuple[Table, Table]:
    """Cosine and sine of the first `positions` (rows) by frequency (columns, half a head of them).

    Frequencies and angles are rounded to single precision, as models are trained with them; the rest is computed in
    double precision, so that every machine has the same tables.
    """
    even = np.arange(0, config.head_dim, 2, dtype=np.float64)
    frequency = (config.rope_theta ** (-even / config.head_dim)).astype(np.float32)
    angle = np.outer(np.arange(positions, dtype=np.float32), frequency).astype(np.float64)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
