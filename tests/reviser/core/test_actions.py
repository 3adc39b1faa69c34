"""Each operator does what the paper's appendix says, when it says, and can be taken back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.actions import (
    Action,
    Delete,
    Insert,
    Move,
    Replace,
    SpanCopy,
    SpanDelete,
    SpanMove,
    Splice,
    Stop,
    Swap,
    describe,
)
from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction
from tests.reviser.core.strategies import TINY, actions, canvases

A, B, C, D, E = range(5)


def after(action: Action, tokens: list[int], cursor: int) -> tuple[list[int], int]:
    canvas = Canvas(TINY, tokens, cursor=cursor)
    canvas.apply(action)
    return canvas.tokens, canvas.cursor


@pytest.mark.parametrize(
    ("action", "tokens", "cursor", "expected"),
    [
        (Insert(E), [A, B], 1, ([A, E, B], 2)),
        (Move(-2), [A, B, C], 3, ([A, B, C], 1)),
        (Stop(), [A, B], 1, ([A, B], 1)),
        (Delete(), [A, B, C], 2, ([A, C], 1)),
        (Replace(E), [A, B, C], 2, ([A, E, C], 2)),
        (SpanDelete(2), [A, B, C, D], 3, ([A, D], 1)),
        (Swap(), [A, B, C], 2, ([B, A, C], 2)),
        # Leftwards the cursor stays; rightwards it goes along with the span.
        (SpanMove(2, 1), [A, B, C, D, E], 4, ([A, C, D, B, E], 4)),
        (SpanMove(1, 5), [A, B, C, D, E], 2, ([A, C, D, E, B], 5)),
        (SpanMove(2, 4), [A, B, C, D, E], 3, ([A, D, B, C, E], 4)),
        # The mirror images of the three above.
        (SpanMove(2, 4, right=True), [A, B, C, D, E], 1, ([A, D, B, C, E], 1)),
        (SpanMove(1, 0, right=True), [A, B, C, D, E], 3, ([D, A, B, C, E], 0)),
        (SpanMove(2, 1, right=True), [A, B, C, D, E], 2, ([A, C, D, B, E], 1)),
        (SpanCopy(2, 0), [A, B, C], 3, ([B, C, A, B, C], 2)),
        (SpanCopy(1, 3), [A, B, C], 1, ([A, B, C, A], 4)),
        (SpanCopy(2, 3, right=True), [A, B, C], 0, ([A, B, C, A, B], 3)),
        (SpanCopy(1, 0, right=True), [A, B, C], 2, ([C, A, B, C], 0)),
    ],
)
def test_operator(action: Action, tokens: list[int], cursor: int, expected: object) -> None:
    assert after(action, tokens, cursor) == expected


@pytest.mark.parametrize(
    ("action", "cursor"),
    [
        (Insert(5), 1),  # never inserted
        (Insert(6), 1),  # outside the vocabulary
        (Move(0), 1),
        (Move(-2), 1),
        (Move(3), 1),
        (Delete(), 0),
        (Replace(A), 0),
        (Swap(), 1),
        (SpanDelete(0), 2),
        (SpanDelete(3), 2),
        (SpanMove(1, 0), 2),  # the paper lets a left-hand span go to boundary 1 at the least
        (SpanMove(2, 1), 2),  # inside the span itself
        (SpanMove(3, 3), 2),
        (SpanMove(1, 3, right=True), 1),  # mirrored: to length - 1 at the most
        (SpanMove(1, -1, right=True), 1),
        (SpanCopy(3, 0), 2),
        (SpanCopy(1, 4), 2),
        (SpanCopy(2, 0, right=True), 2),
    ],
)
def test_invalid_action_raises_and_changes_nothing(action: Action, cursor: int) -> None:
    canvas = Canvas(TINY, [A, B, C], cursor=cursor)
    with pytest.raises(InvalidAction):
        canvas.apply(action)
    assert (canvas.tokens, canvas.cursor, canvas.undoable) == ([A, B, C], cursor, 0)


@given(canvases(), actions)
def test_right_hand_spans_mirror_left_hand_ones(canvas: Canvas, action: Action) -> None:
    if not isinstance(action, SpanMove | SpanCopy):
        return
    size = canvas.length
    mirror = Canvas(
        TINY,
        canvas.tokens[::-1],
        cursor=size - canvas.cursor,
        prefix=canvas.suffix,
        suffix=canvas.prefix,
        max_length=canvas.max_length,
    )
    mirrored = type(action)(action.k, size - action.j, not action.right)
    assert (canvas.objection(action) is None) == (mirror.objection(mirrored) is None)
    if canvas.objection(action) is None:
        canvas.apply(action)
        mirror.apply(mirrored)
        assert mirror.tokens == canvas.tokens[::-1]
        assert mirror.cursor == canvas.length - canvas.cursor


@given(canvases(), actions)
def test_inverse_restores_tokens_and_cursor(canvas: Canvas, action: Action) -> None:
    if canvas.objection(action) is not None:
        return
    before = (canvas.tokens, canvas.cursor)
    inverse = action.inverse(canvas)
    canvas.apply(action)
    for step in inverse:
        canvas.apply(step)
    assert (canvas.tokens, canvas.cursor) == before


def test_stop_has_nothing_to_take_back() -> None:
    assert Stop().inverse(Canvas(TINY)) == ()


def test_splices_of_a_span_move() -> None:
    canvas = Canvas(TINY, [A, B, C, D], cursor=3)
    assert canvas.apply(SpanMove(2, 4)) == (Splice(1, (B, C), ()), Splice(2, (), (B, C)))
    assert canvas.apply(SpanMove(2, 4)) == ()  # it is there already


@given(st.lists(st.integers(), max_size=3), st.lists(st.integers(), max_size=3))
def test_a_splice_inverted_twice_is_itself(removed: list[int], inserted: list[int]) -> None:
    splice = Splice(3, tuple(removed), tuple(inserted))
    assert splice.inverse().inverse() == splice


@pytest.mark.parametrize(
    ("action", "token_text", "label"),
    [
        (Insert(7), " the", 'Insert " the"'),
        (Insert(7), '\n"', 'Insert "\\n\\""'),
        (Insert(7), None, "Insert token 7"),
        (Replace(7), "x", 'Replace "x"'),
        (Move(4), None, "Move +4"),
        (Move(-4), None, "Move -4"),
        (SpanDelete(3), None, "SpanDelete 3"),
        (SpanMove(3, 17, right=True), None, "SpanMove 3 right to 17"),
        (Stop(), None, "Stop"),
    ],
)
def test_labels(action: Action, token_text: str | None, label: str) -> None:
    assert describe(action, token_text) == label
