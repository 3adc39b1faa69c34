"""The edits of the user in open documents, followed while he pauses: what else to change is found by the text alone at
once, around the last edit first, and by a model afterwards, if it has learned next edits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import astuple, dataclass, field, replace
from typing import Final

from lsp_server.documents.document import Documents, EditorDocument
from lsp_server.documents.sources import format_of_document, source_of
from lsp_server.next_edits.parts import NormalText, refused_edit
from lsp_server.settings import ServerSettings
from lsp_server.worker.client import WorkerClient
from lsp_server.worker.pauses import PausedWork
from lsp_server.worker.tasks import FollowingTask, ModelKey
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.editor.excerpts import excerpts, ranges_around
from reviser.editor.findings import Findings
from reviser.editor.lists import Lists
from reviser.next_edits.following import RefusedEdit
from reviser.next_edits.history import EditHistory, meant_in
from reviser.next_edits.judgement import weighs_a_model
from reviser.next_edits.prompt import recent_edit
from reviser.proofreading.suggestion import Suggestion
from reviser.prose import Format

LONGEST: Final = 2_000_000
"""The length of the longest document in which edits are followed, in characters."""
MOST_AT_ONCE: Final = 8
"""The most changes in one message that a person makes; a formatter or a replacement of all occurrences makes more."""
_LONGEST_CHANGE: Final = 2000
_READ_AT_ONCE: Final = 6000


@dataclass(eq=False)
class _FollowedDocument:
    """A document's history, the next edits that are offered in it, and the accepted and refused ones.

    Accepted ones are kept as the edits that would undo them.
    """

    history: EditHistory
    offers: Findings = field(default_factory=Findings)
    accepted: Findings = field(default_factory=Findings)
    refused: list[RefusedEdit] = field(default_factory=list)
    near: int = 0
    # The edits and refusals that the offers are for.
    followed: object = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class NextEdits:
    """The next edits of all open documents, kept up to date."""

    def __init__(
        self,
        worker: WorkerClient,
        documents: Documents,
        settings: Callable[[], ServerSettings],
        key: Callable[[], ModelKey],
        allows: Callable[[EditorDocument], bool],
        lists: Lists,
        ready: Callable[[], Awaitable[None]],
        show: Callable[..., None],
        report: Callable[[str], None],
    ) -> None:
        self._worker = worker
        self._documents = documents
        self._settings = settings
        self._key = key
        self._allows = allows
        self._lists = lists
        self._show = show
        self._report = report
        self._states: dict[str, _FollowedDocument] = {}
        self._pauses = PausedWork(ready, self._follow_edits)
        self._warming: asyncio.Task[None] | None = None

    # Events of documents

    def open(self, document: EditorDocument) -> None:
        self.close(document.uri)
        if document.length <= LONGEST:
            self._states[document.uri] = _FollowedDocument(EditHistory(document.text))
            self._states[document.uri].done.set()

    def close(self, uri: str) -> None:
        if state := self._states.pop(uri, None):
            self._pauses.give_up(uri)
            state.done.set()

    def follow(self, document: EditorDocument, change: Edit, *, by_person: bool) -> None:
        """Apply a change of a document; offers that it makes untrue or touches are gone."""
        state = self._states.get(document.uri)
        change = change.core
        if state is None or not (change.old or change.new):
            return
        accepted = next((one for one in state.offers if one.edit.core == change), None)
        undone = next((one for one in state.accepted if one.edit.core == change), None)
        by_person = accepted is not None or (by_person and max(len(change.old), len(change.new)) <= _LONGEST_CHANGE)
        alters = any(start <= change.end and change.start <= end for start, end in state.history.places)
        state.history.change(change, by_person=by_person)
        state.offers.follow(change)
        state.accepted.follow(change)
        state.near = change.start + len(change.new)
        if undone is not None:
            state.refused.append(refused_edit(state.history.text, undone.edit.inverse()))
        elif accepted is not None:
            inverse = Suggestion(accepted.edit.inverse(), accepted.kind)
            state.accepted.take([], [inverse])
        elif alters:
            # The edit that was followed may be another one now.
            state.offers.clear()
            state.followed = None

    def followed(self, document: EditorDocument) -> None:
        """All changes of a message have been applied: look for next edits once the user pauses."""
        if self._schedule(document):
            self._show(document)
            if self._pauses.waits(document.uri):
                self._warm_up()

    def refresh(self) -> None:
        """Follow all documents again, because settings or lists may have changed."""
        for document in self._documents:
            if state := self._states.get(document.uri):
                state.followed = None
            self.followed(document)

    def stop(self) -> None:
        """Cancel all work."""
        self._pauses.stop()
        for state in self._states.values():
            state.done.set()

    # Offers

    def is_on(self, document: EditorDocument) -> bool:
        settings = self._settings().next_edits
        on = settings.allows(document.language) and self._allows(document)
        on = on and format_of_document(document) is not Format.UNKNOWN
        return on and not self._lists.excludes(source_of(document))

    def offers(self, document: EditorDocument) -> list[Suggestion]:
        """The next edits of a document that are to be shown now, in order."""
        state = self._states.get(document.uri)
        return [*state.offers] if state and self.is_on(document) else []

    def revision(self, document: EditorDocument) -> int:
        """A number that changes whenever the offers may have changed."""
        state = self._states.get(document.uri)
        return state.offers.revision if state else 0

    async def settled(self, document: EditorDocument) -> None:
        """Wait until the edits of a document in its present version have been followed."""
        if state := self._states.get(document.uri):
            await state.done.wait()

    def refuse(self, document: EditorDocument, offer: Suggestion) -> None:
        """Do not offer this any more, and its like less."""
        state = self._states[document.uri]
        state.refused.append(refused_edit(state.history.text, offer.edit))
        state.offers.leave_out(lambda one: one == offer)
        self.hurry(document)
        self._show(document)

    def hurry(self, document: EditorDocument) -> None:
        """Follow the edits of a document now, not at the next pause."""
        self._schedule(document, delay_ms=0)

    # Following

    def _schedule(self, document: EditorDocument, delay_ms: float | None = None) -> bool:
        """Follow the edits of a document after a pause; False if it has no history."""
        state = self._states.get(document.uri)
        if state is None:
            return False
        if self.is_on(document):
            state.done.clear()
            delay = self._settings().next_edits.delay_ms if delay_ms is None else delay_ms
            self._pauses.schedule(document.uri, delay)
        else:
            self._pauses.give_up(document.uri)
            state.offers.clear()
            state.done.set()
        return True

    def _warm_up(self) -> None:
        """Let the worker load what it needs while the user still types."""
        if not self._worker.connected and (self._warming is None or self._warming.done()):
            self._warming = asyncio.create_task(self._look_into_nothing())

    async def _look_into_nothing(self) -> None:
        nothing = FollowingTask(0, self._key(), "", Format.PLAIN.value, (), (), (), None, 0, 0)
        with suppress(ReviserError):
            async with aclosing(self._worker.write(nothing)) as events:
                async for _ in events:
                    pass

    async def _follow_edits(self, uri: str) -> None:
        document, state = self._documents[uri], self._states[uri]
        try:
            state.history.settle()
            text = state.history.text
            # Comparing long lines takes time, in which suggestions are answered and documents change.
            made = await asyncio.to_thread(meant_in, state.history.changed())
            followed = ([recent_edit(text, edit) for edit in made], [*state.refused])
            if not made:
                state.offers.clear()
            elif followed != state.followed:
                await self._find(document, state, text, made)
            state.followed = followed
            if made and weighs_a_model():
                await self._find(document, state, text, made, asks_model=True)
        except ReviserError as error:
            self._report(str(error))
        finally:
            if not self._pauses.waits(uri):
                state.done.set()
        self._show(document, paused=True)

    async def _find(
        self,
        document: EditorDocument,
        state: _FollowedDocument,
        text: str,
        made: Sequence[Edit],
        *,
        asks_model: bool = False,
    ) -> None:
        """Look for next edits in the parts of a text, those around the last edit first."""
        format = format_of_document(document)
        for start, end in excerpts(text, state.near, format):
            inside = [one for one in made if start <= one.start and one.start + len(one.new) <= end]
            elsewhere = [recent_edit(text, one) for one in made if one not in inside]
            part = NormalText(text[start:end])
            task = FollowingTask(
                id=0,
                key=self._key(),
                text=part.text,
                format=format.value,
                made=tuple((part.normal(one.start - start), one.old, one.new) for one in inside),
                elsewhere=tuple(astuple(one) for one in elsewhere),
                refused=tuple(astuple(one) for one in state.refused),
                confidence=self._settings().next_edits.confidence,
                first=0,
                last=len(part.text) + 1,
                asks_model=asks_model,
            )
            near = part.normal(min(max(state.near - start, 0), end - start))
            ranges = ranges_around(near, task.last, _READ_AT_ONCE) if asks_model else [(0, task.last)]
            for first, last in ranges:
                async with aclosing(self._worker.write(replace(task, first=first, last=last))) as events:
                    async for event in events:
                        if event.kind == "found":
                            span = (start + part.raw(first), start + part.raw(last))
                            found = [one.moved(start + part.raw(one.start) - one.start) for one in event.suggestions()]
                            self._take(document, state, span, found)

    def _take(
        self, document: EditorDocument, state: _FollowedDocument, span: tuple[int, int], found: Iterable[Suggestion]
    ) -> None:
        text, edited = state.history.text, state.history.places
        free = [
            one
            for one in found
            if text.startswith(one.old, one.start) and all(one.end < start or end < one.start for start, end in edited)
        ]
        if state.offers.take([span], free):
            self._show(document)
