"""Batched generation: the actions a rollout would take, drawn on the device, whatever the batch."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.batch.sampling import GREEDY, Sampling, choose, uniform
from reviser.decoding.batch.scheduler import GeneratedRun, generate
from reviser.decoding.batch.validity import Rules
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.model import Reviser
from reviser.model.torch_decoder import TorchDecoder
from reviser.native.choosing import top_k_in_numpy, with_sharper_moves
from tests.toys import VOCABULARY, toy_model

CUDA = pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here"))
PROMPTS = [[256, 257], [72, 101, 108, 108, 111], [], [65] * 60, [1], [260, 261, 262] * 5]
SUFFIXES = [[], [258], [259, 260, 261], [46] * 21, [], [5, 6]]
AR = Vocabulary(VOCABULARY.base_size, kinds=frozenset({"insert", "stop"}), name="toy")
DELETES = Vocabulary(VOCABULARY.base_size, kinds=PAPER_KINDS | {"delete"}, name="toy")


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Models this small lose more by handing work to threads than they gain."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def rollout(
    model: Reviser,
    prompt: Sequence[int],
    suffix: Sequence[int] = (),
    *,
    vocabulary: Vocabulary = VOCABULARY,
    draft: Sequence[int] | None = None,
    max_actions: int = 256,
    max_length: int | None = None,
) -> GeneratedRun:
    """What the plain greedy rollout does."""
    canvas, history = seed(vocabulary, prompt, suffix, draft=draft, max_length=max_length)
    limit = min(max_actions, model.config.context - len(history))
    policy = ModelPolicy(TorchDecoder(model), vocabulary)
    run = Rollout(policy, canvas, history, Sampler.greedy(), max_actions=limit)
    list(run)
    assert run.ending in ("stop", "limit")
    return GeneratedRun(run.history[run.seeded :], run.ending)


def replay(run: GeneratedRun, prompt: Sequence[int], suffix: Sequence[int] = (), **options: Any) -> Canvas:
    """The canvas after a run; it refuses whatever is not valid."""
    canvas, _ = seed(options.pop("vocabulary", VOCABULARY), prompt, suffix, **options)
    for id in run.ids:
        canvas.apply(canvas.action(id))
    assert canvas.stopped == (run.ending == "stop")
    tokens = canvas.tokens
    assert tokens[: len(prompt)] == list(prompt)
    assert tokens[len(tokens) - len(suffix) :] == list(suffix)
    return canvas


@pytest.mark.parametrize("device", ["cpu", CUDA])
@pytest.mark.parametrize("kind", ["tiny", "tiny-paper"])
@pytest.mark.parametrize("vocabulary", [VOCABULARY, AR, DELETES], ids=["paper", "ar", "deletes"])
@pytest.mark.parametrize("suffixes", [None, SUFFIXES], ids=["continue", "infill"])
def test_greedy_runs_are_those_of_a_rollout(
    device: str, kind: str, vocabulary: Vocabulary, suffixes: list[list[int]] | None
) -> None:
    model = toy_model(kind, seed=1).to(device)
    options: dict[str, Any] = {"max_actions": 70, "max_length": 90}
    made = generate(
        model, vocabulary, PROMPTS, seeds=range(len(PROMPTS)), suffixes=suffixes, sampling=GREEDY, rows=4, **options
    )
    for run, prompt, suffix in zip(made, PROMPTS, suffixes or [[]] * 6, strict=True):
        assert run == rollout(model, prompt, suffix, vocabulary=vocabulary, **options)
    # Else nothing but repetition was compared.
    assert len({id for run in made for id in run.ids}) > 10


def test_a_run_goes_on_after_actions_already_taken() -> None:
    model = toy_model(seed=1)
    options: dict[str, Any] = {"seeds": range(len(PROMPTS)), "suffixes": SUFFIXES, "rows": 4}
    whole = generate(model, DELETES, PROMPTS, sampling=GREEDY, max_actions=30, **options)
    begun = [run.ids[: min(9, len(run.ids) - 1)] for run in whole]
    rest = generate(model, DELETES, PROMPTS, sampling=GREEDY, max_actions=30, begun=begun, **options)
    for run, first, last in zip(whole, begun, rest, strict=True):
        assert run == GeneratedRun([*first, *last.ids], last.ending)
    with pytest.raises(ReviserError):
        generate(model, DELETES, [[65]], seeds=[0], begun=[[DELETES.delete_id]])


def test_drafts_are_revised_as_in_a_rollout() -> None:
    model = toy_model(seed=1)
    drafts = [[65, 66, 256], [], [257] * 9, [70], [258, 259], [260, 261, 262]]
    options: dict[str, Any] = {"max_actions": 30, "max_length": 90}
    made = generate(
        model, DELETES, PROMPTS, seeds=[0] * 6, suffixes=SUFFIXES, drafts=drafts, sampling=GREEDY, rows=4, **options
    )
    for run, prompt, suffix, draft in zip(made, PROMPTS, SUFFIXES, drafts, strict=True):
        assert run == rollout(model, prompt, suffix, vocabulary=DELETES, draft=draft, **options)
    assert any(len(set(run.ids)) > 3 for run in made)
    with pytest.raises(ReviserError, match="draft"):
        generate(model, DELETES, PROMPTS, seeds=[0] * 6, drafts=[[1]])


def test_long_runs_read_more_of_the_cache_as_they_go_and_new_ones_less() -> None:
    model = toy_model(seed=2, context=400, canvas_length=400)
    prompts = [[256] * 110, [65, 66], [67]]
    options: dict[str, Any] = {"max_actions": 160}
    made = generate(model, AR, prompts, seeds=[0] * 3, sampling=GREEDY, rows=2, **options)
    assert made == [rollout(model, prompt, vocabulary=AR, **options) for prompt in prompts]
    assert [len(run.ids) for run in made] == [160] * 3


def restless_model(seed: int) -> Reviser:
    """A model that stops now and then, moves often and likes to leave the canvas."""
    model = toy_model(seed=seed)
    with torch.no_grad():
        model.embedding.weight[VOCABULARY.base_size :] *= 3
    return model


@pytest.mark.parametrize("device", ["cpu", CUDA])
@pytest.mark.parametrize("vocabulary", [VOCABULARY, AR, DELETES], ids=["paper", "ar", "deletes"])
def test_sampled_runs_are_valid(device: str, vocabulary: Vocabulary) -> None:
    chooser = random.Random(3)
    prompts = [[chooser.randrange(266) for _ in range(chooser.randrange(20))] for _ in range(40)]
    suffixes = [[chooser.randrange(266) for _ in range(chooser.randrange(9))] for _ in range(40)]
    made = generate(
        restless_model(4).to(device),
        vocabulary,
        prompts,
        seeds=range(40),
        suffixes=suffixes,
        sampling=Sampling(1.3),
        max_actions=60,
        max_length=45,
        rows=16,
    )
    kinds = set()
    for run, prompt, suffix in zip(made, prompts, suffixes, strict=True):
        canvas = replay(run, prompt, suffix, max_length=45, vocabulary=vocabulary)
        assert canvas.length <= 45
        assert len(run.ids) <= 60
        assert run.ending == "stop" or len(run.ids) == 60
        kinds |= {vocabulary.action(id).kind for id in run.ids}
    assert kinds == vocabulary.kinds
    # A canvas filled from left to right leaves nothing but Stop.
    endings = {"stop", "limit"} if "move" in vocabulary.kinds else {"stop"}
    assert {run.ending for run in made} == endings


def test_a_run_does_not_depend_on_its_batch() -> None:
    model = restless_model(5)
    prompts = PROMPTS * 3
    numbers = [7, 7, 1, 2**64 + 3, -9, 12, *range(12)]
    together = generate(model, VOCABULARY, prompts, seeds=numbers, rows=5)
    order = list(range(len(prompts)))
    random.Random(1).shuffle(order)
    shuffled = generate(model, VOCABULARY, [prompts[i] for i in order], seeds=[numbers[i] for i in order], rows=18)
    assert [shuffled[order.index(i)] for i in range(len(prompts))] == together
    for prompt, number, run in list(zip(prompts, numbers, together, strict=True))[:6]:
        assert generate(model, VOCABULARY, [prompt], seeds=[number]) == [run]
    # The seed matters, and the prompt does.
    assert together[2] != together[8]
    assert together[0] != together[1]


def test_finished_rows_make_place() -> None:
    model = restless_model(6)
    prompts = [[256]] * 40
    stepped: list[int] = []
    decode = model.decode_static

    def counting(ids: Tensor, *rest: Any, **options: Any) -> Tensor:
        stepped.append(len(ids))
        return decode(ids, *rest, **options)

    model.decode_static = counting  # type: ignore[method-assign]
    made = generate(model, VOCABULARY, prompts, seeds=range(40), max_actions=100, rows=16)
    lengths = sorted(len(run.ids) for run in made)
    assert lengths[0] < 40 < lengths[-1]
    assert stepped[0] == 16
    one_batch_after_the_other = sum(max(len(run.ids) for run in made[start : start + 16]) for start in range(0, 40, 16))
    assert len(stepped) < one_batch_after_the_other
    # When nothing waits any more, the last runs go on among fewer rows.
    assert stepped == sorted(stepped, reverse=True)
    assert stepped[-1] <= 4


def test_a_row_ends_at_the_context() -> None:
    model = toy_model()
    made = generate(model, AR, [[65] * 127, [65] * 120], seeds=[0, 1], max_actions=1000)
    assert made[0] == GeneratedRun([], "limit")
    assert len(made[1].ids) == 7 or made[1].ending == "stop"
    with pytest.raises(ReviserError, match="128 actions at the most, and this history has 129"):
        generate(model, AR, [[65] * 128], seeds=[0])


def test_nothing_to_do() -> None:
    assert generate(toy_model(), VOCABULARY, [], seeds=[]) == []


def test_what_cannot_be_done_is_refused_in_a_sentence() -> None:
    with pytest.raises(ReviserError, match="one run at a time"):
        generate(toy_model(canvas_input="identity"), VOCABULARY, [[1]], seeds=[0])
    with pytest.raises(ReviserError, match="span moves or span copies"):
        Rules.of(Vocabulary(5, extensions=("span_move",)))
    for bad in ({"seeds": []}, {"seeds": [1], "suffixes": []}):
        with pytest.raises(ReviserError):
            generate(toy_model(), VOCABULARY, [[1]], **bad)  # type: ignore[arg-type]
    for numbers in ((-1.0, 50), (0.9, 0), (0.9, 50, 0.0)):
        with pytest.raises(ReviserError):
            Sampling(*numbers)  # type: ignore[arg-type]
    broken = toy_model()
    with torch.no_grad():
        broken.final_norm.weight.fill_(math.nan)
    for temperature in (0.0, 0.9):
        with pytest.raises(InvalidAction, match="no valid action any chance"):
            generate(broken, VOCABULARY, [[1]], seeds=[0], sampling=Sampling(temperature))


RICH = Vocabulary(12, frozenset({3}), extensions=("swap", "span_delete", "replace"), name="rich toy")


@settings(deadline=None, max_examples=60)
@given(
    vocabulary=st.sampled_from([VOCABULARY, AR, DELETES, RICH]),
    sizes=st.tuples(*[st.integers(0, 40) | st.integers(0, 700)] * 4),
    room=st.integers(0, 3) | st.none(),
)
def test_rules_are_those_of_the_canvas(
    vocabulary: Vocabulary, sizes: tuple[int, int, int, int], room: int | None
) -> None:
    prefix, left, right, suffix = sizes
    length = sum(sizes)
    canvas = Canvas(
        vocabulary,
        [0] * length,
        cursor=prefix + left,
        prefix=prefix,
        suffix=suffix,
        max_length=None if room is None else length + room,
    )
    rules = rules_of(vocabulary)
    numbers = [torch.tensor([n]) for n in (left, right, 1 << 30 if room is None else room)]
    valid = rules.valid(*numbers)[0].numpy()
    np.testing.assert_array_equal(valid, canvas.valid_actions().mask())
    for id in canvas.valid_actions().operators:
        canvas.apply(canvas.action(id))
        assert canvas.cursor == prefix + left + rules.step[id]
        assert canvas.length == length + rules.growth[id]
        canvas.undo()


_RULES: dict[Vocabulary, Rules] = {}


def rules_of(vocabulary: Vocabulary) -> Rules:
    if vocabulary not in _RULES:
        _RULES[vocabulary] = Rules.of(vocabulary)
    return _RULES[vocabulary]


def test_random_numbers_are_those_of_splitmix64() -> None:
    # The first outputs of the reference implementation from the seed 1234567.
    reference = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    drawn = uniform(torch.tensor([1234567] * 4), torch.arange(4))
    assert drawn.tolist() == [(number >> 11) * 2.0**-53 for number in reference]


def test_random_numbers_of_neighbouring_seeds_are_even_and_apart() -> None:
    seeds, steps = torch.arange(500)[:, None], torch.arange(200)[None]
    drawn = uniform(seeds, steps).numpy()
    assert 0 <= drawn.min() < drawn.max() < 1
    share, _ = np.histogram(drawn, bins=20, range=(0, 1))
    assert abs(share / drawn.size - 0.05).max() < 0.003
    for one, other in ((drawn[:-1], drawn[1:]), (drawn[:, :-1], drawn[:, 1:])):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.015


@pytest.mark.parametrize("device", ["cpu", CUDA])
@pytest.mark.parametrize("top_k", [None, 3, 6, 50])
def test_choices_come_as_often_as_softmax_says(device: str, top_k: int | None) -> None:
    draws, temperature = 40_000, 0.7
    scores = torch.tensor([1.0, 3.0, 0.5, 2.0, -1.0, 2.5, 1.5, 9.0], device=device)
    valid = torch.tensor([True] * 7 + [False], device=device)
    drawn = uniform(torch.full((draws,), 11, device=device), torch.arange(draws, device=device))
    rows = (draws, len(scores))
    last = torch.zeros(draws, dtype=torch.int64, device=device)
    sampling = Sampling(temperature, top_k)
    picked, possible = choose(scores.expand(rows), valid.expand(rows), drawn, last, sampling, range(0))
    assert possible.all()
    kept = scores[:7].cpu().double().topk(min(top_k or 7, 7))
    expected = torch.zeros(8, dtype=torch.float64)
    expected[kept.indices] = (kept.values / temperature).softmax(dim=0)
    counted = torch.bincount(picked.cpu(), minlength=8) / draws
    assert counted[expected == 0].sum() == 0
    spread = (expected * (1 - expected) / draws).sqrt()
    assert ((counted - expected).abs() <= 4.5 * spread).all()


@pytest.mark.parametrize("device", ["cpu", CUDA])
@pytest.mark.parametrize("top_k", [None, 4, 50])
@given(
    scores=st.lists(st.floats(-20, 20, width=32), min_size=8, max_size=8),
    drawn=st.integers(0, 999),
    last=st.integers(0, 7),
    for_moves=st.floats(0.01, 2.0),
)
def test_surer_moves_are_chosen_as_a_sampler_chooses_them(
    device: str, top_k: int | None, scores: list[float], drawn: int, last: int, for_moves: float
) -> None:
    moves, temperature = range(4, 7), 0.9
    array, given_ = np.array(scores, dtype=np.float32), (drawn + 0.5) / 1000
    allowed = np.arange(8) != 3
    ids, shares = top_k_in_numpy(array, allowed, top_k or 8, temperature)
    if for_moves < temperature:
        power = temperature / for_moves
        shares = with_sharper_moves(ids, shares, moves, power, last in moves)
    sums = np.cumsum(shares)
    assert sums[-1] == pytest.approx(1)
    picked, possible = choose(
        torch.tensor(array, device=device)[None],
        torch.tensor(allowed, device=device)[None],
        torch.tensor([given_], dtype=torch.float64, device=device),
        torch.tensor([last], device=device),
        Sampling(temperature, top_k, for_moves),
        moves,
    )
    assert possible.all()
    if top_k is None or top_k >= len(scores) or len(set(scores)) < 8:
        return  # in another order
    place = int(np.searchsorted(sums, given_ * sums[-1], side="right"))
    if abs(sums - given_).min() > 1e-6:
        assert int(picked) == ids[place]


def test_few_valid_ids_are_all_that_top_k_finds() -> None:
    logits = torch.zeros(1000, 30)
    valid = torch.zeros(1000, 30, dtype=torch.bool)
    valid[:, [4, 29]] = True
    last, drawn = torch.zeros(1000, dtype=torch.int64), torch.linspace(0, 1 - 2**-53, 1000).double()
    picked, possible = choose(logits, valid, drawn, last, Sampling(0.9, 50), range(0))
    assert set(picked.tolist()) == {4, 29}
    assert possible.all()
    valid[7] = False
    for temperature in (0.0, 0.9):
        sampling = Sampling(temperature, 5)
        _, possible = choose(logits, valid, torch.zeros(1000), last, sampling, range(0))
        assert (~possible).nonzero().tolist() == [[7]]


def test_top_k_of_a_model_restricts_every_choice() -> None:
    model = toy_model(seed=8)
    prompts = PROMPTS[:3]
    made = generate(model, VOCABULARY, prompts, seeds=range(3), sampling=Sampling(top_k=4), max_actions=40)
    chosen_places = set()
    for run, prompt in zip(made, prompts, strict=True):
        canvas, history = seed(VOCABULARY, prompt)
        policy = ModelPolicy(TorchDecoder(model), VOCABULARY)
        for id in run.ids:
            scores = np.where(canvas.valid_actions().mask(), policy.scores(history, canvas), -np.inf)
            place = np.argsort(-scores)[:4].tolist().index(id)
            chosen_places.add(place)
            canvas.apply(canvas.action(id))
            history.append(id)
    assert chosen_places == {0, 1, 2, 3}


def test_runs_that_take_turns_with_nobody_are_as_they_would_be() -> None:
    """Sampled in turns of any length, without anybody acting in between, a run stays the same."""
    model = restless_model(5)
    whole = generate(model, DELETES, PROMPTS * 3, seeds=range(18), max_actions=40, rows=5)
    chosen: dict[int, list[int]] = {run: [] for run in range(18)}

    def turns(runs: list[int], taken: list[list[int]]) -> list[tuple[list[int], int]]:
        for run, ids in zip(runs, taken, strict=True):
            chosen[run] += ids
        return [([], 1 + (run + len(chosen[run])) % 7) for run in runs]

    made = generate(model, DELETES, PROMPTS * 3, seeds=range(18), max_actions=40, rows=5, turns=turns)
    assert made == whole
    assert [chosen[run] for run in range(18)] == [run.ids for run in whole]
    assert {run.ending for run in whole} == {"stop", "limit"}


def test_what_others_do_in_between_is_part_of_the_run() -> None:
    """The model goes on as it would have if the others' actions had been its own."""
    model = toy_model(seed=1)
    drafts = [[65, 66, 256], [], [257] * 9, [70], [258, 259], [260, 261, 262]]
    others: dict[int, list[list[int]]] = {run: [[44], [], [65, 66]] if run % 2 else [[], [67]] for run in range(6)}
    turn = dict.fromkeys(range(6), 0)

    def turns(runs: list[int], taken: list[list[int]]) -> list[tuple[list[int], int]]:
        told = []
        for run in runs:
            mine = others[run][turn[run] :][:1]
            turn[run] += 1
            told.append((mine[0] if mine else [], 3 if mine else 0))
        return told

    made = generate(
        model,
        DELETES,
        PROMPTS,
        seeds=[0] * 6,
        suffixes=SUFFIXES,
        drafts=drafts,
        sampling=GREEDY,
        max_actions=30,
        rows=4,
        turns=turns,
    )
    policy = ModelPolicy(TorchDecoder(model), DELETES)
    for number, run in enumerate(made):
        canvas, history = seed(DELETES, PROMPTS[number], SUFFIXES[number], draft=drafts[number])
        greedy = Rollout(policy, canvas, history, Sampler.greedy())
        for acts in others[number]:
            if greedy.over:
                break
            for id in acts:
                greedy.take(id)
            for _ in range(3):
                next(greedy, None)
        assert run.ids == greedy.history[greedy.seeded :]
        assert (run.ending == "stop") == canvas.stopped


