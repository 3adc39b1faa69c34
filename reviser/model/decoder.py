"""The decoder: a Transformer that reads an edit history and scores the next action.

Parameters, for importers and exporters (N counts layers; every Linear is (out, in)):

    embedding.weight                           (vocab, width), also the output when tied
    blocks.N.attention_norm.weight, .bias      .bias in the paper kind only, as in every norm
    blocks.N.attention.{q,k,v,o}.weight        no biases; rotate-half RoPE layout (not interleaved)
    blocks.N.mlp_norm.weight, .bias
    blocks.N.mlp.{fc1,fc2}.{weight,bias}       paper kind
    blocks.N.mlp.{gate,up,down}.weight         llama kind
    final_norm.weight, .bias
    head.weight                                (vocab, width), untied only

and, where the configuration turns canvas conditioning on:

    canvas.positions.weight                    (canvas_length, width)
    canvas.query                               (width,), where the canvas is pooled
    canvas.projection.weight                   canvas_input "linear"
    blocks.N.cross_norm.weight, .bias          the last `cross_layers` layers, as all below;
                                               not for cross_memory "pooled" without a gate MLP
    blocks.N.cross.v.weight                    cross_memory "pooled"
    blocks.N.cross.{q,o}.weight                cross_memory "tokens"
    blocks.N.cross.{k,v}                       cross_memory "tokens", (heads, head_dim, width)
    blocks.N.cross.gate.value                  cross_gate "scalar"
    blocks.N.cross.gate.{fc1,fc2}.{weight,bias}    cross_gate "mlp"
"""

import dataclasses
import math
from collections.abc import Sequence
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.nn import functional

from reviser.model.cache import KVCache, PassSpan, fresh_span, packed_span
from reviser.model.conditioning import CanvasBatch, CanvasEncoder, CanvasView, cross_attention
from reviser.model.config import ModelConfig
from reviser.model.rotary import rope_tables

# Without Triton, which not every build of torch brings along, training is slower and the same.
_TRITON = find_spec("triton") is not None


def has_kernels(device: torch.device) -> bool:
    """Whether the Triton kernels for training (`packed`, `fused`) run on this device."""
    return _TRITON and device.type == "cuda"


Found = tuple[Tensor, Tensor | None]
"""The output of a part of a layer, to be added to the residual stream, and its bias."""


def _norm(config: ModelConfig) -> nn.LayerNorm | nn.RMSNorm:
    kind = nn.LayerNorm if config.kind == "paper" else nn.RMSNorm
    return kind(config.width, eps=config.norm_eps)


def _rope_tables(config: ModelConfig) -> tuple[Tensor, Tensor]:
    # Arrays ignore torch's default device, so a model built on the meta device, to have its weights
    # assigned, still has real tables.
    cos, sin = map(torch.from_numpy, rope_tables(config, config.context))
    # Turning (a, b) gives (a cos - b sin, b cos + a sin), where b is a's partner half a head away:
    # with the minus kept in the table, that is x cos + roll(x) sin.
    return torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin).to(x.dtype)


def _to_learn(module: nn.Module) -> bool:
    return module.training and torch.is_grad_enabled()


def _on_gpu_to_learn(module: nn.Module, x: Tensor) -> bool:
    """Whether this pass uses the training kernels (see `fused`)."""
    return has_kernels(x.device) and _to_learn(module)


def _project(x: Tensor, *layers: nn.Linear) -> Sequence[Tensor]:
    """The outputs of several linear layers for the same input."""
    if _to_learn(layers[0]):
        return torch.split(_joined(x, *layers), [layer.out_features for layer in layers], dim=-1)
    return [layer(x) for layer in layers]


def _joined(x: Tensor, *layers: nn.Linear) -> Tensor:
    """The same outputs side by side, from one large product, which reads its input and writes its gradient once."""
    return functional.linear(x, torch.cat([layer.weight for layer in layers]))


