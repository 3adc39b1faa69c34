"""What else a model says of a change that it proposes: how the sentence reads before and after it, and whether the change stays.

The model is asked in three other ways than by the probability of the actions that make the change:

- from left to right, as it continues a text: how likely are the words from the change on, before it is made and after;
- by overtyping the changed sentence: how likely is it that the new words stay, and that the old ones come back;
- by overtyping the sentence alone: how likely is it that the old words stay, and that the change is made.

All of it is read in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from reviser.decoding.rollout import seed
from reviser.proofreading.evidence.readings import shared
from reviser.proofreading.overtyping import Outlook, OvertypingRules, Questions
from reviser.proofreading.reading import Passage, overtype
from reviser.session.session import SessionPolicy

BEFORE: Final = 48
"""Tokens before a change that are read from left to right."""
BEHIND: Final = 12
"""Tokens behind it, at the most."""
_FOLLOWING: Final = 2
"""Tokens behind a change that are asked about by overtyping."""


class Case(NamedTuple):
    """A sentence between its sides, and its tokens after a change."""

    passage: Passage
    after: Sequence[int]


class Heard(NamedTuple):
    """What the model said of a change, as log-probabilities of ids, one by one.

    `read_old` and `read_new` are those of the tokens from the change on, from left to right; the first `old` and `new` of them are what is changed.
    `kept` are those of the old words by overtyping, `made` those of the actions that change them. `stays` are those of the new words by
    overtyping the changed sentence, `reverted` those of the actions that bring the old ones back.
    """

    old: int
    new: int
    read_old: list[float]
    read_new: list[float]
    kept: list[float]
    made: list[float]
    stays: list[float]
    reverted: list[float]


class _Task(NamedTuple):
    """Ids that the model reads, and those whose probabilities are wanted: what follows the last of them, one by one."""

    ids: list[int]
    expected: list[int]


class _Questions:
    """Asks the model about some ids, one task after the other; those that begin alike are best asked in a row."""

    def __init__(
        self, rules: OvertypingRules, passage: Sequence[int], tasks: Sequence[_Task]
    ) -> None:
        self.rules = rules
        self.enough: float | None = None
        self.canvas, _ = seed(rules.vocabulary, (), (), draft=passage)
        self.answers: list[list[float]] = []
        self._tasks = list(tasks)
        self.over = not self._tasks
        self.longest = max((len(task.ids) for task in self._tasks), default=1)
        self.ids: list[int] = []
        self.expected: list[int] = []
        self.asked: Questions = {}
        if self._tasks:
            self.ids, self.expected = self._tasks[0]

    def give_up(self) -> None:
        """End the reading: the model has no room for more."""
        self.over = True

    def take(self, outlooks: Sequence[Outlook]) -> None:
        """Take down what the model says, and go on to the next task."""
        self.answers.append([one.expected for one in outlooks])
        if len(self.answers) == len(self._tasks):
            self.over = True
        else:
            self.ids, self.expected = self._tasks[len(self.answers)]


def hear(
    policy: SessionPolicy, rules: OvertypingRules, cases: Sequence[Case]
) -> list[Heard | None]:
    """What the model says of changes; None of those that it has no room for."""
    asked = [_questions(rules, case) for case in cases]
    overtype(policy, [one for reading, writing in asked for one in (reading, writing)])
    return [
        _heard(case, reading, writing)
        for case, (reading, writing) in zip(cases, asked, strict=True)
    ]


def _heard(case: Case, reading: _Questions, writing: _Questions) -> Heard | None:
    if len(reading.answers) < 2 or len(writing.answers) < 4:
        return None
    front, back = shared(case.passage.tokens, case.after)
    return Heard(
        len(case.passage.tokens) - front - back,
        len(case.after) - front - back,
        *reading.answers,
        *writing.answers,
    )


def _questions(rules: OvertypingRules, case: Case) -> tuple[_Questions, _Questions]:
    (tokens, left, right), after = case
    front, back = shared(tokens, after)
    before = [rules.vocabulary.start_id, *[*left, *tokens[:front]][-BEFORE:]]
    reading = []
    for text in (tokens, after):
        behind = [*text[len(text) - back :], *right, rules.vocabulary.stop_id][:BEHIND]
        wanted = [*text[front : len(text) - back], *behind]
        reading.append(_Task([*before, *wanted[:-1]], wanted))
    writing = []
    for old, new in ((tokens, after), (after, tokens)):
        _, history = seed(rules.vocabulary, left, right, draft=old)
        start = [*history, rules.vocabulary.overtype_id, *old[:front]]
        behind = [*old[len(old) - back :], rules.vocabulary.stop_id][:_FOLLOWING]
        gone, come = old[front : len(old) - back], new[front : len(new) - back]
        for way in ([*gone, *behind], [*[rules.vocabulary.delete_id] * len(gone), *come, *behind]):
            writing.append(_Task([*start, *way[:-1]], way))
    return _Questions(rules, tokens, reading), _Questions(rules, tokens, writing)
