"""`reviser lsp` and `reviser serve`: the language server, and an engine that several of them share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.extras import load_extra
from reviser.core.errors import ReviserError

_LOOPBACK = "127.0.0.1"


def lsp(
    tcp: Annotated[
        str | None, typer.Option(help="Listen here instead, for debugging.", metavar="[HOST:]PORT")
    ] = None,
    ws: Annotated[
        str | None, typer.Option(help="The same as a WebSocket.", metavar="[HOST:]PORT")
    ] = None,
    log_file: Annotated[
        Path | None, typer.Option(help="Also write the log to this file.", metavar="FILE")
    ] = None,
) -> None:
    """Serve an editor: suggestions and live edits through the Language Server Protocol.

    Editors start this command themselves and talk to it through standard input and output.
    """
    if tcp and ws:
        raise ReviserError("choose one of --tcp and --ws")
    starting = load_extra("lsp_server.starting", "lsp")
    server = starting.make_server(_checked(log_file))
    if tcp:
        raise typer.Exit(starting.serve_tcp(server, *_address(tcp)))
    if ws:
        load_extra("websockets", "lsp")
        with _plain_errors(ws):
            starting.serve_websocket(server, *_address(ws))
        return
    raise typer.Exit(starting.serve_stdio(server))


def serve(
    socket: Annotated[
        Path | None,
        typer.Option(help="Where to listen; by default a place of yours alone.", metavar="PATH"),
    ] = None,
) -> None:
    """Run one engine for several editors; it ends when the last of them has gone.

    Language servers with the setting sharedEngine start it by themselves.
    """
    worker = load_extra("lsp_server.worker.process", "lsp")
    if socket is not None and not socket.absolute().parent.is_dir():
        raise ReviserError(f"there is no folder {socket.parent}")
    worker.serve_socket(socket or worker.socket_path())


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or not 0 <= int(port) <= 0xFFFF:
        raise ReviserError(f"{text} is not an address; write PORT or HOST:PORT")
    return host or _LOOPBACK, int(port)


@contextmanager
def _plain_errors(address: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReviserError(f"cannot listen on {address}: {error.strerror or error}") from None


def _checked(log_file: Path | None) -> Path | None:
    from reviser.core.files import check_output

    if log_file is not None:
        check_output(log_file)
    return log_file