class Attention(nn.Module):
    """Causal self-attention over the history, grouped when there are fewer key/value heads."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.head_dim = config.head_dim
        self.grouped = config.kv_heads != config.heads
        self.dropout = config.dropout
        kv_width = config.kv_heads * config.head_dim
        self.q = nn.Linear(config.width, config.width, bias=False)
        self.k = nn.Linear(config.width, kv_width, bias=False)
        self.v = nn.Linear(config.width, kv_width, bias=False)
        self.o = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: Tensor, rope: tuple[Tensor, Tensor], span: PassSpan, cache: KVCache | None) -> Tensor:
        if span.histories is not None:
            from reviser.model.kernels.packed import packed_attention

            # It has no dropout of its own; the residual dropout remains.
            qkv = _joined(x, self.q, self.k, self.v)
            heads, kv_heads = (layer.out_features // self.head_dim for layer in (self.q, self.k))
            found: Tensor = self.o(packed_attention(qkv, rope, span.histories, heads, kv_heads))
            return found
        by_head = (*x.shape[:2], -1, self.head_dim)
        q, k, v = (part.view(by_head).transpose(1, 2) for part in _project(x, self.q, self.k, self.v))
        q, k = rotate(q, *rope), rotate(k, *rope)
        if cache is not None:
            k, v = cache.write(self.layer, k, v, span)
        y = self._attend(q, k, v, span)
        out: Tensor = self.o(y.transpose(1, 2).flatten(-2))
        return out

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, span: PassSpan) -> Tensor:
        if self.grouped and q.shape[2] == 1 and not span.causal:
            # The heads of a group ask the same keys: as several queries of one head, they need no
            # copies of these, which the kernels that take a mask would make.
            together = q.reshape(q.shape[0], k.shape[1], -1, self.head_dim)
            y = functional.scaled_dot_product_attention(together, k, v, attn_mask=span.mask)
            return y.reshape(q.shape)
        return functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=span.mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=span.causal,
            enable_gqa=self.grouped,
        )


class GeluMLP(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config.width, config.ff)
        self.fc2 = nn.Linear(config.ff, config.width)

    def forward(self, x: Tensor) -> Tensor:
        if _on_gpu_to_learn(self, x):
            found, bias = self.learn(x)
            return found + bias
        out: Tensor = self.fc2(functional.gelu(self.fc1(x)))
        return out

    def learn(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The output without its bias, and a copy of the bias, to be added later."""
        from reviser.model.kernels.fused import gelu

        hidden = gelu(functional.linear(x, self.fc1.weight), self.fc1.bias)
        return functional.linear(hidden, self.fc2.weight), self.fc2.bias.clone()