def test_a_run_in_turns_ends_with_the_others_stop_and_at_the_limit() -> None:
    model = toy_model(seed=1)

    def stops(runs: list[int], taken: list[list[int]]) -> list[tuple[list[int], int]]:
        return [([65, DELETES.stop_id], 5) for _ in runs]

    made = generate(model, DELETES, [[256]], seeds=[0], sampling=GREEDY, turns=stops)
    assert made == [GeneratedRun([65, DELETES.stop_id], "stop")]

    def insists(runs: list[int], taken: list[list[int]]) -> list[tuple[list[int], int]]:
        return [([65], 2) for _ in runs]

    (run,) = generate(model, AR, [[256]], seeds=[0], sampling=GREEDY, max_actions=10, turns=insists)
    assert run.ending == "limit"
    assert len(run.ids) == 10


def test_other_ids_can_end_a_run() -> None:
    model = toy_model(seed=2)
    options: dict[str, Any] = {"seeds": [0] * 6, "sampling": GREEDY, "max_actions": 40}
    plain = generate(model, AR, PROMPTS, **options)
    ends = {run.ids[at] for at, run in enumerate(plain)}
    cut = generate(model, AR, PROMPTS, ends=ends, **options)
    for long, short in zip(plain, cut, strict=True):
        end = next(at for at, id in enumerate(long.ids) if id in ends)
        assert short == GeneratedRun(long.ids[: end + 1], "stop")
