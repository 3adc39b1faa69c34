"""The tasks of the worker process that read a document: proofreading, and following edits. Results are events."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from lsp_server.worker.tasks import Event, FollowingTask, FoundChange, ReadingTask, WritingTask
from reviser.core.edits import Edit

if TYPE_CHECKING:
    from reviser.editor.reader import EditorReader
    from reviser.next_edits.following import EditedDocument, EditFollower
    from reviser.proofreading.rules.own import RuleText
    from reviser.proofreading.suggestion import Suggestion
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
    draft = Draft(task.text, Format(task.format), Words(task.words, task.accepted), rules=_rules(task))
    kinds = [Kind(kind) for kind in task.kinds]
    ending = "stop"
    try:
        for part in reader.check(draft, task.near, task.confidence, kinds, waits):
            spans = [[*span] for span in part.spans]
            send(Event(task.id, "found", spans=spans, changes=_found(part.changes), fresh=part.fresh))
    except Cancelled:
        ending = "cancelled"
    send(Event(task.id, "done", ending=ending))


def _rules(task: ReadingTask | WritingTask) -> tuple[RuleText, ...]:
    """The project's own rules that a task brings along."""
    from reviser.proofreading.rules.own import RuleText

    return tuple(RuleText(*one) for one in task.rules)


def revise(task: WritingTask, reader: EditorReader, send: Callable[[Event], None], waits: Callable[[], bool]) -> None:
    """Proofread a part of a text, and send the edits of each passage one by one."""
    from reviser.editor.reader import Cancelled
    from reviser.proofreading.document import Draft
    from reviser.proofreading.project.ignoring import IgnoredPlace
    from reviser.proofreading.project.words import Words
    from reviser.prose import Format, Span

    draft = Draft(
        task.text, Format(task.format), Words(task.words, task.accepted), Span(task.start, task.end), _rules(task)
    )
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


def follow(
    task: FollowingTask, reader: EditorReader | None, send: Callable[[Event], None], waits: Callable[[], bool]
) -> None:
    """Send the next edits in a part of a text, judged by the text alone or, with a `reader`, by its model."""
    from reviser.editor.reader import Cancelled

    ending = "stop"
    try:
        found = _by_text_alone(replace(task, id=0)) if reader is None else _with_model(task, reader, waits)
        if found is not None:
            send(Event(task.id, "found", spans=[[task.first, task.last]], changes=found))
    except Cancelled:
        ending = "cancelled"
    send(Event(task.id, "done", ending=ending))


@lru_cache(maxsize=32)
def _by_text_alone(task: FollowingTask) -> list[FoundChange]:
    """The next edits of a task, kept for the parts of long documents that stay as they are."""
    return _found(_text_follower().suggestions(_edited(task), task.confidence, (task.first, task.last)))


def _with_model(task: FollowingTask, reader: EditorReader, waits: Callable[[], bool]) -> list[FoundChange] | None:
    """The next edits of a task; None if the model has not learned them."""
    found = reader.next_edits(_edited(task), task.confidence, (task.first, task.last), waits)
    return None if found is None else _found(found)


def _edited(task: FollowingTask) -> EditedDocument:
    from reviser.next_edits.following import EditedDocument, RefusedEdit
    from reviser.next_edits.prompt import RecentEdit
    from reviser.prose import Format

    made = [Edit(*one) for one in task.made]
    elsewhere = [RecentEdit(*one) for one in task.elsewhere]
    return EditedDocument(task.text, Format(task.format), made, elsewhere, [RefusedEdit(*one) for one in task.refused])


def _found(changes: Iterable[Suggestion]) -> list[FoundChange]:
    return [(one.start, one.old, one.new, one.confidence, one.kind.value, one.reason, one.rule) for one in changes]


@cache
def _text_follower() -> EditFollower:
    from reviser.next_edits.following import follower

    return follower()


@cache
def _give_way() -> None:
    """Lower the priority of this process, so that interactive work comes first."""
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)


def evaluated_by(engine: Engine) -> int:
    """The number of ids that the model has evaluated; 0 if the engine does not count them."""
    return int(getattr(engine.policy, "evaluated", 0))
