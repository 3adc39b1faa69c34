"""A simulated editor: it types keys at their times and requests suggestions from a real language server."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.speed.suggestions.keys import Key
from lsp_server.messages import NEXT_EDITS, STATUS

URI = "file:///draft.txt"
PATIENCE = 60.0


@dataclass(eq=False)
class TimedRequest:
    """A request for a suggestion; `begun` is the time at which the server called the model, if it did."""

    id: str
    sent: float
    at_end: bool
    answered: float | None = None
    begun: float | None = None
    suggestion: str = ""
    cancelled: bool = False

    @property
    def took(self) -> float:
        assert self.answered is not None
        return self.answered - self.sent

    @property
    def took_unwaited(self) -> float:
        """The time to the answer without the server's deliberate delay for the next key."""
        assert self.answered is not None
        assert self.begun is not None
        return self.answered - self.begun


class SimulatedEditor:
    """A document with a cursor, and a server from which a suggestion is requested after every change."""

    def __init__(self, client: LanguageClient) -> None:
        self.text = ""
        self.cursor = 0
        self.requests: list[TimedRequest] = []
        self.problems: list[str] = []
        self.offered: list[float] = []
        """The times of the messages with next edits."""
        self._client = client
        self._version = 0
        self._thinking = 0.0
        self._ids = itertools.count(1)
        self._listen()

    def open(self, text: str) -> None:
        self.text, self.cursor = text, len(text)
        item = types.TextDocumentItem(URI, "plaintext", self._version, text)
        self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def replay(self, keys: Iterable[Key]) -> None:
        """Types keys at their times."""
        due = time.perf_counter()
        for key in keys:
            due += key.wait
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            self.strike(key)

    def strike(self, key: Key) -> None:
        if key.act == "go":
            found = self.text.find(key.text)
            self.cursor = found + len(key.text) if found >= 0 else self.cursor
            return
        if key.act == "accept":
            last = self.requests[-1] if self.requests else None
            if last is None or not last.suggestion:
                return  # nothing is shown
            self.replace(self.cursor, self.cursor, last.suggestion)
        elif key.act == "erase":
            self.replace(max(self.cursor - 1, 0), self.cursor, "")
        else:
            self.replace(self.cursor, self.cursor, key.text)
        self.ask()

    def ask(self) -> TimedRequest:
        """Requests a suggestion at the cursor and cancels the request before it."""
        if self.requests and (last := self.requests[-1]).answered is None:
            last.cancelled = True
            self._client.cancel_request(types.CancelParams(last.id))
        at_end = not self.text[self.cursor :].strip()
        request = TimedRequest(f"suggestion {next(self._ids)}", time.perf_counter(), at_end)
        self.requests.append(request)
        params = types.InlineCompletionParams(
            context=types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
            text_document=types.TextDocumentIdentifier(URI),
            position=self._position(self.cursor),
        )
        future = self._client.protocol.send_request(types.TEXT_DOCUMENT_INLINE_COMPLETION, params, msg_id=request.id)
        future.add_done_callback(lambda future: self._answered(request, future))
        return request

    def _answered(self, request: TimedRequest, future: Future[Any]) -> None:
        request.answered = time.perf_counter()
        if self._thinking >= request.sent:
            request.begun = self._thinking
        if not future.cancelled() and future.exception() is None and future.result().items:
            request.suggestion = future.result().items[0].insert_text

    def _listen(self) -> None:
        def status_changed(status: Any) -> None:
            if status.state == "thinking":
                self._thinking = time.perf_counter()

        def edits_offered(news: Any) -> None:
            if news.edits:
                self.offered.append(time.perf_counter())

        def logged(message: types.LogMessageParams) -> None:
            if message.type == types.MessageType.Error:
                self.problems.append(message.message)

        self._client.feature(STATUS)(status_changed)
        self._client.feature(NEXT_EDITS)(edits_offered)
        self._client.feature(types.WINDOW_LOG_MESSAGE)(logged)

    def replace(self, start: int, end: int, inserted: str) -> None:
        """Replaces a range of the text, and leaves the cursor behind the new text."""
        range = types.Range(self._position(start), self._position(end))
        self.text = self.text[:start] + inserted + self.text[end:]
        self.cursor = start + len(inserted)
        self._version += 1
        change = types.TextDocumentContentChangePartial(range=range, text=inserted)
        document = types.VersionedTextDocumentIdentifier(self._version, URI)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def _position(self, offset: int) -> types.Position:
        before = self.text[:offset].split("\n")
        return types.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)


@asynccontextmanager
async def editing(model: Path) -> AsyncIterator[tuple[SimulatedEditor, LanguageClient, int]]:
    """An editor, its language server, and the server's process."""
    client = LanguageClient("reviser-bench", "1")
    editor = SimulatedEditor(client)
    await client.start_io(sys.executable, "-m", "reviser", "lsp")
    assert client._server is not None
    try:
        await client.initialize_async(
            types.InitializeParams(
                process_id=os.getpid(),
                capabilities=types.ClientCapabilities(
                    text_document=types.TextDocumentClientCapabilities(
                        inline_completion=types.InlineCompletionClientCapabilities()
                    ),
                    experimental={"reviser": True},
                ),
                initialization_options={"model": str(model)},
            )
        )
        client.initialized(types.InitializedParams())
        yield editor, client, client._server.pid
        await client.shutdown_async(None)
        client.exit(None)
        await asyncio.wait_for(client._server.wait(), PATIENCE)
    finally:
        if client._server.returncode is None:
            client._server.kill()
