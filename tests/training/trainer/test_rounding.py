"""Rounded weights in training: seen by every pass, and kept by none."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter

from reviser.core.errors import ReviserError
from reviser.model import Reviser, preset
from reviser.model.quantised import attempt, dequantise_model, quantise_model, rounded
from tests.training.chains import WORDS, WORLD, Chains
from training.trainer.rounding import Rounding
from training.trainer.settings import preset_settings
from training.trainer.trainer import Trainer


def trainer(**changes: Any) -> Trainer:
    settings = preset_settings("tiny", **{"steps": 4} | changes)
    torch.manual_seed(0)
    return Trainer(settings, Reviser(preset("tiny", vocab_size=WORDS)), Chains(), WORLD)


def as_in_a_file(model: Reviser) -> Reviser:
    weights = dequantise_model(model.config, quantise_model(model, 4, thorough=True))
    made = Reviser(model.config)
    made.load_state_dict(weights)
    return made


def test_weights_are_rounded_as_a_file_has_them_and_put_back() -> None:
    model = Reviser(preset("tiny", vocab_size=WORDS))
    exact = {name: value.clone() for name, value in model.state_dict().items()}
    expected = as_in_a_file(model).state_dict()
    with Rounding(model, 4).applied():
        for name, value in model.state_dict().items():
            assert torch.equal(value, expected[name]), name
    assert all(torch.equal(value, exact[name]) for name, value in model.state_dict().items())
    with pytest.raises(RuntimeError), Rounding(model, 4).applied():
        raise RuntimeError
    assert all(torch.equal(value, exact[name]) for name, value in model.state_dict().items())


def test_the_search_is_compiled_once_for_each_width() -> None:
    counter = CompileCounter()
    compiled = torch.compile(attempt, backend=counter, dynamic=False)
    for width in (64, 96, 64):
        weight = torch.randn(256, width)
        assert torch.equal(rounded(weight, 4, compiled), rounded(weight, 4))
    assert counter.frame_count == 2


def test_a_pass_sees_rounded_weights_and_a_step_changes_the_exact_ones() -> None:
    run = trainer(round_bits=4, round_from=0.0)
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    batch = next(run.source.batches(0))
    plain = Trainer(run.settings, as_in_a_file(run.model), Chains(), WORLD)
    plain.rounding = None
    assert run.evaluate([batch]) == plain.evaluate([batch])
    measured, seen = run._step([batch]), plain._step([batch])
    assert float(measured.summed_loss) == float(seen.summed_loss)
    assert float(measured.gradient) == pytest.approx(float(seen.gradient), rel=1e-6)
    name = "blocks.0.mlp.down.weight"
    rate = measured.rate
    moved = (run.model.state_dict()[name] - before[name]).abs()
    assert 0 < moved.max() <= 1.1 * rate + rate * before[name].abs().max()


def test_rounding_begins_when_the_settings_say() -> None:
    late, never = trainer(round_bits=4, round_from=0.5), trainer()
    found = [
        (run.mean_loss(a), other.mean_loss(b))
        for run, other in [(late, never)]
        for a, b in zip(run.steps(), other.steps(), strict=True)
    ]
    assert [a == b for a, b in found] == [True, True, False, False]


@pytest.mark.parametrize(
    "changes", [{"round_bits": 3}, {"round_bits": 4, "round_from": 1.5}, {"round_bits": 4, "parallel": "fsdp"}]
)
def test_what_cannot_be_rounded_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ReviserError, match="weights are"):
        preset_settings("tiny", **changes)
    with pytest.raises(ReviserError, match="canvas"):
        Rounding(Reviser(preset("tiny", canvas_input="identity")), 4)
