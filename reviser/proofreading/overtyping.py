"""Proofreading by overtyping: the model writes over a draft from its start, and changes what is wrong on its way.

The history shows the draft, a marker, and then the text as the model writes it over the draft:

- a token that is the draft's next one passes over it, and keeps it;
- Delete takes the draft's next token out;
- any other token is inserted;
- Stop ends it, behind the draft's last token.

So a model that has read the whole draft goes through it once more, and at every token the probability that it stays
is known. What stays need not be written token by token: a reader proposes that it stays, and one pass of the model
over many tokens says where that is likely. Only where it is not does the model write. A change is judged by itself:
its confidence is the probability of all that makes it, from its first action to the token of the draft that goes on
behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from reviser.core.canvas import Canvas
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rollout import seed
from reviser.model.scoring import Choices, ChoiceScores, Questions

LEAST: Final = 0.05
"""The least confidence of a change that is looked for."""
_NEXT_TO_NOTHING: Final = 1e-9
MOST_IN_A_CHANGE: Final = 32
"""The most actions of one change."""
STEP: Final = 32
STEP_AFTER_CHANGE: Final = 8
"""The number of tokens proposed at once at the start and after a change; it doubles each time all of them stay."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A replacement of the tokens `start` to `end` of a passage by `tokens`."""

    start: int
    end: int
    tokens: tuple[int, ...]
    confidence: float


class OvertypingRules(Choices):
    """The ids that a reader chooses among; raises `ReviserError` for a model that does not overtype."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        if not vocabulary.overtypes:
            raise ReviserError("this model was not trained to revise; it can only continue and infill")
        super().__init__(vocabulary)


class Overtyper(Protocol):
    """A reader that asks for the model's scores of ids after a draft.

    The model reads `ids`. `take` receives the scores for the last `len(expected)` of them, until the reader is `over`:
    those of the expected ids, and of the ids in `asked`.
    """

    @property
    def rules(self) -> OvertypingRules: ...
    @property
    def canvas(self) -> Canvas: ...
    @property
    def ids(self) -> list[int]: ...
    @property
    def expected(self) -> list[int]: ...
    @property
    def asked(self) -> Questions: ...
    @property
    def over(self) -> bool: ...
    @property
    def enough(self) -> float | None:
        """The log-probability of the expected id from which on the scores of rare tokens are not needed; None if
        they always are."""

    @property
    def longest(self) -> int:
        """An upper bound of the number of ids that the reader will need."""

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None: ...
    def give_up(self) -> None: ...


def longest_reading(written: int, left: int) -> int:
    """The most ids of a reading that has `written` ids so far, with `left` tokens of the draft to come."""
    return written + left + MOST_IN_A_CHANGE * (left + 1)


class ReaderSequence:
    """Several readers run one after the other as one, so that the model's cache is kept between them."""

    def __init__(self, first: Overtyper, then: Sequence[Callable[[], Overtyper | None]], longest: int) -> None:
        """Each function in `then` makes the next reader from what was found before, or returns None to skip it; no
        reader needs more than `longest` ids."""
        self._now = first
        self._then = [*then]
        self.longest = longest
        self._turn()

    def _turn(self) -> None:
        while self._now.over and self._then:
            self._now = self._then.pop(0)() or self._now

    @property
    def rules(self) -> OvertypingRules:
        return self._now.rules

    @property
    def canvas(self) -> Canvas:
        return self._now.canvas

    @property
    def ids(self) -> list[int]:
        return self._now.ids

    @property
    def expected(self) -> list[int]:
        return self._now.expected

    @property
    def asked(self) -> Questions:
        return self._now.asked

    @property
    def over(self) -> bool:
        return self._now.over

    @property
    def enough(self) -> float | None:
        return self._now.enough

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        self._now.take(choice_scores)
        self._turn()

    def give_up(self) -> None:
        """End the current reader; later ones may need less room."""
        self._now.give_up()
        self._turn()


@dataclass
class _Change:
    """A change in progress: the draft's tokens from `start` to `end`, replaced by `written`."""

    start: int
    end: int
    chance: float = 0.0
    ids: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)


