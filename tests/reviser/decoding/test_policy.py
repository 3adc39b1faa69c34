"""A model as a policy: it computes what is new, alone or in a batch, with or without the canvas."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, Run, seed
from reviser.decoding.sampler import Sampler
from reviser.decoding.torch_policy import CanvasPolicy, run_batch
from reviser.model.scoring import shared_length
from reviser.model.torch_decoder import TorchDecoder
from tests.toys import VOCABULARY, toy_model, toy_policy

CANVAS = Canvas(VOCABULARY)


def full_scores(policy: ModelPolicy, history: list[int]) -> np.ndarray:
    model = policy._decoder._model  # type: ignore[attr-defined]
    with torch.no_grad():
        return model(torch.tensor([history]))[0, -1].numpy()


def test_scores_of_any_history_equal_a_full_pass() -> None:
    policy = toy_policy()
    chooser = random.Random(0)
    history = [VOCABULARY.start_id]
    for _ in range(40):
        cut = chooser.randrange(1, len(history) + 1) if chooser.random() < 0.3 else len(history)
        history = history[:cut] + [chooser.randrange(256) for _ in range(chooser.randrange(3))]
        np.testing.assert_allclose(policy.scores(history, CANVAS), full_scores(policy, history), rtol=1e-4, atol=1e-4)


def test_only_what_differs_goes_through_the_model() -> None:
    policy = toy_policy()
    history = [VOCABULARY.start_id, *range(60)]
    policy.scores(history, CANVAS)
    assert policy.evaluated == 61
    policy.scores(history, CANVAS)
    assert policy.evaluated == 61
    policy.scores([*history, 7], CANVAS)
    assert policy.evaluated == 62
    policy.scores([*history[:-2], 9, 9], CANVAS)
    assert policy.evaluated == 64
    policy.scores(history[:30], CANVAS)
    assert policy.evaluated == 65


def test_a_history_past_the_context_is_refused_in_a_sentence() -> None:
    policy = toy_policy()
    with pytest.raises(ReviserError, match="128 actions at the most"):
        policy.scores([0] * 129, CANVAS)


@pytest.mark.parametrize(("one", "other", "shared"), [([], [1], 0), ([1, 2], [1, 2, 3], 2), ([1, 2, 3], [1, 9, 3], 1)])
def test_shared_length(one: list[int], other: list[int], shared: int) -> None:
    assert shared_length(one, other) == shared == shared_length(other, one)


def test_a_batch_takes_the_same_actions_as_each_run_alone() -> None:
    model = toy_model()
    prompts = [[256, 257], [72, 101, 108, 108, 111], [], [65] * 30]

    def run(prompt: list[int], number: int) -> Run:
        canvas, history = seed(VOCABULARY, prompt)
        return Run(canvas, history, Sampler(seed=number), max_actions=20 + 15 * number)

    batch = [run(prompt, number) for number, prompt in enumerate(prompts)]
    order = [number for number, _ in run_batch(model, batch)]
    for number, prompt in enumerate(prompts):
        lone = run(prompt, number)
        alone = Rollout(
            ModelPolicy(TorchDecoder(model), VOCABULARY),
            lone.canvas,
            lone.history,
            lone.sampler,
            max_actions=lone.max_actions,
        )
        list(alone)
        assert batch[number].history == alone.history
        assert batch[number].ending == alone.ending
        assert batch[number].canvas.tokens == alone.canvas.tokens
        assert order.count(number) == alone.actions_taken


def test_a_batch_stops_at_the_context() -> None:
    model = toy_model()
    canvas, history = seed(VOCABULARY, [65] * 100)
    run = Run(canvas, history, Sampler(seed=0), max_actions=1000)
    list(run_batch(model, [run]))
    assert run.ending in ("limit", "stop")
    assert len(run.history) <= model.config.context
    assert list(run_batch(model, [run])) == []


CONDITIONED = [
    {"canvas_input": "identity"},
    {"canvas_input": "linear", "cursor_id": VOCABULARY.cursor_id},
    {"cross_layers": 1, "cross_memory": "tokens", "cross_gate": "scalar"},
]


@pytest.mark.parametrize("variant", CONDITIONED)
def test_a_conditioned_model_sees_each_canvas_as_it_was(variant: dict[str, object]) -> None:
    model = toy_model(**variant)
    canvas, history = seed(VOCABULARY, [256, 257, 258])
    policy = CanvasPolicy(model, VOCABULARY)
    rollout = Rollout(policy, canvas, history, Sampler(seed=3), max_actions=25)
    for _ in rollout:
        fresh = CanvasPolicy(model, VOCABULARY).scores(rollout.history, canvas)
        kept = policy.scores(rollout.history, canvas)
        np.testing.assert_allclose(kept, fresh, rtol=1e-4, atol=1e-4)
    with pytest.raises(ReviserError, match="one run at a time"):
        list(run_batch(model, [rollout]))
