"""The provider of suggestions at a cursor: from the cache where it has them, else from the model, one request at a
time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Literal

from lsp_server.completion.places import is_prose
from lsp_server.completion.suggestions import (
    Context,
    Removal,
    RequestTiming,
    SuggestionCache,
    repeats,
    trim,
    whole_clause,
    without_repetition,
)
from lsp_server.documents.document import EditorDocument
from lsp_server.documents.sources import format_of_document
from lsp_server.documents.surroundings import line_ending, surroundings
from lsp_server.settings import ServerSettings
from lsp_server.worker.client import WorkerClient
from lsp_server.worker.tasks import ModelKey, SuggestingTask
from reviser.decoding.suggestion import begun_word, is_worth_showing

logger = logging.getLogger(__name__)

Kind = Literal["inline", "list"]

# Characters behind the cursor that the model gets: few, because it reads them again at every key.
_AFTER = 160


@dataclass(frozen=True)
class _Request:
    """A suggestion request of an editor that has not been answered, with the version of its document."""

    kind: Kind
    document: str
    version: int
    work: asyncio.Task[list[str]]


@dataclass(eq=False)
class _ModelRequest:
    """A request to the model: the context, how many suggestions are wanted, and what the first one has so far in
    `begun`.
    """

    context: Context
    count: int
    invoked: bool
    begun: str = ""
    work: asyncio.Task[None] = field(init=False)

    def is_about(self, context: Context) -> bool:
        """Whether the answer is still of use: the user has typed nothing since, or what the model suggests."""
        before = self.context.before
        if context != replace(self.context, before=context.before) or not context.before.startswith(before):
            return False
        typed = context.before[len(before) :]
        return typed.startswith(self.begun) or self.begun.startswith(typed)


class Completer:
    """Suggestions for all documents; at most one request of a kind is under way, and a newer one cancels the older.

    The model gets one request at a time. It continues while the user types what the model suggests, so that a request
    is completed even if every key sends a new one.
    """

    def __init__(
        self,
        worker: WorkerClient,
        settings: Callable[[], ServerSettings],
        key: Callable[[], ModelKey],
        show: Callable[[], None],
    ) -> None:
        self._worker = worker
        self._settings = settings
        self._key = key
        self._show = show
        self._cache = SuggestionCache()
        self._asked_for = SuggestionCache()
        self._confidence = self._settings().completion.confidence
        self._last_place: tuple[str, int, bool] | None = None
        self._last_belongs = False
        self._pace = RequestTiming()
        self._removals: dict[str, Removal] = {}
        self._requests: list[_Request] = []
        self._question: _ModelRequest | None = None
        self._wanted: Context | None = None
        self.superseded = 0
        self.from_cache = 0

    @property
    def busy(self) -> bool:
        """Whether a request to the model is under way."""
        return self._question is not None

    def removal(self, uri: str) -> Removal:
        """What the user last removed from a document."""
        return self._removals.setdefault(uri, Removal())

    def typed(self) -> None:
        self._pace.key(time.monotonic())

    def close(self, uri: str) -> None:
        self._removals.pop(uri, None)
        for request in self._requests:
            if request.document == uri:
                request.work.cancel()
        if self._question is not None and self._question.context.document == uri:
            self._question.work.cancel()

    def forget(self) -> None:
        """Clear the caches, because another model will be used."""
        self.stop()
        self._cache.forget()
        self._asked_for.forget()

    def stop(self) -> None:
        """Cancel all requests."""
        for request in self._requests:
            request.work.cancel()
        if self._question is not None:
            self._question.work.cancel()

    async def suggest(
        self, kind: Kind, document: EditorDocument, offset: int, count: int, *, invoked: bool
    ) -> list[str]:
        """Returns up to `count` texts for the cursor; none if a newer request has superseded this one."""
        self._supersede(kind, document)
        work = asyncio.ensure_future(self._suggest(kind, document, offset, count, invoked))
        request = _Request(kind, document.uri, document.version, work)
        self._requests.append(request)
        try:
            return await work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return []
        finally:
            self._requests.remove(request)

    def _supersede(self, kind: Kind, document: EditorDocument) -> None:
        for request in self._requests:
            same_text = (request.document, request.version) == (document.uri, document.version)
            if request.kind == kind or not same_text:
                self.superseded += 1
                request.work.cancel()

    async def _suggest(self, kind: Kind, document: EditorDocument, offset: int, count: int, invoked: bool) -> list[str]:
        settings = self._settings().completion
        if settings.confidence != self._confidence:
            self._cache.forget()
            self._confidence = settings.confidence
        around = surroundings(document.text, offset, offset, _AFTER)
        if not invoked and around.after[:1].isalnum() and around.before[-1:].isalnum():
            return []  # inside a word, nobody wants to be interrupted
        context = Context(document.uri, around.before, around.after)
        removed = self.removal(document.uri).near(offset)
        ending = line_ending(document.text)
        self._wanted = context
        asked, due = False, invoked
        while True:
            shown = self._shown(self._known(context, invoked), context, removed)
            if asked or len(shown) >= count:
                self.from_cache += not asked
                return [text.replace("\n", ending) for text in shown[:count]]
            if not self._belongs(document, offset, invoked):
                return []
            await self._worker.load(self._key())
            if (question := self._question) is not None:
                if not question.is_about(context):
                    question.work.cancel()
                await asyncio.wait([question.work])
            elif not due:
                least, most = settings.min_delay_ms / 1000, settings.max_delay_ms / 1000
                await asyncio.sleep(self._pace.delay(time.monotonic(), least, most))
                due = True
            else:
                await self._ask(_ModelRequest(context, count, invoked))
                asked = True

    def _known(self, context: Context, invoked: bool) -> Iterator[str]:
        """The rests of cached suggestions; one that the user asked for is kept while it is typed, and is longer."""
        yield from self._asked_for.find(context)
        if not invoked:
            yield from self._cache.find(context)

    def _belongs(self, document: EditorDocument, offset: int, invoked: bool) -> bool:
        """Whether suggestions belong at a place, which must be prose; the answer is kept while a word is typed."""
        text = document.text
        word = begun_word(text[max(offset - 64, 0) : offset])
        inside = bool(word.strip())
        place = (document.uri, offset - len(word) if inside else offset, invoked)
        if not inside or place != self._last_place:
            self._last_belongs = is_prose(text, offset, format_of_document(document), invoked=invoked)
            self._last_place = place
        return self._last_belongs

    def _shown(self, suggestions: Iterable[str], context: Context, removed: str) -> list[str]:
        """The suggestions as they can be shown, without duplicates and without what the user has removed."""
        unit = self._settings().completion.unit
        texts: dict[str, None] = {}
        for suggestion in suggestions:
            text = without_repetition(trim(suggestion, unit), context.after)
            if text.strip() and not repeats(text, removed):
                texts[text] = None
        return list(texts)

    async def _ask(self, question: _ModelRequest) -> None:
        """Send a request to the model and wait until its answer is in the cache.

        If the caller is cancelled, a request that the user made is cancelled too. Any other goes on, because the next
        key sends a similar one.
        """
        self._question = question
        question.work = asyncio.create_task(self._answer(question))
        question.work.add_done_callback(self._over)
        self._show()
        try:
            await asyncio.wait([question.work])
        except asyncio.CancelledError:
            if question.invoked:
                question.work.cancel()
            raise
        if not question.work.cancelled():
            question.work.result()

    def _over(self, work: asyncio.Task[None]) -> None:
        if not work.cancelled():
            work.exception()  # which whoever asked has been told, if they still wait
        self._question = None
        self._show()

    async def _answer(self, question: _ModelRequest) -> None:
        """Receive suggestions and cache those worth showing: if the user did not ask, only confident ones."""
        context, invoked = question.context, question.invoked
        completion = self._settings().completion
        task = SuggestingTask(
            id=0,
            key=self._key(),
            document=context.document,
            text=context.before + context.after,
            at=len(context.before),
            count=question.count,
            tokens=completion.max_actions_invoked if invoked else completion.max_actions,
            confidence=0.0 if invoked else completion.confidence,
            whole_line=completion.unit == "line",
        )
        texts: Sequence[str] | None = None
        began = time.monotonic()
        self._pace.asked(began)
        try:
            async with aclosing(self._worker.write(task)) as events:
                async for event in events:
                    if event.kind == "done":
                        texts = event.texts
                    question.begun = event.text or question.begun
                    if self._wanted is not None and not question.is_about(self._wanted):
                        break
        finally:
            self._pace.answered(time.monotonic() - began, whole=texts is not None, long=invoked)
        cache = self._asked_for if invoked else self._cache
        for text in texts or ():
            shown = whole_clause(text) if invoked else text
            if is_worth_showing(shown, context.before[-1:].isalnum(), invoked=invoked):
                cache.put(context, shown)
