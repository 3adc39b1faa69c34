"""`reviser lsp` and `reviser serve`: the language server, and an engine shared by several programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.completion import complete_model
from reviser.cli.entry import started_by
from reviser.cli.extras import load_extra
from reviser.cli.options import Option
from reviser.core.errors import ReviserError

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class LspOptions:
    """The options of `lsp`: where it listens, and its log."""

    tcp: Annotated[str | None, Option("listen here instead, for debugging", metavar="[HOST:]PORT")] = None
    ws: Annotated[str | None, Option("the same as a WebSocket", metavar="[HOST:]PORT")] = None
    log_file: Annotated[Path | None, Option("also write the log to this file", metavar="FILE")] = None


def lsp(options: LspOptions) -> None:
    """Serve an editor: suggestions and live edits through the Language Server Protocol.

    Editors start this command themselves and talk to it through standard input and output.
    """
    from reviser.core.files import check_output

    if options.tcp and options.ws:
        raise ReviserError("choose one of --tcp and --ws")
    starting = load_extra("lsp_server.starting", "lsp")
    if options.log_file is not None:
        check_output(options.log_file)
    server = starting.make_server(options.log_file)
    if options.tcp:
        raise typer.Exit(starting.serve_tcp(server, *_address(options.tcp)))
    if options.ws:
        load_extra("websockets", "lsp")
        with _plain_errors(options.ws):
            starting.serve_websocket(server, *_address(options.ws))
        return
    raise typer.Exit(starting.serve_stdio(server, started_by()))


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The options of `serve`: where it listens, and the model with which it writes."""

    socket: Annotated[
        Path | None, Option("socket to listen on; by default one that only you can open", metavar="PATH")
    ] = None
    backend: Annotated[
        tuple[str, str] | None,
        Option(
            "write with a model that runs there: vllm (or openai) and the address of its server", metavar="KIND URL"
        ),
    ] = None
    http: Annotated[
        str | None,
        Option(
            "serve a model of this machine instead, as an OpenAI-compatible completions endpoint", metavar="[HOST:]PORT"
        ),
    ] = None
    model: Annotated[
        str | None, Option("with --http: name or folder of the model", flags=("--model", "-m"), complete=complete_model)
    ] = None
    rows: Annotated[int, Option("with --http: documents kept in memory at once", least=1, most=128)] = 64
    threads: Annotated[int | None, Option("with --http: threads for the model", least=1)] = None


def serve(options: ServeOptions) -> None:
    """Run one engine for several editors; it ends when the last one has disconnected.

    Language servers with the setting sharedEngine start it by themselves. With --backend it writes with a model on
    another server, for all editors with that setting whose settings name no model, until it is interrupted. With
    --http it serves programs over the network instead: reviser continue --model openai:http://HOST:PORT, here or
    elsewhere, writes with it.
    """
    socket, backend = options.socket, options.backend
    if options.http is not None:
        _serve_http(options, options.http)
        return
    if options.model is not None or options.threads is not None:
        raise ReviserError("--model and --threads are for --http; editors' settings name their model")
    worker = load_extra("lsp_server.worker.process", "lsp")
    if socket is not None and not socket.absolute().parent.is_dir():
        raise ReviserError(f"there is no folder {socket.parent}")
    if backend is not None:
        name = _check_backend(*backend)
        typer.echo(f"editors with the setting sharedEngine write with {name}; Ctrl-C ends this", err=True)
    worker.serve_socket(socket or worker.socket_path(), stays=backend is not None)


def _serve_http(options: ServeOptions, http: str) -> None:
    from reviser.remote.server import serve as answer
    from reviser.session.engine import load_engine

    if options.backend is not None or options.socket is not None:
        raise ReviserError("choose one of --http, and --backend or --socket")
    if (options.model or "").startswith("openai:"):
        raise ReviserError("--http serves a model of this machine, not another server's")
    host, port = _address(http)
    answer(load_engine(options.model, threads=options.threads), host, port, rows=options.rows)


def _check_backend(kind: str, url: str) -> str:
    """Check that the backend can be reached and make its model the default; returns the model's name."""
    import os

    from reviser.session.engine import load_engine

    if kind not in ("vllm", "openai"):
        raise ReviserError(f"there is no backend {kind}; choose vllm or openai")
    named = url if url.startswith("openai:") else f"openai:{url}"
    name = load_engine(named).name
    os.environ["REVISER_MODEL"] = named
    return name


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
