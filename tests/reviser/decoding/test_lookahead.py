"""Thinking ahead: a change is made whole where it is likely enough, and not begun where it is not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_server.settings import ReviseSettings, read_settings
from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.decoding.lookahead import MARGIN, MOST_MARGIN, LookaheadPolicy, LookaheadStep, best_end
from reviser.decoding.policy import ModelPolicy
from reviser.decoding.rollout import Rollout, seed
from reviser.decoding.sampler import Sampler
from reviser.model.scoring import Scores
from reviser.model.torch_decoder import TorchDecoder
from reviser.session.session import PASSAGE, Session
from tests.toys import ToyTokenizer, toy_model
from tui.settings import TuiSettings

TOKENIZER = ToyTokenizer()
REVISING = Vocabulary(TOKENIZER.size, kinds=PAPER_KINDS | {"delete"}, name="toy")
STOP = REVISING.stop_id
X, Y = TOKENIZER.encode("xy")
BACK = REVISING.id(REVISING.moves(-1)[0])


class Table:
    """Chances for the ids that come after those taken so far; whatever else happens, it stops."""

    vocabulary = REVISING
    context = 200
    max_length = None

    def __init__(self, chances: dict[tuple[int, ...], dict[int, float]]) -> None:
        self._chances = chances
        self.asked: list[tuple[int, ...]] = []

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        start = list(history).index(REVISING.draft_id)
        taken = tuple(history[start + 1 + len(DRAFT) :])
        self.asked.append(taken)
        scores = np.full(REVISING.size, -np.inf, dtype=np.float32)
        for id, chance in self._chances.get(taken, {STOP: 1.0}).items():
            scores[id] = math.log(chance)
        return scores


DRAFT = TOKENIZER.encode("abc")


def run(policy: Table, margin: float, sampler: Sampler | None = None) -> Rollout:
    canvas, history = seed(REVISING, [], [], draft=DRAFT)
    looking = LookaheadPolicy(policy, margin)
    return Rollout(looking, canvas, history, sampler or Sampler.greedy(), max_actions=50)


def taken(rollout: Rollout) -> list[int]:
    return [step.id for step in rollout]


def test_a_change_is_made_from_the_sureness_on_that_it_has() -> None:
    # To write x and stop: 0.6 times 0.5. To stop at once: 0.4. So it is 0.75 times as likely.
    table = Table({(): {X: 0.6, STOP: 0.4}, (X,): {STOP: 0.5, Y: 0.3, BACK: 0.2}})
    assert taken(run(table, 0.74)) == [X, STOP]
    assert taken(run(table, 0.76)) == [STOP]


def test_it_stops_after_the_change_that_is_sure_and_before_the_one_that_is_not() -> None:
    # The likeliest actions would go on after y, with moves to one place after the other.
    table = Table(
        {
            (): {Y: 0.9, STOP: 0.1},
            (Y,): {STOP: 0.45, BACK: 0.55},
            (Y, BACK): {X: 0.4, Y: 0.3, BACK: 0.3},
            (Y, BACK, X): {STOP: 0.6, BACK: 0.4},
        }
    )
    assert taken(run(table, 0.5)) == [Y, STOP]
    # 0.55 * 0.4 * 0.6 is 0.29 times 0.45.
    assert taken(run(table, 0.28)) == [Y, BACK, X, STOP]


def test_each_place_that_changes_is_asked_about_by_itself() -> None:
    # To change the first place is 0.4 times as likely as to leave it, both 0.3 times: with a margin
    # above that, for they count as two.
    table = Table(
        {
            (): {X: 0.5, STOP: 0.5},
            (X,): {BACK: 0.6, STOP: 0.4},
            (X, BACK): {X: 1.0},
            (X, BACK, X): {STOP: 0.5, BACK: 0.3, Y: 0.2},
        }
    )
    assert taken(run(table, 0.39)) == [X, BACK, X, STOP]
    assert taken(run(table, 0.6)) == [STOP]


steps = st.lists(
    st.builds(LookaheadStep, st.sampled_from(["move", "change"]), st.floats(-5, 0), st.floats(-5, 0)), max_size=12
)


@given(steps, st.floats(-5, 0), st.floats(0.05, 20))
def test_no_other_end_is_better(before: list[LookaheadStep], last: float, margin: float) -> None:
    whole = [*before, LookaheadStep("stop", last, last)]

    def value(end: int) -> float:
        kinds = [step.kind for step in whole[:end]]
        places = sum(kind == "change" and (not n or kinds[n - 1] == "move") for n, kind in enumerate(kinds))
        likely = sum(step.likely for step in whole[:end]) + whole[end].stop
        return likely - places * math.log(margin)

    end = best_end(whole, margin)
    assert end is not None
    assert value(end) >= max(map(value, range(len(whole)))) - 1e-9


def test_an_end_at_the_horizon_is_no_end() -> None:
    assert best_end([LookaheadStep("change", -0.1, stop) for stop in (-9, -8, -7)], 0.5) is None
    assert best_end([LookaheadStep("change", -0.1, stop) for stop in (-9, -7, -8)], 0.5) == 1
    assert best_end([LookaheadStep("change", math.log(0.5), math.log(0.4))] * 3, 1.0) == 0


def test_beyond_the_horizon_it_thinks_anew() -> None:
    table = Table({(X,) * n: {X: 1.0, STOP: 0.1 ** (9 - n)} for n in range(9)})
    canvas, history = seed(REVISING, [], [], draft=DRAFT)
    short = LookaheadPolicy(table, 0.5, horizon=4)
    assert taken(Rollout(short, canvas, history, Sampler.greedy())) == [X] * 9 + [STOP]


def test_it_never_asks_beyond_the_context() -> None:
    model = toy_model(context=24, canvas_length=64)
    policy = ModelPolicy(TorchDecoder(model), REVISING, max_length=64)
    canvas, history = seed(REVISING, [], [], draft=DRAFT * 5)
    looking = LookaheadPolicy(policy, 1e-9, limit=24 - len(history))
    rollout = Rollout(looking, canvas, history, max_actions=24 - len(history))
    assert len(taken(rollout)) <= 24 - len(history)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(1, [STOP]), (2, [STOP]), (3, [X, BACK, Y]), (4, [X, BACK, Y, STOP]), (9, [X, BACK, Y, STOP])],
)
def test_a_change_that_does_not_fit_is_not_begun(limit: int, expected: list[int]) -> None:
    # In the middle of the change nobody would stop; before and after it one might.
    table = Table(
        {
            (): {X: 0.6, STOP: 0.4},
            (X,): {BACK: 0.99, STOP: 0.01},
            (X, BACK): {Y: 0.99, STOP: 0.01},
            (X, BACK, Y): {STOP: 0.9, X: 0.1},
        }
    )
    canvas, history = seed(REVISING, [], [], draft=DRAFT)
    looking = LookaheadPolicy(table, 0.5, limit=limit)
    rollout = Rollout(looking, canvas, history, Sampler.greedy(), max_actions=limit)
    assert taken(rollout) == expected
    assert max(map(len, table.asked)) <= limit


def test_a_second_change_that_does_not_fit_is_not_begun_either() -> None:
    table = Table(
        {
            (): {X: 0.9, STOP: 0.1},
            (X,): {BACK: 0.6, STOP: 0.4},
            (X, BACK): {Y: 0.99, STOP: 0.01},
            (X, BACK, Y): {X: 0.99, STOP: 0.01},
            (X, BACK, Y, X): {STOP: 1.0},
        }
    )
    for limit, expected in ((3, [X, STOP]), (5, [X, BACK, Y, X, STOP])):
        canvas, history = seed(REVISING, [], [], draft=DRAFT)
        looking = LookaheadPolicy(table, 0.5, limit=limit)
        rollout = Rollout(looking, canvas, history, Sampler.greedy(), max_actions=limit)
        assert taken(rollout) == expected


def test_what_was_looked_at_is_not_asked_again() -> None:
    table = Table({(): {X: 1.0}, (X,): {BACK: 1.0}, (X, BACK): {Y: 1.0}})
    rollout = run(table, 0.5)
    assert taken(rollout) == [X, BACK, Y, STOP]
    assert table.asked == [(), (X,), (X, BACK), (X, BACK, Y)]
    rollout.take_back()
    rollout.take_back()
    assert taken(rollout) == [Y, STOP]
    assert len(table.asked) == 4
    assert isinstance(rollout.policy, LookaheadPolicy)
    assert rollout.policy.ahead == 3


def test_off_the_path_it_thinks_from_there() -> None:
    table = Table({(): {X: 0.6, STOP: 0.4}, (X,): {STOP: 0.1, BACK: 0.9}, (Y,): {X: 0.8, STOP: 0.2}})
    rollout = run(table, 0.9)
    rollout.take(Y)
    assert taken(rollout) == [X, STOP]
    while rollout.actions_taken:
        rollout.take_back()
    assert taken(rollout) == [X, BACK, STOP]


def test_where_it_stops_one_can_still_see_what_else_there_was() -> None:
    table = Table({(): {X: 0.6, STOP: 0.4}, (X,): {STOP: 0.1, Y: 0.9}, (X, Y): {STOP: 0.6, X: 0.4}})
    rollout = run(table, 1.0, Sampler(seed=0, top_k=5))
    (step,) = rollout
    assert step.id == STOP
    assert step.choice.probability > 0.999
    assert X in step.choice.candidates


@settings(max_examples=25)
@given(st.text("abc d.", min_size=1, max_size=30), st.integers(0, 3))
def test_a_model_of_random_weights_leaves_texts_whole(text: str, number: int) -> None:
    model = toy_model(context=128, canvas_length=128)
    policy = ModelPolicy(TorchDecoder(model), REVISING, max_length=128)
    session = Session(policy, TOKENIZER, text)
    revision = session.revise(0, len(text), Sampler(seed=number), max_actions=20)
    frames = list(revision)
    assert revision.rollout.ending in ("stop", "limit")
    while revision.rollout.actions_taken:
        revision.take_back()
    assert revision.text == text
    assert len(frames) <= 20


def test_long_lines_are_revised_by_sentences() -> None:
    line = "A sentence of some words. " * 40
    model = toy_model(context=4000, canvas_length=4000)
    policy = ModelPolicy(TorchDecoder(model), REVISING, max_length=4000)
    parts = Session(policy, TOKENIZER, line).passages()
    assert len(parts) > 2
    assert "".join(line[first:last] for first, last in parts) == line
    for first, last in parts:
        assert len(TOKENIZER.encode(line[first:last])) <= PASSAGE
        assert line[first:last].rstrip().endswith(".")


def test_nonsense_is_refused() -> None:
    for margin in (0.0, 1000.1, -1.0):
        with pytest.raises(ReviserError, match="sureness"):
            LookaheadPolicy(Table({}), margin)


def test_where_nothing_is_possible_it_says_so() -> None:
    with pytest.raises(InvalidAction, match="no valid action"):
        next(run(Table({(): {}}), 0.5))


def test_every_door_is_as_sure(tmp_path: Path) -> None:
    assert ReviseSettings().sureness == TuiSettings().sureness == MARGIN
    manifest = Path(__file__).parents[3] / "editors" / "vscode" / "package.json"
    (field,) = re.findall(r'"reviser.revise.sureness": (\{[^}]*\})', manifest.read_text("utf-8"))
    known = json.loads(field)
    assert (known["default"], known["minimum"], known["maximum"]) == (MARGIN, 0, MOST_MARGIN)
    file = tmp_path / "tui.toml"
    for margin, taken in ((MOST_MARGIN, True), (MOST_MARGIN + 1, False)):
        _, problems = read_settings({"revise": {"sureness": margin}})
        assert bool(problems) != taken
        file.write_text(f"sureness = {margin}\n")
        with nullcontext() if taken else pytest.raises(ReviserError, match="sureness"):
            TuiSettings.load(file)
