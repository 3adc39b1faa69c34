"""Kernels between matrix products make what plain operations make."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from reviser.model import Reviser, decoder, preset
from tests.interpreting import interpreted, needs_triton


def plainly_gated(joined: Tensor) -> Tensor:
    gate, up = joined.chunk(2, dim=-1)
    return functional.silu(gate) * up


def check_same(found: Sequence[Tensor], expected: Sequence[Tensor], given: list[Tensor]) -> None:
    """The same numbers, and the same gradients of what was given."""
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    grads = [torch.randn_like(each) for each in found]
    for one, other in zip(
        torch.autograd.grad(found, given, grads), torch.autograd.grad(expected, given, grads), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def check_functions(device: str) -> None:
    from reviser.model.kernels import fused
    from reviser.model.kernels.fused import gated, gelu

    torch.manual_seed(0)
    for shape, programs in (((3, 5, 48), 4), ((2, 1, 2048), 64), ((2, 7, 16), 1)):
        fused._GELU_SUMS = (programs, *fused._GELU_SUMS[1:])
        x = torch.randn(shape, device=device, requires_grad=True)
        bias = torch.randn(shape[-1], device=device, requires_grad=True)
        check_same([gated(x)], [plainly_gated(x)], [x])
        check_same([gelu(x, bias)], [functional.gelu(x + bias)], [x, bias])


def check_norms(device: str) -> None:
    from reviser.model.kernels import fused

    torch.manual_seed(0)
    seeds = torch.zeros(2, dtype=torch.int64, device=device)
    for kind in (nn.LayerNorm, nn.RMSNorm):
        for shape, programs in (((2, 3, 48), 4), ((1, 5, 576), 64), ((2, 7, 16), 1)):
            fused._NORM_SUMS = (programs, *fused._NORM_SUMS[1:])
            norm = kind(shape[-1], eps=1e-3).to(device)
            for weight in norm.parameters():
                nn.init.normal_(weight)
            base, x = (torch.randn(shape, device=device, requires_grad=True) for _ in range(2))
            found = fused.add_norm(base, x, None, norm, seeds, 0, 0.0)
            expected = (base + x, norm(base + x))
            check_same(found, expected, [base, x, *norm.parameters()])
            extra = torch.randn(shape[-1], device=device, requires_grad=True)
            found = fused.add_norm(base, x, extra, norm, seeds, 0, 0.0)
            total = base + (x + extra)
            check_same(found, (total, norm(total)), [base, x, extra, *norm.parameters()])


def check_dropped_before_norms(device: str) -> None:
    from reviser.model.kernels.fused import add_norm

    torch.manual_seed(0)
    shape, seeds = (3, 21, 96), torch.tensor([5, 6], device=device)
    base, x = (torch.randn(shape, device=device, requires_grad=True) for _ in range(2))
    norm = nn.LayerNorm(96, device=device)
    extra = torch.randn(96, device=device, requires_grad=True)
    total, normed = add_norm(base, x, extra, norm, seeds, 0, 0.25)
    factor = ((total - base) / (x + extra)).detach()
    kept = factor.round(decimals=3) != 0
    assert abs(float(kept.float().mean()) - 0.75) < 0.03
    assert abs(float((kept[..., 1:] == kept[..., :-1]).float().mean()) - 0.625) < 0.03
    expected = base + torch.where(kept, (x + extra) * (4 / 3), 0.0)
    given = [base, x, extra, *norm.parameters()]
    check_same([total, normed], [expected, norm(expected)], given)
    for other, which, same in ((seeds, 0, True), (seeds, 1, False), (seeds + 1, 0, False)):
        again = add_norm(base, x, extra, norm, other, which, 0.25)[0]
        assert torch.equal(again, total) == same


def check_models(device: str) -> None:
    """A model learns the same with kernels and without."""
    torch.manual_seed(0)
    positions = torch.cat([torch.arange(each) for each in (20, 9, 3)]).repeat(2, 1).to(device)
    ids = torch.randint(0, 128, (2, 32), device=device)
    for kind in ("paper", "llama"):
        config = preset("tiny", kind=kind, width=32, heads=2, kv_heads=2, dropout=0.0)
        model = Reviser(config).to(device).train()
        weights = list(model.parameters())
        found = []
        for kernels in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(decoder, "has_kernels", lambda _, kernels=kernels: kernels)
                states = model.hidden_packed(ids, positions)
                grad = torch.linspace(-1, 1, states.numel(), device=device).view_as(states)
                found.append([states.detach(), *torch.autograd.grad(states, weights, grad)])
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def check_shapes(device: str) -> None:
    """What a compiler is told of shapes is what there is."""
    importlib.import_module("reviser.model.kernels.fused")
    base, found = (torch.randn(2, 3, 48, device=device) for _ in range(2))
    bias, seeds = torch.randn(48, device=device), torch.zeros(2, dtype=torch.int64, device=device)
    given: list[tuple[str, tuple[object, ...]]] = [("gelu", (base, bias)), ("gelu_backward", (found, base, bias))]
    for centred, share in ((True, 0.5), (False, 0.0)):
        extra = torch.randn(48, device=device) if centred else None
        words = (base, found, extra, seeds, bias, bias if centred else None, 0, share, 1e-5)
        total, normed, *kept = torch.ops.reviser.add_norm(*words)
        given.append(("add_norm", words))
        rest = (total, normed, total, *kept, seeds, bias, centred, centred, 0, share)
        given.append(("add_norm_backward", rest))
    for name, words in given:
        operator = getattr(torch.ops.reviser, name)
        torch.library.opcheck(operator, words, test_utils=("test_schema", "test_faketensor"))


CHECKS = [check_functions, check_norms, check_dropped_before_norms, check_models, check_shapes]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("check", CHECKS)
def test_on_a_gpu(check: object) -> None:
    assert callable(check)
    check("cuda")


@pytest.mark.slow
@needs_triton
def test_interpreted() -> None:
    interpreted("tests.reviser.model.test_fused", "[check('cpu') for check in CHECKS]")
