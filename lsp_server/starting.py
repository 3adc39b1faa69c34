"""Starting the server: its connection, its logs, and its end when nobody is left to serve."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from pathlib import Path

from lsprotocol import types

from lsp_server import commands, features
from lsp_server.server import ReviserServer

_WATCH_INTERVAL = 1.0

_LEVELS = (
    (logging.ERROR, types.MessageType.Error),
    (logging.WARNING, types.MessageType.Warning),
    (logging.INFO, types.MessageType.Info),
)


class _EditorLog(logging.Handler):
    """Sends what the server logs to the editor, as `window/logMessage`."""

    def __init__(self, server: ReviserServer) -> None:
        super().__init__(logging.INFO)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        if self._server.protocol._workspace is None:
            return
        kind = next(
            (kind for level, kind in _LEVELS if record.levelno >= level), types.MessageType.Log
        )
        self._server.window_log_message(types.LogMessageParams(kind, record.getMessage()))


def make_server(log_file: Path | None = None) -> ReviserServer:
    """A server with all its features and logs."""
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


def serve_stdio(server: ReviserServer) -> int:
    """Serve the process that started this one; returns the exit status that the protocol asks for."""
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What libraries print must not get between the messages.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    server.start_io(stdin, stdout)
    return 0 if server.protocol._shutdown else 1


def serve_tcp(server: ReviserServer, host: str, port: int) -> None:
    """Serve one client over TCP, for debugging."""
    server.start_tcp(host, port)


def serve_websocket(server: ReviserServer, host: str, port: int) -> None:
    """Serve one client over a WebSocket, for debugging."""
    server.start_ws(host, port)


def _end_with_parent(server: ReviserServer) -> None:
    """End when the editor is gone without a word: it may have been killed, its pipe inherited by others."""
    parent = os.getppid()
    while True:
        time.sleep(_WATCH_INTERVAL)
        editor = server.process_id
        if os.getppid() != parent or (editor and not _lives(editor)):
            os._exit(1)


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
