"""The DAgger oracle: it knows the revised text and labels every state of a revision with the best next action.

The oracle keeps a script of the actions that are left. The first action of the script is the label of the
current state, whether the model or the oracle acts. An action other than the script's makes the oracle align the
canvas with the revised text again and write a new script, which makes the nearest change first. If the action
taken leaves no more work than the script's, that action is the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import MOVES, PAPER_KINDS, Vocabulary
from reviser.decoding.rollout import seed as seeded_canvas
from training.data.randomness import KeyedRandom
from training.edits.alignment import LONGEST_POWER, find_hunks
from training.edits.edit_samples import AFTER, NEAREST, Revisions, ids_of, put_actions
from training.edits.edits import operators_of
from training.samples.histories import Histories

KNOWN_KINDS = PAPER_KINDS | {"delete", "span_delete", "replace"}
_TURN = 6


class Oracle:
    """The oracle of one revision: the canvas, the revised text and the script of actions that are left."""

    def __init__(self, canvas: Canvas, target: Sequence[int], script: Sequence[int] | None = None) -> None:
        self.canvas = canvas
        self.target = target
        self.script = self._new_script() if script is None else list(script)

    def follow(self, id: int) -> int:
        """Applies an action to the canvas; returns the label (an id) of the state before it."""
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
        """Whether the canvas holds the revised text."""
        return list(self.canvas.between(self.canvas.low, self.canvas.high)) == list(self.target)

    def _new_script(self) -> list[int]:
        canvas = self.canvas
        text, cursor = canvas.between(canvas.low, canvas.high), canvas.cursor - canvas.low
        before, after = (np.array(tokens, dtype=np.int32) for tokens in (text, self.target))
        operators = operators_of(canvas.vocabulary)
        hunks = find_hunks(before, after, cursor, operators.spans, operators.replaces)
        room = before.size + after.size + (len(hunks) + 1) * (11 + (before.size + after.size >> LONGEST_POWER))
        out = np.empty(room, dtype=np.int32)
        ids = ids_of(canvas.vocabulary, operators)
        size = put_actions(hunks, after, cursor, NEAREST, np.zeros(1, dtype=np.uint64), ids, out)
        return [*out[:size].tolist(), canvas.vocabulary.stop_id]


@dataclass
class _Episode:
    """One revision in progress: its given ids, the actions since, their labels, and the limit of actions."""

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
        """Whether the oracle acts at a step; drawn independently for each step with probability `share`."""
        return KeyedRandom(*self.name, step).share() < share

    def follow(self, id: int) -> None:
        self.done.append(id)
        self.labels.append(self.oracle.follow(id))

    def go_on(self, taken: Sequence[int], share: float) -> tuple[list[int], int]:
        """Records the policy's actions, then lets the oracle act for as long as it is its turn.

        Returns the oracle's actions and the number of actions the policy chooses next, 0 if the episode is over.
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
    """Revisions of a corpus's edits in progress, each with its oracle.

    They start from samples `first` to `last` of an epoch; the epoch begins at number `start` of the stream of
    edits. At each step of an episode the oracle acts with probability `oracle_share`, drawn from the seed,
    the epoch and the episode's number alone.
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
        """The largest limit of actions among the episodes."""
        return max(episode.most for episode in self._episodes)

    @property
    def finished(self) -> NDArray[np.bool_]:
        """For each episode, whether its draft needed no change."""
        return np.array([episode.finished for episode in self._episodes])

    def start(self, episode: int) -> tuple[list[int], list[int], list[int]]:
        """The tokens an episode starts from: left context, draft, right context."""
        return self._episodes[episode].start

    def given(self, episode: int) -> list[int]:
        """The history that an episode starts from."""
        return self._episodes[episode].given

    def go_on(self, chosen: Sequence[int], taken: Sequence[Sequence[int]]) -> list[tuple[list[int], int]]:
        """Records the policy's actions in the chosen episodes and lets the oracle act.

        Returns, for each, the oracle's actions (possibly none) and the number of actions the policy chooses
        next, 0 if the episode is over.
        """
        return [self._episodes[number].go_on(ids, self.oracle_share) for number, ids in zip(chosen, taken, strict=True)]

    def histories(self) -> Histories:
        """The actions taken so far with the oracle's labels as targets: the samples that DAgger adds."""
        ids = np.full((len(self), self._width), self._padding, dtype=np.int32)
        labels = ids.copy()
        given, sizes = (np.zeros(len(self), dtype=np.int32) for _ in range(2))
        for row, episode in enumerate(self._episodes):
            given[row], sizes[row] = len(episode.given), len(episode.given) + len(episode.done)
            ids[row, : sizes[row]] = [*episode.given, *episode.done]
            labels[row, : sizes[row]] = [*episode.given, *episode.labels]
        return replace(Histories.of(ids, given, sizes), targets=labels)

    def reached(self) -> NDArray[np.bool_]:
        """For each episode, whether its canvas holds the revised text."""
        return np.array([episode.oracle.reached for episode in self._episodes])


def _start(vocabulary: Vocabulary, given: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Splits the given ids of a sample into left context, draft and right context."""
    marker = list(given).index(vocabulary.draft_id)
    tokens = [id for id in given[1:marker] if id < vocabulary.base_size]
    way_back = sum(MOVES[id - vocabulary.first_move_id] for id in given[1 + len(tokens) : marker])
    left = len(tokens) + way_back
    return tokens[:left], list(given[marker + 1 :]), tokens[left:]
