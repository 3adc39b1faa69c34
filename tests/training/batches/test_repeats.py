"""What would be said again is found as by reading the canvas, and a run can learn not to say it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import seed
from reviser.model import Reviser, preset
from tests.training.chains import WORDS, WORLD, Chains
from tests.training.histories import PAPER_VOCABULARY, small_corpus
from training.batches.loader import Loader
from training.batches.packing import Rows
from training.batches.repeats import LENGTHS, NOTHING, Repeats
from training.dagger.oracle import KNOWN_KINDS
from training.samples.mixture import Mixture
from training.samples.samples import Samples
from training.trainer.loss import said_before, summed_loss
from training.trainer.settings import preset_settings
from training.trainer.trainer import Trainer, inputs_of

FEW = Vocabulary(3, extensions=("span_delete", "replace"), kinds=KNOWN_KINDS)


def by_reading(canvas: Canvas, length: int) -> int:
    """What follows the tokens before the cursor where most of them stand here last, or stand after it next."""
    tokens, cursor = canvas.tokens, canvas.cursor
    for size in range(3, length - 2, -1):
        if cursor < size:
            continue
        last = tokens[cursor - size : cursor]
        for start in (*range(cursor - size - 1, -1, -1), *range(cursor, len(tokens) - size)):
            if tokens[start : start + size] == last:
                return tokens[start + size]
    return NOTHING


def row_of(histories: list[tuple[list[int], int]], length: int) -> Rows:
    """One row of histories, each with how many of its ids are given."""
    rows = Rows.empty(1, length, FEW.start_id)
    at = 0
    for number, (history, shown) in enumerate(histories):
        part = slice(at, at + len(history))
        rows.ids[0, part] = history
        rows.mask[0, at + shown : part.stop] = True
        rows.samples[0, part] = number
        rows.positions[0, part] = range(len(history))
        at = part.stop
    return rows


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[int], int, dict[int, list[int]]]:
    """A history over a few tokens, how many of its ids are given, and what reading finds at each, by length."""
    tokens = st.lists(st.integers(0, FEW.base_size - 1), max_size=12)
    draft = draw(st.none() | tokens)
    canvas, history = seed(FEW, draw(tokens), draw(tokens), draft=draft)
    given = len(history)
    found = {length: [NOTHING] * given for length in LENGTHS[1:]}
    for _ in range(draw(st.integers(0, 40))):
        id = draw(st.sampled_from(np.flatnonzero(canvas.valid_actions().mask()).tolist()))
        for length in LENGTHS[1:]:
            again = by_reading(canvas, length)
            inserts = id < FEW.base_size and draft is None
            found[length].append(again if inserts and again != id else NOTHING)
        history.append(id)
        if id == FEW.stop_id:
            break
        canvas.apply(canvas.action(id))
    return history, given, found


@given(st.lists(histories(), min_size=1, max_size=3))
def test_found_as_by_reading(made: list[tuple[list[int], int, dict[int, list[int]]]]) -> None:
    width = sum(len(history) for history, _, _ in made) + 3
    rows = row_of([(history, shown) for history, shown, _ in made], width)
    for length in LENGTHS[1:]:
        marked = Repeats(FEW, length).marked(rows)
        assert marked.unwanted is not None
        expected = [again for _, _, found in made for again in found[length]] + 3 * [NOTHING]
        assert marked.unwanted[0].tolist() == expected


@given(st.lists(histories(), min_size=1, max_size=4), st.integers(1, 90))
def test_all_that_was_written_before(
    made: list[tuple[list[int], int, dict[int, list[int]]]], window: int
) -> None:
    """Two rows of them: what is found is what stands in the history since it began to be written."""
    width = sum(len(history) for history, _, _ in made) + 3
    both = [made, made[::-1]]
    rows = Rows.joined([row_of([(ids, shown) for ids, shown, _ in row], width) for row in both])
    marked = Repeats(FEW, 1).marked(rows)
    assert marked.unwanted is None
    *_, places, targets, lasting = inputs_of(marked, torch.device("cpu"))
    flat = torch.from_numpy(rows.ids.astype(np.int64)).flatten()
    found = said_before(flat, lasting.flatten(), places, targets, window)
    expected = []
    for row in both:
        for history, shown, _ in row:
            for place in range(shown, len(history)):
                said = history[max(shown, place - window) : place]
                if FEW.draft_id in history:
                    said = []
                expected.append({id for id in said if id < FEW.base_size} - {history[place]})
    assert [set(ids) - {NOTHING} for ids in found.tolist()] == expected
    assert all(sum(id >= 0 for id in ids) == len({*ids} - {NOTHING}) for ids in found.tolist())


def test_what_counts_is_what_is_asked_for() -> None:
    history = [FEW.start_id, 0, 1, 2, 0, 0, 1, 2, 1]
    rows = row_of([(history, 5)], len(history))
    marked = Repeats(FEW, 4).marked(rows).unwanted
    assert marked is not None
    assert marked[0].tolist() == 8 * [NOTHING] + [0]
    asked = replace(rows, targets=rows.ids.copy())
    assert asked.targets is not None
    asked.targets[0, -1] = 0
    marked = Repeats(FEW, 4).marked(asked).unwanted
    assert marked is not None
    assert marked[0].tolist() == 9 * [NOTHING]


def test_operators_that_are_not_followed() -> None:
    Repeats(replace(FEW, extensions=("swap",)), 4)
    rich = replace(FEW, extensions=("swap",), kinds=FEW.kinds | {"swap"})
    with pytest.raises(ReviserError, match="swap"):
        Repeats(rich, 2)
    Repeats(rich, 1)


@pytest.mark.parametrize(("length", "name"), [(4, "unwanted"), (1, "lasting")])
@pytest.mark.parametrize("pack", [True, False])
def test_batches_are_marked_and_otherwise_the_same(pack: bool, length: int, name: str) -> None:
    samples = Samples(small_corpus(300), PAPER_VOCABULARY, Mixture(max_history=96), seed=1)
    finder = Repeats(PAPER_VOCABULARY, length)
    plain = islice(Loader(samples, 6, pack=pack).batches(), 8)
    marked = islice(Loader(samples, 6, pack=pack, repeats=finder).batches(), 8)
    found = 0
    for one, other in zip(plain, marked, strict=True):
        marks = getattr(other, name)
        assert getattr(one, name) is None
        assert np.array_equal(one.ids, other.ids)
        assert np.array_equal(getattr(finder.marked(one), name), marks)
        found += int((marks > 0).sum())
    assert found


def test_repetitions_become_as_rare_as_the_weight_says() -> None:
    """A model is shown one place twice, once repeating and once not: half is likely, and with weight 1 a third."""
    likely = {}
    table, targets, unwanted = torch.eye(2), torch.tensor([0, 1]), torch.tensor([[NOTHING], [0]])
    for weight in (0.0, 1.0):
        hidden = torch.zeros(1, 2, requires_grad=True)
        optimizer = torch.optim.SGD([hidden], lr=0.5)
        for _ in range(200):
            optimizer.zero_grad()
            both = hidden.expand(2, 2)
            summed_loss(
                both, table, targets, unwanted=unwanted.__getitem__, weight=weight
            ).backward()
            optimizer.step()
        likely[weight] = float(torch.softmax(hidden.detach()[0], 0)[0])
    assert likely[0.0] == pytest.approx(1 / 2, abs=1e-3)
    assert likely[1.0] == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.parametrize("several", [False, True])
def test_a_step_counts_what_is_unwanted_and_an_evaluation_does_not(several: bool) -> None:
    batch = next(Chains().batches(0))
    if several:
        lasting = np.zeros_like(batch.ids)
        lasting[:, 5] = 3
        marked = replace(batch, lasting=lasting)
    else:
        unwanted = np.full_like(batch.ids, NOTHING)
        unwanted[:, 5] = (batch.ids[:, 5] + 1) % WORDS
        marked = replace(batch, unwanted=unwanted)

    def trainer(weight: float) -> Trainer:
        torch.manual_seed(0)
        model = Reviser(preset("tiny", vocab_size=WORDS))
        settings = preset_settings("tiny", steps=4, repeats=weight)
        return Trainer(settings, model, Chains(), WORLD)

    plain = float(trainer(0.0)._step([batch]).summed_loss)
    assert float(trainer(0.0)._step([marked]).summed_loss) == pytest.approx(plain)
    once, twice = (float(trainer(weight)._step([marked]).summed_loss) for weight in (1.0, 2.0))
    assert once > plain
    assert twice - plain == pytest.approx(2 * (once - plain), rel=1e-3)
    assert trainer(2.0).evaluate([marked]) == trainer(0.0).evaluate([batch])


def test_rows_keep_their_marks() -> None:
    batch = next(Chains().batches(0))
    for name in ("unwanted", "lasting"):
        marked = replace(batch, **{name: batch.ids + 1})
        joined = Rows.joined([marked, marked])
        assert joined.targets is None
        assert np.array_equal(getattr(joined[8:12], name), batch.ids[:4] + 1)
        assert getattr(Rows.joined([marked, batch]), name) is None


@pytest.mark.parametrize("wrong", [{"repeats": -1.0}, {"repeats_of": 0}, {"repeats_of": 5}])
def test_settings_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ReviserError, match="1 to 4 tokens"):
        preset_settings("tiny", **wrong)
