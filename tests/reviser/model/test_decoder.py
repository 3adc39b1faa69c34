"""The decoder: agreement with reference computations, initialisation, gradients and precision."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from reviser.model import ModelConfig, Reviser, preset, resize_vocabulary

Build = Callable[[ModelConfig], Reviser]
Make = Callable[..., Any]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_llama_kind_equals_transformers(tied: bool, kv_heads: int, ids_for: Make) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = preset("tiny", kv_heads=kv_heads, rope_theta=777.0, norm_eps=1e-3, tied=tied)
    torch.manual_seed(0)
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.width,
            intermediate_size=config.ff,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.kv_heads,
            max_position_embeddings=config.context,
            rms_norm_eps=config.norm_eps,
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
            initializer_range=0.2,
            tie_word_embeddings=tied,
            attn_implementation="eager",
        )
    ).eval()
    weights = theirs.state_dict()
    names = {"embedding": "model.embed_tokens", "final_norm": "model.norm", "head": "lm_head"}
    for n in range(config.layers):
        ours, hub = f"blocks.{n}", f"model.layers.{n}"
        names[f"{ours}.attention_norm"] = f"{hub}.input_layernorm"
        names[f"{ours}.mlp_norm"] = f"{hub}.post_attention_layernorm"
        names |= {f"{ours}.attention.{x}": f"{hub}.self_attn.{x}_proj" for x in "qkvo"}
        names |= {f"{ours}.mlp.{x}": f"{hub}.mlp.{x}_proj" for x in ("gate", "up", "down")}
    if tied:
        del names["head"]
    model = Reviser(config).eval()
    model.load_state_dict({f"{a}.weight": weights[f"{b}.weight"] for a, b in names.items()})
    ids = ids_for(config, 2, 40)
    with torch.no_grad():
        torch.testing.assert_close(model(ids), theirs(ids).logits, atol=2e-5, rtol=1e-4)


def plain_paper_forward(weights: dict[str, Tensor], ids: list[int], heads: int) -> Tensor:
    """The paper's block from its description, one query at a time."""
    x = weights["embedding.weight"][ids]
    width = x.shape[1]
    size = width // heads

    def norm(x: Tensor, name: str) -> Tensor:
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        scaled = (x - mean) / torch.sqrt(variance + 1e-5)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def turn(x: Tensor, position: int) -> Tensor:
        out = x.clone()
        for i in range(size // 2):
            angle = position * 10_000.0 ** (-2 * i / size)
            a, b = x[i], x[i + size // 2]
            out[i] = a * math.cos(angle) - b * math.sin(angle)
            out[i + size // 2] = a * math.sin(angle) + b * math.cos(angle)
        return out

    for n in range(2):
        block = f"blocks.{n}"
        h = norm(x, f"{block}.attention_norm")
        q, k, v = (h @ weights[f"{block}.attention.{m}.weight"].T for m in "qkv")
        mixed = torch.zeros_like(x)
        for head in range(heads):
            cut = slice(head * size, (head + 1) * size)
            for t in range(len(ids)):
                query = turn(q[t, cut], t)
                scores = torch.stack([query @ turn(k[s, cut], s) for s in range(t + 1)])
                mixed[t, cut] = (scores / math.sqrt(size)).softmax(0) @ v[: t + 1, cut]
        x = x + mixed @ weights[f"{block}.attention.o.weight"].T
        h = norm(x, f"{block}.mlp_norm")
        h = h @ weights[f"{block}.mlp.fc1.weight"].T + weights[f"{block}.mlp.fc1.bias"]
        h = h * 0.5 * (1 + torch.erf(h / math.sqrt(2)))
        x = x + h @ weights[f"{block}.mlp.fc2.weight"].T + weights[f"{block}.mlp.fc2.bias"]
    return norm(x, "final_norm") @ weights["embedding.weight"].T


def test_paper_kind_equals_its_description(build: Build, ids_for: Make) -> None:
    config = preset("tiny-paper")
    model = build(config)
    ids = ids_for(config, 1, 9)
    expected = plain_paper_forward(model.state_dict(), ids[0].tolist(), config.heads)
    # The rotary tables are single precision, which bounds the agreement.
    torch.testing.assert_close(model(ids)[0].detach(), expected, atol=1e-4, rtol=1e-4)


def test_parameter_names() -> None:
    """Importers rely on these names."""
    paper = set(Reviser(preset("tiny-paper", layers=1)).state_dict())
    norms = {"blocks.0.attention_norm", "blocks.0.mlp_norm", "final_norm"}
    attention = {f"blocks.0.attention.{x}.weight" for x in "qkvo"}
    assert paper == {
        "embedding.weight",
        *(f"{norm}.{x}" for norm in norms for x in ("weight", "bias")),
        *attention,
        *(f"blocks.0.mlp.{x}.{y}" for x in ("fc1", "fc2") for y in ("weight", "bias")),
    }
    llama = set(Reviser(preset("tiny", layers=1, tied=False)).state_dict())
    assert llama == {
        "embedding.weight",
        "head.weight",
        *(f"{norm}.weight" for norm in norms),
        *attention,
        *(f"blocks.0.mlp.{x}.weight" for x in ("gate", "up", "down")),
    }
    tokens = preset("tiny", canvas_input="linear", cross_layers=1, cross_memory="tokens", cross_gate="mlp")
    extra = set(Reviser(tokens).state_dict()) - set(Reviser(preset("tiny")).state_dict())
    assert extra == {
        "canvas.positions.weight",
        "canvas.query",
        "canvas.projection.weight",
        "blocks.1.cross_norm.weight",
        "blocks.1.cross.q.weight",
        "blocks.1.cross.k",
        "blocks.1.cross.v",
        "blocks.1.cross.o.weight",
        *(f"blocks.1.cross.gate.{x}.{y}" for x in ("fc1", "fc2") for y in ("weight", "bias")),
    }
    pooled = preset("tiny", cross_layers=1, cross_gate="scalar")
    extra = set(Reviser(pooled).state_dict()) - set(Reviser(preset("tiny")).state_dict())
    assert extra == {"canvas.positions.weight", "canvas.query", "blocks.1.cross.v.weight", "blocks.1.cross.gate.value"}


def test_gradients_reach_every_parameter(config: ModelConfig, ids_for: Make, canvas_for: Make) -> None:
    torch.manual_seed(0)
    model = Reviser(config)
    ids = ids_for(config, 3, 12)
    logits = model(ids, canvas=canvas_for(config, ids))
    functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().sum() > 0, name


def test_tied_output_is_the_embedding(build: Build, ids_for: Make) -> None:
    config = preset("tiny")
    model = build(config)
    ids = ids_for(config, 1, 4) % 64
    unseen = 100
    before = model(ids)
    # Only the output side knows an id that is not in the history.
    before[0, -1, unseen].backward()
    assert model.embedding.weight.grad is not None
    assert model.embedding.weight.grad[unseen].abs().sum() > 0
    with torch.no_grad():
        model.embedding.weight[unseen] = 0.0
        assert model(ids)[0, -1, unseen] == 0.0


def test_untied_output_is_its_own(build: Build, ids_for: Make) -> None:
    config = preset("tiny", tied=False)
    model = build(config)
    ids = ids_for(config, 1, 4) % 64
    with torch.no_grad():
        before = model(ids)
        model.embedding.weight[100] = 0.0
        assert torch.equal(model(ids), before)
        assert model.head is not None
        model.head.weight[100] = 0.0
        assert model(ids)[0, -1, 100] == 0.0


def test_dropout_works_in_training_alone(ids_for: Make) -> None:
    config = preset("tiny-paper", dropout=0.5)
    model = Reviser(config)
    ids = ids_for(config, 2, 6)
    assert not torch.equal(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))
    same = Reviser(preset("tiny-paper", dropout=0.0))
    same.load_state_dict(model.state_dict())
    assert torch.equal(same(ids), model(ids))


def test_initialisation() -> None:
    torch.manual_seed(0)
    config = preset("tiny-paper", width=128, layers=8, vocab_size=1000, cross_layers=8)
    weights = Reviser(config).state_dict()
    residual = 0.02 / math.sqrt(2 * 8)
    expected = {
        "embedding.weight": 0.02,
        "canvas.positions.weight": 0.02,
        "blocks.3.attention.q.weight": 0.02,
        "blocks.3.mlp.fc1.weight": 0.02,
        "blocks.3.attention.o.weight": residual,
        "blocks.3.cross.v.weight": residual,
        "blocks.3.mlp.fc2.weight": residual,
    }
    for name, std in expected.items():
        assert weights[name].std().item() == pytest.approx(std, rel=0.05), name
        assert abs(weights[name].mean().item()) < std / 10, name
    for name, weight in weights.items():
        if name.endswith("bias"):
            assert (weight == 0).all(), name
        elif name.endswith("norm.weight"):
            assert (weight == 1).all(), name


def test_hidden_and_logits_make_the_forward_pass(
    config: ModelConfig, build: Build, ids_for: Make, canvas_for: Make
) -> None:
    model = build(config)
    ids = ids_for(config, 2, 5)
    canvas = canvas_for(config, ids)
    hidden = model.hidden(ids, canvas=canvas)
    assert hidden.shape == (2, 5, config.width)
    assert torch.equal(model.logits(hidden), model(ids, canvas=canvas))


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
def test_bfloat16_follows_float32(config: ModelConfig, ids_for: Make, canvas_for: Make) -> None:
    torch.manual_seed(0)
    model = Reviser(config).eval()
    ids = ids_for(config, 2, 10)
    canvas = canvas_for(config, ids)
    with torch.no_grad():
        full = model(ids, canvas=canvas)
        half = model.bfloat16()(ids, canvas=canvas)
    assert full.dtype == torch.float32
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), full, atol=0.03 * full.std().item() + 0.01, rtol=0.05)


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
def test_autocast_trains(config: ModelConfig, ids_for: Make, canvas_for: Make) -> None:
    torch.manual_seed(0)
    model = Reviser(config)
    ids = ids_for(config, 2, 10)
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(ids, canvas=canvas_for(config, ids)).float().logsumexp(-1).sum()
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


