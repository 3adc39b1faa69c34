"""Samples from real edits: the compiled ones equal the reference, replay, and mix with those of texts."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from reviser.cli.options import run_with
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from tests.training.edits.reference import revision_sample
from tests.training.histories import BASE, small_corpus, some_classes
from training.batches.loader import Loader, samples_of
from training.data.corpus import Corpus
from training.data.edit_files import read_edits
from training.data.shards import run as run_tokenise
from training.edits.edit_samples import Parts, Revisions, neighbours
from training.samples.mixture import Mixture
from training.samples.samples import Samples

tokenise = partial(run_with, run_tokenise)

ORDERS = ((1.0, "forward"), (1.0, "backward"), (1.0, "nearest"), (2.0, "random"))
MIXTURE = Mixture(edits=0.5, unchanged=0.3, edit_orders=ORDERS, max_history=160)
VOCABULARIES = [
    Vocabulary(BASE, extensions=extra, kinds=PAPER_KINDS | {"delete", *extra})
    for extra in ((), ("span_delete",), ("replace",), ("span_delete", "replace"))
]

texts = st.lists(st.integers(0, BASE - 1), max_size=50)
changes = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), texts), min_size=1, max_size=5)


@st.composite
def edits(draw: st.DrawFn) -> Parts:
    before = draw(texts)
    after = list(before)
    for at, removed, inserted in draw(changes):
        after[at : at + removed] = inserted[:12]
    return draw(texts), before, after, draw(texts)


def corpus_of(rows: list[Parts]) -> Corpus:
    return Corpus.of([part for row in rows for part in row], some_classes())


def revised(vocabulary: Vocabulary, ids: list[int], counted: list[bool]) -> tuple[Canvas, list[int]]:
    """Replay a history; returns the canvas, and its text when the draft was whole."""
    given = counted.index(True)
    marker = ids.index(vocabulary.draft_id)
    canvas = Canvas(vocabulary)
    for id in ids[1:marker] + ids[marker + 1 : given]:
        canvas.apply(canvas.action(id))
    draft = given - marker - 1
    start = canvas.cursor - draft
    canvas.protect(start, canvas.length - canvas.cursor, canvas.cursor)
    shown = canvas.tokens
    for id in ids[given:]:
        canvas.apply(canvas.action(id))
    return canvas, shown


# The first example waits for the compiler.
@settings(deadline=None)
@given(
    st.lists(edits(), min_size=1, max_size=3), st.sampled_from(VOCABULARIES), st.integers(0, 9), st.integers(64, 200)
)
def test_compiled_equals_reference(rows: list[Parts], vocabulary: Vocabulary, seed: int, max_history: int) -> None:
    mixture = dataclasses.replace(MIXTURE, max_history=max_history)
    try:
        revisions = Revisions(corpus_of(rows), vocabulary, mixture, seed)
    except ReviserError:
        reject()  # no edit fits
    made = revisions.histories(3, 0, 8)
    chosen, names = revisions.chosen(0, 8), revisions.names(3, 0, 8)
    for sample, (edit, name) in enumerate(zip(chosen.tolist(), names.tolist(), strict=True)):
        reference = revision_sample(vocabulary, revisions.parts(edit), name, mixture)
        size = int(made.lengths[sample])
        assert made.ids[sample, :size].tolist() == reference.ids
        assert made.counted[sample, :size].tolist() == reference.counted
        assert not made.counted[sample, size:].any()
        left, before, after, right = rows[edit]
        canvas, shown = revised(vocabulary, reference.ids, reference.counted)
        tokens = canvas.tokens
        assert tokens[canvas.low : canvas.high] == after
        assert shown[canvas.low : len(shown) - canvas.suffix] in (before, after)
        assert tokens[: canvas.low] == left[len(left) - canvas.low :]
        assert tokens[canvas.high :] == right[: canvas.suffix]
        assert canvas.stopped


def overtyped(vocabulary: Vocabulary, ids: list[int]) -> tuple[list[int], list[int], list[int]]:
    """The draft of a history, what is written over it, and what is left of the draft at the end."""
    marker, written = ids.index(vocabulary.draft_id), ids.index(vocabulary.overtype_id)
    draft, text = ids[marker + 1 : written], []
    rest = list(draft)
    for id in ids[written + 1 : -1]:
        if id == vocabulary.delete_id:
            rest.pop(0)
        else:
            text.append(id)
            if rest and rest[0] == id:
                rest.pop(0)
    assert ids[-1] == vocabulary.stop_id
    return draft, text, rest


@settings(deadline=None)
@given(
    st.lists(edits(), min_size=1, max_size=3),
    st.sampled_from(VOCABULARIES[:2]),
    st.integers(0, 9),
    st.integers(64, 200),
    st.sampled_from([0.5, 1.0]),
)
def test_overtyped_compiled_equals_reference(
    rows: list[Parts], vocabulary: Vocabulary, seed: int, max_history: int, overtype: float
) -> None:
    mixture = dataclasses.replace(MIXTURE, max_history=max_history, overtype=overtype)
    try:
        revisions = Revisions(corpus_of(rows), vocabulary, mixture, seed)
    except ReviserError:
        reject()  # no edit fits
    made = revisions.histories(3, 0, 8)
    chosen, names = revisions.chosen(0, 8), revisions.names(3, 0, 8)
    for sample, (edit, name) in enumerate(zip(chosen.tolist(), names.tolist(), strict=True)):
        reference = revision_sample(vocabulary, revisions.parts(edit), name, mixture)
        size = int(made.lengths[sample])
        assert made.ids[sample, :size].tolist() == reference.ids
        assert made.counted[sample, :size].tolist() == reference.counted
        if vocabulary.overtype_id not in reference.ids:
            assert overtype < 1
            continue
        assert reference.counted.index(True) == reference.ids.index(vocabulary.overtype_id) + 1
        _, before, after, _ = rows[edit]
        draft, text, rest = overtyped(vocabulary, reference.ids)
        assert draft in (before, after)
        assert text == after
        assert rest == []


def test_neighbours_are_cut_to_what_fits() -> None:
    assert neighbours(10, 20, 100) == (10, 20)
    left, right = neighbours(100, 100, 90)
    assert (left, right) == (90 - 20 - 2, 20)
    assert neighbours(5, 5, 3) == (3, 0)


def test_the_unchanged_share_is_left_alone() -> None:
    rows: list[Parts] = [([], [n, 1, 2, 3], [n, 4, 2, 3], []) for n in range(20)]
    revisions = Revisions(corpus_of(rows), VOCABULARIES[0], MIXTURE)
    made = revisions.histories(0, 0, 4000)
    alone = made.counted.sum(1) == 1
    assert alone.mean() == pytest.approx(0.3, abs=0.03)
    assert (made.ids[alone, made.lengths[alone] - 1] == VOCABULARIES[0].stop_id).all()


def test_every_edit_comes_once_in_each_pass() -> None:
    rows: list[Parts] = [([], [n % BASE, 1], [n % BASE, 2], []) for n in range(30)]
    rows[7] = ([], [1, 2], [1, 2], [])  # no change
    rows[9] = ([], [1] * 200, [2], [])  # too long
    revisions = Revisions(corpus_of(rows), VOCABULARIES[0], MIXTURE)
    assert len(revisions) == 28
    first, second = revisions.chosen(0, 28).tolist(), revisions.chosen(28, 56).tolist()
    assert sorted(first) == sorted(second) == [n for n in range(30) if n not in (7, 9)]
    assert first != second
    assert revisions.chosen(5, 9).tolist() == first[5:9]


def test_mixed_samples_are_those_of_texts_and_edits() -> None:
    vocabulary = VOCABULARIES[0]
    rows: list[Parts] = [([], [n % BASE, 1, 1], [n % BASE, 2], []) for n in range(50)]
    mixed = samples_of(small_corpus(40), corpus_of(rows), vocabulary, MIXTURE, 3)
    alone = Samples(small_corpus(40), vocabulary, dataclasses.replace(MIXTURE, edits=0.0), 3)
    total = mixed.count(0)
    assert total - alone.count(0) == round(alone.count(0) * 0.5)
    whole = mixed.histories(0, 0, total)
    is_edit = (whole.ids == vocabulary.draft_id).any(1)
    # The samples of texts are what they are without edits, in the same order.
    plain = alone.histories(0, 0, alone.count(0))
    assert (whole.ids[~is_edit] == plain.ids).all()
    assert (whole.counted[~is_edit] == plain.counted).all()
    # Both kinds are spread evenly, and a part is a part of the whole.
    assert abs(int(is_edit[: total // 2].sum()) - total // 6) <= 1
    part = mixed.histories(0, 11, 37)
    assert (part.ids == whole.ids[11:37]).all()
    batches = Loader(mixed, 4, row_length=320, workers=1).batches()
    assert any((next(batches).ids == vocabulary.draft_id).any() for _ in range(3))


def test_what_makes_no_sense_is_refused() -> None:
    rows: list[Parts] = [([], [1], [2], [])]
    with pytest.raises(ReviserError, match="Delete"):
        Revisions(corpus_of(rows), Vocabulary(BASE, kinds=PAPER_KINDS), MIXTURE)
    with pytest.raises(ReviserError, match="--edits"):
        Revisions(Corpus.of([[1], [2], [3]], some_classes()), VOCABULARIES[0], MIXTURE)
    with pytest.raises(ReviserError, match="folder of edits"):
        samples_of(small_corpus(4), None, VOCABULARIES[0], MIXTURE, 0)


def test_edits_go_through_shards(tmp_path: Path) -> None:
    rows = [
        {"before": f"The cat sat {n}.", "after": f"The dog sat {n}.", "left": "Up.", "right": "Down."}
        for n in range(30)
    ]
    source = tmp_path / "edits.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "shards"
    options = ["--tokenizer", "gpt2", "--edits", "--workers", "1", "--limit", "20"]
    assert tokenise([str(out), str(source), *options]) == 0
    corpus = Corpus.open(out)
    vocabulary = corpus.vocabulary(kinds=PAPER_KINDS | {"delete"})
    revisions = Revisions(corpus, vocabulary, MIXTURE)
    assert len(revisions) == 20
    from reviser.core.tokenizer import Gpt2Tokenizer, decode

    parts = [decode(Gpt2Tokenizer(), part) for part in revisions.parts(4)]
    assert parts == ["Up.\n", "The cat sat 4.", "The dog sat 4.", "\nDown."]
    assert len(list(read_edits(str(source)))) == 30
    assert np.array(revisions.histories(0, 0, 5).lengths).min() > 8
