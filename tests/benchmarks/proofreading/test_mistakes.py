"""Texts with known mistakes, and examples of what became of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.proofreading.examples import Verdict, examples, verdicts
from benchmarks.proofreading.mistakes import KindCounts, MistakenPassage, by_kind, read_mistakes
from reviser.core.errors import ReviserError

PASSAGES = [
    MistakenPassage("She go home.", "She goes home.", "agreement"),
    MistakenPassage("They was late.", "They were late.", "agreement"),
    MistakenPassage("I saw teh sea.", "I saw the sea.", "spelling"),
    MistakenPassage("All is well.", "All is well."),
]


def test_recall_by_kind_and_precision_over_all() -> None:
    made = ["She goes home.", "They was late.", "I saw a sea.", "All is good."]
    found = by_kind(PASSAGES, made)
    assert found.kinds == (KindCounts("agreement", 2, 1), KindCounts("spelling", 1, 0))
    assert found.f.precision is not None
    assert found.f.precision.value == pytest.approx(1 / 3)
    assert found.f.recall.value == pytest.approx(1 / 3)


def test_without_a_kind_the_words_tell_it() -> None:
    passage = MistakenPassage("She go to scool.", "She goes to school.")
    kinds = {entry.kind for entry in by_kind([passage], [passage.before]).kinds}
    assert kinds == {"agreement", "spelling"}


def test_one_of_two_neighbouring_mistakes_counts() -> None:
    passage = MistakenPassage("He have went home.", "He has gone home.")
    assert by_kind([passage], ["He has went home."]).f.recall.value == pytest.approx(0.5)


def test_files_of_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"before": "a  b\\nc", "after": "a b d", "kind": "x"}\n\n{"before": "e", "after": "e"}\n')
    found = read_mistakes(file)
    assert found.name == "own"
    assert found.passages == (MistakenPassage("a b c", "a b d", "x"), MistakenPassage("e", "e"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"before": "a"}', "line 1: expected a JSON object with the texts before and after"),
        ('{"before": "a", "after": "a"}\nnonsense', "line 2: expected"),
        ('{"before": 1, "after": "a"}', "line 1: expected"),
        ("[]", "line 1: expected"),
        ("", "has no lines"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(text)
    with pytest.raises(ReviserError, match=message):
        read_mistakes(file)


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        ("She goes home soon.", {Verdict.RIGHT}),
        ("She went home soon.", {Verdict.RIGHT}),
        ("She going home soon.", {Verdict.WRONG}),
        ("She go home soon.", {Verdict.MISSED}),
        ("She goes home later.", {Verdict.RIGHT, Verdict.DAMAGED}),
    ],
)
def test_verdicts(made: str, verdict: set[Verdict]) -> None:
    references = ["She goes home soon.", "She went home soon."]
    assert verdicts("She go home soon.", made, references) == verdict


def test_a_sentence_that_one_person_left_alone_is_not_missed() -> None:
    assert verdicts("It is so.", "It is so.", ["It is so.", "It was so."]) == set()


def test_examples_are_few_and_always_the_same() -> None:
    sources, made = ["She go home."] * 9, ["She goes home."] * 9
    found = examples(sources, made, [made[:1]] * 9, 2)
    assert len(found[Verdict.RIGHT]) == 2
    assert not found[Verdict.DAMAGED]
    assert found == examples(sources, made, [made[:1]] * 9, 2)
