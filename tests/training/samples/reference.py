"""How a text is taken apart, on the canvas: what `training.samples.generator` does compiled, draw for draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from reviser.core.actions import Action, Delete, Move
from reviser.core.canvas import Canvas
from reviser.core.vocabulary import MOVES, Vocabulary
from training.data.boundaries import CLAUSE, SENTENCE, WORD, Classes, strength
from training.data.randomness import KeyedRandom
from training.samples import obfuscation
from training.samples.obfuscation import (
    ELABORATED,
    ELABORATING_REACH,
    LOCAL,
    PAPER,
    PIECES,
    PLAIN,
    REACH_BACK,
    RICH,
    STRUCTURED,
    Pieces,
    Sample,
    Task,
    place,
    plain,
    rich,
    tokens_between,
)


def make_sample(
    vocabulary: Vocabulary,
    text: Sequence[int],
    task: Task,
    name: int,
    classes: Classes,
    max_history: int,
    k_max: int | None = None,
) -> Sample:
    """The sample called `name`, by the policy that its task names."""
    revisions, pieces = task.revisions, task.pieces
    policies: dict[int, Callable[[Canvas, KeyedRandom], Iterator[Action]]] = {
        PLAIN: lambda canvas, random: plain(canvas),
        PAPER: partial(paper, p_delete=task.p_delete),
        STRUCTURED: partial(structured, classes=classes, revisions=revisions, pieces=pieces),
        LOCAL: partial(local, classes=classes, revisions=revisions, pieces=pieces),
        ELABORATED: partial(elaborated, classes=classes, revisions=revisions, optional=task.optional),
        RICH: partial(rich, vocabulary=vocabulary, p_delete=task.p_delete),
    }
    return obfuscation.make_sample(vocabulary, text, task, policies[task.kind], name, max_history, k_max)


def paper(canvas: Canvas, random: KeyedRandom, p_delete: float) -> Iterator[Action]:
    """The paper's policy: Delete with probability `p_delete`, else a Move uniform over the valid ones.

    Where one of the two is not valid the other is taken: at the first boundary nothing can be deleted.
    (A valid move exists wherever text is left.)
    """
    place(canvas, canvas.low + random.below(canvas.high - canvas.low + 1))
    while canvas.high > canvas.low:
        if canvas.cursor > canvas.low and random.chance(p_delete):
            yield Delete()
        else:
            yield random.pick([m for m in map(Move, MOVES) if m.objection(canvas) is None])


def structured(
    canvas: Canvas, random: KeyedRandom, classes: Classes, revisions: float, pieces: Pieces = PIECES
) -> Iterator[Action]:
    """Takes out phrases, clauses and sentences one by one, then the rest from its end.

    Restored, that is a draft written from left to right, and then revisions: jumps back to the end
    of a word, clause or sentence, where a missing piece is written in one go. `revisions` is the mean
    number of them in 100 tokens, `pieces` how often they are words, clauses and sentences.
    """
    planned = random.below(1 + int((canvas.high - canvas.low) * revisions / 50))
    place(canvas, canvas.high)
    for turn in range(planned):
        if canvas.high == canvas.low:
            return
        level, units = _draw_piece(random, pieces)
        end = canvas.low + 1 + random.below(canvas.high - canvas.low)
        while _strength(canvas, classes, end) < level:
            end += 1
        if turn == 0:
            place(canvas, end)
        yield from _travel(canvas, end)
        start = end
        for _ in range(units):
            start = _previous_boundary(canvas, classes, start, level)
        yield from [Delete()] * (end - start)
    if canvas.high > canvas.low:
        yield from _travel(canvas, canvas.high)
        yield from [Delete()] * (canvas.high - canvas.low)


def local(
    canvas: Canvas, random: KeyedRandom, classes: Classes, revisions: float, pieces: Pieces = PIECES
) -> Iterator[Action]:
    """Takes the text away from its end, and now and then a piece a little before the end.

    Restored, that is writing on from left to right, with short steps back to put in what is missing.
    A step back never goes beyond what was written since the last one: the way to any place in it is as
    long on the canvas as in the history, so a model can see how far to go. `revisions` is the mean number
    of tries in 100 tokens; one that finds no piece of its kind between here and the end is given up.
    """
    place(canvas, canvas.high)
    reached = canvas.high
    while canvas.high > canvas.low:
        drawn = canvas.high - 1 - random.below(tokens_between(revisions))
        left = max(min(drawn, reached), canvas.low)
        while _strength(canvas, classes, left) < WORD:
            left -= 1
        yield from [Delete()] * (canvas.high - left)
        reached, rest = left, canvas.high - canvas.low
        if rest < 2:
            continue
        level, units = _draw_piece(random, pieces)
        end = canvas.high - 1 - random.below(min(REACH_BACK, rest - 1))
        while _strength(canvas, classes, end) < level:
            end += 1
        if end == canvas.high:
            continue
        start = end
        for _ in range(units):
            start = _previous_boundary(canvas, classes, start, level)
        yield from _travel(canvas, end)
        yield from [Delete()] * (end - start)
        yield from _travel(canvas, canvas.high)
        reached = start


def elaborated(
    canvas: Canvas, random: KeyedRandom, classes: Classes, revisions: float, optional: Sequence[int]
) -> Iterator[Action]:
    """Takes the text away from its end, and at ends of sentences now and then an optional piece a little before.

    Restored, that is writing on from left to right; after a sentence, now and then a step back to put in what the
    text could do without. So every draft on the way there reads well. `optional` has for each token of the whole
    text the length of such a piece that ends before the token, or 0. Steps back are as far as those of `local`, or
    twice that.
    """
    place(canvas, canvas.high)
    reached = canvas.high
    while canvas.high > canvas.low:
        drawn = canvas.high - 1 - random.below(tokens_between(revisions))
        left = max(min(drawn, reached), canvas.low)
        while _strength(canvas, classes, left) < SENTENCE:
            left -= 1
        yield from [Delete()] * (canvas.high - left)
        reached, rest = left, canvas.high - canvas.low
        if rest < 2:
            continue
        end = canvas.high - 1 - random.below(min(ELABORATING_REACH, rest - 1))
        while end < canvas.high and not 0 < optional[end] <= end - canvas.low:
            end += 1
        if end == canvas.high:
            continue
        start = end - optional[end]
        yield from _travel(canvas, end)
        yield from [Delete()] * (end - start)
        yield from _travel(canvas, canvas.high)
        reached = start


def _draw_piece(random: KeyedRandom, pieces: Pieces) -> tuple[int, int]:
    """What to take out: one to four words, a clause, or a sentence, as often as `pieces` says."""
    words, clauses, sentences = pieces
    drawn = random.below(words + clauses + sentences)
    if drawn < words:
        return WORD, 1 + random.below(4)
    return (CLAUSE if drawn < words + clauses else SENTENCE), 1


def _previous_boundary(canvas: Canvas, classes: Classes, boundary: int, level: int) -> int:
    boundary = max(boundary - 1, canvas.low)
    while _strength(canvas, classes, boundary) < level:
        boundary -= 1
    return boundary


def _strength(canvas: Canvas, classes: Classes, boundary: int) -> int:
    """How strong a boundary is; the ends of the editable text are as strong as can be."""
    if boundary in (canvas.low, canvas.high):
        return SENTENCE
    before, after = canvas.between(boundary - 1, boundary + 1)
    return strength(int(classes[before]), int(classes[after]))


def _travel(canvas: Canvas, boundary: int) -> Iterator[Action]:
    """Moves to `boundary`, short ones first, so that the way back has the long ones first."""
    yield from reversed(canvas.vocabulary.moves(boundary - canvas.cursor))
