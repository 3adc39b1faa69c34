"""DAgger: labels of visited states, rollouts with an oracle in them, and runs that learn from both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from reviser.canvas import Canvas
from reviser.errors import ReviserError
from reviser.model import Reviser, preset
from reviser.vocabulary import PAPER_KINDS, Vocabulary
from tests.training.histories import BASE, PAPER_VOCABULARY, small_corpus
from tests.training.test_revisions import MIXTURE, VOCABULARIES, corpus_of, edits
from training.batches import Loader
from training.generator import Histories
from training.mixture import Mixture
from training.oracle import Episodes, Oracle
from training.packing import Rows, bucketed, packed
from training.randomness import Random
from training.revisions import Parts, Revisions
from training.samples import Samples
from training.trainer import Objective, inputs_of

TEXTS = Samples(small_corpus(30), PAPER_VOCABULARY, Mixture(max_history=160), 3)


def ordinary() -> Histories:
    return TEXTS.histories(0, 0, 40)


def relabelled(histories: Histories) -> Histories:
    """The same histories with targets of their own: the id after the one that is there."""
    return replace(histories, targets=histories.ids + 1)


# Targets -----------------------------------------------------------------------------------------


def loss_and_gradients(rows: Rows) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = Reviser(preset("tiny", vocab_size=PAPER_VOCABULARY.size + 1, dropout=0.0, context=256))
    loss = Objective(model, compiled=False)(*inputs_of(rows, torch.device("cpu")))
    loss.backward()
    return [loss.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def test_targets_that_are_the_ids_change_no_bit_of_loss_and_gradients() -> None:
    histories = ordinary()
    plain = packed(histories, 12, 320, PAPER_VOCABULARY.start_id)
    told = packed(replace(histories, targets=histories.ids), 12, 320, PAPER_VOCABULARY.start_id)
    assert plain.targets is None
    assert told.targets is not None
    assert (told.targets == told.ids).all()
    pairs = zip(loss_and_gradients(plain), loss_and_gradients(told), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_other_targets_are_what_the_loss_asks_for() -> None:
    rows = packed(relabelled(ordinary()), 12, 320, PAPER_VOCABULARY.start_id)
    ids, samples, positions, places, targets = inputs_of(rows, torch.device("cpu"))
    assert (targets == ids.flatten()[places + 1] + 1).all()
    without = inputs_of(replace(rows, targets=None), torch.device("cpu"))
    for mine, plain in zip((ids, samples, positions, places), without, strict=False):
        assert torch.equal(mine, plain)


@pytest.mark.parametrize("pack", [True, False])
def test_targets_stay_with_their_ids(pack: bool) -> None:
    histories = Histories.joined((ordinary(), relabelled(ordinary())))
    padding = PAPER_VOCABULARY.start_id
    made = [packed(histories, 24, 320, padding)] if pack else bucketed(histories, 16, 8, padding)
    seen = set()
    for rows in made:
        # Rows are cut and put together as batches are.
        again = Rows.joined([rows[:5], rows[5:]])
        assert again.targets is not None
        for row, samples in zip(range(len(again)), again.samples, strict=True):
            for sample in range(samples.max() + 1):
                here = samples == sample
                shift = again.targets[row, here] - again.ids[row, here]
                assert shift.min() == shift.max()
                seen.add(int(shift[0]))
            assert (again.targets[row, samples < 0] == padding).all()
    assert seen == {0, 1}


def test_rows_with_and_without_targets_join() -> None:
    plain = packed(ordinary(), 12, 320, 0)
    told = packed(relabelled(ordinary()), 12, 320, 0)
    joined = Rows.joined([plain, told])
    assert joined.targets is not None
    assert (joined.targets[:12] == plain.ids).all()
    assert (joined[12:].wanted == told.targets).all()
    order = np.arange(23, -1, -1)
    assert (joined[order.tolist()].wanted == joined.wanted[::-1]).all()


def test_a_loader_of_ordinary_samples_has_no_targets() -> None:
    batch = next(Loader(TEXTS, 4, row_length=320, workers=1).batches())
    assert batch.targets is None
    assert batch.wanted is batch.ids


# Oracle ------------------------------------------------------------------------------------------


def some_action(canvas: Canvas, random: Random) -> int:
    """Any valid action but Stop, each kind as likely as the others."""
    valid = canvas.valid_actions()
    operators = [id for id in valid.operators if id != canvas.vocabulary.stop_id]
    if not operators or random.chance(0.4):
        return random.below(BASE)
    first = canvas.vocabulary.first_replace_id
    if valid.replaces and first is not None and random.chance(0.2):
        return first + random.below(BASE)
    return random.pick(operators)


def canvas_of(vocabulary: Vocabulary, given: Sequence[int]) -> Canvas:
    """The canvas that a history has made, its draft whole and its neighbours protected."""
    marker = given.index(vocabulary.draft_id)
    canvas = Canvas(vocabulary)
    for id in [*given[1:marker], *given[marker + 1 :]]:
        canvas.apply(canvas.action(id))
    start = canvas.cursor - (len(given) - marker - 1)
    canvas.protect(start, canvas.length - canvas.cursor, canvas.cursor)
    return canvas


@settings(deadline=None, max_examples=60)
@given(edits(), st.sampled_from(VOCABULARIES), st.integers(0, 2**32), st.floats(0, 1))
def test_the_script_leads_to_the_target_from_wherever_one_is(
    parts: Parts, vocabulary: Vocabulary, seed: int, wrong: float
) -> None:
    left, before, after, right = parts
    canvas = Canvas(vocabulary, [*left, *before, *right], prefix=len(left), suffix=len(right))
    oracle, random = Oracle(canvas, after), Random(seed)
    for _ in range(12):
        if canvas.stopped:
            break
        wanted = oracle.script[0]
        chosen = some_action(canvas, random) if random.chance(wrong) else wanted
        left_to_do = len(oracle.script)
        label = oracle.follow(chosen)
        assert label in (wanted, chosen)
        if label == chosen:
            # What is called right leaves less to do, so that right actions alone come to the end.
            assert len(oracle.script) < left_to_do
        replayed = Canvas(
            vocabulary,
            canvas.tokens,
            cursor=canvas.cursor,
            prefix=canvas.prefix,
            suffix=canvas.suffix,
        )
        if not canvas.stopped:
            for id in oracle.script:
                replayed.apply(replayed.action(id))
            assert replayed.stopped
        assert replayed.tokens == [*left, *after, *right]


def test_a_finished_text_is_labelled_stop() -> None:
    vocabulary = VOCABULARIES[0]
    oracle = Oracle(Canvas(vocabulary, [1, 2, 3]), [1, 2, 3])
    assert oracle.script == [vocabulary.stop_id]
    assert oracle.follow(7) == vocabulary.stop_id
    assert oracle.script == [vocabulary.delete_id, vocabulary.stop_id]


def test_an_action_that_is_as_good_as_the_script_is_right() -> None:
    """Of two equal words of which one is too many, either may go."""
    vocabulary = VOCABULARIES[0]
    twice = Oracle(
        Canvas(vocabulary, [5, 5, 6], cursor=1),
        [5, 6],
        [vocabulary.id(m) for m in vocabulary.moves(1)]
        + [vocabulary.delete_id, vocabulary.stop_id],
    )
    assert twice.follow(vocabulary.delete_id) == vocabulary.delete_id
    away = Oracle(Canvas(vocabulary, list(range(10))), [*range(5), *range(6, 10)])
    four, two = (vocabulary.id(vocabulary.moves(-way)[0]) for way in (4, 2))
    assert away.script == [four, vocabulary.delete_id, vocabulary.stop_id]
    assert away.follow(two) == four
    assert away.script[0] == two
    # A wrong word is no way to write the right one.
    writing = Oracle(Canvas(vocabulary, [1]), [1, 2])
    assert writing.follow(3) == 2
    assert writing.script == [vocabulary.delete_id, 2, vocabulary.stop_id]


def test_stopping_too_early_is_labelled_with_what_was_left_to_do() -> None:
    vocabulary = VOCABULARIES[0]
    oracle = Oracle(Canvas(vocabulary, [1]), [1, 2])
    assert oracle.follow(vocabulary.stop_id) == 2


def play(episodes: Episodes, canvases: Sequence[Canvas], choose: Callable[[Canvas], int]) -> None:
    """Let a policy and the oracle act by turns until all episodes are over."""
    waiting = {number: [] for number in range(len(episodes))}  # type: dict[int, list[int]]
    while waiting:
        turns = episodes.go_on(list(waiting), list(waiting.values()))
        for (number, taken), (ids, steps) in zip(list(waiting.items()), turns, strict=True):
            canvas = canvases[number]
            for id in ids:
                canvas.apply(canvas.action(id))
            taken.clear()
            if not steps:
                del waiting[number]
            while len(taken) < steps and not canvas.stopped:
                taken.append(choose(canvas))
                canvas.apply(canvas.action(taken[-1]))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(edits(), min_size=1, max_size=3),
    st.sampled_from(VOCABULARIES),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.integers(0, 2**32),
    st.integers(1, 40),
)
def test_compiled_episodes_equal_the_reference(
    rows: list[Parts], vocabulary: Vocabulary, share: float, seed: int, most: int
) -> None:
    try:
        revisions = Revisions(corpus_of(rows), vocabulary, MIXTURE, seed=3)
    except ReviserError:
        reject()  # no edit fits
    episodes = Episodes(revisions, vocabulary, 2, 0, 6, oracle_share=share, max_actions=most)
    canvases = [canvas_of(vocabulary, episodes.given(number)) for number in range(6)]
    random = Random(seed)

    def choose(canvas: Canvas) -> int:
        if random.chance(0.05):
            return vocabulary.stop_id
        return some_action(canvas, random)

    play(episodes, canvases, choose)
    made, begun = episodes.histories(), revisions.histories(2, 0, 6)
    assert made.targets is not None
    reached = episodes.reached()
    for number, edit in enumerate(revisions.chosen(0, 6).tolist()):
        first, size = len(episodes.given(number)), int(made.lengths[number])
        taken = made.ids[number, first:size].tolist()
        script = begun.ids[number, first : begun.lengths[number]].tolist()
        after = revisions.parts(edit)[2]
        oracle = Oracle(canvas_of(vocabulary, episodes.given(number)), after, script)
        assert [oracle.follow(id) for id in taken] == made.targets[number, first:size].tolist()
        canvas = oracle.canvas
        assert canvas.tokens == canvases[number].tokens
        assert reached[number] == (list(canvas.between(canvas.low, canvas.high)) == after)
        assert canvas.stopped or len(taken) == min(most, MIXTURE.max_history - first)
        assert made.counted[number].nonzero()[0].tolist() == list(range(first, size))


@settings(deadline=None, max_examples=20)
@given(st.lists(edits(), min_size=1, max_size=3), st.sampled_from(VOCABULARIES))
def test_where_the_oracle_always_acts_episodes_are_supervised_samples(
    rows: list[Parts], vocabulary: Vocabulary
) -> None:
    try:
        revisions = Revisions(corpus_of(rows), vocabulary, MIXTURE, seed=3)
    except ReviserError:
        reject()  # no edit fits
    episodes = Episodes(revisions, vocabulary, 1, 5, 15, 30, oracle_share=1.0, max_actions=160)
    assert all(steps == 0 for _, steps in episodes.go_on(range(10), [[]] * 10))
    made, supervised = episodes.histories(), revisions.histories(1, 5, 15, 30)
    assert (made.lengths == supervised.lengths).all()
    assert (made.counted == supervised.counted).all()
    inside = np.arange(made.ids.shape[1]) < made.lengths[:, None]
    assert made.targets is not None
    assert (made.ids == supervised.ids)[inside].all()
    assert (made.targets == made.ids)[inside].all()
    assert episodes.reached().all()


def test_the_oracle_acts_as_often_as_it_should() -> None:
    rows: list[Parts] = [([], [n % BASE] * 6, [(n + 1) % BASE] * 6, []) for n in range(20)]
    vocabulary = VOCABULARIES[0]
    revisions = Revisions(corpus_of(rows), vocabulary, MIXTURE)
    episodes = Episodes(revisions, vocabulary, 0, 0, 400, oracle_share=0.3, max_actions=10)
    mine = 0

    def choose(canvas: Canvas) -> int:
        nonlocal mine
        mine += 1
        return 39

    play(episodes, [canvas_of(vocabulary, episodes.given(n)) for n in range(400)], choose)
    total = int(episodes.histories().counted.sum())
    # Stop, where the oracle chose it, cuts episodes short but changes no share.
    assert mine / total == pytest.approx(0.7, abs=0.03)


def test_actions_that_the_oracle_does_not_know_are_refused() -> None:
    swaps = Vocabulary(BASE, extensions=("swap",), kinds=PAPER_KINDS | {"delete", "swap"})
    revisions = Revisions(corpus_of([([], [1], [2], [])]), swaps, MIXTURE)
    with pytest.raises(ReviserError, match="does not know swap"):
        Episodes(revisions, swaps, 0, 0, 1, oracle_share=0.5, max_actions=8)
