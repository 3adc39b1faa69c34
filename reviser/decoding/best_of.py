"""Rollouts that fill a gap: the best filling is searched for first, and then written.

`reviser.decoding.filling` decides what is best; here the model writes and reads what the search asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviser.core.actions import Action, Splice
from reviser.core.canvas import Canvas
from reviser.decoding.filling import TRIES, Answer, FillingSearch, GapSurroundings, Read, Write
from reviser.decoding.guidance import Guided
from reviser.decoding.left_to_right import Reading
from reviser.decoding.lookahead import copy_of
from reviser.decoding.rollout import Policy, Rollout, Step
from reviser.decoding.rules.rule import ScoreProcessor
from reviser.decoding.sampler import Choice, Sampler

Begin = Callable[[Canvas, Sampler], Rollout]
"""Begins a try on a canvas; it draws from the sampler."""


class BestRollout(Rollout):
    """A rollout that writes the best of several tries; after a caller's own action it goes on without searching.

    `guided` is the policy of the tries where they are guided: what it has read need not be read again. `fits` says
    whether the tokens of a filling may stand before what follows.
    """

    def __init__(
        self,
        policy: Policy,
        canvas: Canvas,
        history: Sequence[int],
        sampler: Sampler | None,
        begin: Begin,
        reading: Reading,
        *,
        rules: Sequence[ScoreProcessor] = (),
        guided: Guided | None = None,
        tries: int = TRIES,
        max_actions: int = 256,
        fits: Callable[[Sequence[int]], bool] | None = None,
    ) -> None:
        super().__init__(policy, canvas, history, sampler, rules=rules, max_actions=max_actions)
        self._reading = reading
        self._fits = fits
        self._guided = guided
        self._tries = tries
        self._searches = True
        self._writing = _Writing(lambda: begin(copy_of(self.canvas), self.sampler))
        self.ended_by_model = False

    def take(self, id: int, action: Action | None = None) -> Step:
        self._searches = False
        return super().take(id, action)

    def take_back(self) -> tuple[Splice, ...]:
        self._searches = False
        return super().take_back()

    def _decide(self) -> Sequence[Choice]:
        if self._searches:
            self._searches = False
            best = self._best()
            if best or self._cancelled:
                return best
        return super()._decide()

    def _best(self) -> tuple[Choice, ...]:
        around = GapSurroundings.of(self.canvas, self._reading.readable)
        # Where nothing is drawn, all tries would be the same.
        tries = self._tries if self.sampler.temperature else 1
        found = FillingSearch(self.canvas, around, tries, self.max_actions)
        if self._fits is not None:
            found.fits = self._fits
        search = found.run()
        try:
            asked = next(search)
            while not self._cancelled:
                asked = search.send(self._answer(asked))
        except StopIteration as over:
            filling = over.value
            self.ended_by_model = filling.ended
            choices: tuple[Choice, ...] = filling.choices
            return choices
        search.close()
        return ()

    def _answer(self, asked: Write | Read) -> Answer:
        if isinstance(asked, Write):
            return Answer(choices=self._writing.go_on(asked, lambda: self._cancelled))
        noted: dict[tuple[int, ...], float] = {}
        if self._guided is not None:
            noted = self._guided.last if asked.token is None else self._guided.noted
        found = _known(noted, asked.ids, asked.last)
        if missing := asked.last - len(found):
            if asked.token is None:
                found += self._reading.chances(asked.ids, missing)
            else:
                found += self._reading.following(asked.ids, asked.token, missing)
        return Answer(chances=found)


def _known(noted: dict[tuple[int, ...], float], ids: list[int], last: int) -> list[float]:
    """The cached log-probabilities of the `last` prefixes of a text, shortest first, up to the first that is not
    cached."""
    found: list[float] = []
    for size in range(len(ids) - last + 1, len(ids) + 1):
        chance = noted.get(tuple(ids[:size]))
        if chance is None:
            break
        found.append(chance)
    return found


class _Writing:
    """The try in progress; another one is begun when the search asks for another."""

    def __init__(self, begin: Callable[[], Rollout]) -> None:
        self._begin = begin
        self._run: Rollout | None = None
        self._path: list[int] = []

    def go_on(self, asked: Write, cancelled: Callable[[], bool]) -> list[Choice]:
        begun = [choice.id for choice in asked.begun]
        if self._run is None or begun != self._path or not begun:
            self._run, self._path = self._begin(), []
            for id in begun:
                self._run.take(id)
                self._path.append(id)
        written: list[Choice] = []
        while len(written) < asked.count and not cancelled():
            step = next(self._run, None)
            if step is None:
                break
            written.append(step.choice)
            self._path.append(step.id)
        return written
