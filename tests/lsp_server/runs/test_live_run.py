"""A run and its user in one document: their edits are told apart, merged, and taken back apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.runs.live_run import LiveRun, Ownership, RunRegion
from reviser.core.edits import Edit

TEXT = "Before. After."
EDITS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), st.text("xy\r\n😀", max_size=4)), max_size=12)


def run_at(start: int, text: str = "", ending: str = "\n") -> LiveRun:
    return LiveRun("1", "file:///a.txt", RunRegion(start, text), ending=ending)


def write(run: LiveRun, text: str, written: str) -> str:
    """Let the model write, and the editor carry it out; returns the document."""
    run.advance(written, len(written))
    change = run.next_change(text)
    if change is None:
        return text
    run.sent(change)
    assert run.follow(change) == "ours"
    return change.apply_to(text)


def user(run: LiveRun, text: str, change: Edit) -> tuple[str, str]:
    return run.follow(change), change.apply_to(text)


def test_each_action_is_one_minimal_change() -> None:
    run = run_at(7)
    text = write(run, TEXT, " One")
    assert text == "Before. One After."
    run.advance(" One two", 8)
    assert run.next_change(text) == Edit(11, "", " two")
    assert run.next_change(text.replace("x", "")) == Edit(11, "", " two")


def test_edits_elsewhere_move_the_region() -> None:
    run = run_at(7)
    text = write(run, TEXT, " One")
    origin, text = user(run, text, Edit(0, "Before", "Long before"))
    assert origin == "elsewhere"
    origin, text = user(run, text, Edit(len(text), "", " End."))
    assert origin == "elsewhere"
    assert run.running
    assert write(run, text, " One two") == "Long before. One two After. End."


@pytest.mark.parametrize(
    "change",
    [Edit(9, "", "x"), Edit(9, "n", ""), Edit(11, "", "x"), Edit(5, "e. O", ""),
     Edit(9, "ne Af", "x")],
)  # fmt: skip
def test_typing_inside_ends_the_run(change: Edit) -> None:
    run = run_at(7)
    text = write(run, TEXT, " One")
    origin, text = user(run, text, change)
    assert origin == "inside"
    assert run.state == "stopped"
    assert run.reason


def test_typing_where_nothing_is_written_yet_ends_the_run() -> None:
    run = run_at(7)
    assert run.follow(Edit(7, "", "x")) == "inside"


def test_an_edit_under_way_is_told_from_the_users() -> None:
    run = run_at(7)
    text = write(run, TEXT, " One")
    run.advance(" One two", 8)
    ours = run.next_change(text)
    assert ours
    run.sent(ours)
    origin, text = user(run, text, Edit(0, "", ">"))
    assert (origin, run.awaits_echo) == ("elsewhere", True)
    # The editor carried ours out behind the user's.
    origin, text = user(run, text, Edit(ours.start + 1, "", ours.new))
    assert (origin, run.awaits_echo) == ("ours", False)
    assert run.region == RunRegion(8, " One two")
    assert text == ">Before. One two After."


def test_one_change_may_hold_both() -> None:
    """Editors that wait before they report may put several edits into one change."""
    for change in (
        Edit(0, "Before. One", "> Before. One two"),
        Edit(10, "e After", "e two Later"),
        Edit(6, ". One Aft", "! One two Behind Aft"),
        Edit(11, "", " two"),
    ):
        run = run_at(7)
        write(run, TEXT, " One")
        run.advance(" One two", 8)
        run.sent(Edit(11, "", " two"))
        assert run.follow(change) == "ours", change
        assert run.region.text == " One two"


def test_an_edit_that_is_made_in_the_wrong_place_ends_the_run() -> None:
    """An editor that checks no version makes it where the text was before the user typed."""
    for typed in ("Oh! ", "Oh! Now and then "):
        run = run_at(7)
        text = write(run, TEXT, " One")
        run.advance(" Two", 4)
        ours = run.next_change(text)
        assert ours == Edit(8, "One", "Two")
        run.sent(ours)
        _, text = user(run, text, Edit(0, "", typed))
        stale = Edit(8, text[8:11], "Two")
        assert run.follow(stale) == "inside"
        assert run.state == "stopped"
        assert "wrong place" in run.reason


def test_an_edit_that_was_skipped_is_made_again() -> None:
    run = run_at(7)
    text = write(run, TEXT, " One")
    run.advance(" One two", 8)
    run.sent(Edit(11, "", " two"))
    _, text = user(run, text, Edit(0, "", ">"))
    run.lost()
    assert run.next_change(text) == Edit(12, "", " two")


def test_a_run_is_taken_back_in_one_change() -> None:
    run = run_at(7, " After")
    text = write(run, TEXT, " One\ntwo")
    change = run.restoration(text)
    assert change
    assert change.apply_to(text) == TEXT


def test_taking_back_spares_what_the_user_wrote() -> None:
    run = run_at(7, " After")
    text = write(run, TEXT, " One two")
    run.halt("finished")
    run.settle()
    for change in (Edit(16, "", "!"), Edit(11, "", " and a half"), Edit(0, "", "> ")):
        _, text = user(run, text, change)
    assert text == "> Before. One and a half two.!"
    restored = run.restoration(text)
    assert restored
    assert restored.apply_to(text) == "> Before. After and a half.!"


@given(st.integers(0, 10), EDITS)
def test_a_run_that_showed_nothing_takes_nothing_back(size: int, edits: list[tuple[int, int, str]]) -> None:
    """It was to write in the place of a selection, and was stopped or typed into before it did."""
    run = run_at(2, TEXT[2 : 2 + size])
    run.advance("Something else", 14)
    text = TEXT
    run.halt("stopped")
    run.settle()
    for start, length, inserted in edits:
        low = min(start, len(text))
        _, text = user(run, text, Edit(low, text[low : low + length], inserted))
    assert run.restoration(text) is None
    assert not run.wrote


def test_line_endings_are_the_documents() -> None:
    run = run_at(1, ending="\r\n")
    text = write(run, "a\r\nb", "one\ntwo\r\n")
    assert text == "aone\r\ntwo\r\n\r\nb"
    assert run.cursor == len("one\r\ntwo\r\n")


@given(st.integers(0, 14), EDITS, st.lists(st.text("abc \n", max_size=12), max_size=6))
def test_whatever_the_user_does_the_region_is_where_it_says(
    at: int, edits: list[tuple[int, int, str]], writings: list[str]
) -> None:
    run = run_at(at)
    text = TEXT
    for index, (start, size, inserted) in enumerate(edits):
        if run.running and index < len(writings):
            text = write(run, text, writings[index])
        low = min(start, len(text))
        change = Edit(low, text[low : low + size], inserted)
        origin, text = user(run, text, change)
        if run.running:
            region = run.region
            assert text[region.start : region.end] == region.text
            assert origin == "elsewhere"


@given(EDITS)
def test_a_run_leaves_without_a_trace_of_it(edits: list[tuple[int, int, str]]) -> None:
    """Model text is made of capitals here, the user's of small letters: undo takes all of the former."""
    run = run_at(7)
    text = write(run, "before. after.", "MODEL TEXT")
    run.halt("finished")
    run.settle()
    for start, size, inserted in edits:
        low = min(start, len(text))
        _, text = user(run, text, Edit(low, text[low : low + size], inserted))
    change = run.restoration(text)
    restored = change.apply_to(text) if change else text
    assert not any(letter.isupper() for letter in restored)
    users = [c for c in text if not c.isupper() and c != " "]
    assert [c for c in restored if c != " "] == users


def test_what_a_run_replaced_comes_back_even_if_the_user_removed_the_rest() -> None:
    run = run_at(8, "After")
    text = write(run, TEXT, "Later")
    run.settle()
    for change in (Edit(8, "Later", ""), Edit(0, "Before", "B"), Edit(0, "", "> ")):
        _, text = user(run, text, change)
    restored = run.restoration(text)
    assert restored
    assert restored.apply_to(text) == "> B. After."


def test_spans_part_and_shrink() -> None:
    owned = Ownership(2, [(2, 8)])
    owned.follow(Edit(4, "", "xx"))
    assert owned.spans == [(2, 4), (6, 10)]
    owned.follow(Edit(3, "axxb", ""))
    assert owned.spans == [(2, 3), (3, 6)]
    owned.follow(Edit(0, "everything", ""))
    assert owned.spans == []
