"""Kernels between matrix products make what plain operations make."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tests.interpreting import interpreted, needs_triton


def plainly_gated(joined: Tensor) -> Tensor:
    gate, up = joined.chunk(2, dim=-1)
    return functional.silu(gate) * up


def check_functions(device: str) -> None:
    from reviser.model.fused import gated, gelu

    torch.manual_seed(0)
    for made, plain in ((gated, plainly_gated), (gelu, functional.gelu)):
        for shape in ((3, 5, 48), (2, 1, 2048)):
            x = torch.randn(shape, device=device, requires_grad=True)
            found, expected = made(x), plain(x)
            torch.testing.assert_close(found, expected)
            grad = torch.randn_like(found)
            one, other = (torch.autograd.grad(out, x, grad)[0] for out in (found, expected))
            torch.testing.assert_close(one, other)


def check_dropped(device: str) -> None:
    from reviser.model.fused import add_dropped

    torch.manual_seed(0)
    base, x = (torch.randn(3, 41, 96, device=device, requires_grad=True) for _ in range(2))
    found = add_dropped(base, x, 0.25)
    factor = (found - base).detach() / x.detach()
    kept = factor.round(decimals=3) != 0
    assert abs(float(kept.float().mean()) - 0.75) < 0.03
    torch.testing.assert_close(
        factor[kept], torch.full_like(factor[kept], 4 / 3), rtol=1e-2, atol=0
    )
    # Backward, the same are dropped; and the next time others are.
    grad = torch.randn_like(found)
    of_base, of_x = torch.autograd.grad(found, (base, x), grad)
    assert torch.equal(of_base, grad)
    torch.testing.assert_close(of_x, torch.where(kept, grad * 4 / 3, 0.0))
    again = (add_dropped(base, x, 0.25) - base) / x
    assert not torch.equal(again.round(decimals=3) != 0, kept)


CHECKS = [check_functions, check_dropped]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("check", CHECKS)
def test_on_a_gpu(check: object) -> None:
    assert callable(check)
    check("cuda")


@needs_triton
def test_interpreted() -> None:
    interpreted("tests.model.test_fused", "[check('cpu') for check in CHECKS]")
