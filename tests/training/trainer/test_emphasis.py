"""Choices that follow a move can count more in the loss, and then count exactly so much more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from reviser.core.errors import ReviserError
from reviser.model import Reviser, preset
from tests.training.chains import WORDS, WORLD, Chains
from training.trainer.settings import preset_settings
from training.trainer.trainer import Trainer

MOVES = range(5, 12)


def trainer(times: int) -> Trainer:
    settings = preset_settings("tiny", steps=4, after_moves=times)
    torch.manual_seed(0)
    model = Reviser(preset("tiny", vocab_size=WORDS))
    return Trainer(settings, model, Chains(), WORLD, moves=MOVES)


def test_a_choice_after_a_move_counts_so_many_times() -> None:
    batch = next(Chains().batches(0))
    batch.mask[:, :4] = False
    after = np.zeros_like(batch.mask)
    after[:, 1:] = batch.mask[:, 1:] & np.isin(batch.ids[:, :-1], MOVES)
    every, some = int(batch.mask[:, 1:].sum()), int(after.sum())
    assert 0 < some < every
    once = trainer(1)
    mean_of_every, mean_of_some = (once.evaluate([batch]), once.evaluate([replace(batch, mask=after)]))
    emphatic = trainer(3)
    measured = emphatic._step([batch])
    assert measured.targets == every + 2 * some
    assert float(measured.summed_loss) == pytest.approx(every * mean_of_every + 2 * some * mean_of_some, rel=1e-5)
    # Evaluations do not weigh, so that runs compare.
    assert trainer(3).evaluate([batch]) == mean_of_every


def test_once_is_what_it_was_and_less_is_refused() -> None:
    batch = next(Chains().batches(0))
    plain = trainer(1)
    without = Trainer(plain.settings, trainer(1).model, Chains(), WORLD)
    one, other = plain._step([batch]), without._step([batch])
    assert float(one.summed_loss) == float(other.summed_loss)
    assert one.targets == other.targets == int(batch.mask[:, 1:].sum())
    with pytest.raises(ReviserError, match="at least once"):
        preset_settings("tiny", after_moves=0)
