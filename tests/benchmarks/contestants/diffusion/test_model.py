from __future__ import annotations

import dataclasses
from typing import Literal

import pytest
import torch

from benchmarks.contestants.diffusion.loss import DiffusionObjective, draw_times, noisy
from benchmarks.contestants.diffusion.model import DiffusionConfig, DiffusionTransformer, Visibility
from reviser.core.errors import ReviserError
from reviser.model import Reviser, preset
from tests.benchmarks.contestants.diffusion.place_losses import PLACE_LOSSES

CONFIG = DiffusionConfig("sedd", 20, layers=2, width=16, heads=2, ff=32, context=32, condition=8)


def random_transformer(config: DiffusionConfig = CONFIG) -> DiffusionTransformer:
    torch.manual_seed(0)
    model = DiffusionTransformer(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def test_every_place_sees_every_other() -> None:
    model = random_transformer()
    ids = torch.arange(10)[None]
    sigma = torch.tensor([0.5])
    for changed in (0, 9):
        other = ids.clone()
        other[0, changed] = 15
        before, after = model.hidden(ids, sigma), model.hidden(other, sigma)
        assert not torch.isclose(before, after).all(dim=-1).any()


def test_texts_in_one_row_do_not_see_each_other() -> None:
    model = random_transformer()
    ids = torch.arange(12)[None]
    texts = torch.tensor([[0] * 5 + [1] * 4 + [-1] * 3])
    positions = torch.tensor([[*range(5), *range(4), 0, 0, 0]])
    sigma = torch.tensor([0.7])
    packed = model.hidden(ids, sigma, Visibility.within_texts(texts, positions))
    assert torch.allclose(packed[:, :5], model.hidden(ids[:, :5], sigma), atol=1e-5)
    assert torch.allclose(packed[:, 5:9], model.hidden(ids[:, 5:9], sigma), atol=1e-5)


def test_only_a_timed_model_is_told_the_noise() -> None:
    ids = torch.arange(6)[None]
    for timed in (True, False):
        model = random_transformer(dataclasses.replace(CONFIG, timed=timed))
        low, high = (model.hidden(ids, torch.tensor([sigma])) for sigma in (0.1, 3.0))
        assert torch.allclose(low, high) == (not timed)


def test_nothing_turns_into_a_mask() -> None:
    model = random_transformer()
    found = model.output(torch.randn(5, 16), torch.full((5,), 0.3))
    assert (found[:, CONFIG.mask_id] == float("-inf")).all()
    assert found[:, :-1].isfinite().all()


def test_scores_start_at_what_the_noise_makes_usual() -> None:
    """With nothing learned, scores of all tokens add up to the true sum at any noise."""
    model = DiffusionTransformer(CONFIG)
    torch.nn.init.zeros_(model.head.weight)
    sigma = torch.tensor([0.01, 1.0, 5.0])
    sums = model.output(torch.randn(3, 16), sigma).exp().sum(dim=-1)
    assert torch.allclose(sums, 1 / torch.expm1(sigma), rtol=1e-4)


def test_has_the_trunk_of_a_decoder() -> None:
    trunk = preset("tiny-paper")
    model = DiffusionTransformer(DiffusionConfig.like("mdlm", trunk, trunk.vocab_size + 1))
    matrices = ("attention.", "mlp.")

    def size(parameters: torch.nn.Module) -> int:
        return sum(
            value.numel()
            for name, value in parameters.named_parameters()
            if any(f".{part}" in name for part in matrices)
        )

    assert size(model) == size(Reviser(trunk))
    assert model.head.weight is model.embedding.weight


def test_texts_longer_than_the_context_are_refused() -> None:
    with pytest.raises(ReviserError, match="exceeds"):
        random_transformer().hidden(torch.zeros(1, 33, dtype=torch.int64), torch.zeros(1))


def test_masks_as_much_as_the_noise_says_and_only_what_may_be_hidden() -> None:
    torch.manual_seed(0)
    ids = torch.arange(10).repeat(4000, 1)
    hideable = torch.arange(10).expand_as(ids) % 2 == 1
    sigma = torch.full((4000,), 0.7)
    shown, hidden = noisy(ids, hideable, sigma, 19)
    assert not hidden[:, ::2].any()
    assert torch.equal(shown == 19, hidden)
    assert torch.equal(shown[~hidden], ids[~hidden])
    # Four standard errors.
    assert float(hidden[:, 1::2].float().mean()) == pytest.approx(0.5034, abs=4 * 0.5 / 20_000**0.5)


def test_mdlm_spreads_its_times_evenly() -> None:
    times = draw_times("mdlm", 100, torch.device("cpu"))
    assert (times.diff() > 0).all()
    assert float(times.diff().max()) < 0.02
    assert (draw_times("sedd", 100, torch.device("cpu")).diff() < 0).any()


def test_heads_must_be_even() -> None:
    with pytest.raises(ReviserError, match="even heads"):
        dataclasses.replace(CONFIG, heads=16)


def test_blocks_hide_what_the_dense_mask_hides() -> None:
    """On a GPU texts are kept apart by block-sparse attention, which here can only be read forwards."""
    model = random_transformer(dataclasses.replace(CONFIG, width=32))
    ids = torch.arange(12)[None]
    texts = torch.tensor([[0] * 5 + [1] * 7])
    positions = torch.tensor([[*range(5), *range(7)]])
    sigma = torch.tensor([0.7])
    dense = model.hidden(ids, sigma, Visibility.within_texts(texts, positions))
    blocks = model.hidden(ids, sigma, Visibility.in_blocks(texts, positions))
    assert torch.allclose(blocks, dense, atol=1e-5)


def test_half_precision_is_near_enough() -> None:
    model = random_transformer()
    ids, sigma = torch.arange(10)[None], torch.tensor([0.5])
    exact = model.output(model.hidden(ids, sigma)[0], sigma.expand(10))[:, :-1]
    model.to(torch.bfloat16)
    rough = model.output(model.hidden(ids, sigma)[0], sigma.expand(10))[:, :-1]
    assert rough.dtype == torch.float32
    assert float((exact - rough).abs().mean()) < 0.1


@pytest.mark.parametrize("kind", ["sedd", "mdlm"])
def test_the_gradient_is_that_of_the_loss(kind: Literal["sedd", "mdlm"], monkeypatch: pytest.MonkeyPatch) -> None:
    """Loss and gradients that are written down by hand, in chunks, are those that torch finds."""
    monkeypatch.setattr("training.trainer.loss._CHUNK", 7)
    model = random_transformer(dataclasses.replace(CONFIG, kind=kind)).requires_grad_(True)
    ids = torch.randint(0, CONFIG.vocab_size - 1, (3, 9))
    rows = (ids, torch.zeros_like(ids), torch.arange(9).expand(3, -1), torch.arange(26), ids)
    torch.manual_seed(5)
    found = DiffusionObjective(model, compiled=False)(*rows)
    (2 * found).backward()
    made = {name: value.grad for name, value in model.named_parameters()}

    torch.manual_seed(5)
    t = draw_times(kind, 3, ids.device)
    sigma, rate = model.config.schedule.total(t), model.config.schedule.rate(t)
    hideable = torch.ones_like(ids, dtype=torch.bool)
    hideable[0, 0] = False  # nothing announces the first place
    shown, hidden = noisy(ids, hideable, sigma, CONFIG.mask_id)
    assert hidden.sum() > 7
    model.zero_grad(set_to_none=True)
    row = hidden.nonzero()[:, 0]
    outputs = model.output(model.hidden(shown, sigma)[hidden], sigma[row])
    wanted = PLACE_LOSSES[kind](outputs, ids[hidden], sigma[row], rate[row]).sum()
    (2 * wanted).backward()
    assert float(found.detach()) == pytest.approx(float(wanted.detach()), rel=1e-4)
    for name, value in model.named_parameters():
        mine = made[name]
        if value.grad is None or mine is None:
            assert mine is value.grad, name
        else:
            scale = float(value.grad.abs().max()) + 1e-6
            assert torch.allclose(mine, value.grad, rtol=1e-3, atol=1e-4 * scale), name


@pytest.mark.parametrize("kind", ["sedd", "mdlm"])
def test_training_in_half_precision_is_near_enough(kind: Literal["sedd", "mdlm"]) -> None:
    """What training does on a GPU, on this device: weights in single precision, products in half."""
    model = random_transformer(dataclasses.replace(CONFIG, kind=kind)).requires_grad_(True)
    ids = torch.randint(0, CONFIG.vocab_size - 1, (4, 16))
    rows = (ids, torch.zeros_like(ids), torch.arange(16).expand(4, -1), torch.arange(63), ids)
    objective = DiffusionObjective(model, compiled=False)
    torch.manual_seed(5)
    exact = float(objective(*rows).detach())
    torch.manual_seed(5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        near = objective(*rows)
    near.backward()
    assert float(near.detach()) == pytest.approx(exact, rel=0.05)
    gradient = model.embedding.weight.grad
    assert gradient is not None
    assert gradient.dtype == torch.float32
    assert gradient.isfinite().all()


@torch.no_grad()
def test_one_compiled_block_serves_all_layers_and_all_rows() -> None:
    """Compiling anew for each layer or step would take longer than a short run itself."""
    from torch._dynamo.utils import counters

    torch.compiler.reset()
    counters.clear()
    model = random_transformer(dataclasses.replace(CONFIG, width=32, layers=3, context=256))
    for block in model.blocks:
        block.compile(backend="eager", fullgraph=True)
    for size in (40, 41, 90):
        texts = (torch.arange(256) // size).repeat(2, 1).to(torch.int32)
        visibility = Visibility.in_blocks(texts, torch.arange(256).repeat(2, 1))
        model.hidden(torch.randint(0, 19, (2, 256)), torch.rand(2), visibility)
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", ["sedd", "mdlm"])
def test_a_compiled_gpu_learns_what_a_processor_does(kind: Literal["sedd", "mdlm"]) -> None:
    config = dataclasses.replace(CONFIG, kind=kind, width=64, context=256)
    ids = torch.randint(0, CONFIG.vocab_size - 1, (8, 256))
    texts = (torch.arange(256) // 100).repeat(8, 1).to(torch.int32)
    rows = (ids, texts, torch.arange(256).repeat(8, 1) % 100, torch.arange(8 * 256 - 1), ids)
    found = {}
    for device in ("cpu", "cuda"):
        model = random_transformer(config).requires_grad_(True).to(device)
        objective = DiffusionObjective(model, compiled=device == "cuda")
        losses = []
        for _ in range(60):  # masks differ with the device, so their mean is compared
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                loss = objective(*(part.to(device) for part in rows))
            losses.append(loss)
        torch.stack(losses).mean().backward()
        gradient = model.embedding.weight.grad
        assert gradient is not None
        found[device] = (float(torch.stack(losses).mean()), gradient.cpu())
    assert found["cuda"][0] == pytest.approx(found["cpu"][0], rel=0.1)
    near = torch.nn.functional.cosine_similarity(found["cpu"][1].flatten(), found["cuda"][1].flatten(), dim=0)
    assert float(near) > 0.9


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", ["sedd", "mdlm"])
def test_a_recorded_trunk_learns_what_a_told_one_does(kind: Literal["sedd", "mdlm"]) -> None:
    config = dataclasses.replace(CONFIG, kind=kind, width=64, context=256)
    model = random_transformer(config).requires_grad_(True).cuda().train()
    ids = torch.randint(0, CONFIG.vocab_size - 1, (8, 256)).cuda()
    texts = (torch.arange(256) // 100).repeat(8, 1).to(torch.int32).cuda()
    positions = (torch.arange(256).repeat(8, 1) % 100).cuda()
    rows = (ids, texts, positions, torch.arange(8 * 256 - 1).cuda(), ids)
    told = DiffusionObjective(model, compiled=False)
    recorded = DiffusionObjective(model, compiled=False)
    with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
        inputs = recorded.trunk_inputs(rows)
        assert inputs is not None
        recorded.record(*inputs)
        for seed in (1, 2):
            found = []
            for objective in (told, recorded):
                torch.manual_seed(seed)
                model.zero_grad(set_to_none=True)
                loss = objective(*rows)
                loss.backward()
                gradients = [weight.grad for weight in model.parameters()]
                found.append([loss.detach(), *(part.clone() for part in gradients if part is not None)])
            for one, other in zip(*found, strict=True):
                near = torch.nn.functional.cosine_similarity(one.flatten(), other.flatten(), dim=0)
                assert near > 0.99
            torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-2, atol=1e-2)