class OvertypingReader:
    """One reading of one passage.

    `canvas` holds the passage with its context. The model reads `ids`, and `take` receives its scores for the last
    `len(expected)` of them, until the reader is `over`; then `ids` are what it wrote. Successive `ids` share a prefix,
    for which the model's cache can be kept.

    Changes of at least `confidence` are made in the text from which the model goes on. `corrections` has all changes
    found, also less certain ones. If nowhere an alternative to the draft has a probability of `trigger`, nothing is
    looked for.

    The rest of the draft is proposed at once, or with `in_steps` in parts that grow while all tokens stay. The outcome
    is the same. Tokens proposed after a change are read in vain, so steps suit a decoder whose cost is in tokens, and
    proposing everything suits one whose cost is in passes. `told` are scores of the first places of the draft that are
    known already. `shown` are excerpts of a person's edits, which precede the passage (`reviser.next_edits.prompt`).
    """

    def __init__(
        self,
        rules: OvertypingRules,
        passage: Sequence[int],
        left: Sequence[int] = (),
        right: Sequence[int] = (),
        *,
        confidence: float = 0.5,
        least: float = LEAST,
        trigger: float = 0.0,
        in_steps: bool = False,
        told: Sequence[ChoiceScores] = (),
        shown: Sequence[int] = (),
    ) -> None:
        if len(told) > len(passage) + 1:
            raise ReviserError("a reader is told of no more places than a passage has")
        self.rules = rules
        self.corrections: list[Correction] = []
        self.over = False
        self._passage = list(passage)
        self._confidence = confidence
        self._least = max(min(least, confidence), _NEXT_TO_NOTHING)
        self._trigger = trigger
        self._in_steps = in_steps
        self.canvas, history = seed(rules.vocabulary, left, right, draft=passage)
        # What the model has written, up to and without the draft's token at `_place`.
        self._written = [history[0], *shown, *history[1:], rules.vocabulary.overtype_id]
        self._place = 0
        # What the model says of places of the draft, from `_first` on: of all before it is known that their tokens
        # stay.
        self._first = 0
        self._choice_scores: list[ChoiceScores] = [*told]
        # Places before this one were looked at.
        self._unseen = 0
        self._step = STEP
        self._change: _Change | None = None
        self.ids: list[int] = []
        self.expected: list[int] = []
        self.asked: Questions = {}
        # Whether anything is looked for is told by all of the draft.
        if told and (len(told) == len(passage) + 1 or trigger <= self._least):
            self._consider()
        else:
            self._propose()

    def _propose(self) -> None:
        """Propose that more of the draft stays; the reading is over if there is no more."""
        known = self._first + len(self._choice_scores)
        end = len(self._passage) + 1
        if known >= end:
            self.ids = [*self._written, *self._passage[self._place :]]
            self.over = True
            return
        # Whether anything is looked for is told by all of the draft.
        if self._in_steps and self._trigger <= self._least:
            end = min(end, known + self._step)
            self._step *= 2
        # The last token that is looked at decides whether it stays by what comes before it alone.
        self.ids = [*self._written, *self._passage[self._place : end - 1]]
        self.expected = [self._next_of_draft(place) for place in range(known, end)]

    @property
    def enough(self) -> float | None:
        """While no change is in progress: the log-probability that leaves too little for a change to begin."""
        return math.log1p(-self._least) if self._change is None and self._least < 1 else None

    @property
    def longest(self) -> int:
        """An upper bound of the number of ids that the reading needs."""
        # Behind a change a token of the draft stays, so there are no more changes than that.
        return longest_reading(len(self._written), len(self._passage) - self._place)

    def give_up(self) -> None:
        """End the reading with the changes found so far: the model's context is full."""
        self.over = True

    def take(self, choice_scores: Sequence[ChoiceScores]) -> None:
        """Go on with the model's scores, one entry for each id in `expected`."""
        if len(choice_scores) != len(self.expected):
            raise ReviserError("a reader takes one set of scores for each id that it expects")
        if self._change is None:
            self._choice_scores += choice_scores
            self._consider()
        else:
            self._go_on(self._change, choice_scores[0])

    def _consider(self) -> None:
        """Search the new places for changes, or end if the passage is below the threshold `trigger`."""
        if self._trigger > self._least and not self._is_triggered():
            self.over = True
            return
        self._trigger = 0.0
        self._scan(self._unseen)

    def _is_triggered(self) -> bool:
        """Whether an alternative to the draft reaches the threshold `trigger` anywhere."""
        others = (
            self._best_other(choice_score, self._first + number)[1]
            for number, choice_score in enumerate(self._choice_scores)
        )
        return max(others) >= math.log(self._trigger)

    def _scan(self, first: int) -> None:
        """Find the next place where an alternative to the draft is likely enough, and begin a change there."""
        self._unseen = self._first + len(self._choice_scores)
        for place in range(first, self._unseen):
            id, chance = self._best_other(self._choice_scores[place - self._first], place)
            if chance >= math.log(self._least):
                change = _Change(place, place)
                self._change = change
                self._do(change, id, chance)
                return
        self._propose()

    def _best_other(self, choice_score: ChoiceScores, place: int) -> tuple[int, float]:
        """The likeliest action at a place of the draft that does not keep its token, and its log-probability."""
        at_end = place == len(self._passage)
        id, chance = choice_score.first, choice_score.first_chance
        if not at_end and id == self._passage[place]:
            id, chance = choice_score.second, choice_score.second_chance
        if not at_end and choice_score.delete > chance:
            return self.rules.vocabulary.delete_id, choice_score.delete
        return id, chance

    def _do(self, change: _Change, id: int, chance: float) -> None:
        """Add one action to a change, and ask for the next."""
        if id == self.rules.vocabulary.delete_id:
            change.end += 1
        else:
            change.written.append(id)
        change.chance += chance
        change.ids.append(id)
        kept = self._passage[self._place : change.start]
        self.ids = [*self._written, *kept, *change.ids]
        self.expected = [self._next_of_draft(change.end)]

    def _next_of_draft(self, place: int) -> int:
        if place == len(self._passage):
            return self.rules.vocabulary.stop_id
        return self._passage[place]

    def _go_on(self, change: _Change, choice_score: ChoiceScores) -> None:
        id, chance = self._best_other(choice_score, change.end)
        if choice_score.expected >= chance:
            self._end(change, change.chance + choice_score.expected)
        elif len(change.ids) == MOST_IN_A_CHANGE or change.chance + chance < math.log(self._least):
            # Nothing makes it likelier again: what is left of it need not be known.
            self._end(change, -math.inf)
        else:
            self._do(change, id, chance)

    def _end(self, change: _Change, chance: float) -> None:
        """Record the change, and read on: after it if it is made, else as if nothing had been found."""
        confidence = math.exp(chance)
        tokens = tuple(change.written)
        differs = list(tokens) != self._passage[change.start : change.end]
        if confidence >= self._least and differs:
            self.corrections.append(Correction(change.start, change.end, tokens, confidence))
        self._change = None
        if confidence >= max(self._confidence, _NEXT_TO_NOTHING):
            self._written = list(self.ids)
            # Behind a change that was made, the draft's next token stays: the change ended there.
            self._place, self._first = change.end, change.end + 1
            self._unseen, self._choice_scores = self._first, []
            self._step = STEP_AFTER_CHANGE
            self._propose()
        else:
            self._scan(change.start + 1)
