"""A search for the filling of a gap that best joins the text after it.

Where a filling ends decides how well it joins. So every place where a run could have been ended is a possible end, not
only the one where the model ends it. A possible end is priced by the model's reading from left to right: how likely the
first tokens after the gap are after it. The search writes a few fillings from the start. Then it keeps a part of the
best one, writes the rest anew, and goes on with whichever is better.

The search itself runs no model. It is a generator that asks for actions (`Write`) and log-probabilities (`Read`), so
one run here and a batch of many on a GPU take the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from reviser.core.canvas import Canvas
from reviser.decoding.lookahead import copy_of
from reviser.decoding.sampler import Choice
from reviser.model.scoring import shared_length

TRIES: Final = 3
"""The most fillings that are written, by default; most of them only in part."""
FOLLOWING: Final = 20
"""The number of tokens after a gap whose probabilities decide."""
FRESH: Final = 2
"""The number of tries that begin at the start of the gap; later ones go on from a part of the best one."""
GOOD: Final = -2.3
"""The price at which a filling is good enough to end the search: more likely than most text is to the model."""

# Tokens before the gap that are read with it, at the most.
_BEFORE: Final = 200
# Actions that are written before the ends among them are looked at.
_CHUNK: Final = 16
# Looks in a row that may find nothing better in a try before it is given up.
_PATIENCE: Final = 2
# Possible ends of a chunk that are read on from, of those after which the first token is likeliest.
_SHORTLIST: Final = 3
# Tokens that are read first: an end after which they are less likely by so many nats than after the best is not read
# on from.
_GLANCE: Final = 5
_BEHIND_BY: Final = 0.5
# A filling of fewer tokens is taken only if the model ended it itself.
_LEAST: Final = 3
# What a price gains if the model ended the filling itself, and loses with each token of it.
_ENDED: Final = 0.05
_LENGTH: Final = 0.001
# A filling whose tokens are less likely on average than those of most text, read from left to right, loses this share
# of what is missing; so does one whose first token hardly follows what stands before the gap.
_TYPICAL: Final = -3.0
_FIRST: Final = -5.0
_UNLIKELY: Final = 0.25
_UNLIKELY_FIRST: Final = 0.1
# So many tokens in a row that stand right behind the gap too are a repeat, which costs so much.
_REPEAT: Final = 5
_REPEATED: Final = 2.0
# How much of the best filling is kept by the tries that rewrite its end, one after the other.
_KEPT: Final = (0.6, 0.3, 0.8, 0.5, 0.15, 0.7, 0.4, 0.9)


@dataclass(frozen=True, slots=True)
class Write:
    """A request for the next actions, at most `count`, of a run that began with `begun`; fewer mean that it is over."""

    begun: tuple[Choice, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Read:
    """A request for the log-probabilities of the `last` ids of a text; with a `token`, of that token after each of
    them."""

    ids: list[int]
    last: int
    token: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a `Write` or a `Read`."""

    choices: Sequence[Choice] = ()
    chances: Sequence[float] = ()


@dataclass(frozen=True)
class Filling:
    """A filling: its actions, Stop among them if it has an end, and its price.

    `ended` says that the model ended it itself.
    """

    choices: tuple[Choice, ...]
    tokens: tuple[int, ...]
    price: float
    ended: bool
    glance: float = -np.inf


@dataclass(frozen=True)
class _Cut:
    """A place where a filling could end: the number of actions, and the tokens in the gap then."""

    actions: int
    tokens: tuple[int, ...]
    ended: bool


Search = Generator[Write | Read, Answer, Filling]
_Look = Generator[Write | Read, Answer, Filling | None]


