"""A real terminal that a test types into and reads, by tmux."""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path


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
