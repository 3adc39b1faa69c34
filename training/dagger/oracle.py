"""What to do next at any moment of a revision: an oracle that knows how the text should end up.

It has a script, the actions that are left to do. Whoever chooses an action, the script's own is the label
of the state it is chosen in. As long as the script is followed it stays; after every other action the
canvas is aligned anew with the text it should become, and a new script starts there, which makes the
nearest change first. Where several actions are equally good, the script's is the label, unless another one was
chosen that leaves no more to do: then that one is. `Oracle` is the readable reference; `Episodes` is the
same for many revisions at once, compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reviser.core.actions import Stop
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES, PAPER_KINDS, Vocabulary
from training.data.randomness import SHIFT_11, State, compiled, folded, key
from training.edits.alignment import Tokens, find_hunks
from training.edits.edit_samples import (
    DELETE,
    FIRST_MOVE,
    FIRST_REPLACE,
    FIRST_SPAN,
    NEAREST,
    STOP,
    Revisions,
    ids_of,
    put_actions,
)
from training.edits.edits import Order, operators_of, revising_actions
from training.samples.generator import Histories

KNOWN_KINDS = PAPER_KINDS | {"delete", "span_delete", "replace"}
_TURN = 6


# Reference ---------------------------------------------------------------------------------------


class Oracle:
    """One revision: a canvas, the text that its editable part should become, and the script."""

    def __init__(self, canvas: Canvas, target: Sequence[int], script: Sequence[int] | None = None) -> None:
        self.canvas = canvas
        self.target = target
        self.script = self._new_script() if script is None else list(script)

    def follow(self, id: int) -> int:
        """Carry out an action; returns the label of the state it was chosen in."""
        wanted = self.script[0]
        self.canvas.apply(self.canvas.action(id))
        if id == wanted:
            del self.script[0]
            return wanted
        if self.canvas.stopped:
            return wanted
        before, self.script = len(self.script), self._new_script()
        return id if len(self.script) < before else wanted

    def _new_script(self) -> list[int]:
        canvas = self.canvas
        actions = revising_actions(
            canvas.vocabulary,
            canvas.between(canvas.low, canvas.high),
            self.target,
            cursor=canvas.cursor - canvas.low,
            order=Order.NEAREST,
        )
        return [canvas.vocabulary.id(action) for action in [*actions, Stop()]]


# Compiled ----------------------------------------------------------------------------------------

# The numbers of an episode: the length and cursor of its text, its script's next place and end, where its
# history ends and may end, and whether it is over.
LENGTH, CURSOR, NEXT, END, SIZE, LIMIT, OVER = range(7)
NUMBERS = 7


@compiled
def apply(id: int, tokens: Tokens, numbers: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
    """Carry out an action on a text."""
    length, cursor = numbers[LENGTH], numbers[CURSOR]
    removed = 0
    if id == ids[STOP]:
        numbers[OVER] = 1
    elif id == ids[DELETE]:
        removed = 1
    elif ids[FIRST_REPLACE] >= 0 and id >= ids[FIRST_REPLACE]:
        tokens[cursor - 1] = id - ids[FIRST_REPLACE]
    elif ids[FIRST_SPAN] >= 0 and id >= ids[FIRST_SPAN]:
        removed = 1 << (id - ids[FIRST_SPAN])
    elif id >= ids[FIRST_MOVE]:
        power, back = divmod(id - ids[FIRST_MOVE], 2)
        numbers[CURSOR] = cursor - (1 << power) if back else cursor + (1 << power)
    else:
        for at in range(length, cursor, -1):
            tokens[at] = tokens[at - 1]
        tokens[cursor] = id
        numbers[LENGTH], numbers[CURSOR] = length + 1, cursor + 1
    if removed:
        for at in range(cursor, length):
            tokens[at - removed] = tokens[at]
        numbers[LENGTH], numbers[CURSOR] = length - removed, cursor - removed


@compiled
def _write_script(
    tokens: Tokens, target: Tokens, script: Tokens, numbers: NDArray[np.int64], ids: NDArray[np.int64], state: State
) -> None:
    spans, replaces = ids[FIRST_SPAN] >= 0, ids[FIRST_REPLACE] >= 0
    cursor = numbers[CURSOR]
    hunks = find_hunks(tokens[: numbers[LENGTH]], target, cursor, spans, replaces)
    size = put_actions(hunks, target, cursor, NEAREST, state, ids, script)
    script[size] = ids[STOP]
    numbers[NEXT], numbers[END] = 0, size + 1


@compiled
def _follow(
    id: int,
    tokens: Tokens,
    target: Tokens,
    script: Tokens,
    history: Tokens,
    labels: Tokens,
    numbers: NDArray[np.int64],
    ids: NDArray[np.int64],
    state: State,
) -> None:
    """`Oracle.follow`, with the action and its label written down."""
    wanted = script[numbers[NEXT]]
    place = numbers[SIZE]
    history[place], labels[place] = id, wanted
    numbers[SIZE] += 1
    apply(id, tokens, numbers, ids)
    if id == wanted:
        numbers[NEXT] += 1
    elif not numbers[OVER]:
        before = numbers[END] - numbers[NEXT]
        _write_script(tokens, target, script, numbers, ids, state)
        if numbers[END] < before:
            labels[place] = id
    if numbers[SIZE] == numbers[LIMIT]:
        numbers[OVER] = 1


@compiled
def defers(name: np.uint64, step: int, share: float) -> bool:
    """Whether the oracle acts at a step of an episode: drawn anew for each, whatever came before."""
    return bool(np.float64(folded(name, step) >> SHIFT_11) * 2.0**-53 < share)


class _Board(NamedTuple):
    """The state of all episodes, in a form that compiled code takes: a row of each array for each episode."""

    names: State
    tokens: Tokens
    corpus: Tokens
    """The texts that people wrote; `bounds` are the beginning and end of each episode's."""
    bounds: NDArray[np.int64]
    scripts: Tokens
    histories: Tokens
    labels: Tokens
    given: NDArray[np.int64]
    numbers: NDArray[np.int64]


