"""Real terminals that a test types into: one that it reads, by tmux, and a bare one."""

from __future__ import annotations

import fcntl
import os
import pty
import secrets
import shlex
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self) -> None:
        self._name = ""

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._name, "-f", os.devnull, *arguments]
        # A size that the test runner states for itself is not that of this terminal.
        env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout

    def run(self, command: Sequence[str], size: tuple[int, int] = (90, 24), **env: str) -> None:
        """Run a command; afterwards the window stays, to show how it ended."""
        self._name = f"reviser-{secrets.token_hex(4)}"
        line = f"{shlex.join(command)}; echo ended with $?; exec sleep 1000"
        settings = [part for pair in env.items() for part in ("-e", "=".join(pair))]
        width, height = map(str, size)
        self.tmux("new-session", "-d", "-x", width, "-y", height, *settings, line)

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def screen(self, *options: str) -> str:
        return self.tmux("capture-pane", "-p", *options)

    def wait_for(self, wanted: str | Callable[[str], object]) -> str:
        """The screen as soon as it shows `wanted`."""
        limit = time.monotonic() + 90
        while True:
            screen = self.screen()
            if wanted in screen if isinstance(wanted, str) else wanted(screen):
                return screen
            assert time.monotonic() < limit, f"never saw {wanted!r} in\n{screen}"
            time.sleep(0.05)

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait for something that cannot be seen on the screen."""
        self.wait_for(lambda screen: condition())

    def process(self) -> int:
        """The process id of the command."""
        shell = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
        child = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(child[0])

    def end(self) -> None:
        subprocess.run(["tmux", "-L", self._name, "kill-server"], capture_output=True, check=False)


class BareTerminal:
    """A terminal that sends a command any bytes and looks at nothing."""

    def __init__(self) -> None:
        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._process: subprocess.Popen[bytes] | None = None
        self._drawn = bytearray()

    def run(self, command: Sequence[str], **env: str) -> None:
        """Run a command; returns when it has drawn something."""
        theirs = self._theirs
        self._process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env=os.environ | {"TERM": "xterm-256color"} | env,
        )
        os.close(theirs)
        Thread(target=self._read, daemon=True).start()
        self.wait_until(lambda: len(self._drawn) > 2000)

    def _read(self) -> None:
        with suppress(OSError):
            while drawn := os.read(self._ours, 1 << 16):
                self._drawn += drawn

    def send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._ours, data) :]

    def drawn(self) -> str:
        """Everything that was drawn, with the sequences between it."""
        return self._drawn.decode(errors="replace")

    def go_away(self) -> None:
        """Be gone, as a window that somebody closes."""
        os.close(self._ours)

    def wait_until(self, condition: Callable[[], object]) -> None:
        limit = time.monotonic() + 90
        while not condition():
            assert time.monotonic() < limit, f"it did not happen: {self.drawn()[-3000:]}"
            time.sleep(0.05)

    @property
    def status(self) -> int | None:
        """The exit status; None while the command runs."""
        assert self._process is not None
        return self._process.poll()

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        with suppress(OSError):
            os.close(self._ours)
