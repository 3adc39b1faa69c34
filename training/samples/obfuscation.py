"""Obfuscation and restoration: actions that take a text apart, and the inverse actions that write it.

This version uses the canvas, for policies that are not compiled. A sample's history is the start marker, the
inserts that seed the prefix (and, for infill, the suffix, with the moves back before it), and the
restoration: the inverse of each obfuscation action, last first, then Stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from reviser.core.actions import Action, Delete, Insert, Move, Replace, SpanCopy, SpanDelete, SpanMove, Stop, Swap
from reviser.core.canvas import Canvas
from reviser.core.errors import UnknownId
from reviser.core.vocabulary import KINDS, MOVES, Vocabulary
from training.data.randomness import KeyedRandom

# How often a revision writes some words, a clause or a sentence.
Pieces = tuple[int, int, int]
PIECES: Pieces = (5, 3, 2)

# How many tokens before the end a local revision may go, and an elaborating one.
REACH_BACK = 32
ELABORATING_REACH = 64


def plain(canvas: Canvas) -> Iterator[Action]:
    """Deletes from the end: restored, the text is written from left to right."""
    place(canvas, canvas.high)
    while canvas.high > canvas.low:
        yield Delete()


def tokens_between(revisions: float) -> int:
    """The maximum number of tokens between two local revisions; it is drawn uniformly from 1 to this."""
    return max(int(200 / max(revisions, 0.01)) - 1, 1)


def place(canvas: Canvas, cursor: int) -> None:
    """Places the cursor before the first action."""
    canvas.protect(canvas.prefix, canvas.suffix, cursor)


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


PLAIN, PAPER, STRUCTURED, RICH, LOCAL, ELABORATED = range(6)
ATTEMPTS = 16

Policy = Callable[[Canvas, KeyedRandom], Iterator[Action]]


@dataclass(frozen=True)
class Task:
    """The task of a sample: how much of the text is given at each end, and how the rest is written.

    `suffix` above 0 makes it an infill. `p_delete` is for the paper's policy and the rich one, `revisions` and
    `pieces` for the structured and the local one, `revisions` and `optional`, a number for each token of the text,
    for the elaborated one.
    """

    kind: int = PAPER
    prefix: int = 0
    suffix: int = 0
    p_delete: float = 0.8
    revisions: float = 3.0
    pieces: Pieces = PIECES
    optional: Sequence[int] = ()


@dataclass(frozen=True)
class Sample:
    """A history, and a mask of the ids that are targets of the loss."""

    ids: list[int]
    counted: list[bool]


def workspace(vocabulary: Vocabulary, text: Sequence[int], prefix: int, suffix: int) -> Canvas:
    """A canvas of the text that accepts every operator, whether it is in the model's vocabulary or not."""
    every = replace(vocabulary, kinds=frozenset(KINDS))
    return Canvas(every, text, prefix=prefix, suffix=suffix)


def restoration(canvas: Canvas, obfuscation: Iterator[Action], k_max: int | None = None) -> list[Action] | None:
    """The actions that undo an obfuscation of `canvas`, with Stop; None if it takes over `k_max` steps."""
    inverses: list[tuple[Action, ...]] = []
    for action in obfuscation:
        if len(inverses) == k_max:
            return None
        inverses.append(action.inverse(canvas))
        canvas.apply(action)
    return [action for inverse in reversed(inverses) for action in inverse] + [Stop()]


def single_moves(vocabulary: Vocabulary, actions: list[Action]) -> list[Action]:
    """The same actions, each move split into moves that have ids."""
    made: list[Action] = []
    for action in actions:
        made += vocabulary.moves(action.delta) if isinstance(action, Move) else (action,)
    return made


def seeding(vocabulary: Vocabulary, prefix: Sequence[int], suffix: Sequence[int]) -> list[Action]:
    """The actions that write prefix and suffix and put the cursor between them."""
    return [*map(Insert, (*prefix, *suffix)), *vocabulary.moves(-len(suffix))]


def survivors(actions: Sequence[Action], canvas: Canvas) -> list[bool]:
    """For each action, False if it inserts a token that is deleted later (noise).

    The paper leaves such transient insertions out of the loss. The actions start from `canvas` and are
    applied to it.
    """
    writers = [-1] * canvas.length
    for number, action in enumerate(actions):
        carried: list[int] = []
        for splice in canvas.apply(action):
            place = slice(splice.start, splice.start + len(splice.removed))
            removed = writers[place]
            if isinstance(action, Insert | Replace):
                writers[place] = [number]
            elif isinstance(action, Swap):
                writers[place] = removed[::-1]
            else:
                # A deletion puts nothing in; a span move puts in what its first splice took out.
                writers[place] = carried
                carried = removed
    kept = set(writers)
    return [number in kept or not isinstance(action, Insert | Replace) for number, action in enumerate(actions)]


def make_sample(
    vocabulary: Vocabulary,
    text: Sequence[int],
    task: Task,
    policy: Policy,
    name: int,
    max_history: int,
    k_max: int | None = None,
) -> Sample:
    """The sample of the random stream `name`: obfuscations are drawn until one fits, in the end the plain one."""
    end = len(text) - task.suffix
    seeds = seeding(vocabulary, text[: task.prefix], text[end:])
    room = max_history - len(seeds) - 2
    limit = room if k_max is None else min(room, k_max)
    for attempt in range(ATTEMPTS + 1):
        canvas = workspace(vocabulary, text, task.prefix, task.suffix)
        if attempt == ATTEMPTS:
            actions = restoration(canvas, plain(canvas))
        else:
            actions = restoration(canvas, policy(canvas, KeyedRandom(name, attempt)), limit)
        if actions is None:
            continue
        actions = single_moves(vocabulary, actions)
        if len(actions) <= room + 1:
            return _encoded(vocabulary, seeds, actions, task)
    raise AssertionError("the plain order fits wherever the text does")


def _encoded(vocabulary: Vocabulary, seeds: list[Action], actions: list[Action], task: Task) -> Sample:
    canvas = workspace(vocabulary, (), 0, 0)
    for action in seeds:
        canvas.apply(action)
    given = canvas.tokens
    canvas.protect(task.prefix, task.suffix, canvas.cursor)
    ids = [vocabulary.start_id, *(vocabulary.id(action) for action in seeds)]
    for action in actions:
        ids.append(vocabulary.id(action, canvas.cursor))
        canvas.apply(action)
    blank = workspace(vocabulary, given, task.prefix, task.suffix)
    counted = [False] * (1 + len(seeds)) + survivors(actions, blank)
    return Sample(ids, counted)
