"""Corrected samples: a worse word is written, taken back a little later, and the text comes out as it is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.actions import Delete, Insert, Move
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from tests.training.histories import (
    BASE,
    DELETING_VOCABULARY,
    PAPER_VOCABULARY,
    seeds_of,
    small_corpus,
    some_classes,
    texts_and_tasks,
    written,
)
from training.batches.packing import packed
from training.data.boundaries import CLAUSE, strength
from training.data.corpus import Corpus
from training.samples.generator import Generator, Texts, texts_task
from training.samples.mixture import Mixture
from training.samples.obfuscation import CORRECTED, PLAIN, Sample, Task, make_sample
from training.samples.policies import CORRECTING_REACH
from training.samples.samples import Samples

CLASSES = some_classes()
ALONE = Mixture(0.0, 0.0, 0.0, 0.0, corrected=1.0, max_history=256, revisions=6.0)


@settings(deadline=None)
@given(
    texts_and_tasks(kinds=(CORRECTED,)),
    st.integers(0, 2**64 - 1),
    st.integers(0, 300),
    st.one_of(st.none(), st.integers(1, 200)),
)
def test_compiled_equals_reference(
    drawn: tuple[list[int], Task], name: int, spare: int, k_max: int | None
) -> None:
    text, task = drawn
    history = len(text) + 11 + spare
    reference = make_sample(DELETING_VOCABULARY, text, task, name, CLASSES, history, k_max)
    generate = Generator(DELETING_VOCABULARY, CLASSES, history, task.revisions, k_max)
    made = generate(Texts.of([text], [task]), np.array([name], dtype=np.uint64))
    size = int(made.lengths[0])
    assert made.ids[0, :size].tolist() == reference.ids
    assert made.counted[0, :size].tolist() == reference.counted
    assert not made.counted[0, size:].any()


@settings(deadline=None)
@given(texts_and_tasks(kinds=(CORRECTED,)), st.integers(0, 2**64 - 1))
def test_worse_words_are_written_taken_back_and_left_out_of_the_loss(
    drawn: tuple[list[int], Task], name: int
) -> None:
    text, task = drawn
    sample = make_sample(DELETING_VOCABULARY, text, task, name, CLASSES, 4 * len(text) + 32)
    # Replaying refuses every action that is not valid.
    assert written(DELETING_VOCABULARY, sample.ids, task) == text
    check_story(text, task, sample)


def check_story(text: list[int], task: Task, sample: Sample) -> int:
    """Follow a history: writing at the end but for steps back that exchange one word; returns how many."""
    seeds = seeds_of(DELETING_VOCABULARY, task)
    canvas = Canvas(DELETING_VOCABULARY)
    for id in sample.ids[1:seeds]:
        canvas.apply(canvas.action(id))
    canvas.protect(task.prefix, task.suffix, canvas.cursor)
    assert not any(sample.counted[:seeds])
    steps = 0
    fresh_from, worse_at = canvas.low, -1
    actions = list(zip(sample.ids[seeds:-1], sample.counted[seeds:-1], strict=True))[::-1]
    while actions:
        id, counts = actions.pop()
        action = canvas.action(id)
        if isinstance(action, Insert):
            assert canvas.cursor == canvas.high
            place = canvas.cursor
            if not counts:
                # One at a time, and only what was said to be worse there.
                assert worse_at < 0
                assert action.token == task.worse[place] != text[place]
                worse_at = place
            else:
                assert action.token == text[place]
            canvas.apply(action)
            continue
        end, way = canvas.high, 0
        while isinstance(action, Move):
            assert counts
            way += action.delta
            canvas.apply(action)
            id, counts = actions.pop()
            action = canvas.action(id)
        assert isinstance(action, Delete)
        assert canvas.cursor == worse_at + 1 == end + way
        assert -way < CORRECTING_REACH
        assert worse_at >= fresh_from
        canvas.apply(action)
        id, better_counts = actions.pop()
        assert id == text[worse_at]
        assert counts
        assert better_counts
        canvas.apply(canvas.action(id))
        for move in DELETING_VOCABULARY.moves(-way):
            assert actions.pop() == (DELETING_VOCABULARY.id(move), True)
            canvas.apply(move)
        assert canvas.cursor == canvas.high == end
        if end < len(text) - task.suffix:
            after = int(CLASSES[task.worse[end]]), int(CLASSES[text[end]])
            assert max(strength(int(CLASSES[text[end - 1]]), one) for one in after) >= CLAUSE
        fresh_from, worse_at = end, -1
        steps += 1
    assert worse_at < 0
    assert sample.counted[-1]
    return steps


def test_words_are_taken_back_about_as_often_as_asked_for() -> None:
    random = np.random.default_rng(0)
    steps = tokens = 0
    for name in range(60):
        text = random.integers(0, BASE, size=300).tolist()
        worse = [(token + 1) % BASE if random.random() < 0.3 else token for token in text]
        task = Task(CORRECTED, revisions=3.0, worse=worse)
        sample = make_sample(DELETING_VOCABULARY, text, task, name, CLASSES, 1000)
        steps += check_story(text, task, sample)
        tokens += len(text)
    assert 1.5 < 100 * steps / tokens < 3.5


def test_without_worse_words_a_text_is_written_from_left_to_right() -> None:
    text = list(range(BASE))
    for worse in ((), text):
        task = Task(CORRECTED, prefix=3, revisions=25.0, worse=worse)
        made = make_sample(DELETING_VOCABULARY, text, task, 5, CLASSES, 200)
        plain = make_sample(DELETING_VOCABULARY, text, Task(PLAIN, prefix=3), 5, CLASSES, 200)
        assert made == plain


@pytest.mark.parametrize("suffix", [0, 700])
def test_long_texts(suffix: int) -> None:
    text = np.random.default_rng(1).integers(0, BASE, size=2000).tolist()
    worse = [token if at % 9 else (token + 1) % BASE for at, token in enumerate(text)]
    task = Task(CORRECTED, 30, suffix, worse=worse)
    generate = Generator(DELETING_VOCABULARY, CLASSES, 5000)
    made = generate(Texts.of([text], [task]), np.zeros(1, dtype=np.uint64))
    size = int(made.lengths[0])
    expected = make_sample(DELETING_VOCABULARY, text, task, 0, CLASSES, 5000)
    assert made.ids[0, :size].tolist() == expected.ids
    assert made.counted[0, :size].tolist() == expected.counted
    assert check_story(text, task, expected) > 10


def corpus_with_worse_words() -> Corpus:
    corpus = small_corpus()
    (shard,) = corpus.shards
    worse = shard.tokens.copy()
    worse[::7] = (worse[::7] + 1) % BASE
    return dataclasses.replace(corpus, shards=(dataclasses.replace(shard, worse=worse),))


def test_samples_of_a_corpus() -> None:
    corpus = corpus_with_worse_words()
    samples = Samples(corpus, DELETING_VOCABULARY, ALONE, seed=3)
    count = samples.count(0)
    texts, _ = samples.texts(0, 0, count)
    made = samples.histories(0, 0, count)
    assert made.fallbacks <= 0.01 * count
    steps = 0
    for number in range(count):
        size = int(made.lengths[number])
        span = slice(texts.offsets[number], texts.offsets[number + 1])
        task = dataclasses.replace(
            texts_task(texts, number, ALONE.revisions), worse=texts.worse[span].tolist()
        )
        sample = Sample(made.ids[number, :size].tolist(), made.counted[number, :size].tolist())
        assert written(DELETING_VOCABULARY, sample.ids, task) == texts.text(number)
        steps += check_story(texts.text(number), task, sample)
    assert steps > count
    again = Samples(corpus, DELETING_VOCABULARY, ALONE, seed=3).histories(0, 20, 25)
    assert (again.ids == made.ids[20:25]).all()
    assert (again.counted == made.counted[20:25]).all()
    other = Samples(corpus, DELETING_VOCABULARY, ALONE, seed=4).histories(0, 20, 25)
    assert (other.ids != made.ids[20:25]).any(axis=1).all()


def test_rows_of_a_batch_leave_worse_words_out_of_the_loss() -> None:
    mixture = dataclasses.replace(ALONE, prefix=((1.0, 0.0, 0.0),))
    samples = Samples(corpus_with_worse_words(), DELETING_VOCABULARY, mixture)
    made = samples.histories(0, 0, 40)
    rows = packed(made, 16, 512, DELETING_VOCABULARY.start_id)
    deletes = rows.ids == DELETING_VOCABULARY.delete_id
    assert deletes.sum() > 20
    assert rows.mask[deletes].all()
    # Not asked for are the start marker of each sample, and one word for each Delete.
    starts = (rows.positions == 0) & (rows.samples >= 0)
    assert int((~rows.mask & (rows.samples >= 0)).sum()) == int(starts.sum() + deletes.sum())
    assert not rows.mask[starts].any()


def test_corrected_samples_need_worse_words_and_delete() -> None:
    with pytest.raises(ReviserError, match="worse words were not looked for"):
        Samples(small_corpus(), DELETING_VOCABULARY, ALONE)
    with pytest.raises(ReviserError, match="take Delete"):
        Samples(corpus_with_worse_words(), PAPER_VOCABULARY, ALONE)


def test_the_other_kinds_are_drawn_as_before() -> None:
    """A mixture without corrected samples gives the same histories, whether or not there are worse words."""
    mixture = Mixture(max_history=128)
    one = Samples(small_corpus(), PAPER_VOCABULARY, mixture).histories(0, 0, 50)
    two = Samples(corpus_with_worse_words(), PAPER_VOCABULARY, mixture).histories(0, 0, 50)
    assert (one.ids == two.ids).all()
    assert (one.counted == two.counted).all()
