"""The background check of open documents while the user pauses: one at a time, in a process of its own, cancelled by
the next edit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from lsp_server.documents.document import Documents, EditorDocument
from lsp_server.documents.sources import format_of_document, source_of
from lsp_server.settings import ServerSettings
from lsp_server.worker.client import WorkerClient
from lsp_server.worker.pauses import PausedWork
from lsp_server.worker.tasks import Event, ModelKey, ReadingTask
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.editor.excerpts import MOST, excerpt, whole_characters
from reviser.editor.findings import Findings
from reviser.editor.lists import Lists
from reviser.proofreading.suggestion import WORD, Suggestion
from reviser.prose import Format


@dataclass(eq=False)
class _State:
    """The state of the check of a document."""

    findings: Findings = field(default_factory=Findings)
    near: int = 0
    read: tuple[int, int] = (0, 0)
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Checking:
    """The findings of all open documents, kept up to date."""

    def __init__(
        self,
        worker: WorkerClient,
        documents: Documents,
        settings: Callable[[], ServerSettings],
        key: Callable[[], ModelKey],
        allows: Callable[[EditorDocument], bool],
        lists: Lists,
        ready: Callable[[], Awaitable[None]],
        show: Callable[[EditorDocument], None],
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
        self._states: dict[str, _State] = {}
        self._pauses = PausedWork(ready, self._read)
        self._basis: object = None
        self.paragraphs_read = 0

    # Events of documents

    def open(self, document: EditorDocument) -> None:
        self.close(document.uri)
        self._states[document.uri] = _State()
        self._schedule(document.uri)

    def close(self, uri: str) -> None:
        state = self._states.pop(uri, None)
        if state:
            state.done.set()
            self._pauses.give_up(uri)

    def follow(self, document: EditorDocument, change: Edit) -> None:
        """Apply a change of a document to its findings."""
        if state := self._states.get(document.uri):
            state.findings.follow(change)
            state.near = change.start + len(change.new)

    def followed(self, document: EditorDocument) -> None:
        """All changes of a message have been applied: schedule a check."""
        self._schedule(document.uri)
        self._show(document)

    def look_at(self, document: EditorDocument, offset: int) -> None:
        """Note where the user is: in a long document, this part is checked too."""
        state = self._states.get(document.uri)
        if state is None or document.length <= MOST or state.read[0] <= offset <= state.read[1]:
            return
        if not self._pauses.is_for(document.uri):
            state.near = offset
            self._schedule(document.uri)

    def refresh(self) -> None:
        """Check all documents again, because settings, model or lists may have changed."""
        for document in self._documents:
            self._schedule(document.uri)
            state = self._states.get(document.uri)
            if state and not self.is_on(document) and state.findings.clear():
                self._show(document)

    def refresh_if_new(self) -> None:
        """Check all documents again if settings, model or lists have changed since the last check."""
        documents = [(document.uri, self.is_on(document)) for document in self._documents]
        basis = (self._settings().diagnostics, self._key(), documents)
        if basis != self._basis:
            self._basis = basis
            self.refresh()

    def stop(self) -> None:
        """Cancel all checks."""
        self._pauses.stop()
        for state in self._states.values():
            state.done.set()

    # Findings

    def is_on(self, document: EditorDocument) -> bool:
        on = self._settings().diagnostics.enabled and self._allows(document)
        on = on and format_of_document(document) is not Format.UNKNOWN
        return on and not self._lists.excludes(source_of(document))

    def findings(self, document: EditorDocument) -> list[Suggestion]:
        """The findings of a document that are to be shown now."""
        state = self._states.get(document.uri)
        return self._wanted(document, state) if state and self.is_on(document) else []

    def _wanted(self, document: EditorDocument, state: _State) -> list[Suggestion]:
        if not len(state.findings):
            return []
        ignored = self._lists.ignored(source_of(document), document.text)
        return [one for one in state.findings if not ignored(one)]

    def revision(self, document: EditorDocument) -> int:
        """A number that changes whenever the findings may have changed."""
        state = self._states.get(document.uri)
        return state.findings.revision if state else 0

    async def settled(self, document: EditorDocument) -> None:
        """Wait until a document has been checked in its present version."""
        if state := self._states.get(document.uri):
            await state.done.wait()

    def leave(self, document: EditorDocument) -> None:
        """Hide the findings of a document that are ignored from now on."""
        if state := self._states.get(document.uri):
            state.findings.touch()
            self._show(document)

    def leave_word(self, word: str) -> None:
        """Hide findings about a word that was listed, and check the documents with it again."""
        for uri, state in self._states.items():
            if state.findings.leave_out(lambda one: word in WORD.findall(one.old)):
                self._show(self._documents[uri])
        self.refresh()

    # Reading

    def _schedule(self, uri: str) -> None:
        """Check a document once its user pauses; a check of its former text is cancelled."""
        state = self._states.get(uri)
        document = self._documents.get(uri)
        if state is None or document is None:
            return
        if not self.is_on(document):
            state.done.set()
            self._pauses.give_up(uri)
            return
        state.done.clear()
        self._pauses.schedule(uri, self._settings().diagnostics.delay_ms)

    async def _read(self, uri: str) -> None:
        document, state = self._documents[uri], self._states[uri]
        if not self.is_on(document):
            state.done.set()
            return
        try:
            await self._worker.load(self._key())
            start, end = excerpt(document.text, state.near, format_of_document(document))
            async with aclosing(self._worker.write(self._task(document, start, end))) as events:
                async for event in events:
                    self._take(document, state, event, start)
            state.read = (start, end)
        except ReviserError as error:
            self._report(str(error))
        finally:
            if not self._pauses.waits(uri):
                state.done.set()

    def _take(self, document: EditorDocument, state: _State, event: Event, start: int) -> None:
        if event.kind != "found":
            return
        self.paragraphs_read += event.fresh
        spans = [(start + first, start + last) for first, last in event.spans]
        found = event.suggestions(start)
        text = document.text
        if state.findings.take(spans, [f for f in found if text.startswith(f.old, f.start)]):
            self._show(document)

    def _task(self, document: EditorDocument, start: int, end: int) -> ReadingTask:
        settings = self._settings().diagnostics
        project = self._lists.settings(source_of(document))
        words = self._lists.words(source_of(document)).within(document.text)
        near = self._states[document.uri].near
        return ReadingTask(
            id=0,
            key=self._key(),
            # Each becomes one unknown character, since JSON could join two halves to one.
            text=whole_characters(document.text[start:end]),
            format=format_of_document(document).value,
            near=min(max(near - start, 0), end - start),
            words=tuple(sorted(words.terms)),
            accepted=tuple(sorted(words.accepted)),
            confidence=project.dial(settings.confidence),
            kinds=tuple(kind.value for kind in settings.kinds or sorted(project.kinds)),
            rules=self._lists.rules(source_of(document)),
        )

    async def read_now(self, document: EditorDocument, start: int, end: int) -> list[Suggestion]:
        """Check the text between two offsets at once and return its findings; raises an error if it is edited
        meanwhile.
        """
        version, covered = document.version, 0
        state = self._states.setdefault(document.uri, _State())
        state.near = start
        low, high = excerpt(document.text, start, format_of_document(document))
        end = min(end, high)
        self._pauses.interrupt(document.uri)
        async with aclosing(self._worker.write(self._task(document, low, high))) as events:
            async for event in events:
                if document.version != version or self._states.get(document.uri) is not state:
                    raise ReviserError("the text has changed while it was read")
                self._take(document, state, event, low)
                for first, last in event.spans:
                    covered += max(min(low + last, end) - max(low + first, start), 0)
                if event.kind == "found" and covered >= end - start:
                    break
        found = self._wanted(document, state)
        return [one for one in found if start <= one.start and one.end <= end]
