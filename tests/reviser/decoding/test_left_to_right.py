"""A text that is read beside a history: the chances are those that reading it step by step would give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from reviser.checkpoints.home import load
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.left_to_right import READABLE, left_to_right
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import ScriptedPolicy, seed
from reviser.model.scoring import Decoder
from reviser.model.torch_decoder import TorchDecoder
from reviser.native import NativeDecoder
from tests.lsp_server.models import save_tiny_model

TEXT = " the cat sat on the mat, it was late and the rain fell"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(params=["torch", "native"])
def policy(folder: Path, request: pytest.FixtureRequest) -> ModelPolicy:
    checkpoint = load(folder, dtype=torch.float32)
    decoder: Decoder = (
        TorchDecoder(checkpoint.model, 600)
        if request.param == "torch"
        else NativeDecoder.from_model(checkpoint.model, 8, capacity=600)
    )
    return ModelPolicy(decoder, checkpoint.vocabulary)


def ids_of(folder: Path, text: str) -> list[int]:
    checkpoint = load(folder, dtype=torch.float32)
    return [checkpoint.vocabulary.start_id, *checkpoint.tokenizer.encode(text)]


def step_by_step(policy: ModelPolicy, ids: list[int], last: int) -> list[float]:
    canvas, _ = seed(policy.vocabulary, ids[1:])
    found = []
    for at in range(len(ids) - last, len(ids)):
        scores = policy.scores(ids[:at], canvas).astype(np.float64)
        found.append(float(scores[ids[at]] - np.logaddexp.reduce(scores)))
    return found


def test_chances_are_those_of_reading_step_by_step(policy: ModelPolicy, folder: Path) -> None:
    reading = left_to_right(policy)
    ids = ids_of(folder, TEXT)
    for last in (len(ids) - 1, 3, 1, 7):
        expected = step_by_step(policy, ids, last)
        assert reading.chances(ids, last) == pytest.approx(expected, abs=2e-2)


def test_what_two_texts_share_changes_nothing(policy: ModelPolicy, folder: Path) -> None:
    reading = left_to_right(policy)
    one, other = ids_of(folder, TEXT), ids_of(folder, TEXT.replace("was late", "rain sat"))
    first, second = reading.chances(one, 8), reading.chances(other, 8)
    assert first != second
    assert reading.chances(one, 8) == pytest.approx(first, abs=1e-4)
    assert left_to_right(policy).chances(other, 8) == pytest.approx(second, abs=1e-4)


def test_the_history_that_is_written_stays(policy: ModelPolicy, folder: Path) -> None:
    ids = ids_of(folder, TEXT)
    canvas, history = seed(policy.vocabulary, ids[1:6])
    before = policy.scores(history, canvas).copy()
    left_to_right(policy).chances(ids, 5)
    assert np.array_equal(policy.scores(history, canvas), before)
    assert policy.decoder.length == len(history)


def test_what_cannot_be_read_is_refused(policy: ModelPolicy, folder: Path) -> None:
    reading = left_to_right(policy)
    ids = ids_of(folder, TEXT)
    for some, last in ((ids, 0), (ids, len(ids)), ([1] * (READABLE + 1000), 2)):
        with pytest.raises(ReviserError, match="can be read"):
            reading.chances(some, last)
    with pytest.raises(ReviserError, match="cannot read a text"):
        left_to_right(ScriptedPolicy(Vocabulary.gpt2(), []))
