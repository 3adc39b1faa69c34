"""PPO's parts against what can be computed by hand, and the whole on a task whose optimum is known."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmarks.measures.variety import distinct
from reviser.checkpoints.home import Checkpoint
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import KINDS, PAPER_KINDS, Vocabulary
from reviser.decoding.batch.validity import Rules
from reviser.decoding.rollout import seed
from reviser.model import Reviser, preset
from tests.training.histories import BASE, PAPER_VOCABULARY, some_classes
from training.ppo import losses
from training.ppo.losses import (
    VisitedStates,
    advantages,
    clipped_loss,
    explained_variance,
    k3,
    kind_matrix,
    score_visited,
    type_loss,
)
from training.ppo.minibatches import minibatches
from training.ppo.rewards import Cost, Judges, Reward, Rewarded, Scores, parse_rewards, rank_rewards, repeated, reward
from training.ppo.rollouts import DocumentPrompts, Episode, Group, PrefixOracle, RealPrompt
from training.ppo.settings import PpoSettings
from training.ppo.tuner import Tuner

CPU = torch.device("cpu")
LETTERS = Vocabulary(4, kinds=PAPER_KINDS)
DELETES = Vocabulary(4, kinds=PAPER_KINDS | {"delete"})


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small lose more by handing work to threads than they gain."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Letters:
    """A tokenizer of four letters."""

    name = "letters"
    size = 4
    markers: frozenset[int] = frozenset()

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") for letter in text]

    def token_bytes(self, token: int) -> bytes:
        return bytes([ord("a") + token])


def episode(ids: Sequence[int], vocabulary: Vocabulary = LETTERS, **changes: Any) -> Episode:
    """What these actions write after the prompt `d`."""
    canvas, _ = seed(vocabulary, [3])
    for id in ids:
        canvas.apply(canvas.action(id))
    tokens = canvas.tokens[1:]
    text = "".join(chr(ord("a") + token) for token in tokens)
    ending = "stop" if canvas.stopped else "limit"
    return replace(Episode([3], list(ids), 0, tokens, ending, "d", text), **changes)


# Advantages --------------------------------------------------------------------------------------


def test_generalised_advantages_are_those_computed_by_hand() -> None:
    values = np.array([0.5, 0.2, 0.1, 0.4], dtype=np.float32)
    found, returns = advantages(values, [3, 1], [1.0, 0.0], 1.0, 0.5)
    # Errors are -0.3, -0.1 and 0.9, each with half of what comes after it; the next episode is its own.
    assert found == pytest.approx([-0.3 + 0.5 * 0.35, -0.1 + 0.5 * 0.9, 0.9, -0.4])
    assert returns == pytest.approx([0.375, 0.55, 1.0, 0.0])


def test_with_lambda_1_an_advantage_is_the_reward_less_the_value() -> None:
    values = np.array([0.5, 0.2, 0.1, 0.4], dtype=np.float32)
    found, returns = advantages(values, [2, 2], [1.0, -1.0], 1.0, 1.0)
    assert found == pytest.approx([0.5, 0.8, -1.1, -1.4])
    assert returns == pytest.approx([1.0, 1.0, -1.0, -1.0])
    assert explained_variance(returns, returns) == 1.0
    assert explained_variance(np.zeros(4, dtype=np.float32), returns) == 0.0


# Rewards -----------------------------------------------------------------------------------------


def test_rank_rewards_fall_linearly_and_ties_share_their_ranks() -> None:
    assert rank_rewards([5.0, 1.0, 3.0, 2.0, 4.0]) == [1.0, 0.0, 0.5, 0.25, 0.75]
    assert rank_rewards([3.0, 1.0, 2.0, 2.0]) == [1.0, 0.0, 0.5, 0.5]
    assert rank_rewards([7.0, 7.0, 7.0]) == [0.5, 0.5, 0.5]
    with pytest.raises(ReviserError):
        rank_rewards([1.0])


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=9))
def test_ranks_only_order_and_always_give_out_the_same(scores: list[int]) -> None:
    found = rank_rewards(scores)
    assert sum(found) == pytest.approx(len(scores) / 2)
    assert found == rank_rewards([math.exp(score) for score in scores])
    for a, one in zip(scores, found, strict=True):
        for b, other in zip(scores, found, strict=True):
            assert (a > b) == (one > other)


@given(st.lists(st.integers(0, 2), max_size=14), st.integers(1, 4))
def test_repetition_is_what_the_benchmarks_measure(tokens: list[int], n: int) -> None:
    assert repeated(tokens, n) == pytest.approx(1 - distinct(tokens, n))


class Bystanders(Judges):
    """Judges of letters: `a` costs one nat and any other letter two; the longer text wins a pair."""

    def __init__(self) -> None:
        pass

    def costs(self, evaluator: str, texts: Sequence[tuple[str, str]]) -> list[Cost]:
        assert evaluator == "any"
        return [Cost(float(2 * len(text) - text.count("a")), len(text), len(text)) for _, text in texts]

    def points(self, judge: str, cases: Sequence[tuple[str, str, str]]) -> list[float]:
        assert judge == "likelihood:any"
        return [0.5 + 0.5 * np.sign(len(a) - len(b)) for _, a, b in cases]


WRITTEN = [
    episode([0, 0, LETTERS.stop_id]),
    episode([0, 1, 2, 0]),
    episode([LETTERS.stop_id]),
    episode([1, LETTERS.first_move_id + 1, 0, LETTERS.stop_id]),
]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("likelihood:any", [-1.0, -1.5, -12.0, -1.5]),
        ("likelihood-bytes:any", [-1.0, -1.5, -12.0, -1.5]),
        ("rank:likelihood:any", [1.0, 0.5, 0.0, 0.5]),
        ("arena:likelihood:any", [0.5, 1.0, 0.0, 0.5]),
        ("rank:arena:likelihood:any", [0.5, 1.0, 0.0, 0.5]),
        ("length", [-0.02, -0.04, 0.0, -0.02]),
        ("length:4", [-0.5, 0.0, -1.0, -0.5]),
        ("repetition:1", [-0.5, -0.25, 0.0, 0.0]),
        ("repetition", [0.0, 0.0, 0.0, 0.0]),
        ("stop", [0.0, -1.0, 0.0, 0.0]),
    ],
)
def test_every_reward_scores_as_it_is_described(spec: str, expected: list[float]) -> None:
    (term,) = parse_rewards([spec], Bystanders())
    (scores,) = term.score([WRITTEN])
    assert scores == pytest.approx(expected)


def test_terms_are_weighed_and_added_up() -> None:
    terms = parse_rewards(["rank:likelihood:any", "0.5*repetition:1", "-2*stop"], Bystanders())
    found = reward(terms, [WRITTEN, WRITTEN[:2]])
    assert found.totals[0] == pytest.approx([0.75, 2.375, 0.0, 0.5])
    # A rank is among the candidates of one prompt.
    assert found.totals[1] == pytest.approx([0.75, 1.875])
    assert found.means["-2*stop"] == pytest.approx(-2 / 6)


@pytest.mark.parametrize(
    "spec", ["", "rank", "kindness", "x*stop", "1.2.3*stop", "length:long", "likelihood", "rank:arena"]
)
def test_an_unknown_reward_is_one_sentence(spec: str) -> None:
    with pytest.raises(ReviserError) as told:
        parse_rewards([spec], Bystanders())
    assert "\n" not in str(told.value)
    with pytest.raises(ReviserError):
        parse_rewards([], Bystanders())


# The loss ----------------------------------------------------------------------------------------


def test_the_gradient_is_0_beyond_the_trust_region_and_only_there() -> None:
    ratios = torch.tensor([0.7, 0.7, 0.95, 1.1, 1.3, 1.3])
    gains = torch.tensor([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
    new = ratios.log().requires_grad_()
    loss, clipped = clipped_loss(new, torch.zeros(6), gains, 0.2)
    loss.sum().backward()
    assert clipped.tolist() == [True, False, False, False, True, False]
    assert new.grad is not None
    assert new.grad[clipped].tolist() == [0.0, 0.0]
    # Elsewhere it is that of the plain ratio: d(-r A)/d(ln r) = -r A.
    assert torch.allclose(new.grad[~clipped], (-ratios * gains)[~clipped])
    assert loss.detach().tolist() == pytest.approx([0.8, -0.7, -0.95, 1.1, -1.2, 1.3])


def test_the_estimate_of_a_kl_is_never_negative_and_right_on_average() -> None:
    before, after = torch.tensor([0.5, 0.3, 0.15, 0.05]), torch.tensor([0.3, 0.3, 0.3, 0.1])
    estimates = k3(after.log(), before.log())
    assert (estimates >= 0).all()
    exact = float((before * (before / after).log()).sum())
    assert float((before * estimates).sum()) == pytest.approx(exact, rel=1e-5)
    drawn = torch.multinomial(before, 200_000, True, generator=torch.Generator().manual_seed(0))
    assert float(estimates[drawn].mean()) == pytest.approx(exact, rel=0.03)


def test_types_are_compared_on_the_whole() -> None:
    wanted = torch.tensor([0.9, 0.1, 0.0])
    assert float(type_loss(wanted, wanted)) == pytest.approx(0.0, abs=1e-6)
    chances = torch.tensor([0.7, 0.2, 0.1], requires_grad=True)
    loss = type_loss(chances, wanted).detach()
    exact = 0.9 * math.log(0.9 / 0.7) + 0.1 * math.log(0.1 / 0.2)
    assert float(loss) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("vocabulary", [LETTERS, Vocabulary(5, frozenset({4}), ("replace", "swap"))])
def test_every_valid_id_is_of_its_kind(vocabulary: Vocabulary) -> None:
    kinds = kind_matrix(vocabulary, CPU)
    canvas = Canvas(vocabulary, [0] * 40, cursor=20)
    for id in canvas.valid_actions():
        assert kinds[id].sum() == 1
        assert kinds[id, KINDS.index(vocabulary.action(id).kind)] == 1


def _naive(states: Tensor, table: Tensor, valid: Tensor, temperature: float) -> Tensor:
    scores = (states @ table.T / temperature).masked_fill(~valid, -torch.inf)
    return scores.softmax(dim=-1)


def test_a_look_in_chunks_is_what_the_whole_distribution_says(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    rules, kinds = Rules.of(DELETES), kind_matrix(DELETES, CPU)
    count, width = 11, 6
    states, others = (torch.randn(count, width, generator=generator) for _ in range(2))
    table, other_table = (torch.randn(DELETES.size, width, generator=generator) for _ in range(2))
    table.requires_grad_()
    left, right = (torch.randint(0, 6, (count,), generator=generator) for _ in range(2))
    actions = torch.randint(0, 4, (count,), generator=generator)
    visited = VisitedStates(actions, left, right, torch.full((count,), 99))
    monkeypatch.setitem(losses._CHUNK, "cpu", 4)
    found = score_visited((states, table), (others, other_table), visited, rules, kinds, 0.7)
    valid = rules.valid(left, right, visited.room)
    p, q = _naive(states, table, valid, 0.7), _naive(others, other_table, valid, 0.7)
    kept = [row.nonzero().squeeze(1) for row in valid]
    chances = p.detach()
    with torch.no_grad():
        for at, ids in enumerate(kept):
            mine, theirs = chances[at, ids], q[at, ids]
            taken = float(chances[at, actions[at]].log())
            assert float(found.log_probabilities[at]) == pytest.approx(taken, abs=1e-5)
            entropy = float(-(mine * mine.log()).sum())
            assert float(found.entropy[at]) == pytest.approx(entropy, abs=1e-5)
            kl = float((mine * (mine / theirs).log()).sum())
            assert float(found.kl[at]) == pytest.approx(kl, abs=1e-5)
    assert torch.allclose(found.types, p.mean(0) @ kinds, atol=1e-6)
    assert torch.allclose(found.reference_types, q.mean(0) @ kinds, atol=1e-6)
    found.kl.sum().backward()
    assert table.grad is not None
    chunked, table.grad = table.grad, None
    sum((p[at, ids] * (p[at, ids] / q[at, ids]).log()).sum() for at, ids in enumerate(kept)).backward()  # type: ignore[union-attr]
    assert torch.allclose(chunked, table.grad, atol=1e-5)


# Minibatches -------------------------------------------------------------------------------------


def _random_episodes(vocabulary: Vocabulary, count: int, name: int) -> list[Episode]:
    chooser = random.Random(name)
    made = []
    for _ in range(count):
        canvas, _ = seed(vocabulary, [3])
        ids: list[int] = []
        while len(ids) < chooser.randrange(1, 20) and not canvas.stopped:
            ids.append(chooser.choice(sorted(canvas.valid_actions())))
            canvas.apply(canvas.action(ids[-1]))
        played = chooser.randrange(len(ids))
        made.append(episode(ids, vocabulary, played=played))
    return made


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 12))
def test_each_action_is_learned_from_once_in_the_state_where_it_was_taken(name: int, count: int) -> None:
    episodes = _random_episodes(DELETES, count, name)
    rules = Rules.of(DELETES)
    batches = minibatches(episodes, DELETES, rules, CPU, row_length=48, rows=2, name=name)
    # What an oracle played is in no minibatch.
    taken = [(e, e.played + at) for e in episodes for at in range(len(e.taken))]
    assert sorted(n for batch in batches for n in batch.numbers.tolist()) == list(range(len(taken)))
    for batch in batches:
        ids, visited = batch.ids.flatten(), batch.visited
        valid = rules.valid(visited.left, visited.right, visited.room)
        for row, (number, place) in enumerate(zip(batch.numbers.tolist(), batch.places.tolist(), strict=True)):
            made, at = taken[number]
            history = [DELETES.start_id, *made.prompt, *made.ids]
            known = 1 + len(made.prompt) + at
            assert ids[place - known + 1 : place + 1].tolist() == history[:known]
            assert int(visited.actions[row]) == made.ids[at]
            canvas, _ = seed(DELETES, made.prompt)
            for id in made.ids[:at]:
                canvas.apply(canvas.action(id))
            assert np.array_equal(valid[row].numpy(), canvas.valid_actions().mask())


# The oracle's prefix -----------------------------------------------------------------------------


def _settings(**changes: Any) -> PpoSettings:
    base: dict[str, Any] = {
        "iterations": 10,
        "prompt_tokens": 1,
        "max_actions": 5,
        "row_length": 64,
        "minibatch_rows": 8,
        "oracle_share": 0.0,
    }
    return PpoSettings(**base | changes)


def test_an_oracle_plays_the_beginning_of_the_real_text_and_ever_less_of_it() -> None:
    chooser = np.random.default_rng(0)
    texts = [chooser.integers(0, BASE, size=40).tolist() for _ in range(6)]
    prompts = [RealPrompt(text[:5], text[5:]) for text in texts]
    options = _settings(max_actions=400, prompt_tokens=5, row_length=512, oracle_share=1.0)
    oracle = PrefixOracle(PAPER_VOCABULARY, some_classes(), replace(options, oracle_until=0.8))
    whole = oracle.prefixes(prompts, 0, 0.0)
    for prompt, ids in zip(prompts, whole, strict=True):
        canvas, _ = seed(PAPER_VOCABULARY, prompt.tokens)
        for id in ids:
            canvas.apply(canvas.action(id))
        assert canvas.tokens == prompt.tokens + prompt.text
        assert PAPER_VOCABULARY.stop_id not in ids
    assert oracle.prefixes(prompts, 0, 0.0) == whole
    assert oracle.prefixes(prompts, 1, 0.0) != whole
    assert [oracle.share(done) for done in (0.0, 0.4, 0.8, 1.0)] == pytest.approx([1, 0.5, 0, 0])
    halves = oracle.prefixes(prompts, 0, 0.4)
    assert [len(half) for half in halves] == [len(ids) // 2 for ids in whole]
    assert all(ids[: len(half)] == half for ids, half in zip(whole, halves, strict=True))
    assert oracle.prefixes(prompts, 0, 0.9) == [[]] * 6
    never = PrefixOracle(PAPER_VOCABULARY, some_classes(), replace(options, oracle_until=0.0))
    assert never.share(0.0) == 0
    # A model that never moves is shown none.
    still = replace(PAPER_VOCABULARY, kinds=frozenset({"insert", "stop"}))
    plain = PrefixOracle(still, some_classes(), options).prefixes(prompts, 0, 0.0)
    assert plain == [prompt.text for prompt in prompts]
    # However much is played, an action is left to the policy.
    short = PrefixOracle(PAPER_VOCABULARY, some_classes(), replace(options, max_actions=3))
    assert {len(ids) for ids in short.prefixes(prompts, 0, 0.0)} == {2}


# A task with a known optimum ---------------------------------------------------------------------

# Write b, go back over it, put a before it, stop.
WANTED = [1, LETTERS.first_move_id + 1, 0, LETTERS.stop_id]


class SamePrompts(DocumentPrompts):
    def __init__(self) -> None:
        pass

    def prompts(self, iteration: int) -> list[RealPrompt]:
        return [RealPrompt([3], [0, 1, 2]) for _ in range(4)]


def progress_made(groups: Sequence[Group]) -> Scores:
    """The share of the wanted actions with which an episode begins: 1 is the most."""

    def of(made: Episode) -> float:
        agreeing = 0
        while made.ids[: agreeing + 1] == WANTED[: agreeing + 1] and agreeing < len(WANTED):
            agreeing += 1
        return agreeing / len(WANTED)

    return [[of(made) for made in group] for group in groups]


def shuffled_progress(groups: Sequence[Group]) -> Scores:
    """The same rewards, given to whoever."""
    scores = progress_made(groups)
    dealt = [score for row in scores for score in row]
    random.Random(len(groups[0][0].ids)).shuffle(dealt)
    return [dealt[at : at + len(row)] for at, row in zip(range(0, 999, 16), scores, strict=False)]


def tuner_for(score: Any, seed: int = 0, kind: str = "tiny", device: torch.device = CPU, **changes: Any) -> Tuner:
    torch.manual_seed(seed)
    size = {"layers": 1, "context": 64, "canvas_length": 64}
    if device.type == "cuda":
        # Block-sparse attention wants larger heads.
        size |= {"heads": 2, "kv_heads": 1}
    model = Reviser(preset(kind, vocab_size=LETTERS.size, **size))
    chosen: dict[str, Any] = {
        "candidates": 16,
        "temperature": 1.0,
        "epochs": 4,
        "peak_rate": 4e-3,
        "final_rate": 4e-4,
        "warmup_steps": 1,
        "value_rate": 1e-2,
        "gae_lambda": 0.95,
        "entropy_weight": 0.01,
        "kl_weight": 0.0,
        "type_weight": 0.0,
        "stop_kl": 0.05,
        "seed": seed,
    }
    options = _settings(**chosen | changes)
    oracle = PrefixOracle(LETTERS, some_classes(4), options)
    parts = Checkpoint(model, LETTERS, Letters())

    def rewarder(groups: Sequence[Group]) -> Rewarded:
        return reward([Reward("score", 1.0, score)], groups)

    return Tuner(options, parts, SamePrompts(), oracle, rewarder, device)


def test_the_optimum_is_found_and_not_by_chance() -> None:
    iterations = 45
    tuner = tuner_for(progress_made, iterations=iterations)
    entries = [tuner.iterate() for _ in range(iterations)]
    assert entries[0]["reward"] < 0.2
    late = [entry["reward"] for entry in entries[-20:]]
    assert max(np.convolve(late, np.ones(5) / 5, "valid")) > 0.9
    # One of the four wanted actions is a move.
    assert max(entry["moves"] for entry in entries[-20:]) > 0.2
    assert {entry["first_ratio"] for entry in entries} == {1.0}
    assert all(entry["kl"] >= 0 for entry in entries)


def test_nothing_is_found_when_rewards_go_to_whoever() -> None:
    tuner = tuner_for(shuffled_progress, iterations=15)
    entries = [tuner.iterate() for _ in range(15)]
    assert max(entry["reward"] for entry in entries[5:]) < 0.3


def test_the_value_head_learns_what_the_first_action_decides_and_leaves_the_model_alone() -> None:
    def beginning(groups: Sequence[Group]) -> Scores:
        return [[float(made.ids[0] < 2) for made in group] for group in groups]

    tuner = tuner_for(beginning, iterations=20, peak_rate=0.0, final_rate=0.0)
    before = {name: value.clone() for name, value in tuner.model.state_dict().items()}
    entries = [tuner.iterate() for _ in range(20)]
    assert entries[-1]["explained_variance"] > 0.2
    assert entries[-1]["value_loss"] < entries[0]["value_loss"] / 1.3
    assert all(torch.equal(value, before[name]) for name, value in tuner.model.state_dict().items())


def _moving(groups: Sequence[Group]) -> Scores:
    """More for each move."""
    moves = range(LETTERS.first_move_id, LETTERS.first_reserved_id)
    return [[sum(id in moves for id in made.ids) / 5 for made in group] for group in groups]


def test_a_policy_is_held_by_the_reference_by_its_types_and_by_a_target() -> None:
    def ends(**changes: Any) -> dict[str, Any]:
        tuner = tuner_for(_moving, iterations=8, **changes)
        return [tuner.iterate() for _ in range(8)][-1]

    free, near, typed = ends(), ends(kl_weight=1.0), ends(type_weight=3.0)
    assert free["p_move"] > typed["p_move"] + 0.2
    assert near["kl"] < free["kl"] / 3


def test_the_weight_of_the_kl_follows_its_target() -> None:
    tuner = tuner_for(_moving, iterations=4, kl_weight=0.1, kl_target=1e-4)
    weights = [tuner.iterate()["kl_weight"] for _ in range(4)]
    # At first the two are the same; then the policy leaves, and is held tighter and tighter.
    assert weights == pytest.approx([0.1, 0.1 / 1.5, 0.1, 0.15])


def test_an_iteration_ends_when_the_policy_has_moved_far_enough() -> None:
    tuner = tuner_for(_moving, iterations=2, peak_rate=0.05, stop_kl=1e-3, epochs=9)
    entry = tuner.iterate()
    assert entry["updates"] < 9
    assert entry["update_kl"] > 1e-3


@pytest.mark.parametrize("kind", ["tiny", "tiny-paper"])
def test_before_the_first_update_every_ratio_is_1(kind: str) -> None:
    """Also where dropout is configured, in several minibatches, and after an oracle's prefix."""
    tuner = tuner_for(_moving, kind=kind, minibatch_rows=1, iterations=3, oracle_share=0.6, oracle_until=1.0)
    entries = [tuner.iterate() for _ in range(3)]
    assert [entry["first_ratio"] for entry in entries] == [1.0] * 3
    assert [entry["oracle_share"] for entry in entries] == pytest.approx([0.6, 0.4, 0.2])
    # Played actions are actions of the episode, and of nobody's policy.
    assert tuner.progress.actions < sum(64 * entry["actions"] for entry in entries) - 64


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_learns_in_half_precision() -> None:
    gpu = torch.device("cuda")
    tuner = tuner_for(_moving, device=gpu, iterations=8, minibatch_rows=4, row_length=128)
    entries = [tuner.iterate() for _ in range(8)]
    assert [entry["first_ratio"] for entry in entries] == pytest.approx([1.0] * 8, abs=1e-5)
    assert entries[0]["kl"] == pytest.approx(0, abs=1e-3)
    assert entries[-1]["reward"] > entries[0]["reward"] + 0.1


