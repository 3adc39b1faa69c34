"""Editing by plain data: every request does what it says, is refused in words, and can be undone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.actions import Insert, SpanDelete, SpanInsert
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.session.action_editor import ActionEditor
from tests.toys import ToyTokenizer

TEXT = "The cat sat.\nIt was 漢字 👩‍💻.\n"


def test_requests_edit_the_text() -> None:
    editor = ActionEditor(TEXT)
    assert editor.cursor.chars == len(TEXT)
    (edit,) = editor.act_all([{"action": "move", "after": "cat"}, {"action": "insert", "text": "s and dogs"}])[-1:]
    assert edit.inserted == "s and dogs"
    editor.act_all(
        [
            {"action": "move", "line": 2},
            {"action": "move", "by": 2},
            {"action": "span_delete", "k": 2},
            {"action": "insert", "text": "She"},
            {"action": "move", "before": "👩"},
            {"action": "delete"},
            Insert(ord("!")),
        ]
    )
    assert editor.text == "The cats and dogs sat.\nShe was 漢字!👩‍💻.\n"
    assert (editor.cursor.lines, editor.cursor.column) == (1, 11)
    assert editor.diff("a.txt").startswith("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n")


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"action": "replace", "text": "?"}, "abcd?"),
        ({"action": "swap"}, "abced"),
        ({"action": "span_move", "k": 2, "j": 1}, "adebc"),
        ({"action": "span_copy", "k": 2, "j": 0}, "deabcde"),
        (SpanDelete(3), "ab"),
        ({"action": "stop"}, "abcde"),
        ({"action": "move", "to": 5}, "abcde"),
    ],
)
def test_every_action_can_be_asked_for(request_: Any, text: str) -> None:
    editor = ActionEditor("abcde")
    editor.act(request_)
    assert editor.text == text
    editor.undo()
    assert (editor.text, editor.cursor.chars, editor.undoable) == ("abcde", 5, 0)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"action": "jump"}, "is one of insert, move"),
        ({"move": 3}, "is one of"),
        ({"action": "move"}, "one of"),
        ({"action": "move", "by": 0}, "nowhere"),
        ({"action": "move", "by": 1}, "leave"),
        ({"action": "move", "by": 1.5}, "whole number"),
        ({"action": "move", "by": True}, "whole number"),
        ({"action": "move", "by": -1, "fast": 1}, "no fast"),
        ({"action": "move", "to": 99}, "no place 99"),
        ({"action": "move", "line": 9}, "no line 9"),
        ({"action": "move", "after": "dog"}, "not there"),
        ({"action": "move", "after": "a"}, "more than once"),
        ({"action": "insert"}, "a text"),
        ({"action": "insert", "text": ""}, "empty"),
        ({"action": "insert", "token": 0xD800}, "never inserted"),
        ({"action": "insert", "token": -1}, "not in the vocabulary"),
        ({"action": "replace", "text": "ab"}, "one of the characters"),
        ({"action": "span_delete", "k": 99}, "not 99"),
        ({"action": "span_move", "k": 1, "j": 1, "right": "yes"}, "true or false"),
        ("insert", "an object"),
        (None, "an object"),
        (True, "an object"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(request_: Any, said: str) -> None:
    editor = ActionEditor("The cat sat")
    with pytest.raises(ReviserError, match=said):
        editor.act(request_)
    with pytest.raises(InvalidAction, match=f"action 1: .*{said}"):
        editor.act_all([{"action": "insert", "text": "!!"}, request_])
    assert (editor.text, editor.undoable) == ("The cat sat", 0)


def test_after_stop_nothing_is_accepted_until_it_is_undone() -> None:
    editor = ActionEditor("a")
    editor.act({"action": "stop"})
    with pytest.raises(ReviserError, match="stopped"):
        editor.act({"action": "insert", "text": "b"})
    editor.undo()
    editor.act({"action": "insert", "text": "b"})
    assert editor.text == "ab"
    with pytest.raises(ReviserError, match="1 action can be undone"):
        editor.undo(2)


def test_tokens_are_the_unit_with_a_tokenizer(gpt2: Gpt2Tokenizer) -> None:
    editor = ActionEditor("Hello world", gpt2)
    editor.act_all([{"action": "move", "by": -1}, {"action": "insert", "text": ", dear"}, 50259])
    assert editor.text == "Hello, world"  # 50259 is Delete: it took " dear"
    with pytest.raises(ReviserError, match="inside a token"):
        editor.act({"action": "move", "after": "Hel"})
    with pytest.raises(ReviserError, match="cannot hold"):
        ActionEditor("\udcff", gpt2)


requests = st.one_of(
    st.builds(lambda n: {"action": "move", "by": n}, st.integers(-6, 6)),
    st.builds(lambda t: {"action": "insert", "text": t}, st.sampled_from(["x", "yz", "漢"])),
    st.just({"action": "delete"}),
    st.just({"action": "swap"}),
    st.builds(lambda k: {"action": "span_delete", "k": k}, st.integers(1, 4)),
    st.builds(lambda t: {"action": "replace", "text": t}, st.sampled_from("qé")),
    st.builds(
        lambda kind, k, j, right: {"action": kind, "k": k, "j": j, "right": right},
        st.sampled_from(["span_move", "span_copy"]),
        st.integers(1, 4),
        st.integers(0, 20),
        st.booleans(),
    ),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([*"abc", " the", "漢"]), max_size=12).map("".join),
    st.lists(requests, max_size=20),
    st.data(),
    st.booleans(),
)
def test_protected_text_stays_and_undo_goes_all_the_way_back(
    text: str, asked: list[dict[str, Any]], data: st.DataObject, by_tokens: bool
) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    ranges = [(places[0], places[1]), (places[2], places[3])]
    kept = [text[first:last] for first, last in ranges]
    cursor = data.draw(st.integers(0, len(text)))
    tokenizer = ToyTokenizer() if by_tokens else None
    editor = ActionEditor(text, tokenizer, cursor=cursor, protected=ranges)
    done = 0
    now = text
    for request in asked:
        try:
            edits = editor.act(request)
        except ReviserError:
            assert editor.text == now
            continue
        done += 1
        for edit in edits:
            now = edit.apply_to(now)
        assert editor.text == now
        # Both ranges are still there, one after the other.
        assert kept[1] in now[now.index(kept[0]) + len(kept[0]) :]
    editor.undo(done)
    assert (editor.text, editor.cursor.chars) == (text, cursor)


def test_protected_text_and_its_edges() -> None:
    editor = ActionEditor("abcdef", cursor=4, protected=[(2, 4)])
    for request in ({"action": "delete"}, {"action": "replace", "text": "x"}, {"action": "swap"}):
        with pytest.raises(ReviserError, match="protected"):
            editor.act(request)
    editor.act_all([{"action": "insert", "text": "|"}, {"action": "move", "to": 2}])
    editor.act_all([{"action": "insert", "text": "|"}, {"action": "move", "by": 1}])
    with pytest.raises(ReviserError, match="protected"):
        editor.act({"action": "insert", "text": "x"})
    assert editor.text == "ab|cd|ef"
    with pytest.raises(ReviserError, match="cannot be protected"):
        ActionEditor("abc", protected=[(0, 2), (1, 3)])
    with pytest.raises(ReviserError, match="no place 4"):
        ActionEditor("abc", cursor=4)


def test_a_text_may_be_kept_from_growing() -> None:
    editor = ActionEditor("abc", max_length=5)
    for request in ({"action": "insert", "text": "def"}, {"action": "span_copy", "k": 3, "j": 0}):
        with pytest.raises(ReviserError, match="full"):
            editor.act(request)
    editor.act({"action": "insert", "text": "de"})
    assert editor.text == "abcde"


pieces = st.lists(st.sampled_from([*"ab \r\n", " the", "é", "漢", "👩‍💻"]), max_size=12).map("".join)


@settings(max_examples=200)
@given(pieces, pieces.filter(bool), st.data(), st.booleans())
def test_a_long_insert_is_the_same_as_one_token_after_the_other(
    text: str, inserted: str, data: st.DataObject, by_tokens: bool
) -> None:
    cursor = data.draw(st.integers(0, len(text)))
    tokenizer = ToyTokenizer() if by_tokens else None
    whole, single = (ActionEditor(text, tokenizer, cursor=cursor) for _ in range(2))
    followed = text
    for edit in whole.act({"action": "insert", "text": inserted}):
        followed = edit.apply_to(followed)
    for token in single.tokenizer.encode(inserted):
        single.act({"action": "insert", "token": token})
    assert whole.text == single.text == followed
    assert whole.cursor == single.cursor
    whole.undo()
    assert (whole.text, whole.cursor.chars) == (text, cursor)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


LINE = "The quick brown fox jumps over the lazy dog.\n"


def test_a_long_insert_costs_far_less_than_its_characters_one_by_one() -> None:
    text = (LINE * 200)[:5000]
    at_once = min(seconds(lambda: ActionEditor(TEXT).act({"action": "insert", "text": text})) for _ in range(3))
    editor = ActionEditor(TEXT)
    one_by_one = seconds(lambda: editor.act_all([Insert(ord(c)) for c in text]))
    assert at_once * 10 < one_by_one


@pytest.mark.parametrize("unit", ["characters", "tokens"])
def test_the_cost_of_an_insert_grows_with_its_length(gpt2: Gpt2Tokenizer, unit: str) -> None:
    tokenizer = gpt2 if unit == "tokens" else None
    gpt2.encode(LINE)

    def write(lines: int) -> None:
        editor = ActionEditor(TEXT, tokenizer, cursor=4)
        editor.act({"action": "insert", "text": LINE * lines})
        assert editor.cursor.lines == lines
        editor.diff()
        editor.undo()
        assert editor.text == TEXT

    small = min(seconds(lambda: write(2000)) for _ in range(3))
    large = min(seconds(lambda: write(8000)) for _ in range(3))
    assert large < 8 * small


def test_an_action_that_inserts_many_tokens_is_checked_as_each_of_them() -> None:
    editor = ActionEditor("abc", cursor=2, protected=[(1, 3)])
    for action, said in (
        (SpanInsert((97, 98)), "protected"),
        (SpanInsert(()), "nothing to insert"),
        (SpanInsert((97, 0xD800)), "55296 is never inserted"),
        (SpanInsert((97, -1)), "-1 is not in the vocabulary"),
    ):
        with pytest.raises(InvalidAction, match=said):
            editor.act(action)
    assert editor.text == "abc"
