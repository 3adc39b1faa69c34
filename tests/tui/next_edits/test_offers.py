"""The edits that are recorded in a draft, whoever changes it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviser.editor.edited_text import EditedText
from tui.next_edits.offers import Offers

TEXT = "The user sends an e-mail.\nOne e-mail is sent to a user.\n"

places = st.integers(0, 60)
changes = st.tuples(st.just("edit"), places, places, st.sampled_from(["", "x", "an email", "two\nlines"]))
runs = st.tuples(st.just("run"), places, places, st.sampled_from(["", "y", "e-mail"]))
steps = st.sampled_from([("undo", 0, 0, ""), ("redo", 0, 0, ""), ("close", 0, 0, ""), ("discard", 0, 0, "")])


@given(st.lists(st.one_of(changes, changes, runs, steps), max_size=20))
def test_the_history_has_the_text_of_the_draft(pressed: list[tuple[str, int, int, str]]) -> None:
    draft = EditedText(TEXT)
    offers = Offers(draft)
    for name, one, other, new in pressed:
        start, end = sorted((min(one, draft.buffer.length), min(other, draft.buffer.length)))
        if name == "edit":
            draft.edit(start, end, new)
        elif name == "run":
            draft.open_region(start, end)
            draft.write_region(new)
        else:
            ways = {"undo": draft.undo, "redo": draft.redo, "close": draft.close_region}
            ways.get(name, draft.discard_region)()
        if (history := offers.history) is not None:
            assert history.text == draft.text
            assert all(draft.text.startswith(edit.new, edit.start) for edit in history.meant())


def test_what_a_run_writes_is_nobodys_edit_made_undone_or_redone() -> None:
    draft = EditedText(TEXT)
    offers = Offers(draft)
    draft.edit(0, 3, "A")
    at = draft.text.index("e-mail")
    draft.open_region(at, at + 6)
    draft.write_region("email")
    draft.close_region()
    for change in (draft.undo, draft.redo):
        assert offers.history is not None
        assert [(edit.old, edit.new) for edit in offers.history.meant()] == [("The", "A")]
        change()
    draft.become(TEXT.replace("sends", "gets"))
    assert [(edit.old, edit.new) for edit in offers.history.meant()] == []