@compiled
def _go_on(
    board: _Board,
    ids: NDArray[np.int64],
    share: float,
    chosen: NDArray[np.int64],
    taken: Tokens,
    counts: NDArray[np.int64],
    steps: NDArray[np.int64],
) -> None:
    """Take down what the policy did in the `chosen` episodes, then let the oracle act where it is its turn.

    `steps` become the numbers of actions that the policy is to choose next; 0 where an episode is over.
    """
    state = np.zeros(1, dtype=np.uint64)
    for index in range(chosen.size):
        episode = chosen[index]
        mine = board.numbers[episode]
        target = board.corpus[board.bounds[episode, 0] : board.bounds[episode, 1]]
        text, script = board.tokens[episode], board.scripts[episode]
        history, told = board.histories[episode], board.labels[episode]
        name, first = board.names[episode], board.given[episode]
        for at in range(counts[index]):
            id = taken[index, at]
            _follow(id, text, target, script, history, told, mine, ids, state)
        while not mine[OVER] and defers(name, mine[SIZE] - first, share):
            id = script[mine[NEXT]]
            _follow(id, text, target, script, history, told, mine, ids, state)
        steps[index] = 0
        if not mine[OVER]:
            at = mine[SIZE] + 1
            while at < mine[LIMIT] and not defers(name, at - first, share):
                at += 1
            steps[index] = at - mine[SIZE]


