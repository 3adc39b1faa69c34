"""Cases of next edits: what is to come after the first edits, and which changes are right."""

import pytest

from benchmarks.next_edits.cases import case_of, case_with, right_edits
from benchmarks.next_edits.outcomes import NextEditScore, all_replaced, last_replaced, outcome_of
from benchmarks.next_edits.sessions import passage_of
from reviser.core.edits import Edit
from reviser.next_edits.evidence import EditSort
from training.data.randomness import KeyedRandom
from training.edits.sessions.session import EditSession

TEXT = "An e-mail here, an e-mail there, a third e-mail."
PLACES = [at for at in range(len(TEXT)) if TEXT.startswith("e-mail", at)]
SESSION = EditSession(TEXT, tuple(Edit(at, "e-mail", "email") for at in PLACES))


def test_a_case_has_the_first_edits_made() -> None:
    case = case_of(SESSION, 1)
    assert case.text == "An email here, an e-mail there, a third e-mail."
    assert case.taken == [(3, 8)]
    assert len(case.repeated) == len(case.to_come) == 2


def test_edits_are_made_in_any_order() -> None:
    case = case_with(SESSION, [2, 0])
    assert case.text == "An email here, an e-mail there, a third email."
    assert [edit.start for edit in case.made] == [case.text.index("email."), 3]
    assert [case.text[edit.start :][:5] for edit in case.made] == ["email", "email"]
    assert case.to_come == (Edit(18, "e-mail", "email").core,)


def test_a_change_is_right_if_it_gives_the_authors_text() -> None:
    case = case_of(SESSION, 1)
    second, third = (at for at in range(len(case.text)) if case.text.startswith("e-mail", at))
    assert len(right_edits(case, Edit(second, "e-mail", "email"))) == 1
    assert len(right_edits(case, Edit(second + 1, "-", ""))) == 1
    assert not right_edits(case, Edit(second, "e-mail", "post"))
    assert not right_edits(case, Edit(0, "An", "The"))
    assert len(right_edits(case, Edit(third, "e-mail.", "email."))) == 1
    both = case.text[second : third + 6]
    assert len(right_edits(case, Edit(second, both, both.replace("e-mail", "email")))) == 2


def test_a_score_counts_what_is_right_and_what_it_finds() -> None:
    case = case_of(SESSION, 1)
    score = NextEditScore([outcome_of(case, [*all_replaced(case), Edit(0, "An", "The")])])
    assert (score.shown, score.right) == (3, 2)
    assert score.of_sort(EditSort.JOINT) == (2, 2)
    assert score.recall(1).share == score.recall_of_repeats(1).share == 1
    low, high = score.precision.low, score.precision.high
    assert 0 < low < 2 / 3 < high < 1
    assert [change.start for change in last_replaced(case)] == [edit.start - 1 for edit in case.to_come]


@pytest.mark.parametrize("seed", range(20))
def test_a_passage_has_whole_words_and_the_edits_in_it(seed: int) -> None:
    text = "\n".join(f"Line {number} tells of an e-mail and of a letter." for number in range(40))
    places = [at for at in range(len(text)) if text.startswith("e-mail", at)]
    session = EditSession(text, tuple(Edit(at, "e-mail", "email") for at in places))
    part = passage_of(session, 300, KeyedRandom(seed))
    assert 0 < len(part.text) <= 300
    assert " ".join(["", *part.text.split(), ""]) in " ".join(["", *text.split(), ""])
    assert part.edits
    assert [part.text[edit.start : edit.end] for edit in part.edits] == ["e-mail"] * part.text.count("e-mail")
    assert passage_of(session, len(text), KeyedRandom(seed)) is session
