"""Obfuscation and restoration: actions that take a text apart, and the inverse actions that write it.

This version uses the canvas, for policies that are not compiled. A sample's history is the start marker, the
inserts that seed the prefix (and, for infill, the suffix, with the moves back before it), and the
restoration: the inverse of each obfuscation action, last first, then Stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from reviser.core.actions import Action, Insert, Move, Replace, Stop, Swap
from reviser.core.canvas import Canvas
from reviser.core.vocabulary import KINDS, Vocabulary
from training.data.randomness import KeyedRandom
from training.samples.policies import PIECES, Pieces, plain

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
