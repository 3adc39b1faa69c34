"""VS Code's workbench in a real browser, driven by keys and read from the screen."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.lsp_server.processes import children

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

PATIENCE = 60.0

# They keep the window clear of all that is not tested.
QUIET: dict[str, Any] = {
    "chat.disableAIFeatures": True,
    "editor.wordBasedSuggestions": "off",
    "editor.inlineSuggest.enabled": True,
    "editor.accessibilitySupport": "off",
    "editor.minimap.enabled": False,
    "editor.wordWrap": "off",
    "files.autoSave": "off",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoUpdate": False,
    "security.workspace.trust.enabled": False,
    "window.commandCenter": False,
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}

_LINES = """() => [...document.querySelectorAll('.editor-instance .view-lines > .view-line')]
    .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))
    .map((line) => {
        const copy = line.cloneNode(true);
        copy.querySelectorAll('[class*=ghost-text]').forEach((ghost) => ghost.remove());
        return copy.textContent.replace(/\\u00a0/g, ' ').replace(/\\u200b/g, '');
    })"""

# The bar is a pseudo-element of a span that stands in the line: its left edge, in pixels, and its line.
_CURSOR = """(colour) => {
    for (const span of document.querySelectorAll('.editor-instance .view-line span')) {
        const style = getComputedStyle(span, '::before');
        if (style.borderLeftWidth === '2px' && style.borderLeftColor === colour) {
            const box = span.getBoundingClientRect();
            return [box.left, span.closest('.view-line').getBoundingClientRect().top];
        }
    }
    return null;
}"""

_TINTED = """(colours) => [...document.querySelectorAll('.editor-instance .view-overlays .cdr')]
    .filter((part) => colours.includes(getComputedStyle(part).backgroundColor)).length"""

_STRUCK_OUT = """() => [...document.querySelectorAll('.editor-instance .view-line span')]
    .map((span) => getComputedStyle(span, '::before'))
    .filter((style) => style.textDecorationLine === 'line-through' && style.content !== 'none')
    .map((style) => JSON.parse(style.content))"""

_OFFERED = """() => {
    const lines = [...document.querySelectorAll('.editor-instance .view-line')];
    const spans = lines.flatMap((line) => [...line.querySelectorAll('span > span')]);
    const style = (span, part) => getComputedStyle(span, part);
    const old = spans.filter((span) => style(span).textDecorationLine === 'line-through');
    const after = spans.map((span) => style(span, '::after').content);
    const said = after.filter((content) => content.startsWith('"')).map((content) => JSON.parse(content));
    return [old.map((span) => span.textContent).join(''), ...said];
}"""

_CURSOR_COLOUR = "rgb(232, 163, 61)"
_TINTS = {"fresh": "rgba(232, 163, 61, 0.3)", "region": "rgba(232, 163, 61, 0.1)", "change": "rgba(63, 185, 80, 0.3)"}


class CodeServer:
    """VS Code with the extension, and settings that a test can change while it runs."""

    def __init__(self, editors: Path, extension: Path, home: Path) -> None:
        self._node = editors / "node" / "bin" / "node"
        self._entry = editors / "code-server/node_modules/code-server/out/node/entry.js"
        self._home = home
        self.port = _free_port()
        self.pid = 0
        self._folders = [
            *("--config", str(home / "config.yaml")),
            *("--user-data-dir", str(home / "data")),
            *("--extensions-dir", str(home / "extensions")),
        ]
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.yaml").write_text("auth: none\n")
        write_settings(home / "data" / "User", QUIET)
        self._run("--install-extension", str(extension))

    @contextmanager
    def running(self) -> Iterator[CodeServer]:
        process = subprocess.Popen(
            self._command(
                *("--bind-addr", f"127.0.0.1:{self.port}", "--auth", "none"),
                *("--reconnection-grace-time", "1"),
                *("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"),
                "--disable-getting-started-override",
            ),
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )
        self.pid = process.pid
        try:
            until(self._answers)
            yield self
        finally:
            process.terminate()
            process.wait(PATIENCE)

    def _run(self, *arguments: str) -> None:
        subprocess.run(self._command(*arguments), env=self._environment(), check=True, capture_output=True)

    def _command(self, *arguments: str) -> list[str]:
        return [str(self._node), str(self._entry), *self._folders, *arguments]

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        return kept | {
            "HOME": str(self._home),
            "PATH": f"{self._node.parent}:/usr/bin:/bin",
            "SHELL": "/bin/sh",
            # No shop: nothing outside this machine is asked for.
            "EXTENSIONS_GALLERY": '{"serviceUrl":""}',
        }

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz") as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


class Workbench:
    """A window on one folder."""

    def __init__(self, browser: Browser, server: CodeServer, folder: Path) -> None:
        self.folder = folder
        self.draft = folder
        self.server = server
        self.page: Page = browser.new_page(viewport={"width": 1100, "height": 620})
        self.page.goto(f"http://127.0.0.1:{server.port}/?folder={folder}")
        self.page.locator(".explorer-viewlet").wait_for(timeout=1000 * PATIENCE)

    def close(self) -> None:
        self.page.close()

    def set(self, settings: dict[str, Any]) -> None:
        """Write the folder's settings; VS Code notices by itself."""
        write_settings(self.folder / ".vscode", settings)

    def open(self, name: str) -> None:
        """Open a file and put the cursor at its end."""
        self.press("Control+p")
        self.wait(lambda: self._offers(name))
        self.press("Enter")
        self.page.locator(f'.tab.active[data-resource-name="{name}"]').wait_for()
        self.page.locator(".editor-instance .view-lines").first.wait_for()
        self.press("Control+End")

    def _offers(self, name: str) -> bool:
        """Whether the list of files has a file, which may be new."""
        self._quick_input().fill("")
        self._quick_input().fill(name)
        self.page.wait_for_timeout(500)
        return self._quick_row(name).count() > 0

    def close_file(self) -> None:
        """Close the file, saved or not, and what messages there are."""
        self.press("Escape")
        self.command("View: Revert and Close Editor")
        self.command("Notifications: Clear All Notifications")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str, delay_ms: float = 30) -> None:
        self.page.keyboard.type(text, delay=delay_ms)

    def command(self, title: str) -> None:
        """Run a command as a user does who does not know its key."""
        self.press("F1")
        self._quick_input().fill(f">{title}")
        self._quick_row(title).wait_for()
        self.press("Enter")
        self.page.locator(".quick-input-widget").wait_for(state="hidden")

    def _quick_input(self) -> Locator:
        box = self.page.locator(".quick-input-widget input[type=text]")
        box.wait_for()
        return box

    def _quick_row(self, text: str) -> Locator:
        return self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=text).first

    def language_server(self) -> int:
        """The process that serves this window; of those that linger after others, the newest."""
        return max(pid for pid in descendants(self.server.pid) if _is_language_server(pid))

    # What is on the screen

    def text(self) -> str:
        lines: list[str] = self.page.evaluate(_LINES)
        return "\n".join(lines)

    def ghost_text(self) -> str:
        parts = self.page.locator(".editor-instance [class*=ghost-text]").all_inner_texts()
        return "".join(parts).replace("\u00a0", " ")

    def model_cursor(self) -> tuple[float, float] | None:
        """Where on the screen the model's cursor is."""
        found = self.page.evaluate(_CURSOR, _CURSOR_COLOUR)
        return (found[0], found[1]) if found else None

    def tinted(self, kind: str) -> int:
        """How many stretches are shown as freshly inserted, as a run's region or as a change."""
        count: int = self.page.evaluate(_TINTED, [_TINTS[kind]])
        return count

    def lenses(self) -> list[str]:
        """The words to click above the lines, from top to bottom."""
        found = self.page.locator(".editor-instance .codelens-decoration a").all_inner_texts()
        return [text.replace("\u00a0", " ").strip() for text in found]

    def click_lens(self, pattern: str) -> None:
        """Click on the first words above a line that fit a pattern."""
        lenses = self.page.locator(".editor-instance .codelens-decoration a")
        lenses.filter(has_text=re.compile(pattern)).first.click()

    def underlined(self) -> int:
        """How many mistakes are underlined."""
        return self.page.locator(".squiggly-info").count()

    def choose_action(self, title: str) -> None:
        """Take an entry of the list that the light bulb opens."""
        self.page.locator(".action-widget .monaco-list-row", has_text=title).first.click()

    def struck_out(self) -> list[str]:
        """The old texts that are shown struck out before new ones."""
        texts: list[str] = self.page.evaluate(_STRUCK_OUT)
        return [text.replace("\u00a0", " ") for text in texts]

    def offered(self) -> list[str]:
        """The next edit that is shown: the old text, struck out, what stands beside it and at the cursor's line."""
        texts: list[str] = self.page.evaluate(_OFFERED)
        return sorted(text.replace("\u00a0", " ") for text in texts if text)

    def status(self) -> str:
        """What Reviser says of itself in the status bar; nothing where no document is for it."""
        if not self._status_item().is_visible():
            return ""
        label = self._status_item().locator("a").first.get_attribute("aria-label")
        return label or ""

    def status_text(self) -> str:
        return self._status_item().inner_text().strip()

    def wait_for_status(self, words: str) -> None:
        self.wait(lambda: words in self.status())

    def _status_item(self) -> Locator:
        return self.page.locator('.statusbar-item[id$="reviser.status"]')

    def cursor_place(self) -> str:
        """The line and column of the user's cursor, as the status bar has them."""
        return self.page.locator('[id="status.editor.selection"]').inner_text()

    def messages(self) -> list[str]:
        return self.page.locator(".notification-list-item-message").all_inner_texts()

    def completions(self) -> list[str]:
        rows = self.page.locator(".suggest-widget.visible .monaco-list-row")
        return [text.replace("\u00a0", " ").strip() for text in rows.all_inner_texts()]

    def saved(self) -> str:
        """Save, and read the file: the exact text, down to its last space."""
        self.press("Control+s")
        dirty = self.page.locator(".tab.dirty")
        self.wait(lambda: dirty.count() == 0)
        # What was saved before is written once more, and for a moment there is nothing in the file.
        text: str = self.wait(lambda: self.draft.read_bytes().decode())
        return text

    def wait(self, condition: Callable[[], Any]) -> Any:
        """Wait for something on the screen."""
        try:
            return until(condition)
        except AssertionError:
            picture = self.folder / "failure.png"
            self.page.screenshot(path=picture)
            raise AssertionError(f"it did not happen; {picture} shows what did") from None


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
    return found


def write_settings(folder: Path, settings: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings, indent=1))


def descendants(pid: int) -> Iterator[int]:
    for child in children(pid):
        yield child
        yield from descendants(child)


def _is_language_server(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return b"lsp" in words and any(word.endswith(b"reviser") for word in words)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
