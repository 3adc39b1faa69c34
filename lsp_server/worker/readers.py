"""The proofreading tasks of the worker process, whose results are sent as events."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from lsp_server.worker.tasks import Event, ReadingTask, WritingTask
from reviser.core.edits import Edit

if TYPE_CHECKING:
    from reviser.editor.reader import EditorReader
    from reviser.session.engine import Engine

_NICENESS = 10


def read(task: ReadingTask, reader: EditorReader, send: Callable[[Event], None], waits: Callable[[], bool]) -> None:
    """Proofread a text and send the findings, until the client cancels."""
    from reviser.editor.reader import Cancelled
    from reviser.proofreading.document import Draft
    from reviser.proofreading.project.words import Words
    from reviser.proofreading.suggestion import Kind
    from reviser.prose import Format

    _give_way()
    draft = Draft(task.text, Format(task.format), Words(task.words))
    kinds = [Kind(kind) for kind in task.kinds]
    ending = "stop"
    try:
        for part in reader.check(draft, task.near, task.confidence, kinds, waits):
            found = [(one.start, one.old, one.new, one.confidence, one.kind.value) for one in part.changes]
            send(Event(task.id, "found", spans=[[*span] for span in part.spans], changes=found, fresh=part.fresh))
    except Cancelled:
        ending = "cancelled"
    send(Event(task.id, "done", ending=ending))


def revise(task: WritingTask, reader: EditorReader, send: Callable[[Event], None], waits: Callable[[], bool]) -> None:
    """Proofread a part of a text, and send the edits of each passage one by one."""
    from reviser.editor.reader import Cancelled
    from reviser.proofreading.document import Draft
    from reviser.proofreading.project.ignoring import IgnoredPlace
    from reviser.proofreading.project.words import Words
    from reviser.prose import Format, Span

    draft = Draft(task.text, Format(task.format), Words(task.words), Span(task.start, task.end))
    ignored = {IgnoredPlace(*one) for one in task.ignored}
    before = evaluated_by(reader.engine)
    ending = "stop"
    try:
        made = reader.revise(draft, task.confidence, task.name, ignored, waits)
        send(Event(task.id, "begun"))
        for change, passage, _, cursor in made:
            edit = Edit(cursor - len(change.new), change.old, change.new)
            first, last = (place - task.start for place in passage)
            send(Event(task.id, "step", edits=(edit,), first=first, last=last, cursor=cursor, label=change.says))
    except Cancelled:
        ending = "cancelled"
    send(Event(task.id, "done", ending=ending, evaluated=evaluated_by(reader.engine) - before))


@cache
def _give_way() -> None:
    """Lower the priority of this process, so that interactive work comes first."""
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)


def evaluated_by(engine: Engine) -> int:
    """The number of ids that the model has evaluated; 0 if the engine does not count them."""
    return int(getattr(engine.policy, "evaluated", 0))
