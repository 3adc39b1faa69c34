"""VS Code with the extension, where `make test-editors` or the reader has installed it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.vscode.workbench import CodeServer, Workbench
from tests.lsp_server.models import save_tiny_model
from tests.lsp_server.proofreading.conftest import taught_editor_model

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[3]
EDITORS = Path(os.environ.get("REVISER_EDITORS", ROOT / ".editors"))
EXTENSION = ROOT / "editors" / "vscode" / "dist" / "reviser.vsix"

PROGRAM = Path(sys.executable).with_name("reviser")

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]


def usual_settings(model: Path) -> dict[str, Any]:
    """What the extension is told where a test says nothing else."""
    return {
        "reviser.model": str(model),
        "reviser.server.path": str(PROGRAM),
        "reviser.diagnostics.enabled": False,
        "reviser.nextEdits.enabled": False,
        # A model of random weights is sure of nothing.
        "reviser.completion.confidence": 0,
    }


def find_chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("there is no Chromium on the path")
    api = pytest.importorskip("playwright.sync_api", reason="see `make test-editors`")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quick, for suggestions."""
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def slow_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Slow enough that its runs can be watched and interrupted."""
    folder = tmp_path_factory.mktemp("models") / "slow"
    return save_tiny_model(folder, width=1024, layers=32, heads=16)


@pytest.fixture(scope="session")
def reviser_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that deletes and replaces."""
    return save_tiny_model(tmp_path_factory.mktemp("models") / "revising", revises=True)


@pytest.fixture(scope="session")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that knows a few mistakes."""
    return taught_editor_model(tmp_path_factory.mktemp("models") / "taught")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> CodeServer:
    """VS Code with the extension, not yet running."""
    if not (EDITORS / ".vscode-ready").exists():
        pytest.skip(f"VS Code is not installed in {EDITORS}; see `make test-editors`")
    if not EXTENSION.exists():
        pytest.skip("the extension is not packaged; see `make vscode`")
    return CodeServer(EDITORS, EXTENSION, tmp_path_factory.mktemp("vscode"))


@pytest.fixture(scope="session")
def server(installed: CodeServer) -> Iterator[CodeServer]:
    with installed.running():
        yield installed


@pytest.fixture(scope="session")
def lasting_window(
    server: CodeServer, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workbench]:
    """One window serves many tests, since it takes long to load."""
    window = Workbench(browser, server, tmp_path_factory.mktemp("drafts"))
    yield window
    window.close()


Opener = Callable[..., Workbench]


@pytest.fixture
def open_draft(lasting_window: Workbench, model: Path, request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Opens a draft of its own for the test, with the cursor at its end, once the server is ready for it."""
    window = lasting_window

    def open_draft(
        text: str, settings: dict[str, Any] | None = None, suffix: str = ".md", status: str = "Reviser is idle"
    ) -> Workbench:
        window.set(usual_settings(model) | (settings or {}))
        window.draft = window.folder / f"{request.node.name[:40]}{suffix}"
        window.draft.write_bytes(text.encode())
        window.open(window.draft.name)
        window.wait_for_status(status)
        return window

    yield open_draft
    window.close_file()
    window.draft.unlink()
