"""Ids and actions correspond one to one, in the released models' layout and on any other base."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviser.core.actions import Action, Delete, Insert, Move, Replace, SpanMove, Stop
from reviser.core.errors import ReviserError, UnknownId
from reviser.core.vocabulary import EXTENSIONS, MOVES, PAPER_KINDS, Vocabulary
from tests.reviser.core.strategies import TINY


def test_the_layout_of_the_released_models() -> None:
    gpt2 = Vocabulary.gpt2()
    assert gpt2.size == 50291
    assert gpt2.action(0) == Insert(0)
    assert gpt2.action(50255) == Insert(50255)
    assert (gpt2.cursor_id, gpt2.start_id) == (50257, 50258)
    assert gpt2.action(50259) == Delete()
    assert gpt2.action(50260) == Stop()
    deltas = [+1, -1, +2, -2, +4, -4, +8, -8, +16, -16, +32, -32, +64, -64]
    deltas += [+128, -128, +256, -256, +512, -512]
    assert [gpt2.action(id) for id in range(50261, 50281)] == [Move(delta) for delta in deltas]
    for id in (50256, 50257, 50258, *range(50281, 50291), 50291, -1):
        with pytest.raises(UnknownId):
            gpt2.action(id)


def test_the_same_operators_follow_any_other_base() -> None:
    gpt2, other = Vocabulary.gpt2(), Vocabulary(base_size=49152)
    assert other.size == 49152 + 34
    for offset in range(2, 24):
        assert other.action(49152 + offset) == gpt2.action(50257 + offset)


@given(st.integers(0, TINY.size - 1), st.integers(0, 2000))
def test_id_and_action_are_inverse_for_every_id(id: int, cursor: int) -> None:
    markers = {5, TINY.cursor_id, TINY.start_id, (TINY.first_replace_id or 0) + 5}
    reserved = range(TINY.first_reserved_id, TINY.first_extension_id)
    if id in markers or id in reserved:
        return
    action = TINY.action(id, cursor)
    assert TINY.id(action, cursor) == id


def test_every_kind_of_action_has_ids() -> None:
    kinds = set()
    for id in range(TINY.size):
        try:
            kinds.add(TINY.action(id, 5).kind)
        except UnknownId:
            continue
    assert kinds == TINY.kinds


@pytest.mark.parametrize("action", [Move(3), Insert(5), Insert(77), Replace(0), SpanMove(3, 1)])
def test_an_action_without_an_id_is_refused(action: Action) -> None:
    with pytest.raises(UnknownId):
        Vocabulary(base_size=6, never_inserted=frozenset({5})).id(action, 4)


@given(st.integers(-3000, 3000))
def test_moves_add_up_and_are_as_few_as_the_binary_digits(delta: int) -> None:
    moves = [move.delta for move in TINY.moves(delta)]
    assert sum(moves) == delta
    assert set(moves) <= set(MOVES)
    big, rest = divmod(abs(delta), 512)
    assert len(moves) == big + rest.bit_count()


def test_extensions_keep_their_order_and_follow_the_paper_layout() -> None:
    shuffled = Vocabulary.gpt2(extensions=EXTENSIONS[::-1])
    assert shuffled == Vocabulary.gpt2(extensions=EXTENSIONS)
    assert [shuffled.action(id) for id in range(50259, 50281)] == [
        Vocabulary.gpt2().action(id) for id in range(50259, 50281)
    ]


def test_vocabulary_survives_its_dictionary() -> None:
    vocabulary = Vocabulary.gpt2(extensions=("swap",), kinds=PAPER_KINDS)
    assert Vocabulary.from_dict(vocabulary.to_dict()) == vocabulary


@pytest.mark.parametrize("wrong", [{"extensions": ("fly",)}, {"kinds": frozenset({"fly"})}])
def test_unknown_operators_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ReviserError, match="fly"):
        Vocabulary(base_size=6, **wrong)  # type: ignore[arg-type]
