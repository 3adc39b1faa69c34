"""The chunked loss and its gradients equal torch's own cross-entropy."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tests.interpreting import interpreted, needs_triton
from training.trainer import loss
from training.trainer.loss import chunk_loss, summed_loss


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
    summed = summed_loss(hidden, table, targets, chunk_loss(compiled))
    torch.testing.assert_close(summed, expected)
    got = torch.autograd.grad(3 * summed, (hidden, table))
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("several", [1, 4])
@pytest.mark.parametrize("positions", [3, 20])
def test_what_is_unwanted(positions: int, several: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss, "_CHUNK", 8)
    torch.manual_seed(0)
    hidden = torch.randn(positions, 6, requires_grad=True)
    table = torch.randn(11, 6, requires_grad=True)
    targets = torch.randint(0, 11, (positions,))
    unwanted = others_than(targets, several, 11)
    every = (hidden @ table.T).softmax(-1)
    shares = torch.stack(
        [every[row, id] for row, ids in enumerate(unwanted.tolist()) for id in ids if id >= 0]
    )
    against = -((1 - shares + loss.MARGIN) / (1 + loss.MARGIN)).log().sum()
    expected = functional.cross_entropy(hidden @ table.T, targets, reduction="sum") + 0.7 * against
    wanted = torch.autograd.grad(3 * expected, (hidden, table))
    summed = summed_loss(hidden, table, targets, unwanted=lambda part: unwanted[part], weight=0.7)
    torch.testing.assert_close(summed, expected)
    got = torch.autograd.grad(3 * summed, (hidden, table))
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)


def others_than(targets: Tensor, several: int, size: int) -> Tensor:
    """So many ids for each target, none of them twice, with places for more between them."""
    steps = torch.stack([torch.randperm(size - 1)[:several] + 1 for _ in targets])
    found = (targets[:, None] + steps.to(targets.device)) % size
    found[::3, 0] = -1
    return found


def test_what_was_said_before() -> None:
    ids = torch.tensor([90, 5, 6, 5, 7, 90, 6, 8])
    lasting = torch.tensor([0, 2, 3, 2, 1, 0, 2, 1])
    places, targets = torch.tensor([1, 2, 4, 4, 7]), torch.tensor([6, 5, 9, 6, 5])
    found = loss.said_before(ids, lasting, places, targets, 3)
    assert found.tolist() == [[5, -1, -1], [6, -1, -1], [7, 5, 6], [7, 5, -1], [8, 6, -1]]
    assert loss.said_before(ids, lasting, places, targets, 2)[2].tolist() == [7, 5]


def check(device: str) -> None:
    """The kernel makes what plain operations make, of rows that end within a block and beyond one."""
    from training.trainer import softmax

    torch.manual_seed(0)
    softmax._BLOCK = 64
    for size, width in ((11, 64), (64, 64), (130, 192), (192, 192)):
        logits = torch.randn(5, width, device=device) * 4
        targets = torch.randint(0, size, (5,), device=device)
        single, several = (others_than(targets, count, size) for count in (1, 8))
        # The likeliest id is what presses most.
        logits[1, single[1]] = logits[2, several[2, 4]] = 20.0
        for others in (None, single, several):
            expected = loss.loss_and_gradient(logits, targets, size, others, 0.7)
            found = softmax.loss_and_gradient_in_place(
                logits.clone(), targets, size, others, 0.7, loss.MARGIN
            )
            for one, other in zip(found, expected, strict=True):
                torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_kernel_on_a_gpu() -> None:
    check("cuda")


@pytest.mark.slow
@needs_triton
def test_kernel_interpreted() -> None:
    interpreted("tests.training.trainer.test_loss", "check('cpu')")
