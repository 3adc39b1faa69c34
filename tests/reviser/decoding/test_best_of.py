"""Several tries at a gap, of which the one that joins best is written."""

from __future__ import annotations

from statistics import fmean

import pytest
import torch

from reviser.checkpoints.home import Checkpoint, load
from reviser.core.canvas import Canvas
from reviser.decoding.best_of import FOLLOWING, BestRollout
from reviser.decoding.left_to_right import left_to_right
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.decoding.torch_policy import TorchDecoder
from reviser.session.engine import Engine
from reviser.session.session import Session
from tests.lsp_server.models import save_tiny_model

BEFORE, AFTER = "It was late. The cat sat", " on the mat, and it was warm."


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return load(save_tiny_model(tmp_path_factory.mktemp("model") / "tiny"), dtype=torch.float32)


@pytest.fixture(scope="module")
def engine(checkpoint: Checkpoint) -> Engine:
    decoder = TorchDecoder(checkpoint.model, 256)
    return Engine("tiny", ModelPolicy(decoder, checkpoint.vocabulary), checkpoint.tokenizer)


def begun(engine: Engine) -> tuple[Canvas, list[int]]:
    encode = engine.tokenizer.encode
    return seed(engine.policy.vocabulary, encode(BEFORE), encode(AFTER))


def best(engine: Engine, number: int, tries: int, actions: int = 30) -> BestRollout:
    canvas, history = begun(engine)

    def begin(canvas: Canvas, sampler: Sampler) -> Rollout:
        return Rollout(engine.policy, canvas, history, sampler, max_actions=actions)

    return BestRollout(
        *(engine.policy, canvas, history, Sampler(seed=number), begin),
        left_to_right(engine.policy),
        tries=tries,
        max_actions=actions,
    )


def joins(engine: Engine, canvas: Canvas) -> float:
    behind = canvas.tokens[canvas.high : canvas.high + FOLLOWING]
    ids = [engine.policy.vocabulary.start_id, *canvas.tokens[: canvas.high], *behind]
    return fmean(left_to_right(engine.policy).chances(ids, len(behind)))


def alone(engine: Engine, number: int, tries: int) -> list[Rollout]:
    """The same tries, one after the other, from one stream of random numbers."""
    sampler, runs = Sampler(seed=number), []
    for _ in range(tries):
        canvas, history = begun(engine)
        run = Rollout(engine.policy, canvas, history, sampler, max_actions=30)
        list(run)
        runs.append(run)
    return runs


@pytest.mark.parametrize("number", range(4))
def test_the_try_that_joins_best_is_written(engine: Engine, number: int) -> None:
    run = best(engine, number, 4)
    list(run)
    tried = alone(engine, number, 4)
    wanted = max(tried, key=lambda one: (one.ending == "stop", joins(engine, one.canvas)))
    assert run.canvas.tokens == wanted.canvas.tokens
    assert run.history == wanted.history
    assert run.ending == wanted.ending


def test_one_try_is_a_plain_run(engine: Engine) -> None:
    run = best(engine, 3, 1)
    list(run)
    assert run.history == alone(engine, 3, 1)[0].history


def test_after_the_callers_own_action_the_run_goes_on_without_tries(engine: Engine) -> None:
    run = best(engine, 1, 3)
    next(run)
    token = engine.tokenizer.encode(" dog")[0]
    run.take(token)
    assert run.actions_taken == 2
    next(run)
    assert run.actions_taken == 3
    run.take_back()
    run.take_back()
    assert run.actions_taken == 1


def test_a_cancelled_run_writes_nothing(engine: Engine) -> None:
    run = best(engine, 1, 3)
    run.cancel()
    assert list(run) == []
    assert run.ending == "cancelled"


def test_a_session_tries_several_times_and_keeps_what_surrounds_the_gap(engine: Engine) -> None:
    texts = []
    for tries in (1, 4):
        session = Session(engine.policy, engine.tokenizer, BEFORE + AFTER)
        run = session.infill(
            len(BEFORE), sampler=Sampler(seed=2), max_actions=30, tries=tries, longest_repeat=0
        )
        assert isinstance(run.rollout, BestRollout) == (tries > 1)
        list(run)
        texts.append(session.text)
    for text in texts:
        assert text.startswith(BEFORE)
        assert text.endswith(AFTER)
