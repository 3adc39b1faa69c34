"""Finding goes round, replacing is one step of undo."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.errors import ReviserError
from tui.document.draft import Draft, Selection
from tui.document.searching import Search

words = st.lists(st.sampled_from(["cat", "Cat", "dog", " ", "\n", "漢"]), max_size=20).map("".join)


@given(words, st.booleans())
def test_walking_through_matches_meets_each_and_comes_round(text: str, case: bool) -> None:
    draft, search = Draft(text), Search("cat", case=case)
    expected = [m.span() for m in re.finditer("cat", text, 0 if case else re.IGNORECASE)]
    assert search.count(draft) == len(expected)
    if not expected:
        assert search.following(draft, 0) is None
        assert search.preceding(draft, 0) is None
        return
    at, seen = 0, []
    for _ in expected:
        found = search.following(draft, at)
        assert found is not None
        seen.append((found.start, found.end))
        at = found.end
    assert seen == expected
    assert search.following(draft, at) == Selection(*expected[0])
    assert search.preceding(draft, expected[0][0]) == Selection(*expected[-1])


@given(words)
def test_replacing_all_is_what_a_string_does_and_one_undo(text: str) -> None:
    draft = Draft(text)
    count = Search("cat", case=True).replace_all(draft, r"\1 bird")
    assert draft.text == text.replace("cat", r"\1 bird")
    assert count == text.count("cat")
    if count:
        draft.undo()
    assert draft.text == text


def test_patterns_use_groups_and_complain_plainly() -> None:
    draft = Draft("one two")
    assert Search(r"(\w+) (\w+)", pattern=True).replace_all(draft, r"\2 \1") == 1
    assert draft.text == "two one"
    with pytest.raises(ReviserError, match="not a pattern"):
        Search("(", pattern=True).count(draft)
    with pytest.raises(ReviserError, match="cannot replace"):
        Search("two", pattern=True).replace_all(draft, r"\9")
    assert Search("x*", pattern=True).following(draft, 0) is None
    assert Search("").replace_all(draft, "x") == 0


def test_replacing_one_needs_a_selected_match() -> None:
    draft, search = Draft("a cat"), Search("cat")
    assert not search.replace_selected(draft, "dog")
    draft.select(Selection(2, 5))
    assert search.replace_selected(draft, "dog")
    assert draft.text == "a dog"