class Episodes:
    """Revisions under way: edits of a corpus, begun as its samples are, and how far each has come.

    They start as samples `first` to `last` of an epoch do, the epoch beginning at number `start` of the
    stream of edits. At each step of an episode the oracle acts with the probability `oracle_share`; which
    steps these are is drawn from the seed, the epoch and the episode's number alone.
    """

    def __init__(
        self,
        revisions: Revisions,
        vocabulary: Vocabulary,
        epoch: int,
        first: int,
        last: int,
        start: int = 0,
        *,
        oracle_share: float,
        max_actions: int,
    ) -> None:
        if unknown := sorted(vocabulary.kinds - KNOWN_KINDS):
            raise ReviserError(f"the oracle does not know {', '.join(unknown)}")
        begun = revisions.histories(epoch, first, last, start)
        count, width = begun.ids.shape
        self.oracle_share = oracle_share
        self._vocabulary = vocabulary
        self._given = begun.counted.argmax(1).astype(np.int64)
        self._corpus, self._bounds = revisions.after(revisions.chosen(start + first, start + last))
        self._ids = ids_of(vocabulary, operators_of(vocabulary))
        name = np.uint64(key(revisions.seed, epoch, _TURN))
        self._names = np.array([folded(name, at) for at in range(first, last)], dtype=np.uint64)
        self.ids = begun.ids.copy()
        self.labels = begun.ids.copy()
        self._tokens = np.zeros((count, width), dtype=np.int32)
        # Room for the removal of one text and the writing of another, and for ways between.
        self._scripts = np.zeros((count, 3 * width + 64), dtype=np.int32)
        self._numbers = np.zeros((count, NUMBERS), dtype=np.int64)
        drafts = self._given - 1 - (begun.ids == vocabulary.draft_id).argmax(1)
        for episode, (given, draft, size) in enumerate(zip(self._given, drafts, begun.lengths, strict=True)):
            self._tokens[episode, :draft] = begun.ids[episode, given - draft : given]
            self._scripts[episode, : size - given] = begun.ids[episode, given:size]
        self._numbers[:, LENGTH] = self._numbers[:, CURSOR] = drafts
        self._numbers[:, END] = begun.lengths - self._given
        # Texts that need no change: Stop is all that is to be done.
        self.finished = self._numbers[:, END] == 1
        self._numbers[:, SIZE] = self._given
        self._numbers[:, LIMIT] = np.minimum(self._given + max_actions, width)

    def __len__(self) -> int:
        return len(self._given)

    @property
    def stop_id(self) -> int:
        return self._vocabulary.stop_id

    @property
    def most_actions(self) -> int:
        """The most actions that any of the episodes may have."""
        return int((self._numbers[:, LIMIT] - self._given).max())

    def start(self, episode: int) -> tuple[list[int], list[int], list[int]]:
        """What an episode starts from: its left neighbour, its draft and its right neighbour."""
        given = self.given(episode)
        marker = given.index(self._vocabulary.draft_id)
        tokens = [id for id in given[1:marker] if id < self._vocabulary.base_size]
        way_back = sum(MOVES[id - self._vocabulary.first_move_id] for id in given[1 + len(tokens) : marker])
        left = len(tokens) + way_back
        return tokens[:left], given[marker + 1 :], tokens[left:]

    def given(self, episode: int) -> list[int]:
        """The history that an episode starts from."""
        given: list[int] = self.ids[episode, : self._given[episode]].tolist()
        return given

    def go_on(self, chosen: Sequence[int], taken: Sequence[Sequence[int]]) -> list[tuple[list[int], int]]:
        """Take down what the policy did in some episodes; what the oracle does then, and whose turn is next.

        For each there are the oracle's actions, none or several, and how many the policy is to choose
        after them: 0 where the episode is over.
        """
        counts = np.array([len(ids) for ids in taken], dtype=np.int64)
        padded = np.zeros((len(chosen), max(counts.max(initial=0), 1)), dtype=np.int32)
        for row, ids in zip(padded, taken, strict=True):
            row[: len(ids)] = ids
        episodes = np.array(chosen, dtype=np.int64)
        before = self._numbers[episodes, SIZE] + counts
        steps = np.zeros(len(chosen), dtype=np.int64)
        self._go_on(episodes, padded, counts, steps)
        return [
            (self.ids[episode, start : self._numbers[episode, SIZE]].tolist(), step)
            for episode, start, step in zip(chosen, before.tolist(), steps.tolist(), strict=True)
        ]

    def _go_on(
        self, chosen: NDArray[np.int64], taken: Tokens, counts: NDArray[np.int64], steps: NDArray[np.int64]
    ) -> None:
        board = _Board(
            self._names,
            self._tokens,
            self._corpus,
            self._bounds,
            self._scripts,
            self.ids,
            self.labels,
            self._given,
            self._numbers,
        )
        _go_on(board, self._ids, float(self.oracle_share), chosen, taken, counts, steps)

    def histories(self) -> Histories:
        """What was done so far, and what should have been: the samples that DAgger adds."""
        places = np.arange(self.ids.shape[1])
        sizes = self._numbers[:, SIZE]
        counted = (places >= self._given[:, None]) & (places < sizes[:, None])
        return Histories(self.ids, counted, sizes.astype(np.int32), 0, self.labels)

    def reached(self) -> NDArray[np.bool_]:
        """Which texts are now what they should be."""
        lengths = self._numbers[:, LENGTH]
        made = np.zeros(len(self), dtype=bool)
        for episode, (start, end) in enumerate(self._bounds.tolist()):
            text = self._tokens[episode, : lengths[episode]]
            made[episode] = np.array_equal(text, self._corpus[start:end])
        return made
