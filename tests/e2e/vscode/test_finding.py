"""The extension finds the server, or says how to get it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.vscode.conftest import EDITORS, EXTENSION, PROGRAM, Opener
from tests.e2e.vscode.workbench import CodeServer, Workbench

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def test_a_missing_server_is_said_with_the_way_to_install_it(open_draft: Opener) -> None:
    words = "neither in the active Python environment nor on the PATH"
    window = open_draft("It was quiet", {"reviser.server.path": ""}, status=words)
    window.wait(lambda: any("pip install 'reviser[lsp]'" in text for text in window.messages()))


def test_a_server_that_does_not_start_is_quoted(open_draft: Opener, tmp_path: Path) -> None:
    program = _script(tmp_path / "reviser", "echo 'this command needs pygls' >&2; exit 2")
    settings = {"reviser.server.path": str(program)}
    window = open_draft("It was quiet", settings, status="does not start")
    window.wait(lambda: any("this command needs pygls" in text for text in window.messages()))
    window.page.wait_for_timeout(1500)
    # No other words than the extension's own.
    assert all("To install it: pip install" in text for text in window.messages())


def test_the_folder_s_own_environment_is_found(open_draft: Opener, lasting_window: Workbench) -> None:
    program = _script(lasting_window.folder / ".venv/bin/reviser", f'exec {PROGRAM} "$@"')
    open_draft("It was quiet", {"reviser.server.path": ""}, status="Reviser is idle")
    program.unlink()


def test_the_path_is_searched(installed: CodeServer, browser: Browser, tmp_path: Path) -> None:
    server = CodeServer(EDITORS, EXTENSION, tmp_path / "home")
    folder = tmp_path / "draft"
    folder.mkdir()
    (folder / "draft.md").write_text("It was quiet")
    # VS Code asks the user's shell for the PATH.
    (tmp_path / "home" / ".profile").write_text(f"export PATH={PROGRAM.parent}:$PATH\n")
    with server.running():
        window = Workbench(browser, server, folder)
        window.open("draft.md")
        window.wait_for_status("Reviser is idle")
        window.close()


def test_a_window_without_prose_shows_no_status(open_draft: Opener) -> None:
    window = open_draft("It was quiet")
    assert window.status()
    (window.folder / "code.py").write_text("x = 1\n")
    window.open("code.py")
    window.wait(lambda: not window.status())
    window.close_file()
    window.open(window.draft.name)
    window.wait_for_status("Reviser is idle")


def _script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path
