"""Proofreading in the worker process, at low priority and given up as soon as nobody waits for it."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from lsp_server.worker.tasks import Event, Reading, Task
from reviser.core.edits import Edit

if TYPE_CHECKING:
    from reviser.editor.incremental import Checker
    from reviser.session.engine import Engine

_CHECKERS = 4
_NICENESS = 10


class Cancelled(Exception):
    """Nobody waits for this reading any more."""


class Readers:
    """Carries out readings, and remembers what was found in which text, for a few models and settings."""

    def __init__(self) -> None:
        self._checkers: OrderedDict[tuple[object, ...], Checker] = OrderedDict()
        self._wanted: Callable[[], bool] = lambda: True
        self._is_polite = False

    def forget(self) -> None:
        self._checkers.clear()

    def read(self, task: Reading, engine: Engine, send: Callable[[Event], None], wanted: Callable[[], bool]) -> None:
        """Send what is found, as long as it is wanted."""
        from reviser.proofreading.document import Draft
        from reviser.proofreading.project.words import Words
        from reviser.prose import Format

        self._give_way()
        self._wanted = wanted
        draft = Draft(task.text, Format(task.format), Words(task.words))
        ending = "stop"
        try:
            for checked in self._checker(task, engine).check(draft, task.near):
                send(
                    Event(
                        task.id,
                        "found",
                        spans=[[*span] for span in checked.spans],
                        changes=[
                            (one.start, one.old, one.new, one.confidence, one.kind.value) for one in checked.changes
                        ],
                        fresh=checked.fresh,
                    )
                )
                self._go_on()
        except Cancelled:
            ending = "cancelled"
        send(Event(task.id, "done", ending=ending))

    def revise(self, task: Task, engine: Engine, send: Callable[[Event], None], wanted: Callable[[], bool]) -> None:
        """Proofread a part of a text, and send what changes in its passages, edit by edit."""
        from reviser.editor.revising import revise
        from reviser.proofreading.document import Draft
        from reviser.proofreading.pipeline import Proofreader
        from reviser.proofreading.project.ignoring import Place
        from reviser.proofreading.project.words import Words
        from reviser.proofreading.suggestion import Suggestion
        from reviser.prose import Format, Span
        from reviser.session.session import check_revises

        check_revises(engine.policy.vocabulary)
        self._wanted = wanted
        reader = Proofreader(engine.policy, engine.tokenizer, confidence=task.confidence)
        within = Span(task.start, task.end)
        draft = Draft(task.text, Format(task.format), Words(task.words), within)
        ignored = {Place(*one) for one in task.ignored}

        def is_wanted(change: Suggestion) -> bool:
            place = Place.of(task.name, task.text, change.start, change.old, change.new)
            return place not in ignored

        before = evaluated_by(engine)
        send(Event(task.id, "begun"))
        ending = "stop"
        try:
            made = revise(draft, lambda some: reader.proofread(some, self._go_on), is_wanted)
            for change, (first, last), _, cursor in made:
                self._go_on()
                edit = Edit(cursor - len(change.new), change.old, change.new)
                send(
                    Event(
                        task.id,
                        "step",
                        edits=(edit,),
                        first=first - task.start,
                        last=last - task.start,
                        cursor=cursor,
                        label=change.says,
                    )
                )
        except Cancelled:
            ending = "cancelled"
        used = evaluated_by(engine) - before
        send(Event(task.id, "done", ending=ending, evaluated=used))

    def _checker(self, task: Reading, engine: Engine) -> Checker:
        from reviser.editor.incremental import Checker
        from reviser.proofreading.pipeline import Proofreader
        from reviser.proofreading.suggestion import Kind

        place = (task.key, task.confidence, task.kinds)
        checker = self._checkers.pop(place, None)
        if checker is None:
            proofreader = Proofreader(
                engine.policy, engine.tokenizer, confidence=task.confidence, kinds=[Kind(kind) for kind in task.kinds]
            )
            checker = Checker(
                lambda draft: proofreader.proofread(draft, self._go_on), task.confidence, proofreader.known
            )
        self._checkers[place] = checker
        while len(self._checkers) > _CHECKERS:
            self._checkers.popitem(last=False)
        return checker

    def _go_on(self, *progress: int) -> None:
        if not self._wanted():
            raise Cancelled

    def _give_way(self) -> None:
        """An engine that reads leaves the processor to those that somebody waits for."""
        if not self._is_polite and hasattr(os, "nice"):
            with suppress(OSError):
                os.nice(_NICENESS)
        self._is_polite = True


def evaluated_by(engine: Engine) -> int:
    """How many ids have gone through the model, where it counts them."""
    return int(getattr(engine.policy, "evaluated", 0))
