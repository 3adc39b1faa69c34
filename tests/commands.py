"""Commands run as a user runs them, in processes of their own, without the wait for libraries to be imported again.

A helper process imports the libraries once and forks for each command. What then runs is `python -m reviser`, or
another of our programs, with its own streams, folder, environment and exit status. Tests of how a command starts,
of signals and of what it imports start a fresh interpreter instead.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import site
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from tests.conftest import ROOT

# What commands import sooner or later.
_MODULES = (
    "numpy",
    "safetensors.torch",
    "tokenizers",
    "torch",
    "reviser.cli.app",
    # What typer imports for a command, and for its help.
    "pydantic.types",
    "typer.rich_utils",
    "rich.markdown",
    "reviser.checking.workers",
    "reviser.checking.reports",
    "reviser.checkpoints.home",
    "reviser.proofreading.rules.english",
    "reviser.proofreading.project.ignoring",
    "reviser.proofreading.pipeline",
    "reviser.proofreading.recording",
    "reviser.proofreading.request",
    "reviser.session.documents",
    "reviser.session.engine",
    "reviser.session.replay",
    # The language server, training and its benchmarks.
    "lsp_server.starting",
    "numba",
    "training.trainer.run",
    "benchmarks.reproduction.command",
)
_LONGEST = 1 << 20


def reviser(
    *arguments: str | Path,
    stdin: str | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    program: str = "reviser",
) -> subprocess.CompletedProcess[str]:
    """`reviser` with these arguments, run to its end."""
    given = None if stdin is None else stdin.encode()
    done = reviser_bytes(*arguments, stdin=given, cwd=cwd, env=env, program=program)
    out, err = (data.decode().replace("\r\n", "\n") for data in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def reviser_bytes(
    *arguments: str | Path,
    stdin: bytes | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    program: str = "reviser",
) -> subprocess.CompletedProcess[bytes]:
    """The same with streams of bytes."""
    words = [os.fspath(word) for word in arguments]
    process = start(*words, cwd=cwd, env=env, program=program)
    out, err = process.communicate(stdin)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def start(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    program: str = "reviser",
    first: str = "",
) -> subprocess.Popen[bytes]:
    """Start such a command, with pipes for its streams. Where it is forked, it carries out some code `first`.

    Its parent is not this process, but lives as long as it does.
    """
    words = [os.fspath(word) for word in arguments]
    if not sys.platform.startswith("linux"):
        command = [sys.executable, "-m", program, *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=env)
    folder, surroundings = os.fspath(cwd or Path.cwd()), dict(os.environ if env is None else env)
    order = {
        "program": program, "words": words, "cwd": folder, "env": surroundings, "first": first,
    }  # fmt: skip
    return _Forked(order)


class _Forked(subprocess.Popen[bytes]):
    """A process that the helper forks. Only what asks for its life and its end differs from any other `Popen`."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.args = [order["program"], *order["words"]]
        self.returncode = None  # type: ignore[assignment]
        reads, writes = zip(*(os.pipe() for _ in range(4)), strict=True)
        theirs = [reads[0], *writes[1:]]
        socket.send_fds(_helper(), [json.dumps(order).encode()], theirs)
        for handle in theirs:
            os.close(handle)
        self.stdin = os.fdopen(writes[0], "wb")
        self.stdout, self.stderr = (os.fdopen(handle, "rb") for handle in reads[1:3])
        self._news = os.fdopen(reads[3], "rb", 0)
        self.pid = int(self._news.readline())
        # What `communicate` asks for.
        self.text_mode = False
        self._input: bytes | None = None
        self._communication_started = False
        self._sigint_wait_secs = 0.25
        self._closed_child_pipe_fds = True

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._news], [], [], 0)[0]:
            return self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._news], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = int(self._news.readline())
            self._news.close()
        return self.returncode

    def __del__(self) -> None:
        """Whoever forked it waits for it."""


@cache
def _helper() -> socket.socket:
    """The helper process, which ends with this one."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
    command = [sys.executable, "-m", "tests.commands", str(there.fileno())]
    # What the test at hand lets commands import is not for those of other tests.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()], cwd=ROOT, env=env)
    there.close()

    def leave() -> None:
        here.close()
        process.wait()

    atexit.register(leave)
    return here


def _serve(orders: socket.socket) -> None:
    """Fork for each order until nobody sends any more."""
    for name in _MODULES:
        importlib.import_module(name)
    # What is here stays: commands need not look through it when they collect their garbage.
    gc.freeze()
    while True:
        data, handles, _, _ = socket.recv_fds(orders, _LONGEST, 4)
        if not data:
            return
        if os.fork() == 0:
            orders.close()
            _keep(json.loads(data), handles)
        for handle in handles:
            os.close(handle)
        _forget_those_that_ended()


def _forget_those_that_ended() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def _keep(order: dict[str, Any], handles: list[int]) -> NoReturn:
    """Fork a command, and tell the number of its process and then its exit status."""
    *streams, news = handles
    child = os.fork()
    if child == 0:
        os.close(news)
        os._exit(_status_of(order, streams))
    for handle in streams:
        os.close(handle)
    # Ctrl-C in the terminal is for the command; this process ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(BrokenPipeError):
        os.write(news, b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(news, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _status_of(order: dict[str, Any], handles: list[int]) -> int:
    """Be a command to its end, without the long tidying up of libraries that were only imported."""
    atexit._clear()
    try:
        _become(order, handles)
        status = 0
    except SystemExit as stop:
        status = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
        status = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return status


def _become(order: dict[str, Any], handles: list[int]) -> None:
    """Run the command in its folder, with its environment and streams."""
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    folders = order["env"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [order["cwd"], *filter(None, folders)]
    # As at the start of an interpreter; tests look into commands by it.
    sys.modules.pop("sitecustomize", None)
    site.execsitecustomize()
    sys.argv = [order["program"], *order["words"]]
    sys.stdin = sys.__stdin__ = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    exec(order["first"], {})
    runpy.run_module(order["program"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
