"""Live runs: the model's actions become edits in the editor, a few each second, merged with the user's."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Collection
from typing import Protocol

from lsp_server.documents.document import Documents, EditorDocument, joined_change
from lsp_server.documents.hunks import Hunk
from lsp_server.documents.sources import format_of_document, source_of
from lsp_server.documents.surroundings import Surroundings, line_ending, offset_before, surroundings
from lsp_server.runs.live_run import Kind, LiveRun, RunRegion
from lsp_server.runs.restoring import Restorer
from lsp_server.settings import ServerSettings
from lsp_server.worker.client import WorkerClient
from lsp_server.worker.tasks import Event, ModelKey, WritingTask
from reviser.core.edits import Edit, end_of_writing, with_all
from reviser.core.errors import ReviserError
from reviser.editor.excerpts import excerpt
from reviser.editor.lists import Lists
from reviser.proofreading.project.words import Words
from reviser.prose import Format

logger = logging.getLogger(__name__)

_AFTER = 8_192
_KEPT = 20  # runs of a document that can be taken back
_REPLY_PATIENCE = 10.0
_ECHO_PATIENCE = 4.0  # seconds to wait for the change that an edit causes, on a busy machine
_RETRIES = 50


class WrittenText:
    """The text that the model has written for a task, or of the passage that it revises, updated edit by edit."""

    def __init__(self, task: WritingTask) -> None:
        self._task = task
        self._text = ""
        self._passage = (0, 0)

    def begin(self, trailing_space: int) -> None:
        """Begin with `trailing_space` spaces before the place of writing, which the model writes again."""
        self._text = " " * trailing_space

    def follow(self, event: Event) -> str:
        """Apply the edits of a step; returns the text written so far."""
        passage = (event.first, event.last)
        if passage != self._passage:
            first, last = (self._task.start + place for place in passage)
            self._text, self._passage = self._task.text[first:last], passage
        self._text = with_all(self._text, event.edits)
        return self._text


class LiveRunEditor(Protocol):
    """The interface that live runs need of the editor."""

    async def apply(self, label: str, document: EditorDocument, change: Edit) -> bool:
        """Ask for an edit of this version of the document; False if it is refused."""

    def show(self, run: LiveRun) -> None:
        """Show the state of a run."""

    def show_changes(self, document: EditorDocument) -> None:
        """Show the pending changes of a document."""

    def say(self, message: str, *, warns: bool = False) -> None:
        """Show a message to the user."""

    def begin(self, run: LiveRun) -> None:
        """Show progress that the user can cancel."""

    def end(self, run: LiveRun) -> None:
        """End the progress of a run."""


class LiveRuns:
    """The run under way, and for each document the runs that can still be undone."""

    def __init__(
        self,
        worker: WorkerClient,
        documents: Documents,
        editor: LiveRunEditor,
        settings: Callable[[], ServerSettings],
        key: Callable[[], ModelKey],
        lists: Lists,
    ) -> None:
        self._worker = worker
        self._lists = lists
        self._documents = documents
        self._editor = editor
        self._settings = settings
        self._key = key
        self._runs: dict[str, list[LiveRun]] = {}
        self._current: LiveRun | None = None
        self._work: asyncio.Task[None] | None = None
        self._model: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._changed = asyncio.Event()
        self._seeds = itertools.count(1)
        self._started = 0.0
        self._restorer = Restorer(documents, editor.apply, lambda: self._await_change(_ECHO_PATIENCE))

    @property
    def current(self) -> LiveRun | None:
        """The run under way."""
        run = self._current
        return run if run is not None and run.running else None

    def last(self, uri: str) -> LiveRun | None:
        """The latest run of a document that has not been taken back."""
        return next((run for run in reversed(self._runs.get(uri, ())) if run.state != "rejected"), None)

    def find(self, uri: str | None, id: str | None) -> LiveRun | None:
        """The run of that id; without one, the latest of a document, or of the document written in last."""
        if id is not None:
            runs = itertools.chain.from_iterable(self._runs.values())
            return next((run for run in runs if run.id == id and run.state != "rejected"), None)
        uri = uri or (self._current.uri if self._current else "")
        return self.last(uri)

    @property
    def rate(self) -> float:
        """Actions per second of the run under way."""
        run = self.current
        return run.actions / max(time.monotonic() - self._started, 1e-3) if run else 0.0

    async def continue_(self, document: EditorDocument, offset: int | None) -> LiveRun:
        """Continue the text at `offset`, by default at the end, without reading what follows."""
        start = end_of_writing(document.text) if offset is None else offset
        return await self._start("continue", document, start, start)

    async def infill(self, document: EditorDocument, start: int, end: int) -> LiveRun:
        """Write between the text before `start` and the text after `end`."""
        return await self._start("infill", document, start, end)

    async def revise(self, document: EditorDocument, start: int, end: int) -> LiveRun:
        """Revise what stands between `start` and `end`, passage by passage."""
        return await self._start("revise", document, start, end)

    async def stop(self, reason: str = "you stopped it") -> LiveRun | None:
        """Stop the run under way and wait for its last edit; None if there is no run."""
        run = self.current
        self.halt(reason)
        if self._work is not None:
            await asyncio.shield(self._work)
        return run

    def halt(self, reason: str) -> None:
        """Stop the run under way, without waiting."""
        if self.current:
            self.current.halt("stopped", reason)
            self._give_up()

    def _give_up(self) -> None:
        """Cancel the model's work on a run that was halted."""
        if self._model is not None:
            self._model.cancel()
        self._news.set()

    async def take_back(self, run: LiveRun) -> bool:
        """Remove a run's text from the document as one edit; False if there is nothing to remove."""
        if run.running:
            await self.stop()
        taken = await self._restorer.take_back(run)
        run.state, run.reason = "rejected", ""
        self._editor.show(run)
        self._show_changes(run.uri)
        return taken

    async def accept(self, run: LiveRun) -> None:
        """Keep a run's text."""
        if run.running:
            await self.stop()
        for hunk in run.hunks:
            hunk.kept = True
        run.state, run.reason = "accepted", ""
        self._editor.show(run)
        self._show_changes(run.uri)

    def changes(self, uri: str) -> list[Hunk]:
        """The pending changes of a document, in their order."""
        hunks = (hunk for run in self._runs.get(uri, ()) for hunk in run.hunks.pending)
        return sorted(hunks, key=lambda hunk: (hunk.start, hunk.end))

    def keep_changes(self, uri: str, chosen: Collection[Hunk]) -> None:
        """Keep the new text of some changes."""
        for hunk in chosen:
            hunk.kept = True
        self._conclude(uri)

    async def put_back_changes(self, uri: str, chosen: Collection[Hunk]) -> None:
        """Revert some changes, as one edit for each run that made them."""
        try:
            for run in list(self._runs.get(uri, ())):
                await self._restorer.put_back(run, [hunk for hunk in run.hunks if hunk in chosen])
        finally:
            self._conclude(uri)

    def _conclude(self, uri: str) -> None:
        """End a run whose changes are all decided about."""
        for run in self._runs.get(uri, ()):
            undecided = run.kind == "revise" and run.state in ("finished", "stopped")
            if undecided and run.hunks.total and not run.hunks.pending:
                rejected = run.hunks.restored == run.hunks.total
                run.state, run.reason = "rejected" if rejected else "accepted", ""
                self._editor.show(run)
        self._show_changes(uri)

    def _show_changes(self, uri: str) -> None:
        if document := self._documents.get(uri):
            self._editor.show_changes(document)

    def as_sent(self, document: EditorDocument, before: str, changes: list[Edit]) -> list[Edit]:
        """The changes of a message, merged if they are the parts that an editor made of one edit of the server."""
        if len(changes) < 2:
            return changes
        joined = joined_change(before, changes, document.text)
        run = self._current
        expected = run is not None and run.uri == document.uri and run.expects(joined)
        return [joined] if expected or self._restorer.expects(document) else changes

    def follow(self, document: EditorDocument, change: Edit) -> bool:
        """Apply a change of a document to its runs; True if it is an edit that a run has sent."""
        ours = False
        restored = self._restorer.settle(document)
        for run in self._runs.get(document.uri, ()):
            origin = "elsewhere" if run is restored else run.follow(change)
            ours = ours or origin == "ours"
            if origin == "inside":
                self._give_up()
        return ours

    def followed(self, document: EditorDocument) -> None:
        """All changes of a message have been applied: continue the runs."""
        for run in self._runs.get(document.uri, ()):
            run.hunks.check(document.text)
        self._conclude(document.uri)
        self._changed.set()

    def close(self, uri: str) -> None:
        """Before a document is closed: stop its run and forget those that could be undone."""
        run = self.current
        if run and run.uri == uri:
            self.halt("the document was closed")
            # Before the document is gone, because the editor is sent positions in it.
            self._editor.show(run)
        self._runs.pop(uri, None)

    async def _start(self, kind: Kind, document: EditorDocument, start: int, end: int) -> LiveRun:
        await self.stop("another run was started")
        text, settings = document.text, self._settings()
        around = surroundings(text, start, end, 0 if kind == "continue" else _AFTER)
        revises = kind == "revise"
        run = LiveRun(
            str(next(self._seeds)), document.uri, RunRegion(start, text[start:end]), ending=line_ending(text), kind=kind
        )
        if revises and not settings.revise.temperature:
            around = _whole_paragraphs(document, start, end)
        source = source_of(document)
        name, ignored = self._lists.places(source)
        words = self._lists.words(source).within(around.text) if revises else Words()
        task = WritingTask(
            id=0,
            key=self._key(),
            document=document.uri,
            text=around.text,
            start=around.start,
            end=around.end,
            max_actions=settings.revise.max_actions if revises else settings.live.max_actions,
            temperature=settings.revise.temperature if revises else settings.temperature,
            top_k=settings.top_k,
            seed=time.time_ns() & 0xFFFFFFFF if settings.seed is None else settings.seed,
            checks_steps_back=settings.check_steps_back,
            ends_document=kind == "continue" and start >= end_of_writing(text),
            revises=revises,
            margin=settings.revise.sureness if revises else 0.0,
            format=_format(document).value,
            confidence=self._lists.settings(source).dial(settings.diagnostics.confidence),
            words=tuple(sorted(words.terms)),
            accepted=tuple(sorted(words.accepted)),
            rules=self._lists.rules(source) if revises else (),
            name=name,
            ignored=tuple(map(tuple, ignored)) if revises else (),
        )
        runs = self._runs.setdefault(document.uri, [])
        runs.append(run)
        del runs[:-_KEPT]
        self._current = run
        self._news.clear()
        self._work = asyncio.create_task(self._drive(run, task))
        return run

    async def _drive(self, run: LiveRun, task: WritingTask) -> None:
        """Carry a run out to its end; whatever happens, the editor receives its final state."""
        self._started = time.monotonic()
        self._model = model = asyncio.create_task(self._listen(run, task))
        try:
            self._editor.begin(run)
            self._editor.show(run)
            await self._write_out(run)
        except Exception:  # no failure of a run may end the server
            logger.exception("run %s failed", run.id)
            run.halt("stopped", "of an error in the server")
        finally:
            model.cancel()
            run.halt("finished")
            run.settle()
            self._editor.show(run)
            self._editor.end(run)
            if not run.wrote:
                self._forget(run)
            self._show_changes(run.uri)
            self._sum_up(run)

    def _forget(self, run: LiveRun) -> None:
        """Forget a run that wrote nothing: there is nothing to accept or undo."""
        runs = self._runs.get(run.uri, [])
        if run in runs:
            runs.remove(run)

    def _sum_up(self, run: LiveRun) -> None:
        """Tell the user a failure, or that the run changed nothing."""
        if run.failed:
            self._editor.say(run.reason, warns=True)
        elif run.kind == "revise" and run.state == "finished" and not run.hunks:
            self._editor.say("there is nothing to change")
        elif run.kind != "revise" and run.state == "finished" and not run.region.text.strip():
            self._editor.say("there is nothing to add")

    async def _listen(self, run: LiveRun, task: WritingTask) -> None:
        """Receive the model's steps as fast as it makes them."""
        written = WrittenText(task)
        try:
            async with contextlib.aclosing(self._worker.write(task)) as events:
                async for event in events:
                    if event.kind == "begun" and event.trailing_space:
                        written.begin(event.trailing_space)
                        run.take_in(event.trailing_space, self._documents[run.uri].text)
                    elif event.kind == "step":
                        text = written.follow(event)
                        run.advance(text, event.cursor, _passage(run, event))
                        if run.actions == 1:
                            self._started = time.monotonic()
                    self._news.set()
        except ReviserError as error:
            run.failed = run.running
            run.halt("stopped", str(error))
        finally:
            run.whole = True
            self._news.set()

    async def _write_out(self, run: LiveRun) -> None:
        """Send edits to the editor, not more often than the settings allow, until all text is written."""
        while True:
            await self._news.wait()
            self._news.clear()
            document = self._documents.get(run.uri)
            if not run.running or document is None:
                return
            change = run.next_change(document.text)
            if change is not None:
                await self._edit(run, document, change)
            elif run.whole:
                return
            if run.running:
                self._editor.show(run)
            await asyncio.sleep(1 / self._settings().live.edits_per_second)
            if run.whole or run.next_change(document.text) is not None:
                self._news.set()

    async def _edit(self, run: LiveRun, document: EditorDocument, change: Edit) -> None:
        """Send one edit for the present version; the reported change shows whether it was carried out."""
        version = document.version
        run.sent(change)
        try:
            applied = await asyncio.wait_for(self._editor.apply(run.label, document, change), _REPLY_PATIENCE)
        except TimeoutError:
            run.halt("stopped", "the editor does not answer")
            return
        unchanged = document.version == version
        if run.awaits_echo and (applied or unchanged):
            # Editors may report "applied" and skip the edit: only the change that it causes is proof. And
            # the change that made them refuse an edit may arrive after their answer.
            await self._await_change(_ECHO_PATIENCE)
        if not run.awaits_echo:
            run.refusals = 0
            return
        run.lost()
        run.refusals += 1
        if document.version == version or run.refusals > _RETRIES:
            run.halt("stopped", "the editor refused an edit")

    async def _await_change(self, patience: float) -> None:
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), patience)


def _format(document: EditorDocument) -> Format:
    """The format in which a document is revised; plain text if its own is unknown."""
    format = format_of_document(document)
    return Format.PLAIN if format is Format.UNKNOWN else format


def _whole_paragraphs(document: EditorDocument, start: int, end: int) -> Surroundings:
    """The text between two offsets, with enough around it to tell prose from other text."""
    text = document.text
    low, high = excerpt(text, start, _format(document))
    return Surroundings.of(text[min(low, start) : start], text[start:end], text[end : max(high, end)])


def _passage(run: LiveRun, event: Event) -> tuple[int, int] | None:
    """The part of a region's original text that a step is about; None means all of it."""
    if not event.last:
        return None
    return offset_before(run.original, event.first), offset_before(run.original, event.last)
