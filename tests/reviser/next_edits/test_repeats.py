"""The places where an edit can be repeated."""

import pytest

from reviser.core.edits import Edit
from reviser.next_edits.prompt import RecentEdit, recent_edit
from reviser.next_edits.repeats import RepeatWay, repeats


def made(text: str, old: str, new: str) -> tuple[str, RecentEdit, tuple[int, int]]:
    """A text in which `new` stands once as marked by bars, the edit that put it there, and where it is."""
    start = text.index("|")
    text = text.replace("|", new, 1)
    return text, recent_edit(text, Edit(start, old, new)), (start, start + len(new))


def found(text: str, old: str, new: str) -> list[tuple[str, str]]:
    text, edit, taken = made(text, old, new)
    return [(one.change.old, one.change.new) for one in repeats(text, [edit], [taken])]


def test_repeats_are_whole_words_with_the_capitals_of_their_place() -> None:
    text = "A |. The user writes. User names differ. Superuser and USER stay."
    assert found(text, "user", "customer") == [("user", "customer"), ("User", "Customer"), ("USER", "CUSTOMER")]


def test_capitals_are_changed_where_they_were_the_same() -> None:
    text = "On |, Github and GitHub. The address is github, a GITHUB."
    assert found(text, "Github", "GitHub") == [("Github", "GitHub")]


def test_nouns_are_repeated_in_their_other_number() -> None:
    text = "A |. The users write, users' names, the User's name."
    assert found(text, "user", "customer") == [("users", "customers"), ("users", "customers"), ("User", "Customer")]
    assert found("The | and a city.", "cities", "towns") == [("city", "town")]


def test_what_was_just_edited_is_not_proposed_again() -> None:
    text, edit, taken = made("an |, an email", "email", "e-mail")
    assert [one.change.start for one in repeats(text, [edit], [taken])] == [text.rindex("email")]


def test_an_edit_of_no_words_is_repeated_beside_the_same_word() -> None:
    assert found("It is |good. A very good day, very bad", "very ", "") == [("very ", ""), ("very ", "")]
    assert found("apples| and pears, plums and nuts", "", ",") == [(" and", ", and")]


def test_what_is_there_already_is_not_put_in_again() -> None:
    assert found("An |, an email, an e-mail. One mail", "mail", "e-mail") == [("mail", "e-mail")]
    assert found("See |user. The user and a user", "", "the ") == [("user", "the user")]


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("- first|\n- second\n- third.\n\nText\n", "", ".", ["- second.", "Text."]),
        ("##| One\n\n### Two\n\n## Three\n", "#", "", ["## Two"]),
        ("|First\n\n* Second\n* Third *bold*\n", "* ", "- ", ["- Second", "- Third *bold*"]),
        ("One.|Two.\n\nThree.  Four. Five.", "  ", " ", ["Three. Four. Five."]),
        ("See [|foo` and\n[`bar`] and `this`", "`", "", ["[bar`] and `this`"]),
    ],
)
def test_an_edit_of_marks_is_repeated_between_the_same_marks(text: str, old: str, new: str, after: list[str]) -> None:
    text, edit, taken = made(text, old, new)
    changes = [one.change for one in repeats(text, [edit], [taken]) if one.way is RepeatWay.MARKS]
    lines = [set(change.apply_to(text).splitlines()) - set(text.splitlines()) for change in changes]
    assert lines == [{line} for line in after]