def test_probabilities_are_those_of_the_distribution_that_acted() -> None:
    """Packed and masked as in training, or plainly, history by history."""
    tuner = tuner_for(_moving, iterations=1, temperature=0.8, minibatch_rows=2)
    groups = tuner._act(0)
    episodes = [made for group in groups for made in group]
    batches = minibatches(episodes, LETTERS, tuner._rules, CPU, row_length=64, rows=2, name=0)
    acted = tuner._acting_scores(batches).acted
    number = 0
    for made in episodes[:6]:
        canvas, history = seed(LETTERS, made.prompt)
        for id in made.ids:
            with torch.no_grad():
                scores = tuner.model(torch.tensor([history]))[0, -1]
            valid = torch.from_numpy(canvas.valid_actions().mask().copy())
            expected = (scores / 0.8).masked_fill(~valid, -torch.inf).log_softmax(0)[id]
            assert float(acted[number]) == pytest.approx(float(expected), abs=1e-5)
            canvas.apply(canvas.action(id))
            history.append(id)
            number += 1


def test_candidates_are_drawn_from_that_distribution_and_nothing_is_cut_off() -> None:
    count = 1000
    tuner = tuner_for(_moving, iterations=1, max_actions=1, candidates=count, temperature=1.3)
    groups = tuner._act(0)
    with torch.no_grad():
        scores = tuner.model(torch.tensor([[LETTERS.start_id, 3]]))[0, -1]
    valid = torch.from_numpy(seed(LETTERS, [3])[0].valid_actions().mask().copy())
    expected = (scores / 1.3).masked_fill(~valid, -torch.inf).softmax(0)
    drawn = torch.tensor([made.ids[0] for group in groups for made in group])
    found = drawn.bincount(minlength=LETTERS.size) / len(drawn)
    assert torch.allclose(found, expected, atol=4 * math.sqrt(0.25 / len(drawn)))
