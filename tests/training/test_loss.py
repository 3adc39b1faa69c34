"""The chunked loss and its gradients equal torch's own cross-entropy."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from training import loss
from training.loss import loss_and_gradient, summed_loss


@pytest.mark.parametrize("positions", [1, 7, 8, 20])
@pytest.mark.parametrize("compiled", [False, True])
def test_loss_and_gradients(
    positions: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "_CHUNK", 8)
    torch.manual_seed(0)
    hidden = torch.randn(positions, 6, requires_grad=True)
    table = torch.randn(11, 6, requires_grad=True)
    targets = torch.randint(0, 11, (positions,))
    expected = functional.cross_entropy(hidden @ table.T, targets, reduction="sum")
    wanted = torch.autograd.grad(3 * expected, (hidden, table))
    of_chunk = torch.compile(loss_and_gradient, backend="eager")
    summed = summed_loss(hidden, table, targets, of_chunk if compiled else loss_and_gradient)
    torch.testing.assert_close(summed, expected)
    got = torch.autograd.grad(3 * summed, (hidden, table))
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)
