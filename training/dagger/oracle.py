"""What to do next at any moment of a revision: an oracle that knows how the text should end up.

It has a script, the actions that are left to do. Whoever chooses an action, the script's own is the label
of the state it is chosen in. As long as the script is followed it stays; after every other action the
canvas is aligned anew with the text it should become, and a new script starts there, which makes the
nearest change first. Where several actions are equally good, the script's is the label, unless another one was
chosen that leaves no more to do: then that one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reviser.core.actions import Stop
from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES, PAPER_KINDS, Vocabulary
from reviser.decoding.rollout import seed as seeded_canvas
from training.data.randomness import KeyedRandom
from training.edits.edit_samples import AFTER, Revisions
from training.edits.edits import revising_actions
from training.samples.histories import Histories
from training.samples.mixture import Order

KNOWN_KINDS = PAPER_KINDS | {"delete", "span_delete", "replace"}
_TURN = 6


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

    @property
    def reached(self) -> bool:
        """Whether the text is now what it should be."""
        return list(self.canvas.between(self.canvas.low, self.canvas.high)) == list(self.target)

    def _new_script(self) -> list[int]:
        canvas = self.canvas
        text, cursor = canvas.between(canvas.low, canvas.high), canvas.cursor - canvas.low
        actions = revising_actions(canvas.vocabulary, text, self.target, cursor=cursor, order=Order.NEAREST)
        return [canvas.vocabulary.id(action) for action in [*actions, Stop()]]


@dataclass
class _Episode:
    """One revision under way: what was given, what was done since, the labels of that, and what may be done at most."""

    oracle: Oracle
    start: tuple[list[int], list[int], list[int]]
    given: list[int]
    most: int
    name: tuple[int, ...]
    finished: bool
    done: list[int]
    labels: list[int]

    @property
    def over(self) -> bool:
        return self.oracle.canvas.stopped or len(self.done) >= self.most

    def defers(self, step: int, share: float) -> bool:
        """Whether the oracle acts at a step: drawn anew for each, whatever came before."""
        return KeyedRandom(*self.name, step).share() < share

    def follow(self, id: int) -> None:
        self.done.append(id)
        self.labels.append(self.oracle.follow(id))

    def go_on(self, taken: Sequence[int], share: float) -> tuple[list[int], int]:
        """Take down what the policy did, and let the oracle act where it is its turn.

        Returns the oracle's actions, and how many the policy is to choose next: 0 where the episode is over.
        """
        for id in taken:
            self.follow(id)
        before = len(self.done)
        while not self.over and self.defers(len(self.done), share):
            self.follow(self.oracle.script[0])
        steps = 0
        while not self.over and len(self.done) + steps < self.most:
            steps += 1
            if self.defers(len(self.done) + steps, share):
                break
        return self.done[before:], steps


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
        self.oracle_share = oracle_share
        self.stop_id = vocabulary.stop_id
        self._padding = vocabulary.start_id
        self._width = begun.ids.shape[1]
        self._episodes: list[_Episode] = []
        for row, edit in enumerate(revisions.chosen(start + first, start + last).tolist()):
            history: list[int] = begun.ids[row, : begun.lengths[row]].tolist()
            size = int(begun.counted[row].argmax())
            given, script = history[:size], history[size:]
            left, draft, right = _start(vocabulary, given)
            canvas, _ = seeded_canvas(vocabulary, left, right, draft=draft)
            self._episodes.append(
                _Episode(
                    Oracle(canvas, revisions.parts(edit)[AFTER], script),
                    (left, draft, right),
                    given,
                    min(max_actions, self._width - size),
                    (revisions.seed, epoch, _TURN, first + row),
                    # Texts that need no change: Stop is all that is to be done.
                    len(script) == 1,
                    [],
                    [],
                )
            )

    def __len__(self) -> int:
        return len(self._episodes)

    @property
    def most_actions(self) -> int:
        """The most actions that any of the episodes may have."""
        return max(episode.most for episode in self._episodes)

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which texts needed no change from the beginning."""
        return np.array([episode.finished for episode in self._episodes])

    def start(self, episode: int) -> tuple[list[int], list[int], list[int]]:
        """What an episode starts from: its left neighbour, its draft and its right neighbour."""
        return self._episodes[episode].start

    def given(self, episode: int) -> list[int]:
        """The history that an episode starts from."""
        return self._episodes[episode].given

    def go_on(self, chosen: Sequence[int], taken: Sequence[Sequence[int]]) -> list[tuple[list[int], int]]:
        """Take down what the policy did in some episodes; what the oracle does then, and whose turn is next.

        For each there are the oracle's actions, none or several, and how many the policy is to choose
        after them: 0 where the episode is over.
        """
        return [self._episodes[number].go_on(ids, self.oracle_share) for number, ids in zip(chosen, taken, strict=True)]

    def histories(self) -> Histories:
        """What was done so far, and what should have been: the samples that DAgger adds."""
        ids = np.full((len(self), self._width), self._padding, dtype=np.int32)
        labels = ids.copy()
        given, sizes = (np.zeros(len(self), dtype=np.int32) for _ in range(2))
        for row, episode in enumerate(self._episodes):
            given[row], sizes[row] = len(episode.given), len(episode.given) + len(episode.done)
            ids[row, : sizes[row]] = [*episode.given, *episode.done]
            labels[row, : sizes[row]] = [*episode.given, *episode.labels]
        places = np.arange(self._width)
        counted = (places >= given[:, None]) & (places < sizes[:, None])
        return Histories(ids, counted, sizes, 0, labels)

    def reached(self) -> NDArray[np.bool_]:
        """Which texts are now what they should be."""
        return np.array([episode.oracle.reached for episode in self._episodes])


def _start(vocabulary: Vocabulary, given: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """The left neighbour, the draft and the right neighbour of a history that a sample begins with."""
    marker = list(given).index(vocabulary.draft_id)
    tokens = [id for id in given[1:marker] if id < vocabulary.base_size]
    way_back = sum(MOVES[id - vocabulary.first_move_id] for id in given[1 + len(tokens) : marker])
    left = len(tokens) + way_back
    return tokens[:left], list(given[marker + 1 :]), tokens[left:]
