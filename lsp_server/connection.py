"""The connection to an editor: messages cut out of a stream of bytes, and carried out one by one."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import BinaryIO

from pygls.exceptions import JsonRpcException

from lsp_server.server import ReviserServer
from reviser.core.errors import ReviserError

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
_CHUNKS_AHEAD = 16
_LONGEST_HEAD = 8192
_QUOTED = 40

_NAME = rb"[A-Za-z][A-Za-z0-9-]*"
_HEAD_SO_FAR = re.compile(
    rb"(?:%s:[\t -~]*\r\n)*(?:%s(?::[\t -~]*\r?)?|\r)?" % (_NAME, _NAME), re.DOTALL
)
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*\r$", re.IGNORECASE | re.MULTILINE)
# In JSON, a line cannot end within a string, and such words cannot stand outside one.
_HEAD_IN_BODY = re.compile(rb"content-length:[ \t]*\d+\r\n", re.IGNORECASE)
_LONGEST_HEAD_IN_BODY = 40


class FramingError(ReviserError):
    """The stream holds something else than messages, so that nothing after it can be read either."""


class Messages:
    """Cuts a stream into the bodies of its messages."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._size: int | None = None
        self._searched = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bodies that are whole now; raises `FramingError` as soon as there can be no other."""
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
        """The size that the next message says it has; None if its head is not whole yet."""
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
        """A body that goes on into the next message has been given a wrong size."""
        if _HEAD_IN_BODY.search(self._data, self._searched):
            raise FramingError(
                f"a message is shorter than the {self._size} bytes of its Content-Length"
            )
        self._searched = max(len(self._data) - _LONGEST_HEAD_IN_BODY, 0)


def _no_message(head: bytes) -> FramingError:
    shown = head[:_QUOTED].decode("ascii", "backslashreplace").splitlines() or [""]
    return FramingError(
        f"what came in is not the head of a message, with a Content-Length and lines that end with CR LF: {shown[0]!r}"
    )


async def converse(server: ReviserServer, chunks: AsyncIterator[bytes]) -> None:
    """Carry out what an editor says, until it has gone."""
    messages = Messages()
    async for chunk in chunks:
        for body in messages.feed(chunk):
            _carry_out(server, body)
            # What a message has set going comes before the next one.
            await asyncio.sleep(0)


def _carry_out(server: ReviserServer, body: bytes) -> None:
    try:
        message = json.loads(body, object_hook=server.protocol.structure_message)
        server.protocol.handle_message(message)
    except Exception as error:  # whatever is wrong with one message, the next one is read
        server.report_server_error(error, JsonRpcException)


async def chunks_of_file(file: int) -> AsyncIterator[bytes]:
    """What can be read from a file descriptor, as it comes.

    A thread of its own reads, which nobody waits for in the end. It holds no lock of Python's streams, whose
    loss would abort the interpreter.
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
    """What comes over a connection."""
    with suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            yield data


class Output:
    """Where messages go. When nobody reads them any more, it says so once and drops the rest."""

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
