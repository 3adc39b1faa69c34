"""Reviewing: changes are cut where people read, and every mix of decisions makes exactly the text it should."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.editor.edited_text import EditedText, Selection
from reviser.editor.review import Review
from tests.reviser.core.test_hunks import changes_between, mixed, states


def review_of(found: list[str], before: str = "", behind: str = "") -> tuple[EditedText, Review | None]:
    """A draft in which a run has made the last state of the first, under review."""
    draft = EditedText(before + found[0] + behind)
    region = draft.open_region(len(before), len(before) + len(found[0]))
    draft.write_region(found[-1])
    changes = changes_between(found)
    return draft, Review(draft, region, changes) if changes else None


@settings(max_examples=200, deadline=None)
@given(states(), st.data())
def test_any_mix_of_decisions_makes_the_text_with_exactly_the_accepted_changes(
    found: list[str], data: st.DataObject
) -> None:
    draft, review = review_of(found, "before ", " behind")
    if review is None:
        return
    changes = changes_between(found)
    wanted = [True] * len(changes)
    states = [f"before {found[0]} behind"]
    while review.active:
        review.look(data.draw(st.integers(-2, 2)))
        index = review.number - 1
        wanted[index] = data.draw(st.booleans())
        last, undecided = len(review.open_items) == 1, draft.text
        review.decide(wanted[index])
        assert draft.text == f"before {mixed(found[0], changes, wanted)} behind"
        if last and not wanted[index]:
            # Rejecting what was left is a step of undo by itself.
            states.append(undecided)
    draft.close_region()
    if len(states) > 1 or draft.text != states[0]:
        states.append(draft.text)
    assert draft.undoable == len(states) - 1
    for state in states[-2::-1]:
        assert draft.undo()
        assert draft.text == state
    for state in states[1:]:
        assert draft.redo()
        assert draft.text == state


@settings(max_examples=200, deadline=None)
@given(states(), st.data())
def test_typing_and_deciding_take_turns(found: list[str], data: st.DataObject) -> None:
    """What the user types stays, whatever is decided; undo takes back the typing, then the run."""
    draft, review = review_of(found, "before ", " behind")
    if review is None:
        return
    typed = []
    for _ in range(data.draw(st.integers(1, 6))):
        if review.active and data.draw(st.booleans()):
            review.decide(data.draw(st.booleans()))
            continue
        at = data.draw(st.integers(0, draft.buffer.length))
        mark = chr(ord("0") + len(typed))
        inside = [i for i in review.items if i.patch.touches(at, at) and draft.region is not None]
        before = draft.text
        draft.edit(at, at, mark)
        typed.append(mark)
        assert draft.text == before[:at] + mark + before[at:]
        assert not any(item.open for item in inside)
    shown = [draft.buffer.slice(item.patch.start, item.patch.end) for item in review.open_items]
    assert shown == [item.new for item in review.open_items]
    review.decide_rest(data.draw(st.booleans()))
    draft.close_region()
    assert all(mark in draft.text for mark in typed)
    states = [draft.text]
    while draft.undo():
        states.append(draft.text)
    assert states[-1] == f"before {found[0]} behind"
    while draft.redo():
        assert draft.text in states
    assert draft.text == states[0]


def test_an_edit_inside_a_change_settles_it_and_the_others_stay_open() -> None:
    draft, review = review_of(["one two three", "1 two three", "1 two 3"])
    assert review is not None
    draft.edit(1, 1, "!")
    assert (draft.text, [item.open for item in review.items]) == ("1! two 3", [False, True])
    review.decide(False)
    assert draft.text == "1! two three"
    assert not review.active
    draft.close_region()
    steps = []
    while draft.undo():
        steps.append(draft.text)
    assert steps == ["1! two 3", "1 two 3", "one two three"]


def test_an_edit_between_changes_leaves_all_of_them_open() -> None:
    draft, review = review_of(["one two three", "1 two three", "1 two 3"])
    assert review is not None
    draft.select(Selection.at(4))
    draft.edit(4, 4, "!")
    assert draft.text == "1 tw!o 3"
    assert [item.open for item in review.items] == [True, True]
    review.decide(False)
    assert draft.text == "one tw!o 3"
    assert draft.undo()
    assert (draft.text, review.active) == ("one two 3", True)
    assert draft.undo()
    assert (draft.text, review.active) == ("one two three", False)


def test_looking_goes_round_the_open_changes() -> None:
    _, review = review_of(["a b c d e", "1 b c d e", "1 b 3 d e", "1 b 3 d 5"])
    assert review is not None
    assert (review.number, len(review.items)) == (1, 3)
    review.look(-1)
    assert review.number == 3
    review.look(1)
    review.decide(True)
    assert review.number == 2
    review.look(1)
    review.look(1)
    assert review.number == 2
    review.decide(True)
    review.decide(True)
    assert not review.active
