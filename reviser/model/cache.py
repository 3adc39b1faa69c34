"""The key/value cache: preallocated, with one length per row; rows can be shortened, selected and copied."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from reviser.model.config import ModelConfig


@dataclass(frozen=True)
class PassSpan:
    """The place of one forward pass in the history, computed once and used by every layer.

    `positions` (rows or 1, ids) holds rotary positions. `mask` (rows or 1, 1, ids, window) is true where a query may
    attend; None lets it attend to the whole window. `causal` means the ids attend to one another alone, with nothing
    cached before them, which has the fastest kernels. `slots` says where keys and values are written: a slice when all
    rows stand at the same length, else (row, column, slot) triples, which leave a row's padding unwritten. `histories`
    replaces the mask where rows hold several histories: the first and the last place of each id's history, both (rows,
    ids).
    """

    positions: Tensor
    mask: Tensor | None
    causal: bool
    window: int
    slots: slice | tuple[Tensor, Tensor, Tensor]
    histories: tuple[Tensor, Tensor] | None = None


def fresh_span(length: int, device: torch.device) -> PassSpan:
    """The span of a history read from its start: training, scoring, the first prefill."""
    positions = torch.arange(length, device=device)[None]
    return PassSpan(positions, mask=None, causal=True, window=length, slots=slice(0, length))


def packed_span(positions: Tensor, kernels: bool) -> PassSpan:
    """The span of rows that hold several histories each, for training.

    `positions` (rows, ids) starts at 0 for each history, and stays 0 where there is padding: ids attend to earlier ones
    of their own history alone. `kernels` says whether there are kernels for such attention.
    """
    length = positions.shape[1]
    place = torch.arange(length, device=positions.device)
    firsts = place - positions
    whole = slice(0, length)
    if not kernels:
        mask = ((place >= firsts[..., None]) & (place <= place[:, None]))[:, None]
        return PassSpan(positions, mask, False, length, whole)
    return PassSpan(positions, None, False, length, whole, history_bounds(firsts))


def history_bounds(firsts: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the last place of each id's history, given the first."""
    # Histories lie one after the other, so those of a row are sorted.
    lasts = torch.searchsorted(firsts, firsts, right=True) - 1
    return firsts.to(torch.int32), lasts.to(torch.int32)


