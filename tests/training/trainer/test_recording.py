"""A recorded pass gives what it would give if it were not recorded, however often it is replayed."""

from __future__ import annotations

import pytest
import torch

from reviser.model import Reviser, preset
from training.trainer.trainer import Objective


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("half", [False, True])
def test_replayed_passes_give_the_same_loss_and_gradients(added: bool, half: bool) -> None:
    with torch.autocast("cuda", torch.bfloat16, enabled=half, cache_enabled=False):
        check(added, 2e-2 if half else 1e-4)


def check(added: bool, tolerance: float) -> None:
    torch.manual_seed(0)
    model = Reviser(preset("tiny", width=128, dropout=0.0)).cuda().train()
    weights = list(model.parameters())
    plain, recorded = Objective(model, compiled=False), Objective(model, compiled=False)
    positions = torch.cat([torch.arange(each) for each in (20, 9, 3)]).repeat(4, 1).cuda()
    batches = [torch.randint(0, 128, (4, 32)).cuda() for _ in range(3)]
    recorded.record(batches[0], positions)
    assert all(kept is weight for kept, weight in zip(model.parameters(), weights, strict=True))
    places = torch.arange(0, 128, 3).cuda()
    for ids in batches:
        with torch.no_grad():
            # What a step of training does: the next pass has other weights.
            for weight in weights:
                weight.add_(0.1 * torch.randn_like(weight))
        found = []
        for objective in (plain, recorded):
            for weight in weights:
                weight.grad = torch.ones_like(weight) if added else None
            loss = objective(ids, positions, positions, places, ids.flatten()[places])
            loss.backward()
            found.append([loss.detach(), *(weight.grad.clone() for weight in weights)])
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other, rtol=10 * tolerance, atol=tolerance)
    # Rows of another shape are not replayed, and neither is what is not for learning.
    short = recorded(batches[0][:2], positions[:2], positions[:2], places[:20], places[:20])
    assert short.isfinite()
    model.eval()
    assert recorded(batches[0], positions, positions, places, places).isfinite()
