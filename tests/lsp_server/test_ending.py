"""How the server ends: on a signal in whatever it is doing, and on a stream that it cannot read."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_server.connection import FramingError, MessageSplitter
from tests.commands import start
from tests.conftest import ROOT
from tests.lsp_server.processes import children, lives
from tests.lsp_server.toy_editor import PATIENCE, URI, ToyEditor, toy_editor, until

LONG = {
    "live": {"maxActions": 2000, "editsPerSecond": 20},
    "completion": {"maxActionsInvoked": 2000, "unit": "line", "candidates": 10},
}


def be_idle(editor: ToyEditor) -> None:
    editor.command("reviser.status")


def be_loading(editor: ToyEditor) -> None:
    editor.command("reviser.continue", uri=URI)
    editor.wait(lambda: editor.runs() and editor.runs()[-1]["state"] == "loading")
    until(lambda: children(editor.process.pid))


def be_running(editor: ToyEditor) -> None:
    editor.command("reviser.continue", uri=URI)
    editor.wait(lambda: len(editor.edits) > 2)


def be_suggesting(editor: ToyEditor) -> None:
    editor.begin_ghost_text()
    editor.wait(lambda: editor.notifications("reviser/status"))
    until(lambda: editor.command("reviser.status")["state"] == "thinking")


def be_waiting_for_an_answer(editor: ToyEditor) -> None:
    """A run whose edit the editor never answers."""
    editor.before_apply = lambda: until(lambda: editor.process.poll() is not None)
    editor.command("reviser.continue", uri=URI)
    until(lambda: editor.edits)


STATES = [be_idle, be_running, be_suggesting, be_waiting_for_an_answer]


def check_signal(
    model: Path, state: Callable[[ToyEditor], None], number: signal.Signals, *, fresh: bool = False
) -> None:
    with toy_editor(model, LONG, fresh=fresh) as editor:
        editor.open("It was")
        state(editor)
        engines = children(editor.process.pid)
        assert engines or state is be_idle
        editor.process.send_signal(number)
        assert editor.process.wait(PATIENCE) == 128 + number
        until(lambda: not any(map(lives, engines)))
        assert not editor.stderr


@pytest.mark.parametrize("state", STATES)
def test_an_interrupt_ends_server_and_engine(slow_model: Path, state: Callable[[ToyEditor], None]) -> None:
    check_signal(slow_model, state, signal.SIGINT)


def test_an_interrupt_ends_an_engine_that_loads_a_model(full_model: Path) -> None:
    check_signal(full_model, be_loading, signal.SIGINT)


def test_a_request_to_terminate_ends_server_and_engine(slow_model: Path) -> None:
    """One that was started as editors start it."""
    check_signal(slow_model, be_running, signal.SIGTERM, fresh=True)


def test_a_signal_ends_a_server_whose_editor_reads_nothing(model: Path) -> None:
    """Its pipe is full, so that the server waits for the editor in the middle of a message."""
    with toy_editor(model) as editor:
        editor.open("word " * 100_000)
        with editor.lock:  # which the editor takes to read
            for _ in range(3):
                editor.begin_request("reviser/text", {"uri": URI})
            editor.process.send_signal(signal.SIGTERM)
            assert editor.process.wait(PATIENCE) == 128 + signal.SIGTERM


# Holds an import until it is told to go on.
HOLD = """
import pathlib, sys, time
class Hold:
    def find_spec(self, name, path=None, target=None):
        if name == "lsp_server.starting":
            pathlib.Path("{folder}/held").touch()
            while not pathlib.Path("{folder}/go").exists():
                time.sleep(0.01)
