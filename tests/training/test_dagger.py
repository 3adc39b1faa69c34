"""DAgger: labels of visited states, rollouts with an oracle in them, and runs that learn from both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from reviser.model import Reviser, preset
from tests.training.histories import PAPER_VOCABULARY, small_corpus
from training.batches import Loader
from training.generator import Histories
from training.mixture import Mixture
from training.packing import Rows, bucketed, packed
from training.samples import Samples
from training.trainer import Objective, inputs_of

TEXTS = Samples(small_corpus(30), PAPER_VOCABULARY, Mixture(max_history=160), 3)


def ordinary() -> Histories:
    return TEXTS.histories(0, 0, 40)


def relabelled(histories: Histories) -> Histories:
    """The same histories with targets of their own: the id after the one that is there."""
    return replace(histories, targets=histories.ids + 1)


# Targets -----------------------------------------------------------------------------------------


def loss_and_gradients(rows: Rows) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = Reviser(preset("tiny", vocab_size=PAPER_VOCABULARY.size + 1, dropout=0.0, context=256))
    loss = Objective(model, compiled=False)(*inputs_of(rows, torch.device("cpu")))
    loss.backward()
    return [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def test_targets_that_are_the_ids_change_no_bit_of_loss_and_gradients() -> None:
    histories = ordinary()
    plain = packed(histories, 12, 320, PAPER_VOCABULARY.start_id)
    told = packed(replace(histories, targets=histories.ids), 12, 320, PAPER_VOCABULARY.start_id)
    assert plain.targets is None
    assert told.targets is not None
    assert (told.targets == told.ids).all()
    pairs = zip(loss_and_gradients(plain), loss_and_gradients(told), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_other_targets_are_what_the_loss_asks_for() -> None:
    rows = packed(relabelled(ordinary()), 12, 320, PAPER_VOCABULARY.start_id)
    ids, samples, positions, places, targets = inputs_of(rows, torch.device("cpu"))
    assert (targets == ids.flatten()[places + 1] + 1).all()
    without = inputs_of(replace(rows, targets=None), torch.device("cpu"))
    for mine, plain in zip((ids, samples, positions, places), without, strict=False):
        assert torch.equal(mine, plain)


@pytest.mark.parametrize("pack", [True, False])
def test_targets_stay_with_their_ids(pack: bool) -> None:
    histories = Histories.joined((ordinary(), relabelled(ordinary())))
    padding = PAPER_VOCABULARY.start_id
    made = [packed(histories, 24, 320, padding)] if pack else bucketed(histories, 16, 8, padding)
    seen = set()
    for rows in made:
        # Rows are cut and put together as batches are.
        again = Rows.joined([rows[:5], rows[5:]])
        assert again.targets is not None
        for row, samples in zip(range(len(again)), again.samples, strict=True):
            for sample in range(samples.max() + 1):
                here = samples == sample
                shift = again.targets[row, here] - again.ids[row, here]
                assert shift.min() == shift.max()
                seen.add(int(shift[0]))
            assert (again.targets[row, samples < 0] == padding).all()
    assert seen == {0, 1}


def test_rows_with_and_without_targets_join() -> None:
    plain = packed(ordinary(), 12, 320, 0)
    told = packed(relabelled(ordinary()), 12, 320, 0)
    joined = Rows.joined([plain, told])
    assert joined.targets is not None
    assert (joined.targets[:12] == plain.ids).all()
    assert (joined[12:].wanted == told.targets).all()
    order = np.arange(23, -1, -1)
    assert (joined[order.tolist()].wanted == joined.wanted[::-1]).all()


def test_a_loader_of_ordinary_samples_has_no_targets() -> None:
    batch = next(Loader(TEXTS, 4, row_length=320, workers=1).batches())
    assert batch.targets is None
    assert batch.wanted is batch.ids
