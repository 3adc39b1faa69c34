"""Changes for people: cut where they read, and together exactly what happened."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.edits import Edit
from reviser.core.hunks import changed_words

PIECES = ["a", "cat", " ", "  ", "the ", "\n", "\r\n", ".", "漢", "e\u0301", "👩‍💻", "\t"]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@st.composite
def states(draw: st.DrawFn) -> list[str]:
    """A text, and what it becomes by small edits, as a model makes them."""
    found = [draw(texts)]
    for _ in range(draw(st.integers(0, 8))):
        text = found[-1]
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 4)))
        found.append(text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:])
    return found


def changes_between(found: list[str]) -> list[Edit]:
    """The changes of a run that led from state to state."""
    return changed_words(found[0], [Edit.between(old, new) for old, new in pairwise(found)])


def mixed(old: str, changes: list[Edit], accepted: list[bool]) -> str:
    """The old text with exactly the accepted changes, put together from its start."""
    made, read, written = "", 0, 0
    for change, taken in zip(changes, accepted, strict=True):
        kept = change.start - written
        made += old[read : read + kept] + (change.new if taken else change.old)
        read += kept + len(change.old)
        written = change.start + len(change.new)
    return made + old[read:]


@settings(max_examples=300, deadline=None)
@given(states())
def test_all_changes_make_the_new_text_and_none_the_old(found: list[str]) -> None:
    changes = changes_between(found)
    assert mixed(found[0], changes, [True] * len(changes)) == found[-1]
    assert mixed(found[0], changes, [False] * len(changes)) == found[0]
    assert all(change.old != change.new for change in changes)
    # Something stays between two changes, or they would be one.
    ends = [change.start + len(change.new) for change in changes]
    assert all(end < change.start for end, change in zip(ends[:-1], changes[1:], strict=True))
    assert (changes == []) == (found[0] == found[-1])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["The cat sat.", "The sat.", "The dog sat."], [(4, "cat", "dog")]),
        # A word is changed as a whole, and one that was only written again is not changed.
        (["He was running on", "He was run on", "He was runs on"], [(7, "running", "runs")]),
        (["a cat sat", "a", "a cat sat", "a cat lay"], [(6, "sat", "lay")]),
        (["a cat", "a cats"], [(2, "cat", "cats")]),
        (["the big cat", "the cat"], [(4, "big ", "")]),
        # Neighbouring words are one change, words on two lines are two.
        (["the big cat", "a big cat", "a small cat"], [(0, "the big", "a small")]),
        (["a_name b", "a_word b"], [(0, "a_name", "a_word")]),
        (["one\ntwo", "1\ntwo", "1\n2"], [(0, "one", "1"), (2, "two", "2")]),
        (["漢字です", "漢です"], [(1, "字", "")]),
        (["cafe\u0301 x", "cafe x"], [(0, "cafe\u0301", "cafe")]),
    ],
)
def test_changes_are_cut_where_people_read(found: list[str], expected: list[tuple[int, str, str]]) -> None:
    assert [(c.start, c.old, c.new) for c in changes_between(found)] == expected
