"""A decoder's weights as a diffusion model: seeing only what came before, it says what the decoder says."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import torch

from benchmarks.contestants.diffusion.adapted import AdaptedTransformer, adapted
from benchmarks.contestants.diffusion.checkpoint import DiffusionModel, load_diffusion, save_diffusion
from benchmarks.contestants.diffusion.model import Visibility
from reviser.core.errors import ReviserError
from reviser.model import preset
from tests.reviser.checkpoints.parts import random_model, toy_checkpoint


@pytest.mark.parametrize("kind", ["sedd", "mdlm"])
def test_with_eyes_for_the_past_alone_it_is_the_decoder(kind: Literal["sedd", "mdlm"]) -> None:
    decoder = toy_checkpoint(seed=2, heads=4, width=64, kv_heads=2).model
    model = adapted(kind, decoder).eval()
    ids = torch.randint(decoder.config.vocab_size - 1, (2, 12))
    past = torch.ones(12, 12, dtype=torch.bool).tril()[None, None]
    with torch.no_grad():
        expected = decoder(ids)
        found = model.head(model.hidden(ids, torch.ones(2), Visibility(torch.arange(12)[None], past)))
        both_ways = model.head(model.hidden(ids, torch.ones(2)))
    # Of each place it says what the decoder says after the place before.
    torch.testing.assert_close(found[:, 1:], expected[:, :-1], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(both_ways[:, 1:], expected[:, :-1], rtol=1e-2, atol=1e-2)


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    parts = toy_checkpoint(seed=2)
    made = DiffusionModel(adapted("mdlm", parts.model), parts.tokenizer, (3,), frozenset({4}), 1)
    save_diffusion(tmp_path / "it", made)
    again = load_diffusion(tmp_path / "it", torch.device("cpu"))
    assert isinstance(again.model, AdaptedTransformer)
    ids = torch.randint(100, (1, 9))
    made.model.eval()
    with torch.no_grad():
        assert torch.equal(again.model.hidden(ids, torch.zeros(1)), made.model.hidden(ids, torch.zeros(1)))


def test_other_kinds_of_models_cannot_be_turned() -> None:
    with pytest.raises(ReviserError, match="of the llama kind"):
        adapted("mdlm", random_model(preset("tiny-paper", vocab_size=300)))
