"""Optional conditioning on the canvas: the pooled canvas embedding and cross-attention to the canvas.

Which canvas does a position see? The paper adds the pooled canvas mu_t, of the canvas that action t
will act on, to every history position. Taken literally, each action needs a forward pass of its
own: one parallel teacher-forced pass would show early positions a later canvas, and no key or value
could be cached. Here position tau sees the canvas *as it stands after action tau*. Its output
predicts action tau + 1, so the predicting position sees exactly the paper's canvas, no position
ever sees a later one, and nothing computed at a position changes afterwards.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from reviser.model.config import ModelConfig

# Token representations held at once while canvases are read, in numbers (256 MB of fp32).
_CHUNK_NUMBERS = 1 << 26


@dataclass(frozen=True)
class CanvasBatch:
    """The canvas after each history id: `tokens` (rows, ids, length) and `lengths` (rows, ids).

    Tokens beyond a length are padding and may be any id of the vocabulary. The cursor marker, for
    models that use one, is placed among the tokens by the caller.
    """

    tokens: Tensor
    lengths: Tensor

    @classmethod
    def pack(cls, rows: Sequence[Sequence[Sequence[int]]], device: torch.device | str = "cpu") -> "CanvasBatch":
        """Pad nested lists: for each history row, for each of its ids, the canvas after it."""
        steps = max(len(row) for row in rows)
        longest = max((len(canvas) for row in rows for canvas in row), default=0)
        tokens = torch.zeros(len(rows), steps, longest, dtype=torch.int64)
        lengths = torch.zeros(len(rows), steps, dtype=torch.int64)
        for i, row in enumerate(rows):
            for j, canvas in enumerate(row):
                tokens[i, j, : len(canvas)] = torch.tensor(canvas, dtype=torch.int64)
                lengths[i, j] = len(canvas)
        return cls(tokens.to(device), lengths.to(device))


@dataclass(frozen=True)
class CanvasView:
    """The canvases as the layers of one forward pass read them."""

    canvas: CanvasBatch
    embedding: nn.Module
    positions: nn.Module
    pooled: Tensor | None = None

    def read(self, queries: Tensor) -> Tensor:
        """For each (rows, ids, queries, width) query, the softmax(query . z)-weighted mean of z.

        z_i = E[c_i] + P_canvas[i] stands for canvas token i; an empty canvas reads as zero. Every
        history position has its own canvas, so z for all of them at once is large: positions are
        taken in chunks, and training recomputes a chunk rather than keep it.
        """
        tokens, lengths = self.canvas.tokens, self.canvas.lengths
        chunks = math.ceil(tokens.numel() * queries.shape[-1] / _CHUNK_NUMBERS)
        if chunks <= 1:
            return self._read(queries, tokens, lengths)
        pieces = [
            checkpoint(self._read, *piece, use_reentrant=False, preserve_rng_state=False)
            for piece in zip(
                queries.chunk(chunks, dim=1), tokens.chunk(chunks, dim=1), lengths.chunk(chunks, dim=1), strict=True
            )
        ]
        return torch.cat(pieces, dim=1)

    def _read(self, queries: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
        index = torch.arange(tokens.shape[-1], device=tokens.device)
        z: Tensor = self.embedding(tokens) + self.positions(index)
        inside = index < lengths[:, :, None, None]
        scores = queries @ z.mT
        # The lowest finite score and a final product, since softmax over nothing but -inf is NaN.
        scores = scores.masked_fill(~inside, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1) * inside
        return weights.to(z.dtype) @ z


class CanvasEncoder(nn.Module):
    """The shared part of canvas conditioning: canvas positions, the pooling query and W_m."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.input = config.canvas_input
        self.pools = config.pools_canvas
        self.positions = nn.Embedding(config.canvas_length, config.width)
        if self.pools:
            self.query = nn.Parameter(torch.empty(config.width))
        if config.canvas_input == "linear":
            self.projection = nn.Linear(config.width, config.width, bias=False)

    def view(self, canvas: CanvasBatch, embedding: nn.Module) -> CanvasView:
        if canvas.tokens.shape[-1] > self.positions.num_embeddings:
            raise ValueError(
                f"A canvas of {canvas.tokens.shape[-1]} tokens is longer than the "
                f"{self.positions.num_embeddings} that this model can see."
            )
        view = CanvasView(canvas, embedding, self.positions)
        if not self.pools:
            return view
        query = self.query.expand(*canvas.lengths.shape, 1, -1)
        return CanvasView(canvas, embedding, self.positions, view.read(query).squeeze(2))

    def forward(self, x: Tensor, view: CanvasView) -> Tensor:
        """Add the pooled canvas to the inputs, where the configuration says so."""
        if self.input == "none":
            return x
        assert view.pooled is not None
        return x + (self.projection(view.pooled) if self.input == "linear" else view.pooled)


class ScalarGate(nn.Module):
    """A gate that is one learned number per layer."""

    def __init__(self) -> None:
        super().__init__()
        # Small, so that a pretrained trunk is hardly disturbed; not zero, so that the gated
        # weights learn from the first step.
        self.value = nn.Parameter(torch.tensor(0.1))

    def forward(self, x: Tensor) -> Tensor:
        return self.value


class GateMLP(nn.Module):
    """A gate in (0, 1) per position, computed from the hidden state there."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, max(1, width // 4))
        self.fc2 = nn.Linear(max(1, width // 4), 1)

    def forward(self, x: Tensor) -> Tensor:
        # Shifted so that the gate starts at 0.12, nearly closed as the scalar gate is.
        return torch.sigmoid(self.fc2(functional.gelu(self.fc1(x))) - 2.0)


def _gate(config: ModelConfig) -> nn.Module | None:
    if config.cross_gate == "none":
        return None
    return ScalarGate() if config.cross_gate == "scalar" else GateMLP(config.width)


class PooledCross(nn.Module):
    """Cross-attention to a memory whose rows are all the pooled canvas.

    Equal keys get equal weight whatever the query, so the attention is exactly W_V mu and the
    paper's W_Q and W_K would be parameters without effect or gradient: they are left out.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.v = nn.Linear(config.width, config.width, bias=False)
        self.gate = _gate(config)

    def forward(self, x: Tensor, view: CanvasView) -> Tensor:
        out: Tensor = self.v(view.pooled)
        return out if self.gate is None else self.gate(x) * out


class TokenCross(nn.Module):
    """Cross-attention to the representations z of the canvas tokens.

    Each position has its own canvas, so projecting keys and values would cost two width x width
    products per canvas token per position. Since q . (W_K z) = (W_K^T q) . z and values are linear
    too, both matrices are applied on the query's side instead: the same numbers for far less work.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads, self.head_dim = config.heads, config.head_dim
        per_head = (config.heads, config.head_dim, config.width)
        self.q = nn.Linear(config.width, config.width, bias=False)
        self.k = nn.Parameter(torch.empty(per_head))
        self.v = nn.Parameter(torch.empty(per_head))
        self.o = nn.Linear(config.width, config.width, bias=False)
        self.gate = _gate(config)

    def forward(self, x: Tensor, view: CanvasView) -> Tensor:
        q = self.q(x).unflatten(-1, (self.heads, self.head_dim)) / math.sqrt(self.head_dim)
        read = view.read(torch.einsum("bthe,hed->bthd", q, self.k))
        out: Tensor = self.o(torch.einsum("bthd,hed->bthe", read, self.v).flatten(-2))
        return out if self.gate is None else self.gate(x) * out


def cross_attention(config: ModelConfig) -> nn.Module:
    return PooledCross(config) if config.cross_memory == "pooled" else TokenCross(config)
