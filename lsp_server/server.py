"""The server: its state, and the parts that do the work."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from lsp_server.capabilities import Client
from lsp_server.completion.completer import Completer
from lsp_server.documents.document import Documents, EditorDocument, UnknownDocument
from lsp_server.documents.sources import file_of
from lsp_server.messages import NEXT_EDITS, STATUS, NextEditsParams, Status, make_converter
from lsp_server.next_edits.following import NextEdits
from lsp_server.next_edits.offers import describe
from lsp_server.proofreading.checking import Checking
from lsp_server.proofreading.diagnostics import Diagnostics
from lsp_server.protocol import ReviserProtocol, invalid
from lsp_server.runs.editor import LspEditor
from lsp_server.runs.live_runs import LiveRuns
from lsp_server.settings import ServerSettings, read_settings
from lsp_server.worker.client import WorkerClient
from lsp_server.worker.process import socket_path
from lsp_server.worker.tasks import ModelKey
from reviser import __version__
from reviser.core.errors import ReviserError
from reviser.editor.lists import Lists

logger = logging.getLogger(__name__)

_SETTINGS_PATIENCE = 2.0


class ReviserServer(LanguageServer):
    """Documents, settings, suggestions and live runs behind one connection."""

    protocol: ReviserProtocol

    def __init__(self) -> None:
        super().__init__("reviser", __version__, protocol_cls=ReviserProtocol, converter_factory=make_converter)
        self.documents = Documents()
        self.settings = ServerSettings()
        self.client = Client()
        self.switches: dict[str, bool] = {}
        self.settings_known = asyncio.Event()
        self._initial: dict[str, object] = {}
        self._chosen_model: str | None = None
        self._last_status: Status | None = None
        self._told: set[str] = set()
        self.shown_edits: dict[str, NextEditsParams] = {}
        self._preparing: asyncio.Task[None] | None = None
        self._closing: asyncio.Future[None] | None = None
        self.worker = WorkerClient(
            lambda: self.settings.unload_after_s,
            lambda: socket_path() if self.settings.shared_engine else None,
            self.show_status,
        )
        self.completer = Completer(self.worker, lambda: self.settings, self.model_key, self.show_status)
        self.editor = LspEditor(self)
        self.lists = Lists(self._roots, self.report)
        self.runs = LiveRuns(
            self.worker, self.documents, self.editor, lambda: self.settings, self.model_key, self.lists
        )
        # Proofreading is slow and must not delay suggestions, so it has an engine of its own.
        self.reader = WorkerClient(
            lambda: self.settings.unload_after_s,
            lambda: socket_path("reading") if self.settings.shared_engine else None,
            self.show_status,
        )
        self.diagnostics = Diagnostics(self)
        self.next_edits = NextEdits(
            self.reader,
            self.documents,
            lambda: self.settings,
            self.model_key,
            self.allows,
            self.lists,
            self.settled,
            self.show_next_edits,
            self.report,
        )
        self.checking = Checking(
            self.reader,
            self.documents,
            lambda: self.settings,
            self.model_key,
            self.allows,
            self.lists,
            self.settled,
            self.diagnostics.show,
            self.report,
        )

    def model_key(self) -> ModelKey:
        return ModelKey(self._chosen_model or self.settings.model, self.settings.threads)

    def _roots(self) -> list[Path]:
        """The folders that the editor has open."""
        folders = [file_of(folder.uri) for folder in self.workspace.folders.values()]
        root = file_of(self.workspace.root_uri) if self.workspace.root_uri else None
        return [folder for folder in [*folders, root] if folder is not None]

    def document(self, uri: str | None) -> EditorDocument:
        """The open document at an address; raises the protocol's error if it is not open."""
        if uri is None:
            raise invalid('say which document is meant: there is no "uri"')
        try:
            return self.documents[uri]
        except UnknownDocument:
            raise invalid(f'the document "{uri}" is not open') from None

    def allows(self, document: EditorDocument) -> bool:
        """Whether the model may work in a document: by the document's own switch, else by the settings."""
        if not self.settings.enabled:
            return False
        allowed = self.settings.allows(document.uri, document.language)
        return self.switches.get(document.uri, allowed)

    def switch(self, document: EditorDocument, enabled: bool) -> None:
        """Turn the model on or off for one document."""
        self.switches[document.uri] = enabled
        self.rest_if_off()

    def choose_model(self, model: str | None) -> None:
        """Use another model from now on."""
        self._chosen_model = model
        self._told.clear()
        self.completer.forget()
        self.prepare()
        self.checking.refresh_if_new()
        self.show_status()

    def prepare(self) -> None:
        """Load the model before the first key, if a document is open where it may suggest something."""
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.create_task(self._prepare())

    async def _prepare(self) -> None:
        await self.settled()
        if self.settings.completion.enabled and any(map(self.allows, self.documents)):
            try:
                await self.worker.load(self.model_key())
            except ReviserError as error:
                self.report(str(error))

    async def settled(self) -> None:
        """Wait for the editor's settings, which come after its first messages, up to a time limit.

        Later this returns at once and must not yield to other tasks: a request is about the text before the next
        message.
        """
        if self.settings_known.is_set():
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.settings_known.wait(), _SETTINGS_PATIENCE)

    def initial_settings(self, data: Any) -> None:
        self._initial = data if isinstance(data, dict) else {}
        self.take_settings(None)

    def take_settings(self, data: Any) -> None:
        """Apply settings on top of those that the editor started the server with."""
        before = self.settings
        self._told.clear()
        merged = _merge(self._initial, data) if isinstance(data, dict) else self._initial
        self.settings, problems = read_settings(merged)
        for problem in problems:
            logger.warning(problem)
        if self.settings.model != before.model:
            self._chosen_model = None
            self.completer.forget()
            self.prepare()
        if self.settings.shared_engine != before.shared_engine:
            self.completer.stop()
            self._stop_reading()
            self.runs.halt("the settings changed")
            self._let_go()
            self.checking.refresh()
        self.rest_if_off()

    def rest_if_off(self) -> None:
        """Stop all work in documents where the model is off; if it is off everywhere, unload it."""
        run = self.runs.current
        if run and (document := self.documents.get(run.uri)) and not self.allows(document):
            self.runs.halt("the model was switched off")
        allowed = [self.allows(document) for document in self.documents]
        if not self.settings.enabled or (allowed and not any(allowed)):
            self.completer.stop()
            self._let_go()
        self.checking.refresh_if_new()
        self.next_edits.refresh()
        self.show_status()

    def _stop_reading(self) -> None:
        self.checking.stop()
        self.next_edits.stop()

    async def close(self, reason: str) -> None:
        """Stop all work and close the worker."""
        self.completer.stop()
        self._stop_reading()
        self.runs.halt(reason)
        await self._close_engines()

    async def _close_engines(self) -> None:
        await asyncio.gather(self.worker.close(), self.reader.close())

    def _let_go(self) -> None:
        if self.worker.connected or self.reader.connected:
            self._closing = asyncio.ensure_future(self._close_engines())

    def status(self, document: EditorDocument | None = None) -> Status:
        run = self.runs.current
        enabled = self.allows(document) if document else self.settings.enabled
        problem = self.worker.problem or self.reader.problem
        if not self.settings.enabled:
            state = "off"
        elif run:
            state = "loading" if run.state == "loading" else "writing"
        elif self.completer.busy:
            state = "thinking"
        elif problem:
            state = "failed"
        else:
            state = "loading" if self.worker.loading else "idle"
        return Status(
            state=state,
            model=self.model_key().model,
            model_loaded=self.worker.connected,
            enabled=enabled,
            actions_per_second=round(self.runs.rate, 1),
            run_id=run.id if run else None,
            problem=problem or None,
            requests=self.worker.tasks,
            from_cache=self.completer.from_cache,
            superseded=self.completer.superseded,
            evaluated=self.worker.evaluated,
            before=self.worker.before,
            reused=self.worker.reused,
            paragraphs_read=self.checking.paragraphs_read,
        )

    def show_next_edits(self, document: EditorDocument, *, paused: bool = False) -> None:
        """Send the next edits of a document to a client that draws them, and the diagnostics for them to any.

        While the user types, those that only moved are not sent again.
        """
        self.diagnostics.show(document)
        if not self.client.draws_runs:
            return
        params = describe(document, self.next_edits.offers(document))
        known = self.shown_edits.get(document.uri, NextEditsParams(document.uri, 0, []))
        same = [(one.old, one.new) for one in params.edits] == [(one.old, one.new) for one in known.edits]
        if (params.edits if paused else not same) and params != known:
            self.shown_edits[document.uri] = params
            self.protocol.notify(NEXT_EDITS, params)

    def show_status(self) -> None:
        """Send the status to a client that asked for it, if it has changed."""
        if self.client.draws_runs:
            status = self.status()
            names = ("requests", "from_cache", "superseded", "evaluated", "before", "reused", "paragraphs_read")
            nothing: dict[str, Any] = dict.fromkeys(names, 0)
            plain = attrs.evolve(status, **nothing)
            if plain != self._last_status:
                self._last_status = plain
                self.protocol.notify(STATUS, status)

    def report(self, problem: str) -> None:
        """Tell the user of a problem once, not at every key."""
        if problem not in self._told:
            self._told.add(problem)
            logger.error(problem)
            self.editor.say(problem, warns=True)

    def trace(self, message: str) -> None:
        """Send a message to a client that has turned tracing on."""
        if self.protocol.trace != types.TraceValue.Off:
            self.log_trace(types.LogTraceParams(message))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Report an unreadable message or a failed notification to the editor and the log."""
        if source is JsonRpcException:
            self.protocol.answer_unreadable(error)
        else:
            logger.error("%s", error)


def _merge(base: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    merged = dict(base)
    for key, value in over.items():
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = _merge(known, value)
        else:
            merged[key] = value
    return merged
