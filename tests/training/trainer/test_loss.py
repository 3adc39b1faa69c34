"""The chunked loss and its gradients equal torch's own cross-entropy."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from tests.interpreting import interpreted, needs_triton
from training.trainer import loss
from training.trainer.loss import chunk_loss, summed_loss


@pytest.mark.parametrize("positions", [1, 7, 8, 20])
@pytest.mark.parametrize("compiled", [False, True])
def test_loss_and_gradients(positions: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss, "_CHUNK", 8)
    torch.manual_seed(0)
    hidden = torch.randn(positions, 6, requires_grad=True)
    table = torch.randn(11, 6, requires_grad=True)
    targets = torch.randint(0, 11, (positions,))
    expected = functional.cross_entropy(hidden @ table.T, targets, reduction="sum")
    wanted = torch.autograd.grad(3 * expected, (hidden, table))
    summed = summed_loss(hidden, table, targets, chunk_loss(compiled))
    torch.testing.assert_close(summed, expected)
    got = torch.autograd.grad(3 * summed, (hidden, table))
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)


def check(device: str) -> None:
    """The kernel makes what plain operations make, of rows that end within a block and beyond one."""
    from training.trainer import softmax

    torch.manual_seed(0)
    softmax._BLOCK = 64
    for size, width in ((11, 64), (64, 64), (130, 192), (192, 192)):
        logits = torch.randn(5, width, device=device) * 4
        targets = torch.randint(0, size, (5,), device=device)
        expected = loss.loss_and_gradient(logits, targets, size)
        found = softmax.loss_and_gradient_in_place(logits.clone(), targets, size)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_kernel_on_a_gpu() -> None:
    check("cuda")


@pytest.mark.slow
@needs_triton
def test_kernel_interpreted() -> None:
    interpreted("tests.training.trainer.test_loss", "check('cpu')")
