"""Canvas conditioning: it is causal, it computes the paper's formulas, and it can be learned."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from reviser.model import CanvasBatch, ModelConfig, Reviser, conditioning, preset
from reviser.model.conditioning import CanvasView, PooledCross, TokenCross

Build = Callable[[ModelConfig], Reviser]
Make = Callable[..., Any]


def test_the_future_never_shows(config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make) -> None:
    model = build(config)
    ids = ids_for(config, 2, 10)
    canvas = canvas_for(config, ids)
    before = model(ids, canvas=canvas).detach()
    other = ids_for(config, 2, 10, seed=8)
    other_canvas = canvas_for(config, ids, seed=9)
    for t in (1, 5, 9):
        changed = torch.cat((ids[:, :t], other[:, t:]), dim=1)
        changed_canvas = canvas
        if canvas is not None:
            changed_canvas = CanvasBatch(
                torch.cat((canvas.tokens[:, :t], other_canvas.tokens[:, t:]), dim=1),
                torch.cat((canvas.lengths[:, :t], other_canvas.lengths[:, t:]), dim=1),
            )
        after = model(changed, canvas=changed_canvas).detach()
        torch.testing.assert_close(after[:, :t], before[:, :t], atol=1e-12, rtol=0)
        assert not torch.allclose(after[:, t:], before[:, t:], atol=1e-3)


def test_the_present_canvas_shows(canvas_config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make) -> None:
    """The canvas after id tau reaches the scores at tau, by every route."""
    model = build(canvas_config)
    ids = ids_for(canvas_config, 1, 6)
    canvas = canvas_for(canvas_config, ids)
    canvas.lengths[:] = 5
    before = model(ids, canvas=canvas).detach()
    canvas.tokens[0, 3, 2] = (canvas.tokens[0, 3, 2] + 1) % canvas_config.vocab_size
    after = model(ids, canvas=canvas).detach()
    torch.testing.assert_close(after[0, :3], before[0, :3], atol=1e-12, rtol=0)
    assert (after[0, 3] - before[0, 3]).abs().max() > 1e-4


def test_token_order_on_the_canvas_shows(canvas_config: ModelConfig, build: Build, ids_for: Make) -> None:
    model = build(canvas_config)
    ids = ids_for(canvas_config, 1, 1)
    forth = model(ids, canvas=CanvasBatch.pack([[[3, 4, 5]]])).detach()
    back = model(ids, canvas=CanvasBatch.pack([[[5, 4, 3]]])).detach()
    assert (forth - back).abs().max() > 1e-4


def test_padding_does_not_show(canvas_config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make) -> None:
    model = build(canvas_config)
    ids = ids_for(canvas_config, 2, 6)
    canvas = canvas_for(canvas_config, ids)
    before = model(ids, canvas=canvas).detach()
    padding = torch.arange(7) >= canvas.lengths[..., None]
    changed = torch.where(padding, 1, canvas.tokens)
    assert not torch.equal(changed, canvas.tokens)
    longer = functional.pad(changed, (0, 3), value=2)
    after = model(ids, canvas=CanvasBatch(longer, canvas.lengths)).detach()
    torch.testing.assert_close(after, before)


def test_an_empty_canvas_adds_nothing(canvas_config: ModelConfig, build: Build, ids_for: Make) -> None:
    model = build(canvas_config)
    plain = preset("tiny-paper" if canvas_config.kind == "paper" else "tiny", kv_heads=canvas_config.kv_heads)
    trunk = Reviser(plain).double().eval()
    weights = model.state_dict()
    trunk.load_state_dict({name: weights[name] for name in trunk.state_dict()})
    ids = ids_for(canvas_config, 2, 6)
    for length in (0, 4):
        empty = CanvasBatch(torch.ones(2, 6, length, dtype=torch.int64), torch.zeros(2, 6, dtype=torch.int64))
        torch.testing.assert_close(model(ids, canvas=empty), trunk(ids))


def z(model: Reviser, tokens: list[int]) -> Tensor:
    assert model.canvas is not None
    return model.embedding.weight[tokens] + model.canvas.positions.weight[: len(tokens)]


def test_pooling_is_the_papers(build: Build) -> None:
    model = build(preset("tiny", canvas_input="identity"))
    assert model.canvas is not None
    canvases = [[5, 9, 9, 2], [7], []]
    pooled = model.canvas.view(CanvasBatch.pack([canvases]), model.embedding).pooled
    assert pooled is not None
    for mu, tokens in zip(pooled[0], canvases, strict=True):
        rows = z(model, tokens)
        weights = [math.exp((model.canvas.query @ row).item()) for row in rows]
        expected = sum((w * row for w, row in zip(weights, rows, strict=True)), torch.zeros(32))
        torch.testing.assert_close(mu, expected / (sum(weights) or 1.0), check_dtype=False)


@pytest.mark.parametrize("kind", ["identity", "linear"])
def test_the_pooled_canvas_is_added_to_the_input(kind: str, build: Build) -> None:
    model = build(preset("tiny", canvas_input=kind))
    assert model.canvas is not None
    x = torch.randn(1, 2, 32, dtype=torch.float64)
    view = model.canvas.view(CanvasBatch.pack([[[1], [2, 3]]]), model.embedding)
    added = view.pooled
    if kind == "linear":
        assert added is not None
        added = added @ model.canvas.projection.weight.T
    torch.testing.assert_close(model.canvas(x, view), x + added)


@pytest.mark.parametrize("gate", ["none", "scalar", "mlp"])
def test_token_cross_attention_is_plain_attention(gate: str, build: Build) -> None:
    """Keys and values projected token by token give what the rearranged product gives."""
    config = preset("tiny", cross_layers=1, cross_memory="tokens", cross_gate=gate)
    model = build(config)
    cross = model.blocks[-1].cross
    assert isinstance(cross, TokenCross)
    canvases = [[5, 9, 9, 2], [7]]
    assert model.canvas is not None
    view = model.canvas.view(CanvasBatch.pack([canvases]), model.embedding)
    x = torch.randn(1, 2, config.width, dtype=torch.float64)
    out = cross(x, view)
    for t, tokens in enumerate(canvases):
        memory = z(model, tokens)
        heads = (config.heads, config.head_dim)
        q = cross.q(x[0, t]).view(1, *heads).transpose(0, 1)
        k = (memory @ cross.k.reshape(-1, config.width).T).view(-1, *heads).transpose(0, 1)
        v = (memory @ cross.v.reshape(-1, config.width).T).view(-1, *heads).transpose(0, 1)
        mixed = (q @ k.mT / math.sqrt(config.head_dim)).softmax(-1) @ v
        expected = cross.o(mixed.flatten())
        if gate != "none":
            assert cross.gate is not None
            expected = expected * cross.gate(x[0, t])
        torch.testing.assert_close(out[0, t], expected)


def test_pooled_cross_attention_is_plain_attention(build: Build) -> None:
    """With every memory row equal, full attention is W_V mu for any W_Q and W_K."""
    model = build(preset("tiny", cross_layers=1))
    cross = model.blocks[-1].cross
    assert isinstance(cross, PooledCross)
    assert model.canvas is not None
    view = model.canvas.view(CanvasBatch.pack([[[5, 9], [3]]]), model.embedding)
    assert view.pooled is not None
    x, w_q, w_k = (torch.randn(*s, dtype=torch.float64) for s in ((2, 32), (32, 32), (32, 32)))
    for t in range(2):
        memory = view.pooled[0, t].expand(3, -1)
        scores = (x @ w_q) @ (memory @ w_k).T / math.sqrt(32)
        expected = scores.softmax(-1) @ cross.v(memory)
        torch.testing.assert_close(cross(x[None], view)[0, t], expected[t])


def test_chunks_change_nothing(
    canvas_config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build(canvas_config)
    ids = ids_for(canvas_config, 2, 9)
    canvas = canvas_for(canvas_config, ids)
    sizes = []
    read = CanvasView._read

    def counted(self: CanvasView, queries: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
        sizes.append(tokens.shape[1])
        return read(self, queries, tokens, lengths)

    monkeypatch.setattr(CanvasView, "_read", counted)
    results = []
    for limit in (1 << 26, 2 * 2 * 7 * canvas_config.width):
        monkeypatch.setattr(conditioning, "_CHUNK_NUMBERS", limit)
        model.zero_grad()
        logits = model(ids, canvas=canvas)
        logits.square().sum().backward()
        results.append([logits.detach(), *(p.grad.clone() for p in model.parameters())])
    assert {9, 2, 1} == set(sizes)
    for whole, chunked in zip(*results, strict=True):
        torch.testing.assert_close(whole, chunked)


@pytest.mark.parametrize(
    "canvas_config", ["pooled-identity", "pooled-linear", "cross-pooled-scalar", "cross-tokens-mlp"], indirect=True
)
def test_the_canvas_can_be_learned_from(canvas_config: ModelConfig) -> None:
    """The history says nothing here; the answer is the canvas's one token."""
    torch.manual_seed(0)
    model = Reviser(canvas_config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    ids = torch.zeros(8, 1, dtype=torch.int64)
    answers = torch.arange(20, 28)
    canvas = CanvasBatch(answers[:, None, None], torch.ones(8, 1, dtype=torch.int64))
    for _ in range(200):
        loss = functional.cross_entropy(model(ids, canvas=canvas)[:, 0], answers)
        if loss < 0.1:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    assert torch.equal(model(ids, canvas=canvas)[:, 0].argmax(-1), answers)


def test_mistakes_are_refused() -> None:
    blind, seeing = Reviser(preset("tiny")), Reviser(preset("tiny", canvas_input="identity"))
    ids = torch.zeros(1, 2, dtype=torch.int64)
    canvas = CanvasBatch.pack([[[1], [1, 2]]])
    with pytest.raises(ValueError, match="takes no canvas"):
        blind(ids, canvas=canvas)
    with pytest.raises(ValueError, match="conditioned on the canvas"):
        seeing(ids)
    with pytest.raises(ValueError, match="do not match ids of shape"):
        seeing(ids[:, :1], canvas=canvas)
    with pytest.raises(ValueError, match="A canvas of 129 tokens is longer than the 128"):
        seeing(ids[:, :1], canvas=CanvasBatch.pack([[[1] * 129]]))


def test_pack_pads_and_counts() -> None:
    canvas = CanvasBatch.pack([[[1], [1, 2]], [[3, 4, 5]]])
    assert canvas.tokens.tolist() == [[[1, 0, 0], [1, 2, 0]], [[3, 4, 5], [0, 0, 0]]]
    assert canvas.lengths.tolist() == [[1, 2], [3, 0]]
