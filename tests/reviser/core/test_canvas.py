"""The canvas keeps its invariants under any actions, undoes them exactly, and knows what is valid."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.actions import Action, Delete, Insert, Move, Splice, Stop
from reviser.core.canvas import Canvas
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from tests.reviser.core.strategies import TINY, actions, actions_and_stop, canvases


def splice_list(tokens: list[int], splices: tuple[Splice, ...]) -> list[int]:
    """What splices do, on a plain list."""
    for splice in splices:
        end = splice.start + len(splice.removed)
        assert tuple(tokens[splice.start : end]) == splice.removed
        tokens = tokens[: splice.start] + list(splice.inserted) + tokens[end:]
    return tokens


@given(canvases(), st.lists(actions_and_stop, max_size=40))
def test_any_actions_keep_the_invariants(canvas: Canvas, script: list[Action]) -> None:
    start = canvas.tokens
    prefix, suffix = start[: canvas.prefix], start[len(start) - canvas.suffix :]
    tokens = start
    for action in script:
        before = (canvas.tokens, canvas.cursor, canvas.undoable)
        valid = canvas.objection(action) is None
        try:
            tokens = splice_list(tokens, canvas.apply(action))
            assert valid
        except InvalidAction:
            assert not valid
            assert (canvas.tokens, canvas.cursor, canvas.undoable) == before
        assert canvas.tokens == tokens
        assert canvas.length == len(tokens)
        assert canvas.low <= canvas.cursor <= canvas.high
        assert tokens[: len(prefix)] == prefix
        assert tokens[len(tokens) - len(suffix) :] == suffix
        if canvas.max_length is not None:
            assert len(tokens) <= canvas.max_length
        at, to = sorted((canvas.cursor, len(tokens) // 2))
        assert canvas.between(at, to) == tuple(tokens[at:to])


@given(canvases(), st.lists(actions_and_stop, max_size=30))
def test_undo_is_the_identity_and_redo_goes_forth_again(canvas: Canvas, script: list[Action]) -> None:
    states = [(canvas.tokens, canvas.cursor, canvas.stopped)]
    for action in script:
        if canvas.objection(action) is None:
            canvas.apply(action)
            states.append((canvas.tokens, canvas.cursor, canvas.stopped))
    tokens = canvas.tokens
    for state in states[-2::-1]:
        tokens = splice_list(tokens, canvas.undo())
        assert (canvas.tokens, canvas.cursor, canvas.stopped) == state
        assert tokens == canvas.tokens
    with pytest.raises(InvalidAction):
        canvas.undo()
    for state in states[1:]:
        tokens = splice_list(tokens, canvas.redo())
        assert (canvas.tokens, canvas.cursor, canvas.stopped) == state
    with pytest.raises(InvalidAction):
        canvas.redo()


@given(canvases(), actions)
def test_a_new_action_forgets_what_was_undone(canvas: Canvas, action: Action) -> None:
    if canvas.objection(action) is None:
        canvas.apply(action)
        canvas.undo()
        canvas.apply(action)
        assert (canvas.undoable, canvas.redoable) == (1, 0)


@settings(max_examples=60)
@given(canvases())
def test_an_id_is_in_the_mask_if_and_only_if_apply_succeeds(canvas: Canvas) -> None:
    valid = canvas.valid_actions()
    mask = valid.mask()
    assert len(mask) == TINY.size
    assert sorted(valid) == [id for id in range(TINY.size) if mask[id]]
    assert len(valid) == mask.sum()
    for id in range(TINY.size):
        try:
            canvas.apply(canvas.action(id))
        except ReviserError:
            assert id not in valid
        else:
            canvas.undo()
            assert id in valid


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.booleans())
def test_what_is_valid_is_found_by_distance_where_no_action_jumps(
    prefix: int, left: int, right: int, suffix: int, full: bool
) -> None:
    vocabulary = Vocabulary(base_size=6, extensions=("swap", "span_delete", "replace"))
    tokens = [1] * (prefix + left + right + suffix)
    canvas = Canvas(
        vocabulary, tokens, prefix=prefix, suffix=suffix, cursor=prefix + left, max_length=len(tokens) if full else None
    )
    valid = {id for id in range(vocabulary.size) if _applies(canvas, id)}
    assert set(canvas.valid_actions()) == valid


def _applies(canvas: Canvas, id: int) -> bool:
    try:
        return canvas.objection(canvas.action(id)) is None
    except ReviserError:
        return False


def test_kinds_out_of_use_are_neither_valid_nor_applicable() -> None:
    vocabulary = Vocabulary(base_size=6, kinds=PAPER_KINDS)
    canvas = Canvas(vocabulary, [1, 2, 3])
    assert vocabulary.delete_id not in canvas.valid_actions()
    with pytest.raises(InvalidAction, match="not in use"):
        canvas.apply(Delete())


def test_nothing_is_valid_after_stop() -> None:
    canvas = Canvas(TINY, [1])
    canvas.apply(Stop())
    assert len(canvas.valid_actions()) == 0
    with pytest.raises(InvalidAction, match="stopped"):
        canvas.apply(Insert(1))
    canvas.undo()
    canvas.apply(Insert(1))
    assert canvas.tokens == [1, 1]


@pytest.mark.parametrize(("prefix", "suffix"), [(4, 0), (0, 4), (2, 2), (-1, 0), (0, -1)])
def test_regions_must_fit_the_canvas(prefix: int, suffix: int) -> None:
    with pytest.raises(ReviserError, match="cannot protect"):
        Canvas(TINY, [1, 2, 3], prefix=prefix, suffix=suffix)


def test_tokens_must_fit_the_maximum_length() -> None:
    with pytest.raises(ReviserError, match="do not fit"):
        Canvas(TINY, [1, 2, 3], max_length=2)


def test_the_cursor_must_start_in_the_editable_text() -> None:
    with pytest.raises(ReviserError, match="outside the editable text"):
        Canvas(TINY, [1, 2, 3], prefix=2, cursor=1)


def test_edits_near_the_cursor_cost_the_same_on_a_thousand_and_a_million_tokens() -> None:
    vocabulary = Vocabulary(base_size=6)
    small, large = (Canvas(vocabulary, [1] * size, cursor=size // 2) for size in (10**3, 10**6))

    def seconds(canvas: Canvas) -> float:
        chooser = random.Random(0)
        started = time.perf_counter()
        for _ in range(2000):
            action = chooser.choice((Insert(2), Delete(), Move(8), Move(-8)))
            if canvas.objection(action) is None:
                canvas.apply(action)
            canvas.valid_actions()
        return time.perf_counter() - started

    # The best of several, so that a busy machine does not decide; a copy would cost a thousandfold.
    ratio = min(seconds(large) for _ in range(3)) / min(seconds(small) for _ in range(3))
    assert ratio < 5
