"""A small editor that talks to a real server over its standard streams, and keeps its own text."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.commands import start

URI = "file:///home/ann/draft.txt"
PATIENCE = 60.0

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
# Code for a server that does not wait long for the change that an edit has to cause.
IMPATIENT = "from lsp_server.runs import live_runs; live_runs._ECHO_PATIENCE = 0.3"
CAPABILITIES: dict[str, Any] = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "window": {"workDoneProgress": True},
    "textDocument": {"inlineCompletion": {}},
    "experimental": {"reviser": True},
}


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class ToyEditor:
    """Counts in UTF-16 unless told otherwise. How it treats the server's edits is `manner`:

    "check" refuses what is not for its version, and so does "late", which reports its changes after that; "silent"
    skips it and says "applied", and reports its changes late; "careless" carries out anything; "refuse" carries out
    nothing; "fail" answers with an error.
    """

    def __init__(
        self,
        model: Path,
        settings: dict[str, Any] | None = None,
        *,
        encoding: str = "utf-16",
        arguments: tuple[str, ...] = (),
        process_id: int | None = None,
        fresh: bool = False,
        first: str = "",
    ) -> None:
        """The server is forked from a process that has imported its libraries, unless it is to be `fresh`.

        The code of `first` runs in it before all else.
        """
        self.encoding = encoding
        self.manner = "check"
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.history: dict[int, str] = {}
        self.edits: list[dict[str, Any]] = []
        self.received: list[dict[str, Any]] = []
        self.answers: dict[int, dict[str, Any]] = {}
        self.before_apply: Callable[[], None] = lambda: None
        # Quick edits, so that a short run has many.
        live = {"editsPerSecond": 500, "maxActions": 300}
        revise = {"maxActions": 12, "temperature": 0.9}
        # What the model does is the same at every run of a test; when it does it is not.
        usual = {"model": str(model), "live": live, "revise": revise, "seed": 1}
        # Reading what is typed would cost every test an engine more.
        usual["diagnostics"] = usual["nextEdits"] = {"enabled": False}
        # A model of random weights is sure of nothing.
        usual["completion"] = {"confidence": 0}
        self.settings: Any = usual | (settings or {})
        self.lock = threading.RLock()
        self._news = threading.Condition(self.lock)
        self._ids = itertools.count(1)
        self._late: list[dict[str, Any]] = []
        self._late_uri = ""
        self.process = _fresh(*arguments) if fresh else start("lsp", *arguments, first=first)
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_stderr, daemon=True).start()
        self.stderr = b""
        self._process_id = process_id

    # The protocol

    def initialize(self, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        offered = capabilities or CAPABILITIES | {"general": {"positionEncodings": [self.encoding, "utf-16"]}}
        answer: dict[str, Any] = self.request(
            "initialize",
            {
                "processId": self._process_id or os.getpid(),
                "rootUri": None,
                "capabilities": offered,
                "initializationOptions": self.settings,
            },
        )
        self.notify("initialized", {})
        return answer

    def send_bytes(self, body: bytes) -> None:
        assert self.process.stdin
        with self.lock, suppress(ValueError, BrokenPipeError):
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.send_bytes(json.dumps({"jsonrpc": "2.0"} | message).encode())

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def begin_request(self, method: str, params: Any) -> int:
        with self.lock:
            self._report_late()
            id = next(self._ids)
            self.send({"id": id, "method": method, "params": params})
        return id

    def request(self, method: str, params: Any) -> Any:
        return self.answer(self.begin_request(method, params))

    def answer(self, id: int) -> Any:
        """Wait for the answer to a request."""
        self.wait(lambda: id in self.answers)
        answer = self.answers.pop(id)
        if "error" in answer:
            raise Refused(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def cancel(self, id: int) -> None:
        self.notify("$/cancelRequest", {"id": id})

    def command(self, name: str, **argument: Any) -> Any:
        arguments = [argument] if argument else []
        return self.request("workspace/executeCommand", {"command": name, "arguments": arguments})

    def wait(self, condition: Callable[[], Any]) -> Any:
        """Wait until something is true; what it is becomes known with the server's messages."""
        with self._news:
            found = self._news.wait_for(condition, PATIENCE)
            assert found, (self.process.poll(), self.received[-5:], self.stderr.decode()[-2000:])
            return found

    def notifications(self, method: str) -> list[dict[str, Any]]:
        return [m["params"] for m in self.received if m.get("method") == method]

    def runs(self) -> list[dict[str, Any]]:
        return self.notifications("reviser/run")

    def changes(self) -> list[dict[str, Any]]:
        """The changes that wait to be kept or put back, as the server last told them."""
        news = self.notifications("reviser/changes")
        changes: list[dict[str, Any]] = news[-1]["changes"] if news else []
        return changes

    def wait_for_end(self) -> dict[str, Any]:
        """Wait until no run is under way; returns its last news."""
        self.wait(lambda: self.runs() and self.runs()[-1]["state"] not in ("loading", "writing"))
        return self.runs()[-1]

    def mirror(self, uri: str = URI) -> str:
        """The document as the server has it."""
        text: str = self.request("reviser/text", {"uri": uri})["text"]
        return text

    def exit(self) -> int:
        """Leave as the protocol has it; returns the server's exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(PATIENCE)

    def set(self, **settings: Any) -> None:
        """Change settings; the others are as at the start."""
        settings["completion"] = {"confidence": 0} | settings.get("completion", {})
        self.notify("workspace/didChangeConfiguration", {"settings": {"reviser": settings}})

    def reset(self) -> None:
        """Close all, and set all as it was at the start."""
        self.manner = "check"
        self.before_apply = lambda: None
        self.command("reviser.stop")
        for uri in list(self.texts):
            self.close(uri)
        self.set()
        self.command("reviser.status")
        self.edits.clear()
        self.received.clear()

    # The user

    def open(self, text: str, language: str = "plaintext", uri: str = URI) -> None:
        with self.lock:
            self.texts[uri], self.versions[uri] = text, 1
            self.history = {1: text}
            item = {"uri": uri, "languageId": language, "version": 1, "text": text}
            self.notify("textDocument/didOpen", {"textDocument": item})

    def close(self, uri: str = URI) -> None:
        with self.lock:
            self._report_late()
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            del self.texts[uri]

    @property
    def text(self) -> str:
        return self.texts[URI]

    def edit(self, start: int, end: int, inserted: str, uri: str = URI) -> None:
        """Replace what is between two characters."""
        with self.lock:
            text = self.texts[uri]
            range = self.range(start, end, uri)
            self.texts[uri] = text[:start] + inserted + text[end:]
            self.versions[uri] += 1
            self._report(uri, {"range": range, "text": inserted})

    def type(self, text: str, uri: str = URI) -> None:
        """Type at the end."""
        with self.lock:
            end = len(self.texts[uri])
            self.edit(end, end, text, uri)

    def position(self, offset: int, uri: str = URI) -> dict[str, int]:
        lines = re.split("\r\n|\r|\n", self.texts[uri][:offset])
        codec, size = CODECS[self.encoding]
        column = len(lines[-1].encode(codec, "surrogatepass")) // size
        return {"line": len(lines) - 1, "character": column}

    def range(self, start: int, end: int, uri: str = URI) -> dict[str, Any]:
        return {"start": self.position(start, uri), "end": self.position(end, uri)}

    def begin_ghost_text(self, offset: int | None = None, *, invoked: bool = True) -> int:
        with self.lock:
            at = self.position(len(self.text) if offset is None else offset)
            return self.begin_request(
                "textDocument/inlineCompletion",
                {"textDocument": {"uri": URI}, "position": at, "context": {"triggerKind": 1 if invoked else 2}},
            )

    def ghost_text(self, offset: int | None = None, *, invoked: bool = True) -> list[str]:
        """What the server suggests at a place, by default at the end."""
        answer = self.answer(self.begin_ghost_text(offset, invoked=invoked))
        return [item["insertText"] for item in answer["items"]]

    # The server's requests

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream
        while header := stream.readline():
            size = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            message = json.loads(stream.read(size))
            with self._news:
                self._take(message)
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def _read_stderr(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.stderr += line

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self.answers[message["id"]] = message
            return
        self.received.append(message)
        if "id" not in message:
            return
        result: Any = None
        if message["method"] == "workspace/applyEdit":
            result = {"applied": self._apply(message["params"])}
        elif message["method"] == "workspace/configuration":
            result = [self.settings]
        with suppress(OSError):
            if message["method"] == "workspace/applyEdit" and self.manner == "fail":
                error = {"code": -32603, "message": "this editor has trouble"}
                self.send({"id": message["id"], "error": error})
            else:
                self.send({"id": message["id"], "result": result})

    def _apply(self, params: dict[str, Any]) -> bool:
        self.edits.append(params)
        self.before_apply()
        (change,) = params["edit"]["documentChanges"]
        uri, version = change["textDocument"]["uri"], change["textDocument"]["version"]
        if self.manner in ("refuse", "fail") or uri not in self.texts:
            return False
        if self.manner != "careless" and version != self.versions[uri]:
            return self.manner == "silent"
        self.carry_out(uri, change["edits"])
        return True

    def carry_out(self, uri: str, edits: list[dict[str, Any]]) -> None:
        """Make the edits of one message, which are all about the text before it."""
        with self.lock:
            placed: list[tuple[int, int, dict[str, Any]]] = []
            for edit in edits:
                start, end = (self._offset(uri, edit["range"][key]) for key in ("start", "end"))
                placed.append((start, end, edit))
            self.versions[uri] += 1
            for start, end, edit in sorted(placed, key=lambda one: one[:2], reverse=True):
                text = self.texts[uri]
                self.texts[uri] = text[:start] + edit["newText"] + text[end:]
                self._late.append({"range": edit["range"], "text": edit["newText"]})
            last = self._late.pop()
            self._report(uri, last)

    def _report(self, uri: str, change: dict[str, Any]) -> None:
        self._late_uri = uri
        self._late.append(change)
        if self.manner not in ("silent", "late"):
            self._report_late()
        elif len(self._late) == 1:
            threading.Timer(0.03, self._report_late).start()

    def _report_late(self) -> None:
        with self.lock:
            if not self._late:
                return
            changes, self._late = self._late, []
            document = {"uri": self._late_uri, "version": self.versions[self._late_uri]}
            self.history[document["version"]] = self.texts[self._late_uri]
            self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def _offset(self, uri: str, position: dict[str, int]) -> int:
        """The last place that is not behind a position; an edit may be for a text that is no more."""
        text, offset = self.texts[uri], 0
        wanted = (position["line"], position["character"])
        for found in re.finditer("\r\n|\r|\n", text):
            if wanted[0] == 0:
                break
            wanted = (wanted[0] - 1, wanted[1])
            offset = found.end()
        if wanted[0]:
            return len(text)
        line = re.split("[\r\n]", text[offset:], maxsplit=1)[0]
        codec, size = CODECS[self.encoding]
        units = (len(character.encode(codec, "surrogatepass")) // size for character in line)
        return offset + bisect_right(list(itertools.accumulate(units)), wanted[1])


def _fresh(*arguments: str) -> subprocess.Popen[bytes]:
    """A server as editors start it."""
    command = [sys.executable, "-m", "reviser", "lsp", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


@contextmanager
def toy_editor(model: Path, settings: dict[str, Any] | None = None, **options: Any) -> Iterator[ToyEditor]:
    """An editor with its server, which is gone afterwards whatever happens."""
    editor = ToyEditor(model, settings, **options)
    try:
        editor.initialize()
        yield editor
    finally:
        editor.process.kill()
        editor.process.wait()


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something that no message tells of."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
