"""A real Neovim with the plugin, driven through its own remote interface."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PLUGIN = ROOT / "editors" / "nvim"
PATIENCE = 90.0


def find_neovim() -> list[str] | None:
    """How to start Neovim: `$REVISER_NVIM`, or the one on the path, if it is 0.10 or later."""
    command = shlex.split(os.environ.get("REVISER_NVIM", "")) or ["nvim"]
    if shutil.which(command[0]) is None:
        return None
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    version = said.stdout.partition("NVIM v")[2].split("\n")[0]
    numbers = [int(part) for part in version.split("-")[0].split(".") if part.isdigit()]
    return command if numbers >= [0, 10] else None


class Neovim:
    """One editor, at first without a screen. Keys go in, expressions of Lua come out."""

    def __init__(self, command: list[str], folder: Path, file: Path, settings: Any, prelude: str = "") -> None:
        self._command = command
        self._socket = folder / "nvim.sock"
        setup = folder / "init.lua"
        options = json.dumps({"cmd": [sys.executable, "-m", "reviser", "lsp"], "settings": settings})
        setup.write_text(
            f"{prelude}\n"
            f"vim.opt.runtimepath:prepend('{PLUGIN}')\n"
            f"require('reviser').setup(vim.json.decode([==[{options}]==]))\n"
        )
        self.process = subprocess.Popen(
            [*command, "--headless", "-i", "NONE", "-n", "-u", str(setup),
             "--listen", str(self._socket), str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.wait(self._socket.exists)
        self.wait(lambda: self.lua("require('reviser.client').get() ~= nil"))
        self.wait(lambda: self.lua("require('reviser.client').get().initialized == true"))

    def screen_command(self) -> list[str]:
        """The command that shows the editor in a terminal."""
        return [*self._command, "--server", str(self._socket), "--remote-ui"]

    def lua(self, expression: str) -> Any:
        """The value of an expression of Lua."""
        quoted = f"vim.json.encode({{value = {expression}}})".replace("'", "''")
        said = subprocess.run(
            [*self._command, "--server", str(self._socket), "--remote-expr", f"luaeval('{quoted}')"],
            capture_output=True,
            text=True,
            check=True,
        )
        answer = json.loads(said.stdout or said.stderr)
        # To Lua, a table without anything in it is a list.
        return answer["value"] if answer else None

    def keys(self, keys: str) -> None:
        """Press keys, in Vim's own notation."""
        subprocess.run(
            [*self._command, "--server", str(self._socket), "--remote-send", keys], capture_output=True, check=True
        )

    @property
    def text(self) -> str:
        return "\n".join(self.lua("vim.api.nvim_buf_get_lines(0, 0, -1, false)"))

    def ghost(self) -> str | None:
        text: str | None = self.lua("require('reviser.ghost').text()")
        return text

    def changes(self) -> list[dict[str, Any]]:
        """The changes that wait to be kept or put back."""
        found: list[dict[str, Any]] = self.lua("require('reviser.changes').list()")
        return found

    def marks(self, name: str) -> list[dict[str, Any]]:
        """What is drawn under the name of a namespace."""
        space = f"vim.api.nvim_get_namespaces()['{name}']"
        marks = self.lua(f"vim.api.nvim_buf_get_extmarks(0, {space}, 0, -1, {{details = true}})")
        return [details for *_, details in marks]

    def wait(self, condition: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (found := condition()):
            assert self.process.poll() is None
            assert time.monotonic() < deadline, (self.text, self.changes())
            time.sleep(0.05)
        return found


@contextmanager
def neovim(command: list[str], folder: Path, file: Path, settings: Any, prelude: str = "") -> Iterator[Neovim]:
    """An editor with the plugin; the Lua of `prelude` is run first."""
    editor = Neovim(command, folder, file, settings, prelude)
    try:
        yield editor
    finally:
        editor.process.kill()
        editor.process.wait()
