"""Random weights under the released models' own names, and their published arithmetic done by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from benchmarks.contestants.continuation_models import Diffusion, load_contestant
from benchmarks.contestants.diffusion.released import read_released
from benchmarks.measures.evaluators import load_evaluator
from benchmarks.protocol.records import Prompt
from benchmarks.protocol.setup import Setup
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.scoring.perplexity import PromptedText

CPU = torch.device("cpu")
IDS, WIDTH, HEADS, BLOCKS, CONDITION = 50258, 8, 2, 2, 6


def published_weights(prefix: str = "") -> dict[str, Tensor]:
    """All parameters of the released architecture, small and random."""
    generator = torch.Generator().manual_seed(0)
    shapes: dict[str, tuple[int, ...]] = {
        "vocab_embed.embedding": (IDS, WIDTH),
        "sigma_map.mlp.0.weight": (CONDITION, 256),
        "sigma_map.mlp.0.bias": (CONDITION,),
        "sigma_map.mlp.2.weight": (CONDITION, CONDITION),
        "sigma_map.mlp.2.bias": (CONDITION,),
        "rotary_emb.inv_freq": (WIDTH // HEADS // 2,),
        "output_layer.norm_final.weight": (WIDTH,),
        "output_layer.linear.weight": (IDS, WIDTH),
        "output_layer.linear.bias": (IDS,),
        "output_layer.adaLN_modulation.weight": (2 * WIDTH, CONDITION),
        "output_layer.adaLN_modulation.bias": (2 * WIDTH,),
    }
    for number in range(BLOCKS):
        shapes |= {
            f"blocks.{number}.norm1.weight": (WIDTH,),
            f"blocks.{number}.attn_qkv.weight": (3 * WIDTH, WIDTH),
            f"blocks.{number}.attn_out.weight": (WIDTH, WIDTH),
            f"blocks.{number}.norm2.weight": (WIDTH,),
            f"blocks.{number}.mlp.0.weight": (4 * WIDTH, WIDTH),
            f"blocks.{number}.mlp.0.bias": (4 * WIDTH,),
            f"blocks.{number}.mlp.2.weight": (WIDTH, 4 * WIDTH),
            f"blocks.{number}.mlp.2.bias": (WIDTH,),
            f"blocks.{number}.adaLN_modulation.weight": (6 * WIDTH, CONDITION),
            f"blocks.{number}.adaLN_modulation.bias": (6 * WIDTH,),
        }
    return {prefix + name: 0.4 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}


SEDD: dict[str, Any] = {
    "tokens": 50257,
    "graph": {"type": "absorb", "file": "data"},
    "noise": {"type": "loglinear", "sigma_min": 0.0001, "sigma_max": 20},
    "model": {
        "name": "small",
        "type": "ddit",
        "hidden_size": WIDTH,
        "cond_dim": CONDITION,
        "length": 64,
        "n_blocks": BLOCKS,
        "n_heads": HEADS,
        "scale_by_sigma": True,
        "dropout": 0.1,
    },
    "training": {"batch_size": 512},
}
MDLM: dict[str, Any] = {
    "architectures": ["MDLM"],
    "model_type": "mdlm",
    "vocab_size": IDS,
    "model_length": 64,
    "hidden_dim": WIDTH,
    "cond_dim": CONDITION,
    "n_blocks": BLOCKS,
    "n_heads": HEADS,
    "dropout": 0.1,
    "time_conditioning": False,
}


def released(folder: Path, config: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(published_weights("backbone." if config is MDLM else ""), folder / "model.safetensors")
    return folder


def by_hand(weights: dict[str, Tensor], ids: Tensor, sigma: Tensor) -> Tensor:
    """The released models' forward pass, straight from their description."""
    half = 128
    angles = sigma[:, None] * torch.exp(-math.log(10000) * torch.arange(half) / half)
    waves = torch.cat([angles.cos(), angles.sin()], dim=-1)

    def linear(x: Tensor, name: str) -> Tensor:
        return functional.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))

    def norm(x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, [WIDTH]) * weights[f"{name}.weight"]

    def turned(x: Tensor) -> Tensor:
        size = WIDTH // HEADS
        frequency = 1.0 / (10000 ** (torch.arange(0, size, 2).float() / size))
        angle = torch.outer(torch.arange(x.shape[1]).float(), frequency)
        angle = torch.cat([angle, angle], dim=-1)[None, :, None]
        swapped = torch.cat([-x[..., size // 2 :], x[..., : size // 2]], dim=-1)
        return x * angle.cos() + swapped * angle.sin()

    c = functional.silu(linear(functional.silu(linear(waves, "sigma_map.mlp.0")), "sigma_map.mlp.2"))
    x = weights["vocab_embed.embedding"][ids]
    rows, length = ids.shape
    for number in range(BLOCKS):
        name = f"blocks.{number}"
        parts = linear(c, f"{name}.adaLN_modulation")[:, None].chunk(6, dim=2)
        seen = norm(x, f"{name}.norm1") * (1 + parts[1]) + parts[0]
        qkv = linear(seen, f"{name}.attn_qkv").view(rows, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = turned(qkv[:, :, 0]), turned(qkv[:, :, 1]), qkv[:, :, 2]
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(WIDTH // HEADS)
        mixed = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(dim=-1), v).reshape(x.shape)
        x = x + parts[2] * linear(mixed, f"{name}.attn_out")
        seen = norm(x, f"{name}.norm2") * (1 + parts[4]) + parts[3]
        inner = functional.gelu(linear(seen, f"{name}.mlp.0"), approximate="tanh")
        x = x + parts[5] * linear(inner, f"{name}.mlp.2")
    shift, scale = linear(c, "output_layer.adaLN_modulation")[:, None].chunk(2, dim=2)
    x = norm(x, "output_layer.norm_final") * (1 + scale) + shift
    return linear(x, "output_layer.linear")


IDS_SHOWN = torch.tensor([[5, 50257, 311, 50257, 9, 50257], [50257, 1, 2, 3, 4, 50257]])


def test_sedd_gives_the_published_scores(tmp_path: Path) -> None:
    made = read_released(str(released(tmp_path, SEDD)), CPU)
    sigma = torch.tensor([0.4, 2.5])
    found = made.outputs(made.states(IDS_SHOWN, sigma).flatten(0, 1), sigma.repeat_interleave(6))
    raw = by_hand(published_weights(), IDS_SHOWN, sigma)
    expected = raw - torch.expm1(sigma).log()[:, None, None] - math.log(IDS - 1)
    assert torch.allclose(found.view(2, 6, IDS)[..., :-1], expected[..., :-1], atol=1e-4)
    assert made.config.timed
    assert made.mask_id == 50257


def test_mdlm_gives_the_published_logits_and_is_never_told_the_noise(tmp_path: Path) -> None:
    made = read_released(str(released(tmp_path, MDLM)), CPU)
    expected = by_hand(published_weights(), IDS_SHOWN, torch.zeros(2))
    expected[..., -1] = float("-inf")
    where = made.mask_id == IDS_SHOWN
    for token in (0, 123, 50256):
        found = made.log_likelihoods(IDS_SHOWN, where, torch.full((5,), token))
        assert torch.allclose(found, expected.log_softmax(-1)[where][:, token], atol=1e-4)
    told = made.states(IDS_SHOWN, torch.tensor([0.4, 2.5]))
    assert torch.equal(told, made.states(IDS_SHOWN, torch.zeros(2)))


def test_plain_torch_files_are_read_without_running_what_they_hold(tmp_path: Path) -> None:
    folder = released(tmp_path, SEDD)
    (folder / "model.safetensors").unlink()
    torch.save({"model": published_weights()}, folder / "pytorch_model.bin")
    assert torch.equal(
        read_released(str(folder), CPU).model.embedding.weight, published_weights()["vocab_embed.embedding"]
    )
    torch.save({"model": published_weights(), "extra": Path("x")}, folder / "pytorch_model.bin")
    with pytest.raises(ReviserError, match="not a plain file of weights"):
        read_released(str(folder), CPU)


def test_weights_must_be_all_there_and_no_others(tmp_path: Path) -> None:
    folder = released(tmp_path, SEDD)
    weights = published_weights()
    del weights["blocks.1.attn_out.weight"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ReviserError, match=r"blocks\.1\.attention\.o\.weight"):
        read_released(str(folder), CPU)
    save_file(published_weights() | {"what.is.this": torch.zeros(1)}, folder / "model.safetensors")
    with pytest.raises(ReviserError, match=r"what\.is\.this"):
        read_released(str(folder), CPU)


def test_only_the_absorbing_kind_is_read(tmp_path: Path) -> None:
    folder = released(tmp_path, SEDD)
    (folder / "config.json").write_text(json.dumps(SEDD | {"graph": {"type": "uniform"}}))
    with pytest.raises(ReviserError, match="does not mask"):
        read_released(str(folder), CPU)


@pytest.mark.parametrize(("config", "method"), [(SEDD, "analytic"), (MDLM, "ancestral")])
def test_released_models_are_contestants(config: dict[str, Any], method: str, tmp_path: Path) -> None:
    setup = Setup(prompt_tokens=4, shortest=8, longest=40, total_tokens=20, diffusion_steps=6)
    contestant = load_contestant(str(released(tmp_path, config)), setup, device=CPU)
    assert isinstance(contestant, Diffusion)
    assert contestant.method == method
    tokenizer = Gpt2Tokenizer()
    text = "There was once a"
    prompts = [Prompt(f"p{n}", text, tuple(tokenizer.encode(text)), "", "") for n in range(3)]
    made = {g.prompt_id: g for g in contestant.generate(prompts, 1, lambda done: None)}
    again = {g.prompt_id: g for g in contestant.generate(prompts[2:], 1, lambda done: None)}
    assert len(made) == 3
    for generation in made.values():
        assert len(generation.tokens) <= setup.new_tokens
        assert 50257 not in generation.tokens
        assert (generation.ending == "limit") == (len(generation.tokens) == setup.new_tokens)
    assert again["p2"].tokens == made["p2"].tokens
    assert len({g.continuation for g in made.values()}) == 3


def test_a_released_mdlm_is_an_evaluator_and_sedd_is_not(tmp_path: Path) -> None:
    texts = [PromptedText("There was once a", " king")]
    evaluator = load_evaluator(str(released(tmp_path / "mdlm", MDLM)), CPU)
    (loss,) = evaluator.losses(texts)
    assert loss.total > 0
    other = load_evaluator(str(released(tmp_path / "sedd", SEDD)), CPU)
    with pytest.raises(ReviserError, match="only an MDLM"):
        other.losses(texts)
