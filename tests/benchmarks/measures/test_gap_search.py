"""The search for fillings on many gaps at once: it decides as a run by itself does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.measures.gap_search import guided, read, search_fillings
from benchmarks.measures.infill import Passage, best_fill
from reviser.checkpoints.home import Checkpoint, load
from reviser.decoding.batch.sampling import GREEDY, Sampling
from reviser.decoding.best_of import BestRollout
from reviser.decoding.filling import Read, Surroundings
from reviser.decoding.guidance import Guided, guided_scores
from reviser.decoding.left_to_right import left_to_right
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.decoding.torch_policy import TorchDecoder
from tests.lsp_server.models import save_tiny_model

PLACES = [("It was late. The cat sat", " on the mat, and it was warm."), ("The rain", " fell.")]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """A tiny model that may stop, and makes no moves of its own."""
    folder: Path = tmp_path_factory.mktemp("model") / "tiny"
    found = load(save_tiny_model(folder), dtype=torch.float32)
    vocabulary = found.vocabulary
    return replace(found, vocabulary=replace(vocabulary, kinds=vocabulary.kinds | {"stop"}))


def gaps(checkpoint: Checkpoint) -> list[tuple[list[int], list[int]]]:
    encode = checkpoint.tokenizer.encode
    return [(encode(before), encode(after)) for before, after in PLACES]


def test_guidance_is_the_same_for_rows() -> None:
    rng = np.random.default_rng(0)
    seeing, unseeing = rng.normal(size=(2, 3, 12)).astype(np.float32) * 3
    found = guided(torch.from_numpy(seeing), torch.from_numpy(unseeing), 10).numpy()
    shares = torch.from_numpy(unseeing).log_softmax(-1).numpy()
    for row in range(3):
        wanted = guided_scores(seeing[row, :10], shares[row, :10])
        np.testing.assert_allclose(found[row, :10], wanted, atol=1e-4)
        np.testing.assert_array_equal(found[row, 10:], seeing[row, 10:])


def test_texts_are_read_together_as_alone(checkpoint: Checkpoint) -> None:
    decoder = TorchDecoder(checkpoint.model, 256)
    texts = [[*before, *after] for before, after in gaps(checkpoint)]
    asked = [Read(texts[0], 4), Read(texts[1], 2), Read(texts[0], 5, 7)]
    found = read(checkpoint.model, asked)
    assert found[0] == pytest.approx(decoder.chances(texts[0], 4), abs=1e-4)
    assert found[1] == pytest.approx(decoder.chances(texts[1], 2), abs=1e-4)
    assert found[2] == pytest.approx(decoder.following(texts[0], 7, 5), abs=1e-4)


def test_it_finds_what_a_run_by_itself_finds(checkpoint: Checkpoint) -> None:
    # Moves are left out there, so the run by itself must have none either.
    vocabulary = replace(checkpoint.vocabulary, kinds=frozenset({"insert", "stop"}))
    policy = ModelPolicy(TorchDecoder(checkpoint.model, 512), vocabulary)
    found = search_fillings(
        checkpoint, gaps(checkpoint), [1, 2], tries=1, max_actions=40, sampling=GREEDY, rows=8
    )
    reading = left_to_right(policy)
    for (before, after), filling in zip(gaps(checkpoint), found, strict=True):
        canvas, history = seed(checkpoint.vocabulary, before, after)
        around = Surroundings.of(canvas, reading.readable)
        stands = Guided(policy, reading, around)
        canvas.vocabulary = vocabulary
        run = BestRollout(
            policy,
            canvas,
            history,
            Sampler.greedy(),
            lambda canvas, sampler, history=history, stands=stands: Rollout(
                stands, canvas, history, sampler, max_actions=40
            ),
            reading,
            guided=stands,
            max_actions=40,
        )
        list(run)
        assert canvas.between(canvas.low, canvas.high) == filling.tokens


def test_every_filling_has_an_end(checkpoint: Checkpoint) -> None:
    passages = [Passage(before, [5], after) for before, after in gaps(checkpoint)]
    filled = best_fill(checkpoint, passages, 3, 8, 3, Sampling(0.7))
    assert len(filled) == len(passages)
    for tokens, ending, by_model in filled:
        assert ending == "stop"
        assert len(tokens) >= 3 or by_model
    again = best_fill(checkpoint, passages, 3, 8, 3, Sampling(0.7))
    assert filled == again
