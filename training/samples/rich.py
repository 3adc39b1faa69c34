"""Obfuscation with the operators of the paper's appendix: it adds noise that the restoration removes.

A temporary insertion is undone by Delete, a replacement by Replace, a swap by Swap, a moved span by
SpanMove and a copied one by SpanDelete, so restorations use every operator that has ids in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviser.core.actions import Action, Delete, Insert, Move, Replace, SpanCopy, SpanDelete, SpanMove, Swap
from reviser.core.canvas import Canvas
from reviser.core.errors import UnknownId
from reviser.core.vocabulary import MOVES, Vocabulary
from training.data.randomness import KeyedRandom

OPERATORS = ("insert", "replace", "swap", "span_delete", "span_move", "span_copy")
_EDITS_PER_TOKEN = 1 / 8
_P_EDIT = 0.1


def rich(canvas: Canvas, random: KeyedRandom, vocabulary: Vocabulary, p_delete: float) -> Iterator[Action]:
    """The paper's policy with occasional edits of other kinds, up to a limit.

    An edit is made only if each action that undoes it has an id in `vocabulary`.
    """
    size = canvas.high - canvas.low
    canvas.protect(canvas.prefix, canvas.suffix, canvas.low + random.below(size + 1))
    noise = canvas.tokens
    edits = 1 + int(size * _EDITS_PER_TOKEN)
    while canvas.high > canvas.low:
        if edits and random.chance(_P_EDIT):
            edits -= 1
            edit = _proposal(canvas, random, noise)
            if canvas.objection(edit) is None and undoable(edit, canvas, vocabulary):
                yield edit
        elif canvas.cursor > canvas.low and random.chance(p_delete):
            yield Delete()
        else:
            yield random.pick([m for m in map(Move, MOVES) if m.objection(canvas) is None])


def _proposal(canvas: Canvas, random: KeyedRandom, noise: list[int]) -> Action:
    """Draws an edit, valid or not. Noise tokens are drawn from the text itself, as these mislead most."""
    match random.pick(OPERATORS):
        case "insert":
            return Insert(random.pick(noise))
        case "replace":
            return Replace(random.pick(noise))
        case "swap":
            return Swap()
        case "span_delete":
            return SpanDelete(2 ** random.below(5))
        case "span_move":
            return _span_move(canvas.cursor, random)
        case _:
            jump = random.pick((0, *MOVES[:14]))
            return SpanCopy(2 ** random.below(4), canvas.cursor + jump, bool(random.below(2)))


def _span_move(cursor: int, random: KeyedRandom) -> SpanMove:
    """Draws a move of a span over a power of two of tokens, the distance that its inverse has."""
    k, distance = 2 ** random.below(5), 2 ** random.below(7)
    right, over_cursor = bool(random.below(2)), bool(random.below(2))
    away = distance if over_cursor else -k - distance
    return SpanMove(k, cursor - away if right else cursor + away, right)


def undoable(action: Action, canvas: Canvas, vocabulary: Vocabulary) -> bool:
    """Whether every action that undoes this one is in use and has an id, after moves are split."""
    cursor = action.plan(canvas).cursor
    for step in action.inverse(canvas):
        if vocabulary.objection(step):
            return False
        if isinstance(step, Move):
            cursor += step.delta
            continue
        try:
            vocabulary.id(step, cursor)
        except UnknownId:
            return False
    return True
