"""Restorations restore: the paper's tables, any text by any policy, and what the loss counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviser.core.actions import Action, Delete, Insert, Move, Replace, SpanCopy, SpanDelete, SpanMove, Stop, Swap
from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.core.vocabulary import Vocabulary
from tests.training.histories import (
    BASE,
    PAPER_VOCABULARY,
    RICH_VOCABULARY,
    seeds_of,
    some_classes,
    texts_and_tasks,
    written,
)
from tests.training.samples.reference import make_sample, paper
from training.data.boundaries import boundary_classes, strength
from training.data.randomness import KeyedRandom
from training.samples.obfuscation import (
    LOCAL,
    OPERATORS,
    REACH_BACK,
    RICH,
    STRUCTURED,
    Task,
    restoration,
    rich,
    single_moves,
    survivors,
    undoable,
    workspace,
)

Item = TypeVar("Item")
CLASSES = some_classes()


class Draws(KeyedRandom):
    """Gives the draws of a script, in its order."""

    def __init__(self, *draws: int | bool) -> None:
        self._draws = iter(draws)

    def below(self, limit: int) -> int:
        drawn = next(self._draws)
        assert 0 <= drawn < limit
        return drawn

    def chance(self, probability: float) -> bool:
        return bool(next(self._draws))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


def test_table_of_the_main_text() -> None:
    hi, comma, how, are, you, mark = range(6)
    canvas = workspace(PAPER_VOCABULARY, [hi, comma, how, are, you, mark], 0, 0)
    # Cursor at 2; two deletions; at the first boundary the move is forced, the third of +1 +2 +4.
    draws = Draws(2, True, True, 2, True, True, True, True)
    inserts = map(Insert, (how, are, you, mark))
    assert restoration(canvas, paper(canvas, draws, 0.8)) == [*inserts, Move(-4), Insert(hi), Insert(comma), Stop()]


def test_table_of_the_appendix() -> None:
    mary, had, a, little, lamb, hello = range(6)
    text = [mary, had, a, little, lamb]
    # `hello` is the text's own token in the protected prefix, which is where noise is drawn from.
    canvas = workspace(RICH_VOCABULARY, [hello, *text], 1, 0)
    no_edit, delete, move = False, True, False
    draws = Draws(
        *(3, no_edit, delete),
        *(no_edit, move, 1),
        *(no_edit, delete),
        *(True, OPERATORS.index("insert"), 0),
        # One edit is all that a text of five may have, so edits are no longer drawn for.
        *(move, 2),
        *(delete, delete, delete),
        *(0, delete),
    )
    actions = restoration(canvas, rich(canvas, draws, RICH_VOCABULARY, 0.8))
    assert actions == [
        Insert(lamb),
        Move(-1),
        Insert(hello),
        Insert(had),
        Insert(little),
        Move(-2),
        Delete(),
        Insert(mary),
        Move(1),
        Insert(a),
        Stop(),
    ]
    counted = survivors(actions, workspace(RICH_VOCABULARY, [hello], 1, 0))
    assert [action for action, counts in zip(actions, counted, strict=True) if not counts] == [Insert(hello)]


@settings(deadline=None)
@given(texts_and_tasks(), st.integers(0, 2**64 - 1))
def test_any_text_is_restored(drawn: tuple[list[int], Task], name: int) -> None:
    text, task = drawn
    sample = make_sample(PAPER_VOCABULARY, text, task, name, CLASSES, 4 * len(text) + 32)
    assert written(PAPER_VOCABULARY, sample.ids, task) == text
    seeds = seeds_of(PAPER_VOCABULARY, task)
    assert sample.counted == [False] * seeds + [True] * (len(sample.ids) - seeds)


@settings(deadline=None)
@given(texts_and_tasks(kinds=(RICH,)), st.integers(0, 2**64 - 1))
def test_any_text_is_restored_with_every_operator(drawn: tuple[list[int], Task], name: int) -> None:
    text, task = drawn
    sample = make_sample(RICH_VOCABULARY, text, task, name, CLASSES, 8 * len(text) + 64)
    assert written(RICH_VOCABULARY, sample.ids, task) == text
    seeds = seeds_of(RICH_VOCABULARY, task)
    assert not any(sample.counted[:seeds])
    # Each token that stays is written by exactly one counted action, as spans are only carried.
    writes = [
        isinstance(RICH_VOCABULARY.action(id), Insert | Replace) and counts
        for id, counts in zip(sample.ids[seeds:], sample.counted[seeds:], strict=True)
    ]
    assert sum(writes) == len(text) - task.prefix - task.suffix


def test_rich_restorations_use_all_operators_that_mend() -> None:
    random = np.random.default_rng(0)
    kinds: set[str] = set()
    for name in range(60):
        text = random.integers(0, BASE, size=80).tolist()
        sample = make_sample(RICH_VOCABULARY, text, Task(RICH), name, CLASSES, 1000)
        kinds |= {RICH_VOCABULARY.action(id).kind for id in sample.ids[1:]}
    assert kinds == {"insert", "move", "stop", "delete", "replace", "swap", "span_delete", "span_move"}


@pytest.mark.parametrize(
    ("edit", "extension"),
    [(Replace(3), "replace"), (Swap(), "swap"), (SpanCopy(2, 4), "span_delete"), (SpanMove(2, 9), "span_move")],
)
def test_an_edit_is_made_only_if_its_way_back_has_ids(edit: Action, extension: str) -> None:
    canvas = workspace(RICH_VOCABULARY, range(12), 0, 0)
    canvas.protect(0, 0, cursor=5)
    assert undoable(edit, canvas, Vocabulary(BASE, extensions=(extension,)))
    assert not undoable(edit, canvas, Vocabulary(BASE))
    assert not undoable(Insert(3), canvas, PAPER_VOCABULARY)
    assert not undoable(SpanMove(3, 9), canvas, RICH_VOCABULARY)


def test_long_ways_are_made_of_moves_that_have_ids() -> None:
    actions: list[Action] = [Move(-11), SpanDelete(2)]
    taken_apart = [Move(-8), Move(-2), Move(-1), SpanDelete(2)]
    assert single_moves(RICH_VOCABULARY, actions) == taken_apart


def test_too_long_obfuscations_are_discarded() -> None:
    canvas = workspace(PAPER_VOCABULARY, range(5), 0, 0)

    def six_steps() -> Iterator[Action]:
        yield Move(-1)
        yield Move(1)
        for _ in range(4):
            yield Delete()

    assert restoration(canvas, six_steps(), k_max=5) is None
    text = list(range(BASE))
    sample = make_sample(PAPER_VOCABULARY, text, Task(p_delete=0.8), 5, CLASSES, 400, k_max=50)
    assert BASE < len(sample.ids) - 2 <= 50
    # Where no obfuscation can be short enough, the text is written from left to right.
    plain = make_sample(PAPER_VOCABULARY, text, Task(p_delete=0.8), 5, CLASSES, 400, k_max=10)
    assert plain.ids[1:-1] == text


PROSE = (
    "When the rain stopped, we walked down to the harbour; the boats were still out. "
    "Nobody had seen the light, or so they said. The keeper, an old man of few words, "
    "looked at us for a while. “It is 3.5 miles,” he said, “and the path is wet.” We went anyway.\n"
)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([STRUCTURED, LOCAL]), st.integers(0, 2**32))
def test_revisions_write_whole_pieces(kind: int, name: int) -> None:
    tokenizer = Gpt2Tokenizer()
    classes = _gpt2_classes(tokenizer)
    vocabulary = Vocabulary.gpt2()
    text = tokenizer.encode(PROSE)
    sample = make_sample(vocabulary, text, Task(kind, revisions=20.0), name, classes, 600)
    canvas = workspace(vocabulary, (), 0, 0)
    writing = False
    for id in sample.ids[1:]:
        action = canvas.action(id)
        if isinstance(action, Insert) != writing:
            _assert_between_words(canvas.tokens, canvas.cursor, action, classes)
            writing = not writing
        canvas.apply(action)
    assert canvas.tokens == text


@given(st.integers(0, 2**32))
def test_local_revisions_stay_near_the_end(name: int) -> None:
    tokenizer = Gpt2Tokenizer()
    vocabulary = Vocabulary.gpt2()
    text = tokenizer.encode(PROSE)
    task = Task(LOCAL, prefix=5, revisions=10.0)
    sample = make_sample(vocabulary, text, task, name, _gpt2_classes(tokenizer), 600)
    canvas = workspace(vocabulary, text[:5], 5, 0)
    back, went_back = 0, []
    # Where the writing at the end began anew; no step back goes beyond it.
    fresh_from, moved = 5, False
    for id in sample.ids[6:]:
        action = canvas.action(id)
        if isinstance(action, Insert) and moved:
            if canvas.cursor == canvas.length:
                fresh_from = canvas.cursor
            assert canvas.cursor >= fresh_from
        moved = isinstance(action, Move)
        canvas.apply(action)
        back = canvas.length - canvas.cursor
        went_back.append(back)
    assert canvas.tokens == text
    assert back == 0
    assert max(went_back) <= REACH_BACK


def _assert_between_words(tokens: list[int], cursor: int, action: Action, classes: np.ndarray) -> None:
    """A run of inserts begins where a word begins, and ends where one ends."""
    after = [action.token] if isinstance(action, Insert) else tokens[cursor : cursor + 1]
    if cursor and after:
        assert strength(int(classes[tokens[cursor - 1]]), int(classes[after[0]])) > 0


_cached: list[np.ndarray] = []


def _gpt2_classes(tokenizer: Gpt2Tokenizer) -> np.ndarray:
    if not _cached:
        _cached.append(boundary_classes(tokenizer))
    return _cached[0]