def test_weights_can_be_assigned_to_a_meta_model(build: Build, ids_for: Make) -> None:
    config = preset("tiny", canvas_input="none")
    source = build(config).float()
    with torch.device("meta"):
        model = Reviser(config).eval()
    model.load_state_dict(source.state_dict(), assign=True)
    ids = ids_for(config, 1, 20)
    torch.testing.assert_close(model(ids), source(ids))


def test_a_history_longer_than_the_context_is_refused() -> None:
    model = Reviser(preset("tiny", context=8))
    assert model(torch.zeros(1, 8, dtype=torch.int64)).shape == (1, 8, 128)
    with pytest.raises(ValueError, match="A history of 9 ids exceeds the context of 8"):
        model(torch.zeros(1, 9, dtype=torch.int64))


@pytest.mark.parametrize("tied", [True, False])
def test_new_vocabulary_rows_lie_near_the_mean(tied: bool, build: Build, ids_for: Make) -> None:
    config = preset("tiny", tied=tied)
    model, twin, other = build(config), build(config), build(config)
    ids = ids_for(config, 1, 6)
    before = model(ids).detach()
    old = model.embedding.weight.detach().clone()
    resize_vocabulary(model, 160, seed=3)
    resize_vocabulary(twin, 160, seed=3)
    resize_vocabulary(other, 160, seed=4)

    assert model.config.vocab_size == 160
    after = model(ids).detach()
    assert after.shape[-1] == 160
    torch.testing.assert_close(after[..., :128], before)
    for table in (model.embedding, model.head):
        if table is None:
            continue
        rows = table.weight.detach()
        new = rows[128:] - rows[:128].mean(0)
        assert new.std() < 0.2 * rows[:128].std()
        assert len(new.unique(dim=0)) == 32
    assert torch.equal(model.embedding.weight[:128], old)
    assert torch.equal(model.embedding.weight, twin.embedding.weight)
    assert not torch.equal(model.embedding.weight, other.embedding.weight)
    # A model built from the new configuration takes the new weights.
    Reviser(model.config).load_state_dict(model.state_dict())


def test_a_vocabulary_does_not_shrink() -> None:
    with pytest.raises(ValueError, match="A vocabulary of 128 ids cannot shrink to 100"):
        resize_vocabulary(Reviser(preset("tiny")), 100)