sys.meta_path.insert(0, Hold())
"""
EDITOR = """
import subprocess, sys, time
server = subprocess.Popen([sys.executable, "-m", "reviser", "lsp"], stdin={stdin}, stdout=subprocess.PIPE)
print(server.pid, flush=True)
time.sleep(1000)
"""


def test_a_server_whose_editor_dies_while_it_starts_ends(tmp_path: Path) -> None:
    """Somebody else holds its pipe, and another process has adopted it before it reads a message."""
    (tmp_path / "sitecustomize.py").write_text(HOLD.format(folder=tmp_path))
    reads, writes = os.pipe()
    editor = subprocess.Popen(
        [sys.executable, "-c", EDITOR.format(stdin=reads)],
        stdout=subprocess.PIPE,
        pass_fds=[reads],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    assert editor.stdout
    server = int(editor.stdout.readline())
    until((tmp_path / "held").exists)
    editor.kill()
    editor.wait()
    (tmp_path / "go").touch()
    try:
        until(lambda: not lives(server))
    finally:
        if lives(server):
            os.kill(server, signal.SIGKILL)
        os.close(reads)
        os.close(writes)


def test_a_server_that_nobody_talks_to_ends() -> None:
    """Its editor may have died before it could ask whose child it is."""
    process = start("lsp", first="from lsp_server import starting as s; s._INITIALIZE_PATIENCE = 0")
    assert process.wait(PATIENCE) == 1
    assert process.stderr
    assert process.stderr.read() == b"reviser: no editor has said initialize\n"


STATUS = json.dumps(
    {"jsonrpc": "2.0", "id": 99, "method": "workspace/executeCommand",
     "params": {"command": "reviser.status"}}
).encode()  # fmt: skip


def framed(body: bytes, size: int | None = None) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % (len(body) if size is None else size) + body


UNREADABLE = [
    b"\x00\xff\x12 garbage",
    b"Content-Length: %d\n\n" % len(STATUS) + STATUS,
    framed(STATUS, 10**9) + framed(STATUS),
    framed(STATUS, len(STATUS) - 4) + framed(STATUS),
    framed(STATUS, len(STATUS) + 9) + framed(STATUS),
    b"What is this?\r\n",
    b"Content-Type: text\r\n\r\n" + STATUS,
    b"Content-Length: -3\r\n\r\n" + STATUS,
    b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n" + STATUS,
    b"x" * 10_000,
]


@pytest.mark.parametrize("data", UNREADABLE[:4])
def test_a_stream_that_cannot_be_read_ends_the_server(model: Path, data: bytes) -> None:
    """A server that went on would be alive and deaf; an editor starts one anew that has ended."""
    with toy_editor(model) as editor:
        editor.open("It was")
        assert editor.mirror() == "It was"
        assert editor.process.stdin
        editor.process.stdin.write(data)
        editor.process.stdin.flush()
        assert editor.process.wait(PATIENCE) == 2
        until(lambda: editor.stderr.endswith(b"\n"))
        assert editor.stderr.count(b"\n") == 1
        assert editor.stderr.startswith(b"reviser: ")
        assert b"Content-Length" in editor.stderr


@pytest.mark.parametrize("data", UNREADABLE)
def test_a_stream_that_cannot_be_read_is_known_as_such(data: bytes) -> None:
    with pytest.raises(FramingError, match="Content-Length"):
        list(MessageSplitter().feed(data))


def test_an_engine_ends_with_a_server_that_cannot_read(slow_model: Path) -> None:
    with toy_editor(slow_model, LONG) as editor:
        editor.open("It was")
        be_running(editor)
        (engine,) = children(editor.process.pid)
        assert editor.process.stdin
        editor.process.stdin.write(b"garbage\r\n")
        editor.process.stdin.flush()
        assert editor.process.wait(PATIENCE) == 2
        until(lambda: not lives(engine))


BODIES = [b"{}", b'{"text": "Content-Length: 3"}', b"[1,\r\n\r\n2]", b"", b"x" * 100]


@pytest.mark.parametrize(
    "head", [b"Content-Length: %d\r\n\r\n", b"content-length:%d \r\n\r\n",
             b"Content-Type: x; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
             b"\r\nContent-Length: %d\r\nA:\r\n\r\n"]
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_messages_are_cut_out_however_the_bytes_come(head: bytes, size: int) -> None:
    data = b"".join(head % len(body) + body for body in BODIES)
    messages = MessageSplitter()
    chunks = (data[start : start + size] for start in range(0, len(data), size))
    assert list(itertools.chain.from_iterable(map(messages.feed, chunks))) == BODIES


def test_what_is_no_head_is_known_at_its_first_byte() -> None:
    messages = MessageSplitter()
    assert list(messages.feed(framed(b"{}") + b"Content-Len")) == [b"{}"]
    with pytest.raises(FramingError):
        list(messages.feed(b"\x00"))
