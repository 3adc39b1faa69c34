"""Commands run as a user runs them, in processes of their own, without the wait for libraries to be imported again.

A helper process imports the libraries once and forks for each command. What then runs is `python -m reviser`, or another of
our programs, with its own streams, folder, environment and exit status. Tests of how a command starts, of signals and of what it
imports start a fresh interpreter instead.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
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
from typing import Any

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
    "reviser.proofreading.phrases.english_rules",
    "reviser.proofreading.project.ignoring",
    "reviser.proofreading.proofreader",
    "reviser.proofreading.recording",
    "reviser.proofreading.request",
    "reviser.session.documents",
    "reviser.session.engine",
    "reviser.session.replay",
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
    if not sys.platform.startswith("linux"):
        command = [sys.executable, "-m", program, *words]
        return subprocess.run(
            command, input=stdin, capture_output=True, check=False, cwd=cwd, env=env
        )
    folder, surroundings = os.fspath(cwd or Path.cwd()), dict(os.environ if env is None else env)
    order = json.dumps({"program": program, "words": words, "cwd": folder, "env": surroundings})
    reads, writes = zip(*(os.pipe() for _ in range(3)), strict=True)
    helper = _helper()
    socket.send_fds(helper, [order.encode()], [reads[0], writes[1], writes[2]])
    for handle in (reads[0], writes[1], writes[2]):
        os.close(handle)
    found = {1: b"", 2: b""}

    def write() -> None:
        # It may not read to the end.
        with suppress(BrokenPipeError), os.fdopen(writes[0], "wb") as stream:
            stream.write(stdin or b"")

    def read(number: int) -> None:
        with os.fdopen(reads[number], "rb") as stream:
            found[number] = stream.read()

    threads = [threading.Thread(target=write)]
    threads += [threading.Thread(target=read, args=(number,)) for number in found]
    for thread in threads:
        thread.start()
    status = int(helper.recv(_LONGEST))
    for thread in threads:
        thread.join()
    return subprocess.CompletedProcess(words, status, found[1], found[2])


@cache
def _helper() -> socket.socket:
    """The helper process, which ends with this one."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
    command = [sys.executable, "-m", "tests.commands", str(there.fileno())]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()], cwd=ROOT
    )
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
        data, handles, _, _ = socket.recv_fds(orders, _LONGEST, 3)
        if not data:
            return
        child = os.fork()
        if child == 0:
            orders.close()
            os._exit(_status_of(json.loads(data), handles))
        for handle in handles:
            os.close(handle)
        _, status = os.waitpid(child, 0)
        orders.send(str(os.waitstatus_to_exitcode(status)).encode())


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
    sys.stderr = sys.__stderr__ = os.fdopen(
        2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    runpy.run_module(order["program"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
