"""The connection to an editor: it splits a stream of bytes into messages and handles them one by one."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_server.server import ReviserServer
from reviser.core.errors import ReviserError

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
_CHUNKS_AHEAD = 16
_LONGEST_HEAD = 8192
_QUOTED = 40
# Bytes of messages that are read ahead, and messages that are handled after the editor has asked to shut down.
_MOST_AHEAD = 1 << 26
_BEFORE_SHUTDOWN = 64

_NAME = rb"[A-Za-z][A-Za-z0-9-]*"
_HEAD_SO_FAR = re.compile(rb"(?:%s:[\t -~]*\r\n)*(?:%s(?::[\t -~]*\r?)?|\r)?" % (_NAME, _NAME), re.DOTALL)
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*\r$", re.IGNORECASE | re.MULTILINE)
# A JSON string cannot contain a line ending, and these words can stand only inside a string.
_HEAD_IN_BODY = re.compile(rb"content-length:[ \t]*\d+\r\n", re.IGNORECASE)
_LONGEST_HEAD_IN_BODY = 40


class FramingError(ReviserError):
    """The stream holds something other than messages, so the rest of it cannot be read."""


class MessageSplitter:
    """A splitter of a byte stream into the bodies of its messages."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._size: int | None = None
        self._searched = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the bodies that are complete; raises `FramingError` as soon as no valid message can follow."""
        self._data += data
        while True:
            if self._size is None:
                self._size = self._read_head()
            if self._size is None:
                return
            if len(self._data) < self._size:
                self._check_body()
                return
            body = bytes(self._data[: self._size])
            del self._data[: self._size]
            self._size, self._searched = None, 0
            yield body

    def _read_head(self) -> int | None:
        """The size that the next message declares; None if its header is not complete yet."""
        blank = len(self._data) - len(self._data.lstrip(b"\r\n"))
        del self._data[:blank]
        end = self._data.find(b"\r\n\r\n", 0, _LONGEST_HEAD)
        head = bytes(self._data[: end + 2 if end >= 0 else _LONGEST_HEAD])
        if not _HEAD_SO_FAR.fullmatch(head) or (end < 0 and len(head) == _LONGEST_HEAD):
            raise _no_message(head)
        if end < 0:
            return None
        sizes = _LENGTH.findall(head)
        if len(sizes) != 1:
            raise _no_message(head)
        del self._data[: end + 4]
        return int(sizes[0])

    def _check_body(self) -> None:
        """Raise `FramingError` if the body contains the next message's header: its declared size is wrong."""
        if _HEAD_IN_BODY.search(self._data, self._searched):
            raise FramingError(f"a message is shorter than the {self._size} bytes of its Content-Length")
        self._searched = max(len(self._data) - _LONGEST_HEAD_IN_BODY, 0)


def _no_message(head: bytes) -> FramingError:
    shown = head[:_QUOTED].decode("ascii", "backslashreplace").splitlines() or [""]
    return FramingError(
        f"what came in is not the head of a message, with a Content-Length and lines that end with CR LF: {shown[0]!r}"
    )


class _Inbox:
    """The queue of messages that wait to be handled, read ahead so that a later one can cancel an earlier one.

    When the editor asks to shut down, all but the first few of the waiting requests are dropped; cancelled ones always
    are.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._size = 0
        self._cancelled: set[object] = set()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._over = False

    async def fill(self, chunks: AsyncIterator[bytes]) -> None:
        """Read all messages from `chunks`; raises `FramingError` where the stream cannot be read any further."""
        messages = MessageSplitter()
        try:
            async for chunk in chunks:
                for body in messages.feed(chunk):
                    self._add(body)
                while self._size > _MOST_AHEAD:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._over = True
            self._news.set()

    def _add(self, body: bytes) -> None:
        if b"shutdown" in body and _fields(body).get("method") == types.SHUTDOWN:
            wanted = [*itertools.islice(self._waiting, _BEFORE_SHUTDOWN)]
            rest = itertools.islice(self._waiting, _BEFORE_SHUTDOWN, None)
            self._waiting = deque([*wanted, *((late, False) for late, _ in rest)])
        elif (id := _cancelled_by(body)) is not None:
            self._cancelled.add(id)
        self._waiting.append((body, True))
        self._size += len(body)
        self._news.set()

    async def take(self) -> tuple[bytes, bool] | None:
        """The next message, and whether it should still be handled; None at the end of the stream."""
        while not self._waiting:
            if self._over:
                return None
            self._news.clear()
            await self._news.wait()
        body, wanted = self._waiting.popleft()
        self._size -= len(body)
        self._room.set()
        if self._cancelled:
            if (id := _cancelled_by(body)) is not None:
                self._cancelled.discard(id)
            fields = _fields(body)
            wanted = wanted and not ("method" in fields and fields.get("id") in self._cancelled)
        return body, wanted


def _fields(body: bytes) -> dict[str, Any]:
    """The fields of a message; an empty dict if it is not a JSON object."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _cancelled_by(body: bytes) -> int | str | None:
    """The id of the request that a message cancels; None if it cancels none."""
    if b"cancelRequest" not in body:
        return None
    fields = _fields(body)
    params = fields.get("params")
    if fields.get("method") != types.CANCEL_REQUEST or not isinstance(params, dict):
        return None
    id = params.get("id")
    return id if isinstance(id, int | str) else None


async def serve_messages(server: ReviserServer, chunks: AsyncIterator[bytes]) -> None:
    """Handle the messages of an editor until it disconnects."""
    inbox = _Inbox()
    filling = asyncio.create_task(inbox.fill(chunks))
    try:
        while (message := await inbox.take()) is not None:
            body, wanted = message
            if wanted:
                _carry_out(server, body)
            else:
                server.protocol.leave_undone(_fields(body))
            # Let the tasks that a message has started run before the next message.
            await asyncio.sleep(0)
        await filling
    finally:
        filling.cancel()


def _carry_out(server: ReviserServer, body: bytes) -> None:
    try:
        message = json.loads(body, object_hook=server.protocol.structure_message)
        server.protocol.handle_message(message)
    except Exception as error:  # whatever is wrong with one message, the next one is read
        server.report_server_error(error, JsonRpcException)


async def chunks_of_file(file: int) -> AsyncIterator[bytes]:
    """Yields the bytes of a file descriptor as they arrive.

    They are read in a thread that the process does not join at exit. It holds no lock of Python's streams, since a held
    one would abort the interpreter.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue(_CHUNKS_AHEAD)

    def read() -> None:
        data = b"-"
        with suppress(RuntimeError, CancelledError):  # the loop has ended
            while data:
                try:
                    data = os.read(file, _CHUNK)
                except OSError:
                    data = b""
                asyncio.run_coroutine_threadsafe(chunks.put(data), loop).result()

    threading.Thread(target=read, daemon=True).start()
    while data := await chunks.get():
        yield data


async def chunks_of_stream(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yields the bytes of a network connection as they arrive."""
    with suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            yield data


class MessageOutput:
    """The output for messages. When the reader has gone, it calls `lost` once and drops the rest."""

    def __init__(self, file: BinaryIO, lost: Callable[[], object]) -> None:
        self._file = file
        self._lost = lost
        self._open = True

    def write(self, data: bytes) -> None:
        if not self._open:
            return
        try:
            self._file.write(data)
            self._file.flush()
        except OSError:
            self._open = False
            self._lost()

    def close(self) -> None:
        self._open = False
        with suppress(OSError):
            self._file.close()
