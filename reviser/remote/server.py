"""`reviser serve --http`: a completions endpoint over our own engine, with OpenAI's paths and vLLM's additions."""

from __future__ import annotations

import hmac
import json
import os
import re
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from reviser.checkpoints.operators import operator_names
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import LoadedModel
from reviser.remote.batching import ROWS, Batcher, scorer_of
from reviser.remote.client import KEY_VARIABLE
from reviser.remote.completions import BadRequest, Completion, CompletionRequest, ResponseFormat

_LARGEST_BODY = 1 << 22
_OPERATOR = re.compile(r"(<\|[^|]+\|>)")


@dataclass(frozen=True)
class Service:
    """A model with everything needed to answer requests for it."""

    name: str
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    context: int
    batcher: Batcher
    wording: ResponseFormat

    @classmethod
    def of(cls, model: LoadedModel, rows: int = ROWS, name: str | None = None) -> Service:
        policy, called = model.policy, name or model.name
        return cls(
            called,
            policy.vocabulary,
            model.tokenizer,
            policy.context,
            Batcher(scorer_of(policy, rows), rows),
            ResponseFormat(called, policy.vocabulary, model.tokenizer),
        )

    def models(self) -> dict[str, object]:
        model = {
            "id": self.name,
            "object": "model",
            "created": int(time.time()),
            "owned_by": "reviser",
            "max_model_len": self.context + 1,
            "reviser": {"vocabulary": self.vocabulary.to_dict()},
        }
        return {"object": "list", "data": [model]}

    def tokenize(self, body: Any) -> dict[str, object]:
        """The history of a text as a prompt; names of operators in the text become their ids."""
        text = body.get("prompt") if isinstance(body, dict) else None
        if not isinstance(text, str):
            raise BadRequest("the prompt is a text")
        ids = {name: id for id, name in operator_names(self.vocabulary).items()}
        tokens = [self.vocabulary.start_id]
        for part in _OPERATOR.split(text):
            tokens += [ids[part]] if part in ids else self.tokenizer.encode(part)
        return {"tokens": tokens, "count": len(tokens), "max_model_len": self.context + 1}


class Server(ThreadingHTTPServer):
    """An HTTP server with a thread for each connection; the model runs in one thread."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], service: Service, key: str | None = None) -> None:
        self.service = service
        self.key = key
        super().__init__(address, _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error of a client that has disconnected."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "reviser"
    # An answer is written in two parts; the second must not wait for the first to be acknowledged.
    disable_nagle_algorithm = True
    timeout = 600

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/v1/models":
            self._answer(self.server.service.models)
        elif path in ("/health", "/ping"):
            self._send(200, {})
        else:
            self._refuse(BadRequest(f"there is no {path}", 404))

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        if path == "/v1/completions":
            self._answer(self._complete)
        elif path == "/tokenize":
            self._answer(lambda: self.server.service.tokenize(self._body()))
        else:
            self._refuse(BadRequest(f"there is no {path}", 404))

    def _answer(self, make: Callable[[], dict[str, object] | None]) -> None:
        try:
            self._check_key()
            made = make()
        except BadRequest as error:
            self._refuse(error)
        except ReviserError as error:
            self._refuse(BadRequest(str(error), 500))
        else:
            if made is not None:
                self._send(200, made)

    def _complete(self) -> dict[str, object] | None:
        service = self.server.service
        asked = CompletionRequest.parse(self._body(), service.name, service.vocabulary, service.tokenizer)
        completion = Completion(asked, service.batcher, service.vocabulary, service.context, wanted=self._is_waited_for)
        if not asked.stream:
            return service.wording.whole(asked, completion)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for part in service.wording.parts(asked, completion):
                self._event(json.dumps(part))
        except ReviserError as error:
            self._event(json.dumps({"error": {"message": str(error)}}))
        self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _is_waited_for(self) -> bool:
        """Whether the client is still connected; otherwise generation ends."""
        try:
            readable, _, _ = select.select([self.connection], [], [], 0)
            return not readable or bool(self.connection.recv(1, socket.MSG_PEEK))
        except (OSError, ValueError):
            return False

    def _event(self, data: str) -> None:
        line = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.wfile.flush()

    def _check_key(self) -> None:
        key = self.server.key
        given = self.headers.get("Authorization", "")
        if key and not hmac.compare_digest(given.encode(), f"Bearer {key}".encode()):
            raise BadRequest(f"the request lacks the key that {KEY_VARIABLE} holds", 401)

    def _body(self) -> Any:
        try:
            size = int(self.headers.get("Content-Length", ""))
        except ValueError:
            raise BadRequest("the request has no length", 411) from None
        if not 0 <= size <= _LARGEST_BODY:
            self.close_connection = True
            raise BadRequest("the request is too large", 413)
        try:
            return json.loads(self.rfile.read(size))
        except ValueError:
            raise BadRequest("the request is not JSON") from None

    def _refuse(self, error: BadRequest) -> None:
        # What was not read of the request must not be taken for the next one.
        if self.command == "POST":
            self.close_connection = True
        told = {"message": str(error), "type": "BadRequestError", "code": error.status}
        self._send(error.status, {"error": told})

    def _send(self, status: int, content: dict[str, object]) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests are many."""


def listen(model: LoadedModel, host: str, port: int, *, rows: int = ROWS) -> Server:
    """A server that is bound to its address; `serve_forever` answers requests."""
    try:
        return Server((host, port), Service.of(model, rows), os.environ.get(KEY_VARIABLE))
    except OSError as error:
        raise ReviserError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None


def serve(model: LoadedModel, host: str, port: int, *, rows: int = ROWS) -> None:
    """Answer requests until interrupted or terminated."""
    with listen(model, host, port, rows=rows) as server:
        print(f"{server.service.name} at {server.url}/v1", file=sys.stderr, flush=True)

        def stop(number: int, frame: object) -> None:
            threading.Thread(target=server.shutdown, daemon=True).start()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        server.serve_forever(poll_interval=0.1)
