"""An HTTP client of a completions endpoint: one connection for each thread, and errors as one sentence."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from reviser.core.errors import ReviserError

KEY_VARIABLE = "REVISER_API_KEY"
TIMEOUT_VARIABLE = "REVISER_SERVER_TIMEOUT"
_TIMEOUT = 60.0
_LARGEST_ANSWER = 1 << 24


class ServerError(ReviserError):
    """A server that cannot be reached, is too slow, or gives an unexpected answer."""


class RequestRefused(ServerError):
    """A request that the server refused; `status` is the HTTP status."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Address:
    """The address of a server: `base` is the path before `/v1`."""

    scheme: str
    host: str
    port: int
    base: str

    @classmethod
    def parse(cls, url: str) -> Address:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ReviserError(f"{url} is not the address of a server, such as http://HOST:8000")
        base = parts.path.rstrip("/").removesuffix("/v1")
        return cls(parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80), base)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.base}"


class CompletionsClient:
    """Sends requests to a server; may be used from several threads."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float | None = None) -> None:
        self.address = Address.parse(url)
        self._key = os.environ.get(KEY_VARIABLE) if key is None else key
        self._timeout = _timeout() if timeout is None else timeout
        self._local = threading.local()

    def get(self, path: str) -> Any:
        return self._ask("GET", path, None)

    def post(self, path: str, body: dict[str, object]) -> Any:
        return self._ask("POST", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> Any:
        kept = getattr(self._local, "connection", None)
        try:
            return self._answer(kept or self._connect(), method, path, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
            self._drop()
            if kept is None:
                raise self._unreachable(error) from None
        # Servers close connections that were idle; a request on a new one says whether it is still there.
        try:
            return self._answer(self._connect(), method, path, body)
        except (http.client.HTTPException, OSError) as error:
            self._drop()
            raise self._unreachable(error) from None

    def _answer(self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None) -> Any:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request(method, f"{self.address.base}{path}", body, headers)
            response = connection.getresponse()
            content = response.read(_LARGEST_ANSWER)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            raise
        except TimeoutError:
            self._drop()
            raise ServerError(f"the server at {self.address} did not answer within {self._timeout:g} seconds") from None
        except (http.client.HTTPException, OSError) as error:
            self._drop()
            raise self._unreachable(error) from None
        if response.status != 200:
            raise RequestRefused(self._refusal(response.status, content), response.status)
        try:
            return json.loads(content)
        except ValueError:
            raise ServerError(f"the server at {self.address} answers no JSON") from None

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.address.host, self.address.port, timeout=self._timeout)
        try:
            connection.connect()
        except OSError as error:
            raise self._unreachable(error) from None
        # A request is small, and the next one waits for its answer.
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._local.connection = connection
        return connection

    def _drop(self) -> None:
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def _unreachable(self, error: Exception) -> ServerError:
        reason = getattr(error, "strerror", None) or str(error) or "the connection was closed"
        return ServerError(f"the server at {self.address} cannot be reached: {reason}")

    def _refusal(self, status: int, content: bytes) -> str:
        """The server's explanation of a refused request, in one line."""
        try:
            said = json.loads(content)
            told = said.get("error", said)
            message = told.get("message") if isinstance(told, dict) else told
        except (ValueError, AttributeError):
            message = None
        reason = " ".join(str(message).split()) if message else http.client.responses.get(status)
        return f"the server at {self.address} refused ({status}): {reason}"


def _timeout() -> float:
    said = os.environ.get(TIMEOUT_VARIABLE, "")
    try:
        seconds = float(said or _TIMEOUT)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86400:
        raise ReviserError(f"{TIMEOUT_VARIABLE} is a number of seconds, not {said}")
    return seconds
