"""Several tries at a gap, of which the end is written that joins best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from reviser.checkpoints.home import Checkpoint, load
from reviser.core.canvas import Canvas
from reviser.decoding.best_of import BestRollout
from reviser.decoding.filling import FOLLOWING, Answer, Filling, FillingSearch, GapSurroundings, Read, Write, repeats
from reviser.decoding.guidance import LAST, PLAUSIBLE, Guided, guided_scores
from reviser.decoding.left_to_right import left_to_right
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Choice, Sampler
from reviser.model.torch_decoder import TorchDecoder
from reviser.session.engine import Engine
from reviser.session.session import Session
from tests.lsp_server.models import save_tiny_model
from tests.toys import quick_decoder

BEFORE, AFTER = "It was late. The cat sat", " on the mat, and it was warm."


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return load(save_tiny_model(tmp_path_factory.mktemp("model") / "tiny"), dtype=torch.float32)


@pytest.fixture(scope="module")
def engine(checkpoint: Checkpoint) -> Engine:
    """The tiny model, but it may stop."""
    vocabulary = checkpoint.vocabulary
    vocabulary = replace(vocabulary, kinds=vocabulary.kinds | {"stop"})
    decoder = quick_decoder(checkpoint.model, 256)
    return Engine("tiny", ModelPolicy(decoder, vocabulary), checkpoint.tokenizer)


def begun(engine: Engine) -> tuple[Canvas, list[int]]:
    encode = engine.tokenizer.encode
    return seed(engine.policy.vocabulary, encode(BEFORE), encode(AFTER))


def best(engine: Engine, number: int, tries: int = 4, *, guides: bool = True) -> BestRollout:
    canvas, history = begun(engine)
    reading = left_to_right(engine.policy)
    guided = Guided(engine.policy, reading, GapSurroundings.of(canvas, reading.readable))

    def begin(canvas: Canvas, sampler: Sampler) -> Rollout:
        policy = guided if guides else engine.policy
        return Rollout(policy, canvas, history, sampler, max_actions=40)

    return BestRollout(
        *(engine.policy, canvas, history, Sampler(seed=number), begin, reading),
        guided=guided if guides else None,
        tries=tries,
        max_actions=40,
    )


def joins(engine: Engine, tokens: tuple[int, ...]) -> float:
    """The mean log-probability of what follows a filling, read all at once."""
    canvas, _ = begun(engine)
    behind = canvas.tokens[canvas.high : canvas.high + FOLLOWING]
    ids = [engine.policy.vocabulary.start_id, *canvas.tokens[: canvas.low], *tokens, *behind]
    return float(np.mean(left_to_right(engine.policy).chances(ids, len(behind))))


def told(engine: Engine, script: str, tries: int = 1) -> tuple[Filling, list[Write | Read]]:
    """What a search makes of a run that writes a script again and again; what it asked for."""
    canvas, _ = begun(engine)
    reading = left_to_right(engine.policy)
    search = FillingSearch(canvas, GapSurroundings.of(canvas, reading.readable), tries, 200).run()
    ids = [*engine.tokenizer.encode(script)] * 50
    asked, answer = [next(search)], Answer()
    while True:
        one = asked[-1]
        if isinstance(one, Write):
            at = len(one.begun)
            answer = Answer(choices=[Choice.certain(id) for id in ids[at : at + one.count]])
        elif one.token is None:
            answer = Answer(chances=reading.chances(one.ids, one.last))
        else:
            answer = Answer(chances=reading.following(one.ids, one.token, one.last))
        try:
            asked.append(search.send(answer))
        except StopIteration as over:
            filling: Filling = over.value
            return filling, asked


def test_an_end_that_does_not_fit_is_not_taken(engine: Engine) -> None:
    free = best(engine, 2)
    list(free)
    taken = free.canvas.between(free.canvas.low, free.canvas.high)
    bound = best(engine, 2)
    bound._fits = lambda tokens: tuple(tokens) != tuple(taken)
    list(bound)
    assert bound.ending == "stop"
    assert bound.canvas.between(bound.canvas.low, bound.canvas.high) != taken


@pytest.mark.parametrize("number", range(3))
def test_a_run_ends_where_the_rest_follows_best(engine: Engine, number: int) -> None:
    run = best(engine, number)
    list(run)
    assert run.ending == "stop"
    chosen = tuple(run.canvas.between(run.canvas.low, run.canvas.high))
    assert len(chosen) >= 1
    # It joins better than most of its own beginnings would.
    others = [joins(engine, chosen[:size]) for size in range(len(chosen))]
    assert joins(engine, chosen) > np.median(others)


def test_every_place_of_a_run_may_be_its_end(engine: Engine) -> None:
    filling, asked = told(engine, " quiet day, it rain fell.")
    tokens = engine.tokenizer.encode(" quiet day, it rain fell.") * 50
    assert list(filling.tokens) == tokens[: len(filling.tokens)]
    assert filling.choices[-1].id == engine.policy.vocabulary.stop_id
    assert not filling.ended
    # Of the ends of the first 16 tokens, none that was read in full is better.
    behind = len(engine.tokenizer.encode(AFTER)[:FOLLOWING])
    before = len(engine.tokenizer.encode(BEFORE)) + 1
    read = [one for one in asked if isinstance(one, Read) and one.token is None]
    sizes = {len(one.ids) - before - behind for one in read if len(one.ids) - before - behind >= 3} & set(range(17))
    chosen = joins(engine, filling.tokens)
    assert sizes
    assert all(joins(engine, tuple(tokens[:size])) <= chosen + 0.1 for size in sizes)


def test_a_run_that_finds_nothing_better_is_given_up(engine: Engine) -> None:
    _, asked = told(engine, " quiet day, it rain fell.")
    written = sum(one.count for one in asked if isinstance(one, Write))
    assert written < 200


def test_later_tries_go_on_from_a_part_of_the_best(engine: Engine) -> None:
    _, asked = told(engine, " quiet day, it rain fell.", tries=6)
    begun = [len(one.begun) for one in asked if isinstance(one, Write)]
    starts = [at for before, at in zip([99, *begun], begun, strict=False) if at != before + 16]
    assert starts.count(0) >= 2
    assert any(at > 0 for at in starts)


def test_what_says_the_rest_beforehand_repeats_it() -> None:
    assert repeats([1, 2, 3, 4, 5, 6], [0, 2, 3, 4, 5, 6, 7])
    assert not repeats([1, 2, 3, 4, 5, 6], [0, 2, 3, 4, 5, 7])


def test_reading_says_how_likely_a_token_is_at_each_place(engine: Engine) -> None:
    reading = left_to_right(engine.policy)
    ids = [engine.policy.vocabulary.start_id, *engine.tokenizer.encode(BEFORE)]
    token = engine.tokenizer.encode(" mat")[0]
    each = [reading.chances([*ids[:size], token], 1)[0] for size in range(3, len(ids) + 1)]
    assert reading.following(ids, token, len(each)) == pytest.approx(each, abs=1e-4)
    scores = torch.from_numpy(reading.scores(ids).copy())
    assert float(scores.log_softmax(0)[token]) == pytest.approx(each[-1], abs=1e-4)


def test_guidance_prefers_what_the_rest_makes_likelier() -> None:
    seeing = np.log(np.array([0.4, 0.4, 0.19, 0.01], dtype=np.float32)) + 3
    unseeing = np.log(np.array([0.6, 0.2, 0.1, 0.1], dtype=np.float32))
    made = guided_scores(seeing, unseeing)
    gained = made - seeing
    assert gained[1] > gained[2] > gained[0]
    assert made[3] < made[:3].min() - LAST / 2
    assert seeing.max() - seeing[3] > PLAUSIBLE
    # All together are as likely as before.
    assert np.exp(made).sum() == pytest.approx(np.exp(seeing).sum(), rel=1e-4)


def test_guidance_notes_how_likely_the_first_token_behind_is(engine: Engine) -> None:
    canvas, _ = begun(engine)
    reading = left_to_right(engine.policy)
    guided = Guided(engine.policy, reading, GapSurroundings.of(canvas, reading.readable))
    guided.scores(begun(engine)[1], canvas)
    ((ids, chance),) = guided.noted.items()
    token = engine.tokenizer.encode(AFTER)[0]
    assert chance == pytest.approx(reading.following(list(ids), token, 1)[0], abs=1e-4)


def test_where_nothing_is_drawn_there_is_one_try(engine: Engine) -> None:
    runs = []
    for tries in (2, 5):
        run = best(engine, 0, tries)
        run.sampler = Sampler.greedy()
        list(run)
        runs.append(run.history)
    assert runs[0] == runs[1]


def test_the_same_seed_writes_the_same(engine: Engine) -> None:
    one, two = best(engine, 2), best(engine, 2)
    assert [step.id for step in one] == [step.id for step in two]


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


@pytest.mark.parametrize("tries", [1, 4])
def test_a_session_keeps_what_surrounds_the_gap(engine: Engine, tries: int) -> None:
    session = Session(engine.policy, engine.tokenizer, BEFORE + AFTER)
    run = session.infill(len(BEFORE), sampler=Sampler(seed=2), max_actions=30, tries=tries, longest_repeat=0)
    assert isinstance(run.rollout, BestRollout) == (tries > 1)
    list(run)
    assert session.text.startswith(BEFORE)
    assert session.text.endswith(AFTER)


def test_a_model_that_cannot_stop_has_one_try(checkpoint: Checkpoint) -> None:
    policy = ModelPolicy(TorchDecoder(checkpoint.model, 256), checkpoint.vocabulary)
    session = Session(policy, checkpoint.tokenizer, BEFORE + AFTER)
    run = session.infill(len(BEFORE), sampler=Sampler(seed=2), max_actions=12)
    assert not isinstance(run.rollout, BestRollout)
    assert len(list(run)) == 12
