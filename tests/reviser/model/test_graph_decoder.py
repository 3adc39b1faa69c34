"""A step in shapes that never change gives the scores of the plain model, whatever was read, cut off and read again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.model import Reviser, preset
from reviser.model.graph_decoder import GraphDecoder
from reviser.model.torch_decoder import TorchDecoder
from reviser.native import make_decoder
from tests.reviser.checkpoints.parts import random_model

VOCABULARY = Vocabulary(300, frozenset({0}))
CONFIG = preset("tiny", vocab_size=VOCABULARY.size, context=600)
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=gpu)]


def model_on(device: str) -> Reviser:
    return random_model(CONFIG).to(device)


@pytest.mark.parametrize("device", DEVICES)
def test_scores_are_those_of_the_plain_model(device: str) -> None:
    model = model_on(device)
    plain, graphs = TorchDecoder(model, 520), GraphDecoder(model, 520)
    ids = np.random.default_rng(0).integers(0, VOCABULARY.size, 600).tolist()

    def both_read(some: list[int]) -> None:
        for id in some:
            np.testing.assert_allclose(graphs.decode(id), plain.decode(id), atol=1e-4)

    np.testing.assert_allclose(graphs.prefill(ids[:250]), plain.prefill(ids[:250]), atol=1e-4)
    both_read(ids[250:262])  # into the second window
    for decoder in (plain, graphs):
        decoder.truncate(100)
        decoder.prefill(ids[300:400])
    both_read(ids[400:404])  # and in the first one again
    assert graphs.length == plain.length == 204
    np.testing.assert_allclose(graphs.prefill([7]), plain.prefill([7]), atol=1e-4)


def test_a_full_cache_refuses_another_id() -> None:
    decoder = GraphDecoder(model_on("cpu"), 4)
    decoder.prefill([1, 2, 3])
    decoder.decode(4)
    with pytest.raises(ValueError, match="holds 4 ids"):
        decoder.decode(5)
    assert decoder.length == 4


@pytest.mark.parametrize("device", DEVICES)
def test_a_run_takes_the_same_actions(device: str) -> None:
    model = model_on(device)
    made = []
    for decoder in (TorchDecoder(model), GraphDecoder(model)):
        canvas, history = seed(VOCABULARY, [5, 6, 7])
        policy = ModelPolicy(decoder, VOCABULARY)
        run = Rollout(policy, canvas, history, Sampler(seed=3), max_actions=40)
        made.append([step.id for step in run])
    assert made[0] == made[1]


@gpu
def test_a_gpu_has_graphs() -> None:
    decoder = make_decoder(model_on("cuda"), capacity=520)
    assert isinstance(decoder, GraphDecoder)
    decoder.prefill([1, 2, 3])
    first = decoder.decode(4).copy()
    decoder.truncate(3)
    assert (decoder.decode(4) == first).all()  # replayed
