"""Real servers in processes of their own, and a wire in front of one that can be cut."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.commands import start
from tests.conftest import ROOT


@contextmanager
def served(model: Path | None, *words: str, **more: str) -> Iterator[str]:
    """The address of `reviser serve --http` with a model, the default one if none is named."""
    named = ["--model", str(model)] if model else []
    environment = {name: value for name, value in os.environ.items() if name != "REVISER_MODEL"}
    process = start("serve", "--http", "0", *named, *words, cwd=ROOT, env=environment | more)
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        found = re.search(r"http://\S+(?=/v1)", said)
        assert found, said + process.stderr.read().decode()
        yield found[0]
    finally:
        process.terminate()
        process.wait(timeout=60)


class Wire:
    """Passes on what goes to a server and back, until so many completions were asked for."""

    def __init__(self, url: str, requests: int, *, cut: bool) -> None:
        """After `requests` completions the wire is `cut`, or else silent."""
        host, _, port = url.removeprefix("http://").rpartition(":")
        self._server = (host, int(port))
        self._left = requests
        self._cut = cut
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = [self._listener]
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._server)
                self._ends += [near, far]
                threading.Thread(target=self._pass, args=(near, far, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(far, near, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if asks and b"POST /v1/completions" in data:
                    self._left -= 1
                    if self._left < 0:
                        if self._cut:
                            self.close()
                        return
                target.sendall(data)

    def close(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