class SwigluMLP(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(config.width, config.ff, bias=False)
        self.up = nn.Linear(config.width, config.ff, bias=False)
        self.down = nn.Linear(config.ff, config.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(self._gated(x))
        return out

    def learn(self, x: Tensor) -> tuple[Tensor, None]:
        return self(x), None

    def _gated(self, x: Tensor) -> Tensor:
        if _on_gpu_to_learn(self, x):
            from reviser.model.kernels.fused import gated

            return gated(_joined(x, self.gate, self.up))
        gate, up = _project(x, self.gate, self.up)
        return functional.silu(gate) * up


class DecoderLayer(nn.Module):
    """Pre-norm residual layer: self-attention, perhaps canvas cross-attention, MLP."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.attention_norm = _norm(config)
        self.attention = Attention(config, layer)
        self.has_cross = layer >= config.layers - config.cross_layers
        if self.has_cross:
            self.cross_norm = _norm(config) if config.cross_reads_history else nn.Identity()
            self.cross = cross_attention(config)
        self.mlp_norm = _norm(config)
        self.mlp = GeluMLP(config) if config.kind == "paper" else SwigluMLP(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        rope: tuple[Tensor, Tensor],
        span: PassSpan,
        cache: KVCache | None,
        view: CanvasView | None,
        found: Found | None = None,
        seeds: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Found]:
        """The residual stream after this layer.

        `found` is the output of the part before, not yet added to the stream; both are then returned so after this
        layer. Training on a GPU uses this, since one kernel adds, drops out and normalises. The seeds decide what is
        dropped.
        """
        if found is not None and seeds is not None:
            return self._learn(x, found, rope, span, seeds)
        x = self._add(x, self.attention(self.attention_norm(x), rope, span, cache))
        if self.has_cross:
            x = self._add(x, self.cross(self.cross_norm(x), view))
        return self._add(x, self.mlp(self.mlp_norm(x)))

    def _learn(
        self, x: Tensor, found: Found, rope: tuple[Tensor, Tensor], span: PassSpan, seeds: Tensor
    ) -> tuple[Tensor, Found]:
        from reviser.model.kernels.fused import add_norm

        share = self.dropout.p
        x, normed = add_norm(x, *found, self.attention_norm, seeds, 0, share)
        attended = self.attention(normed, rope, span, None)
        x, normed = add_norm(x, attended, None, self.mlp_norm, seeds, 1, share)
        return x, self.mlp.learn(normed)

    def _add(self, x: Tensor, found: Tensor) -> Tensor:
        """The residual stream plus the output of a part of the layer, with dropout."""
        out: Tensor = x + self.dropout(found)
        return out


class Reviser(nn.Module):
    """Scores the next action after every id of a history.

    `model(ids)` is the training pass. With a `KVCache`, `prefill` takes several ids a row and
    `decode` one, and both return the scores after the last id only. Models conditioned on the
    canvas take a `CanvasBatch` beside the ids: the canvas after each of them.

    To load weights without first drawing random ones, build under `torch.device("meta")` and use
    `load_state_dict(weights, assign=True)`.
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.canvas = CanvasEncoder(config) if config.uses_canvas else None
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(DecoderLayer(config, layer) for layer in range(config.layers))
        self.final_norm = _norm(config)
        self.head = None if config.tied else nn.Linear(config.width, config.vocab_size, bias=False)
        cos, sin = _rope_tables(config)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        # Each layer adds two terms to the residual stream (a cross layer, three); scaling the
        # last matrix of each keeps the stream's variance from growing with depth.
        residual = 0.02 / math.sqrt(2 * self.config.layers)
        last_matrices = ("attention.o", "cross.o", "cross.v", "mlp.fc2", "mlp.down")
        for name, parameter in self.named_parameters():
            owner = name.rpartition(".")[0]
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.ndim > 1 or name == "canvas.query":
                std = residual if owner.endswith(last_matrices) else 0.02
                nn.init.normal_(parameter, std=std)

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> KVCache:
        """An empty cache in the model's precision and place, as long as its context by default."""
        length = self.config.context if capacity is None else capacity
        return KVCache(self.config, batch, length, self.cos.dtype, self.cos.device)

    def hidden(
        self,
        ids: Tensor,
        *,
        cache: KVCache | None = None,
        canvas: CanvasBatch | None = None,
        counts: Sequence[int] | None = None,
    ) -> Tensor:
        """Final normalised states (rows, ids, width): `logits` without the vocabulary product.

        With a cache, `ids` continue its rows; `counts` says how many ids of each row are real when
        rows are padded on the right.
        """
        if cache is None:
            if ids.shape[1] > self.config.context:
                raise ValueError(f"A history of {ids.shape[1]} ids exceeds the context of {self.config.context}.")
            return self._trunk(ids, fresh_span(ids.shape[1], ids.device), None, canvas)
        counts = [ids.shape[1]] * ids.shape[0] if counts is None else list(counts)
        rows_match = ids.shape[0] == len(counts) == cache.batch
        if not rows_match or max(counts) != ids.shape[1] or min(counts) < 1:
            raise ValueError(
                f"Ids of shape {tuple(ids.shape)} with counts {counts} do not fit a cache of "
                f"{cache.batch} rows: each row needs an id, and the longest row all columns."
            )
        states = self._trunk(ids, cache.span(counts), cache, canvas)
        cache.advance(counts)
        return states

    def hidden_packed(self, ids: Tensor, positions: Tensor) -> Tensor:
        """`hidden` for training rows that hold several histories each (see `packed_span`)."""
        fits = self.config.head_dim in (16, 32, 64, 128)
        kernels = fits and has_kernels(ids.device)
        return self._trunk(ids, packed_span(positions, kernels), None, None)

    def _trunk(self, ids: Tensor, span: PassSpan, cache: KVCache | None, canvas: CanvasBatch | None) -> Tensor:
        if cache is not None and torch.is_grad_enabled():
            raise RuntimeError("A cached pass has no gradients: run it under torch.no_grad().")
        x: Tensor = self.embedding(ids)
        if torch.is_autocast_enabled(x.device.type):
            # Otherwise the residual stream would stay in single precision, at twice the traffic.
            x = x.to(torch.get_autocast_dtype(x.device.type))
        view = self._view(ids, canvas)
        if self.canvas is not None:
            x = self.canvas(x, view)
        rope = self.cos, self.sin
        if span.histories is None:
            rope = self.cos[span.positions].unsqueeze(1), self.sin[span.positions].unsqueeze(1)
        if self.canvas is None and _on_gpu_to_learn(self, x):
            return self._learn(x, rope, span)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, rope, span, cache, view)
        states: Tensor = self.final_norm(x)
        return states

    def _learn(self, embedded: Tensor, rope: tuple[Tensor, Tensor], span: PassSpan) -> Tensor:
        """The final states from embeddings; each part's output is added to the stream where the next part begins."""
        from reviser.model.kernels.fused import add_norm

        x = torch.zeros_like(embedded)
        # Every layer is given the same things, so that one compiled serves them all.
        biased = self.config.kind == "paper"
        found: Found = embedded, embedded.new_zeros(embedded.shape[-1]) if biased else None
        layers = (len(self.blocks) + 1, 2)
        seeds = torch.randint(2**31 - 1, layers, device=x.device).unbind()
        for block, chosen in zip(self.blocks, seeds[:-1], strict=True):
            x, found = block(x, rope, span, None, None, found, chosen)
        _, states = add_norm(x, *found, self.final_norm, seeds[-1], 0, self.dropout.p)
        return states

    def _view(self, ids: Tensor, canvas: CanvasBatch | None) -> CanvasView | None:
        if self.canvas is None:
            if canvas is not None:
                raise ValueError("This model sees the history alone and takes no canvas.")
            return None
        if canvas is None:
            raise ValueError("This model is conditioned on the canvas: pass one for each id.")
        if canvas.tokens.shape[:2] != ids.shape:
            raise ValueError(
                f"Canvases of shape {tuple(canvas.tokens.shape)} do not match ids of shape {tuple(ids.shape)}."
            )
        return self.canvas.view(canvas, self.embedding)

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores over the vocabulary from final states of any leading shape."""
        if self.head is None:
            return functional.linear(hidden, self.embedding.weight)
        scores: Tensor = self.head(hidden)
        return scores

    def forward(
        self,
        ids: Tensor,
        *,
        cache: KVCache | None = None,
        canvas: CanvasBatch | None = None,
        counts: Sequence[int] | None = None,
    ) -> Tensor:
        """Scores (rows, ids, vocab) of the action after each id."""
        return self.logits(self.hidden(ids, cache=cache, canvas=canvas, counts=counts))

    @torch.no_grad()
    def prefill(
        self, ids: Tensor, cache: KVCache, *, canvas: CanvasBatch | None = None, counts: Sequence[int] | None = None
    ) -> Tensor:
        """Read ids (rows, ids) and score the action after each row's last: (rows, vocab)."""
        states = self.hidden(ids, cache=cache, canvas=canvas, counts=counts)
        if counts is None:
            return self.logits(states[:, -1])
        rows = torch.arange(ids.shape[0], device=ids.device)
        last = torch.tensor(counts, device=ids.device) - 1
        return self.logits(states[rows, last])

    @torch.no_grad()
    def decode(self, ids: Tensor, cache: KVCache, *, canvas: CanvasBatch | None = None) -> Tensor:
        """Read one id per row, (rows,), and score the next action: (rows, vocab)."""
        return self.prefill(ids[:, None], cache, canvas=canvas)

    @torch.no_grad()
    def decode_static(
        self, ids: Tensor, positions: Tensor, cache: KVCache, *, canvas: CanvasBatch | None = None
    ) -> Tensor:
        """`decode` in shapes that never change, to be compiled once and replayed.

        It attends over the whole capacity under a mask and reads its place from `positions` (`cache.positions()`),
        never from Python; the caller runs `cache.advance()` afterwards.
        """
        states = self._trunk(ids[:, None], cache.static_span(positions), cache, canvas)
        return self.logits(states[:, 0])


def resize_vocabulary(model: Reviser, size: int, seed: int = 0) -> None:
    """Append rows for new ids, in place: near the mean of the old rows, each a little different.

    The mean gives a new id the score of an average token, so it disturbs a pretrained model
    little, and the noise lets the new ids part. Make the optimizer after this, not before.
    """
    old = model.config.vocab_size
    if size < old:
        raise ValueError(f"A vocabulary of {old} ids cannot shrink to {size}.")
    generator = torch.Generator().manual_seed(seed)
    for table in (model.embedding, model.head):
        if table is None:
            continue
        rows = table.weight.detach()
        noise = torch.randn(size - old, rows.shape[1], generator=generator).to(rows)
        new = rows.mean(dim=0) + 0.1 * rows.std(dim=0) * noise
        table.weight = nn.Parameter(torch.cat((rows, new)), table.weight.requires_grad)
    model.embedding.num_embeddings = size
    if model.head is not None:
        model.head.out_features = size
    model.config = dataclasses.replace(model.config, vocab_size=size)
