"""The embedded model on the native decoder beside the same weights in torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.builtin import builtin_texts
from reviser.checkpoints.home import load
from reviser.checkpoints.library import find_model
from reviser.native.decoder import NativeDecoder
from reviser.session.engine import load_engine


def _log_chances(scores: np.ndarray) -> np.ndarray:
    shifted = scores.astype(np.float64) - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@pytest.mark.usefixtures("native")
def test_rounding_costs_the_embedded_model_next_to_nothing() -> None:
    """Activations and, on Arm, attention are rounded to bytes: what the model says must stay the same."""
    checkpoint = load(find_model(None), device="cpu", dtype=torch.float32)
    engine = load_engine(threads=1)
    decoder = engine.policy.decoder
    assert isinstance(decoder, NativeDecoder)
    ids = [0, *engine.tokenizer.encode(next(iter(builtin_texts())))[:79]]
    with torch.no_grad():
        wanted = _log_chances(checkpoint.model(torch.tensor([ids]))[0].numpy())
    found = _log_chances(np.array([decoder.decode(id).copy() for id in ids]))
    divergence = (np.exp(wanted) * (wanted - found)).sum(axis=-1)
    assert divergence.mean() < 0.003
    assert divergence.max() < 0.05
    decoder.truncate(0)
    together = _log_chances(decoder.prefill(ids).copy())
    assert (np.exp(wanted[-1]) * (wanted[-1] - together)).sum() < 0.05
