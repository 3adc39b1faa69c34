"""What a person meant by keystrokes, and by the difference between two texts."""

from hypothesis import given
from hypothesis import strategies as st

from reviser.core.buffer import Buffer
from reviser.core.edits import Edit
from reviser.next_edits.differences import changed_lines, changed_words
from reviser.next_edits.history import EditHistory, meant_edits, meant_in
from reviser.next_edits.prompt import with_made

TEXT = "The user sends an e-mail.\nOne e-mail is sent to a user.\n"


def typed(history: EditHistory, start: int, gone: int, new: str) -> None:
    """Take out characters one by one, and type others in their place."""
    for _ in range(gone):
        history.change(Edit(start + gone - 1, history.text[start + gone - 1], ""))
        gone -= 1
    for at, letter in enumerate(new):
        history.change(Edit(start + at, "", letter))


def meant(history: EditHistory) -> list[tuple[str, str]]:
    assert all(history.text[edit.start :].startswith(edit.new) for edit in history.meant())
    return [(edit.old, edit.new) for edit in history.meant()]


def test_keystrokes_are_merged_to_words() -> None:
    history = EditHistory(TEXT)
    typed(history, TEXT.index("user"), 4, "customer")
    at = history.text.index("-mail")
    history.change(Edit(at, "-", ""))
    assert meant(history) == [("user", "customer"), ("e-mail", "email")]


def test_the_latest_edit_is_the_last() -> None:
    history = EditHistory(TEXT)
    history.change(Edit(TEXT.rindex("-"), "-", ""))
    typed(history, TEXT.index("The"), 3, "A")
    assert meant(history) == [("e-mail", "email"), ("The", "A")]


def test_what_was_undone_is_no_edit() -> None:
    history = EditHistory(TEXT)
    at = TEXT.index("-")
    history.change(Edit(at, "-", ""))
    history.change(Edit(at, "", "-"))
    assert meant(history) == []
    assert history.text == TEXT


def test_new_text_is_no_pattern() -> None:
    history = EditHistory(TEXT)
    typed(history, len(TEXT), 0, "This is a wholly new sentence.\n")
    typed(history, TEXT.index(" sends"), 0, " of this small and simple page")
    assert meant(history) == []
    typed(history, 0, 0, "Often ")
    assert meant(history) == [("", "Often ")]


def test_a_term_is_renamed_in_text_that_was_written_before() -> None:
    history = EditHistory("")
    typed(history, 0, 0, "The user comes. A user goes.\nEach user stays he")
    history.settle()
    typed(history, len(history.text), 0, "re.")
    assert meant(history) == []
    history.settle()
    typed(history, history.text.index("user"), 4, "guest")
    assert meant(history) == [("user", "guest")]
    history.settle()
    assert meant(history) == [("user", "guest")]
    assert [history.text[start:end] for start, end in history.places] == ["guest"]


def test_a_word_that_is_typed_in_two_goes_is_no_edit() -> None:
    history = EditHistory(TEXT)
    typed(history, len(TEXT), 0, "It is often said that the us")
    history.settle()
    typed(history, len(history.text), 0, "ers like it")
    assert meant(history) == []


def test_what_a_program_changed_is_no_edit_of_the_person() -> None:
    history = EditHistory(TEXT)
    at = TEXT.index("-")
    history.change(Edit(at, "-", ""), by_person=False)
    assert meant(history) == []
    assert history.places == []
    typed(history, history.text.rindex("user"), 4, "guest")
    assert meant(history) == [("user", "guest")]
    history.change(Edit(at, "", "-"))
    typed(history, history.text.rindex("guest"), 5, "user")
    assert meant(history) == []


def test_lines_that_come_and_go_are_no_edits() -> None:
    new = "A new line.\n" + TEXT.replace("e-mail", "email")
    assert [(edit.old, edit.new) for edit in meant_edits(TEXT, new)] == [("e-mail", "email")] * 2
    assert all(new[edit.start :].startswith("email") for edit in meant_edits(TEXT, new))
    assert meant_edits(TEXT, "") == meant_edits("", TEXT) == []


def test_a_line_that_was_written_anew_has_no_edits() -> None:
    assert changed_words("The cat sat on the mat.", "A wholly different thing happened") is None


@given(st.text("ab. \n", max_size=60), st.text("ab. \n", max_size=60))
def test_differences_make_of_the_old_text_what_they_say(old: str, new: str) -> None:
    edits = changed_words(old, new)
    if edits is not None:
        assert with_made(old, edits)[0] == new
    assert all(new[edit.start :].startswith(edit.new) for edit in changed_lines(old, new))


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 6), st.text("ab \n", max_size=4)), max_size=12))
def test_any_keystrokes_are_followed(strokes: list[tuple[int, int, str]]) -> None:
    history = EditHistory(TEXT)
    for start, gone, new in strokes:
        old = history.text[start : start + gone]
        history.change(Edit(min(start, len(history.text)), old, new), by_person=gone != 3)
        if gone == 2:
            history.settle()
    assert all(0 <= start <= end <= len(history.text) for start, end in history.places)
    assert all(history.text[edit.start :].startswith(edit.new) for edit in history.meant())


def test_what_others_change_is_no_edit() -> None:
    buffer = Buffer(TEXT)
    history = EditHistory(buffer)

    def change(edit: Edit, by_person: bool) -> None:
        buffer.replace(edit.start, edit.end, edit.new)
        history.follow(edit, by_person=by_person)

    change(Edit(TEXT.index("user"), "user", "customer"), True)
    change(Edit(buffer.text.index("-mail"), "-", ""), False)
    assert meant(history) == [("user", "customer")]
    at = buffer.text.index("customer")
    assert history.places == [(at, at + len("customer"))]
    # What another changes again is not the person's any more.
    change(Edit(at, "customer", "client"), False)
    assert meant(history) == []
    assert history.places == []


def test_changed_lines_stay_as_they_were_read() -> None:
    history = EditHistory(TEXT)
    typed(history, TEXT.index("user"), 4, "customer")
    read = history.changed()
    typed(history, 0, 3, "A")
    assert [(edit.old, edit.new) for edit in meant_in(read)] == [("user", "customer")]
    assert [lines.was for lines in read] == [TEXT.partition("\n")[0]]
