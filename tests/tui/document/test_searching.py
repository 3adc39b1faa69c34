"""Finding goes round, replacing is one step of undo."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.errors import ReviserError
from reviser.editor.edited_text import EditedText, Selection
from tui.document.searching import COUNT_LIMIT, LONGEST, Count, SearchFailed, TextSearch

words = st.lists(st.sampled_from(["cat", "Cat", "dog", " ", "\n", "漢"]), max_size=20).map("".join)


@given(words, st.booleans())
def test_walking_through_matches_meets_each_and_comes_round(text: str, case: bool) -> None:
    draft, search = EditedText(text), TextSearch("cat", case=case)
    expected = [m.span() for m in re.finditer("cat", text, 0 if case else re.IGNORECASE)]
    assert search.count(draft.text) == Count(len(expected), complete=True)
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
    draft = EditedText(text)
    count = TextSearch("cat", case=True).replace_all(draft, r"\1 bird")
    assert draft.text == text.replace("cat", r"\1 bird")
    assert count == text.count("cat")
    if count:
        draft.undo()
    assert draft.text == text


def test_patterns_use_groups_and_complain_plainly() -> None:
    draft = EditedText("one two")
    assert TextSearch(r"(\w+) (\w+)", pattern=True).replace_all(draft, r"\2 \1") == 1
    assert draft.text == "two one"
    with pytest.raises(ReviserError, match="not a pattern"):
        TextSearch("(", pattern=True).following(draft, 0)
    with pytest.raises(ReviserError, match="cannot replace"):
        TextSearch("two", pattern=True).replace_all(draft, r"\9")
    assert TextSearch("x*", pattern=True).following(draft, 0) is None
    assert TextSearch("").replace_all(draft, "x") == 0


def test_replacing_one_needs_a_selected_match() -> None:
    draft, search = EditedText("a cat"), TextSearch("cat")
    assert not search.replace_selected(draft, "dog")
    draft.select(Selection(2, 5))
    assert search.replace_selected(draft, "dog")
    assert draft.text == "a dog"


@pytest.mark.parametrize("pattern", ["(", "*", "(?r)two", "(" * 2000, r"(?P<a>x)(?P<a", "x" * (LONGEST + 1)])
def test_what_is_no_pattern_is_refused_everywhere(pattern: str) -> None:
    draft, search = EditedText("one two two"), TextSearch(pattern, pattern=True)
    draft.select(Selection(0, 3))
    for look in (
        lambda: search.following(draft, 0),
        lambda: search.preceding(draft, 0),
        lambda: search.matches_in(draft.text),
        lambda: search.replace_selected(draft, "x"),
        lambda: search.replace_all(draft, "x"),
    ):
        with pytest.raises(SearchFailed):
            look()
    assert draft.text == "one two two"


def test_a_pattern_that_would_take_for_ever_is_given_up() -> None:
    draft, search = EditedText(f"aab {'a' * 60}!"), TextSearch(r"(a|aa)+b|(a|aa)+$", pattern=True)
    assert search.following(draft, 0) == Selection(0, 3)
    draft.select(Selection(4, 6))
    for look in (
        lambda: search.following(draft, 3, 0.1),
        lambda: search.preceding(draft, 0, 0.1),
        lambda: search.matches_in(draft.text, 0.1),
        lambda: search.replace_selected(draft, "x"),
    ):
        with pytest.raises(SearchFailed, match="takes too long"):
            look()
    assert search.count(draft.text) == Count(1, complete=False)


def test_counting_ends_at_a_limit_and_when_nobody_wants_it() -> None:
    text = "x" * (COUNT_LIMIT + 5)
    assert TextSearch("x").count(text) == Count(COUNT_LIMIT, complete=False)
    assert TextSearch("x").count(text[: COUNT_LIMIT - 1]) == Count(COUNT_LIMIT - 1, complete=True)
    assert TextSearch("x").count(text, lambda: True) == Count(1, complete=False)