class KVCache:
    """Keys and values of histories seen so far, one row per history.

    Lengths live on the host, so no step waits for the device to learn where it is. Rows may have
    different lengths; whatever lies beyond a row's length is stale and never attended to.
    Layers are separate tensors because a compiled step updates each in place.
    """

    def __init__(
        self,
        config: ModelConfig,
        batch: int,
        capacity: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        if not 1 <= capacity <= config.context:
            raise ValueError(f"A cache for this model holds 1 to {config.context} ids, not {capacity}.")
        self.capacity = capacity
        self.lengths = [0] * batch
        shape = (batch, config.kv_heads, capacity, config.head_dim)
        # Zeros, not empty: a masked slot still enters the weighted sum, and 0 times NaN is NaN.
        self.keys = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(config.layers)]
        self.values = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(config.layers)]

    @property
    def batch(self) -> int:
        return len(self.lengths)

    @property
    def device(self) -> torch.device:
        return self.keys[0].device

    def truncate(self, length: int | Sequence[int]) -> None:
        """Forget everything after `length` ids, in every row or row by row; costs no time."""
        lengths = [length] * self.batch if isinstance(length, int) else list(length)
        if len(lengths) != self.batch:
            raise ValueError(f"{len(lengths)} lengths were given for {self.batch} cached rows.")
        for row, (new, held) in enumerate(zip(lengths, self.lengths, strict=True)):
            if not 0 <= new <= held:
                raise ValueError(f"Row {row} holds {held} ids and cannot be cut to {new}.")
        self.lengths = lengths

    def select(self, rows: Sequence[int]) -> None:
        """Keep these rows, in this order; a row named twice is copied, so one prompt can fork."""
        for row in rows:
            if not 0 <= row < self.batch:
                raise ValueError(f"The cache has {self.batch} rows and no row {row}.")
        index = torch.tensor(list(rows), dtype=torch.int64, device=self.device)
        self.lengths = [self.lengths[row] for row in rows]
        for layer in range(len(self.keys)):
            self.keys[layer] = self.keys[layer].index_select(0, index)
            self.values[layer] = self.values[layer].index_select(0, index)

    def tensors(self) -> list[Tensor]:
        """All tensors of the cache, keys and values of each layer: (rows, kv_heads, slots, head_dim)."""
        return [*self.keys, *self.values]

    def first(self, rows: int, capacity: int) -> "KVCache":
        """The first rows and slots as a cache of their own on the same memory, for `decode_static`."""
        part = copy.copy(self)
        part.capacity = capacity
        part.lengths = self.lengths[:rows]
        part.keys = [key[:rows, :, :capacity] for key in self.keys]
        part.values = [value[:rows, :, :capacity] for value in self.values]
        return part

    def positions(self) -> Tensor:
        """The slot each row writes next, as a device tensor for `decode_static`."""
        return torch.tensor(self.lengths, dtype=torch.int64, device=self.device)

    def advance(self, counts: int | Sequence[int] = 1) -> None:
        """Add ids that a forward pass has written to the rows' lengths; `decode_static` leaves this to callers."""
        counts = [counts] * self.batch if isinstance(counts, int) else counts
        lengths = [held + new for held, new in zip(self.lengths, counts, strict=True)]
        if max(lengths, default=0) > self.capacity:
            raise ValueError(f"The cache holds {self.capacity} ids and row lengths are {lengths}.")
        self.lengths = lengths

    def span(self, counts: Sequence[int]) -> PassSpan:
        """Place `counts[row]` new ids after each row; shorter rows are padded on the right."""
        width = max(counts)
        starts = self.lengths
        ends = [start + count for start, count in zip(starts, counts, strict=True)]
        window = max(ends)
        if window > self.capacity:
            raise ValueError(f"The cache holds {self.capacity} ids and {window} are needed.")
        uniform = len(set(starts)) == 1 and len(set(counts)) == 1

        if uniform:
            positions = torch.arange(starts[0], ends[0], device=self.device)[None]
            slots: slice | tuple[Tensor, Tensor, Tensor] = slice(starts[0], ends[0])
        else:
            # Padding repeats its row's last position, which keeps it inside the rotary table.
            positions = torch.tensor(
                [
                    [start + min(column, count - 1) for column in range(width)]
                    for start, count in zip(starts, counts, strict=True)
                ],
                device=self.device,
            )
            written = torch.tensor(
                [
                    (row, column, start + column)
                    for row, (start, count) in enumerate(zip(starts, counts, strict=True))
                    for column in range(count)
                ],
                device=self.device,
            )
            slots = (written[:, 0], written[:, 1], written[:, 2])

        if max(starts) == 0:
            # Padding is on the right, where no real id looks: plain causal attention is exact.
            return PassSpan(positions, mask=None, causal=True, window=window, slots=slots)
        if uniform and width == 1:
            return PassSpan(positions, mask=None, causal=False, window=window, slots=slots)
        return PassSpan(positions, self._mask(positions, window), False, window, slots)

    def static_span(self, positions: Tensor) -> PassSpan:
        """Place one id per row at `positions` with shapes that never change, for compilation."""
        rows = torch.arange(positions.shape[0], device=positions.device)
        slots = (rows, torch.zeros_like(rows), positions)
        mask = self._mask(positions[:, None], self.capacity)
        return PassSpan(positions[:, None], mask, False, self.capacity, slots)

    def _mask(self, positions: Tensor, window: int) -> Tensor:
        return torch.arange(window, device=self.device) <= positions[:, None, :, None]

    def write(self, layer: int, key: Tensor, value: Tensor, span: PassSpan) -> tuple[Tensor, Tensor]:
        """Store keys and values (batch, kv_heads, ids, head_dim); returns all that the queries attend to."""
        keys, values = self.keys[layer], self.values[layer]
        if isinstance(span.slots, slice):
            keys[:, :, span.slots] = key
            values[:, :, span.slots] = value
        else:
            rows, columns, slots = span.slots
            keys[rows, :, slots] = key[rows, :, columns].to(keys.dtype)
            values[rows, :, slots] = value[rows, :, columns].to(values.dtype)
        if span.causal:
            return key, value
        return keys[:, :, : span.window], values[:, :, : span.window]