@dataclass(frozen=True)
class GapSurroundings:
    """The context in which a filling is read: the start marker and the last tokens before the gap, and the first after
    it.

    `room` is the number of tokens of a filling that can be read with them.
    """

    before: list[int]
    behind: list[int]
    room: int

    @classmethod
    def of(cls, canvas: Canvas, readable: int) -> GapSurroundings:
        """The surroundings of the gap on a canvas, where at most `readable` ids can be read at once."""
        behind = list(canvas.between(canvas.high, min(canvas.high + FOLLOWING, canvas.length)))
        kept = min(_BEFORE, readable // 2, canvas.low)
        start = canvas.vocabulary.start_id
        before = [start, *canvas.between(canvas.low - kept, canvas.low)]
        return cls(before, behind, readable - len(before) - len(behind))


def _always(tokens: Sequence[int]) -> bool:
    return True


@dataclass
class FillingSearch:
    """Searches the best filling of the gap on a canvas, in runs of at most `max_actions` actions."""

    canvas: Canvas
    surroundings: GapSurroundings
    tries: int = TRIES
    max_actions: int = 256
    fits: Callable[[Sequence[int]], bool] = _always
    """Whether a filling's tokens may stand before what follows."""
    _best: Filling | None = field(init=False, default=None)

    def run(self) -> Search:
        """The search as a generator; its return value is the best filling."""
        for number in range(self.tries):
            begun: tuple[Choice, ...] = ()
            if number >= FRESH and self._best is not None:
                share = _KEPT[(number - FRESH) % len(_KEPT)]
                begun = self._kept(self._best, share)
            yield from self._follow(begun)
            if self._best is not None and self._best.price >= GOOD:
                break
        assert self._best is not None
        return self._best

    def _kept(self, filling: Filling, share: float) -> tuple[Choice, ...]:
        """The actions that made the first `share` of a filling; none if there is no such part."""
        canvas, kept = copy_of(self.canvas), 0
        for number, choice in enumerate(filling.choices, start=1):
            canvas.apply(canvas.action(choice.id))
            if number <= share * len(filling.choices) and canvas.cursor == canvas.high:
                kept = number
        return filling.choices[:kept]

    def _follow(self, begun: tuple[Choice, ...]) -> Generator[Write | Read, Answer, None]:
        """Write a filling, price its possible ends, and keep the best end if it beats all before."""
        canvas, path = copy_of(self.canvas), list(begun)
        for choice in path:
            canvas.apply(canvas.action(choice.id))
        found: Filling | None = None
        # The text that was read from left to right, and how likely each token of it is.
        known: tuple[int, ...] = ()
        read: list[float] = []
        idle = 0
        while idle < _PATIENCE:
            count = min(_CHUNK, self.max_actions - len(path))
            choices = (yield Write(tuple(path), count)).choices if count > 0 else ()
            cuts: list[_Cut] = []
            for choice in choices:
                canvas.apply(canvas.action(choice.id))
                path.append(choice)
                if canvas.stopped or canvas.cursor == canvas.high:
                    text = canvas.between(canvas.low, canvas.high)
                    cuts = [cut for cut in cuts if cut.tokens != text]
                    cuts.append(_Cut(len(path), text, canvas.stopped))
            if cuts and len(cuts[-1].tokens) <= self.surroundings.room:
                now = cuts[-1].tokens
                shared = shared_length(known, now)
                del read[shared:]
                if new := len(now) - shared:
                    read += (yield Read([*self.surroundings.before, *now], new)).chances
                known = now
            better = yield from self._look(path, cuts, read)
            if better is not None and (found is None or better.price > found.price):
                found, idle = better, 0
            else:
                idle += 1
            if canvas.stopped or len(choices) < count or len(path) >= self.max_actions:
                break
        if self._best is None:
            # Nothing could be read: what was written stays as it is.
            text = canvas.between(canvas.low, canvas.high)
            self._best = Filling(tuple(path), text, -np.inf, canvas.stopped)

    def _look(self, path: Sequence[Choice], cuts: Sequence[_Cut], read: Sequence[float]) -> _Look:
        """The best of some ends, or None if none is worth continuing from; the best of all is kept, too."""
        # What is in the gap now; an end before a step back may have had another text.
        text = cuts[-1].tokens if cuts else ()
        cuts = [
            cut
            for cut in cuts
            if len(cut.tokens) <= self.surroundings.room
            and (len(cut.tokens) >= _LEAST or cut.ended)
            and cut.tokens == text[: len(cut.tokens)]
            and self.fits(cut.tokens)
        ]
        if not cuts or not self.surroundings.behind:
            return None
        shortest = min(len(cut.tokens) for cut in cuts)
        ids = [*self.surroundings.before, *text]
        answer = yield Read(ids, len(text) - shortest + 1, self.surroundings.behind[0])
        firsts = [answer.chances[len(cut.tokens) - shortest] for cut in cuts]
        order = sorted(range(len(cuts)), key=lambda place: (-cuts[place].ended, -firsts[place]))
        found: Filling | None = None
        # The longest first: what the next one begins with is then read already.
        for place in sorted(order[:_SHORTLIST], key=lambda place: -len(cuts[place].tokens)):
            filling = yield from self._priced(path, cuts[place], read)
            if filling is None:
                continue
            if found is None or filling.price > found.price:
                found = filling
            if self._best is None or filling.price > self._best.price:
                self._best = filling
        return found

    def _priced(self, path: Sequence[Choice], cut: _Cut, read: Sequence[float]) -> _Look:
        """A filling with its price; None if its first tokens rule it out."""
        ids = [*self.surroundings.before, *cut.tokens]
        first, rest = self.surroundings.behind[:_GLANCE], self.surroundings.behind[_GLANCE:]
        glance = list((yield Read([*ids, *first], len(first))).chances)
        best = self._best
        if best is not None and sum(glance) < best.glance - _BEHIND_BY:
            return None
        chances = glance
        if rest:
            chances += (yield Read([*ids, *first, *rest], len(rest))).chances
        price = sum(chances) / len(chances) + _ENDED * cut.ended - _LENGTH * len(cut.tokens)
        price -= _REPEATED * repeats(cut.tokens, self.surroundings.behind)
        price -= unlikely(read[: len(cut.tokens)])
        choices = tuple(path[: cut.actions])
        if not cut.ended:
            choices = (*choices, Choice.certain(self.canvas.vocabulary.stop_id))
        return Filling(choices, cut.tokens, price, cut.ended, sum(chances[: len(first)]))


def repeats(tokens: Sequence[int], behind: Sequence[int]) -> bool:
    """Whether a filling contains several tokens in a row that stand right after the gap, too."""
    known = {tuple(behind[at : at + _REPEAT]) for at in range(len(behind) - _REPEAT + 1)}
    return any(tuple(tokens[at : at + _REPEAT]) in known for at in range(len(tokens) - _REPEAT + 1))


def unlikely(chances: Sequence[float]) -> float:
    """The penalty of a filling for the log-probabilities of its own tokens."""
    if not chances:
        return 0.0
    missing = max(_TYPICAL - sum(chances) / len(chances), 0.0)
    return _UNLIKELY * missing + _UNLIKELY_FIRST * max(_FIRST - chances[0], 0.0)
