"""The start and end of the server process: its connection, its logs and its exit."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

from lsprotocol import types

from lsp_server.connection import FramingError, MessageOutput, chunks_of_file, chunks_of_stream, serve_messages
from lsp_server.handlers import commands, features
from lsp_server.server import ReviserServer
from reviser.core.errors import ReviserError

_WATCH_INTERVAL = 1.0
_INITIALIZE_PATIENCE = 30.0  # seconds for an editor's first request, which it sends at once
_SIGNALLED = 128  # as shells count: the exit status of a process that a signal ended, less its number
_GRACE = 4.0  # seconds for an end in good order

Lost = Callable[[], None]
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_LEVELS = (
    (logging.ERROR, types.MessageType.Error),
    (logging.WARNING, types.MessageType.Warning),
    (logging.INFO, types.MessageType.Info),
)


class _EditorLog(logging.Handler):
    """A log handler that sends records to the editor as `window/logMessage`."""

    def __init__(self, server: ReviserServer) -> None:
        super().__init__(logging.INFO)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        if self._server.protocol._workspace is None:
            return
        kind = next((kind for level, kind in _LEVELS if record.levelno >= level), types.MessageType.Log)
        self._server.window_log_message(types.LogMessageParams(kind, record.getMessage()))


def make_server(log_file: Path | None = None) -> ReviserServer:
    """A server with all its handlers and logs."""
    server = ReviserServer()
    features.register(server)
    commands.register(server)
    log = logging.getLogger("lsp_server")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(_EditorLog(server))
    # Without a handler, Python prints pygls's warnings to standard error, which editors show as errors.
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    if log_file is not None:
        _log_to(log_file)
    return server


def _log_to(path: Path) -> None:
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name, level in (("lsp_server", logging.DEBUG), ("pygls", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.addHandler(handler)


class _SignalHandler:
    """A signal handler that ends a task in good order; it exits at a second signal, or after a time limit."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self.number = 0
        self._task = task
        self._loop = task.get_loop()

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.number or self._loop.is_closed():
            os._exit(_SIGNALLED + number)
        self.number = number
        threading.Thread(target=self._insist, daemon=True).start()
        self._loop.call_soon_threadsafe(self._task.cancel)

    def _insist(self) -> None:
        time.sleep(_GRACE)
        os._exit(_SIGNALLED + self.number)


async def _serve(server: ReviserServer, conversation: Callable[[Lost], Awaitable[None]]) -> int:
    """Serve until the editor disconnects or a signal arrives; returns the exit status."""
    task = asyncio.current_task()
    assert task is not None
    stop = _SignalHandler(task)
    stop.listen()
    lost = False

    def lose() -> None:
        nonlocal lost
        lost = True
        task.cancel()

    try:
        await conversation(lose)
    except asyncio.CancelledError:
        if not stop.number and not lost:
            raise
    finally:
        await server.close("the server is ending")
    if stop.number:
        return _SIGNALLED + stop.number
    return 0 if server.protocol._shutdown else 1


def _run(server: ReviserServer, conversation: Callable[[Lost], Awaitable[None]]) -> int:
    try:
        return asyncio.run(_serve(server, conversation))
    except SystemExit as end:  # what the notification `exit` raises
        return int(end.code or 0)
    except FramingError as error:
        raise ReviserError(f"{error}; the server ends, and the editor may start it again") from None


def serve_stdio(server: ReviserServer, parent: int) -> int:
    """Serve over standard streams until the process `parent` ends; returns the exit status of the protocol."""
    stdout = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output that libraries print must not be mixed with the messages.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=_end_with_parent, args=(server, parent), daemon=True).start()

    async def talk(lost: Lost) -> None:
        server.protocol.set_writer(MessageOutput(stdout, lost))
        await serve_messages(server, chunks_of_file(sys.stdin.fileno()))

    return _run(server, talk)


def serve_tcp(server: ReviserServer, host: str, port: int) -> int:
    """Serve one client over TCP, for debugging."""

    async def talk(lost: Lost) -> None:
        client: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

        def admit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close() if client.done() else client.set_result((reader, writer))

        try:
            listener = await asyncio.start_server(admit, host, port)
        except OSError as error:
            raise ReviserError(f"cannot listen on {host}:{port}: {error.strerror}") from None
        async with listener:
            reader, writer = await client
            server.protocol.set_writer(writer)
            await serve_messages(server, chunks_of_stream(reader))

    return _run(server, talk)


def serve_websocket(server: ReviserServer, host: str, port: int) -> None:
    """Serve one client over a WebSocket, for debugging."""
    server.start_ws(host, port)


def _end_with_parent(server: ReviserServer, parent: int) -> None:
    """End when the editor has died without a message, even if others hold its pipe open.

    An editor that died before this process could determine its parent is detected by a missing first request.
    """
    began = time.monotonic()
    while True:
        editor = server.process_id
        if os.getppid() != parent or (editor and not _lives(editor)):
            os._exit(1)
        silent = server.protocol._workspace is None
        if silent and time.monotonic() - began > _INITIALIZE_PATIENCE:
            print("reviser: no editor has said initialize", file=sys.stderr)
            os._exit(1)
        time.sleep(_WATCH_INTERVAL)


def _lives(process: int) -> bool:
    if sys.platform == "win32":
        return True  # no harmless way to ask; a closed pipe ends the server there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
