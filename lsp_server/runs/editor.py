"""The interface of live runs to the connected editor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.progress import Progress
from pygls.protocol import LanguageServerProtocol

from lsp_server.capabilities import Client
from lsp_server.documents.document import Documents, EditorDocument, EditorPosition
from lsp_server.messages import CHANGES, RUN, ChangesParams, PendingChange, RunParams
from lsp_server.runs.live_run import LiveRun
from lsp_server.runs.live_runs import LiveRuns
from reviser.core.counts import counted
from reviser.core.edits import Edit

logger = logging.getLogger(__name__)


def position(place: EditorPosition) -> types.Position:
    return types.Position(place.line, place.column)


def place(position: types.Position) -> EditorPosition:
    return EditorPosition(position.line, position.character)


def range_of(document: EditorDocument, start: int, end: int) -> types.Range:
    return types.Range(position(document.place(start)), position(document.place(end)))


class EditorHost(Protocol):
    """The parts of the server that messages to the editor are made from and sent through."""

    @property
    def client(self) -> Client: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def runs(self) -> LiveRuns: ...
    @property
    def protocol(self) -> LanguageServerProtocol: ...
    @property
    def work_done_progress(self) -> Progress: ...

    def show_status(self) -> None: ...
    def window_show_message(self, params: types.ShowMessageParams) -> None: ...
    async def workspace_apply_edit_async(
        self, params: types.ApplyWorkspaceEditParams
    ) -> types.ApplyWorkspaceEditResult: ...


class LspEditor:
    """The edits, progress and notifications of live runs, sent to a client that may support only some of them."""

    def __init__(self, server: EditorHost) -> None:
        self._server = server
        self._shown_changes: dict[str, ChangesParams] = {}

    async def apply(self, label: str, document: EditorDocument, change: Edit) -> bool:
        """Ask the editor for an edit; the edits of a run have one label, so that a client can group them."""
        edit = types.TextEdit(range_of(document, change.start, change.end), change.new)
        return await self.apply_all(label, document, [edit])

    async def apply_all(self, label: str, document: EditorDocument, edits: Sequence[types.TextEdit]) -> bool:
        """Ask the editor for several edits at once."""
        params = types.ApplyWorkspaceEditParams(edit=self.workspace_edit(document, edits), label=label)
        reply = self._server.workspace_apply_edit_async(params)
        # Not cancelled: the reply to a cancelled request would be an error inside pygls.
        try:
            result = await asyncio.shield(reply)
        except JsonRpcException as error:
            logger.warning("the editor cannot carry out an edit: %s", error)
            return False
        return bool(result.applied)

    def workspace_edit(self, document: EditorDocument, edits: Sequence[types.TextEdit]) -> types.WorkspaceEdit:
        """Edits of a document's present version, if the client can tell versions apart."""
        if not self._server.client.versions_edits:
            return types.WorkspaceEdit(changes={document.uri: [*edits]})
        versioned = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=versioned, edits=[*edits])])

    def show(self, run: LiveRun) -> None:
        self._server.show_status()
        if (params := self.describe(run)) and self._server.client.draws_runs:
            self._server.protocol.notify(RUN, params)
        if run.running and run.actions:
            message = f"{counted(run.actions, 'action')}, {self._server.runs.rate:.0f} a second"
            self._report(run, types.WorkDoneProgressReport(message=message))

    def describe(self, run: LiveRun) -> RunParams | None:
        """The state of a run; None if its document is closed."""
        document = self._server.documents.get(run.uri)
        if document is None:
            return None
        start = min(run.region.start, document.length)
        end = min(run.region.end, document.length) if run.running or run.wrote else start
        fresh = [(start + low, start + high) for low, high in [run.fresh or (0, 0)] if low < high]
        return RunParams(
            uri=run.uri,
            version=document.version,
            run_id=run.id,
            kind=run.kind,
            state=run.state,
            region=range_of(document, start, end),
            cursor=position(document.place(min(start + run.cursor, end))),
            fresh=[range_of(document, low, min(high, end)) for low, high in fresh if low < end],
            actions=run.actions,
            actions_per_second=round(self._server.runs.rate, 1),
            reason=run.reason or None,
            said=run.failed,
        )

    def show_changes(self, document: EditorDocument) -> None:
        """Send the pending changes of a document to a client that draws them, if they have changed."""
        params = self.describe_changes(document)
        known = self._shown_changes.get(document.uri)
        if params == known or not (params.changes or (known and known.changes)):
            return
        self._shown_changes[document.uri] = params
        if self._server.client.draws_runs:
            self._server.protocol.notify(CHANGES, params)

    def describe_changes(self, document: EditorDocument) -> ChangesParams:
        """The pending changes of a document."""
        changes = [
            PendingChange(
                id=hunk.id,
                run_id=hunk.id.partition(".")[0],
                range=range_of(document, hunk.start, hunk.end),
                old=hunk.old,
                new=hunk.new,
            )
            for hunk in self._server.runs.changes(document.uri)
        ]
        return ChangesParams(document.uri, document.version, changes)

    def say(self, message: str, *, warns: bool = False) -> None:
        kind = types.MessageType.Warning if warns else types.MessageType.Info
        self._server.window_show_message(types.ShowMessageParams(kind, f"Reviser: {message}"))

    def begin(self, run: LiveRun) -> None:
        if not self._server.client.shows_progress:
            return
        progress = self._server.work_done_progress
        token = _token(run)
        begun = types.WorkDoneProgressBegin(
            title="Reviser",
            message="revising" if run.kind == "revise" else "writing",
            cancellable=True,
            percentage=None,
        )

        def begin(_: Future[Any]) -> None:
            if run.running:
                progress.begin(token, begun)

        progress.create(token).add_done_callback(begin)

    def end(self, run: LiveRun) -> None:
        tokens = self._server.work_done_progress.tokens
        if _token(run) in tokens:
            ended = types.WorkDoneProgressEnd(message=run.reason or run.state)
            self._server.work_done_progress.end(_token(run), ended)
            del tokens[_token(run)]

    def _report(self, run: LiveRun, report: types.WorkDoneProgressReport) -> None:
        if _token(run) in self._server.work_done_progress.tokens:
            self._server.work_done_progress.report(_token(run), report)


def _token(run: LiveRun) -> str:
    return f"reviser-run-{run.id}"


def is_token_of(run: LiveRun, token: int | str) -> bool:
    return token == _token(run)
