"""Mistakes in the real VS Code: underlined, fixed from the light bulb, and undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.vscode.conftest import Opener
from tests.e2e.vscode.workbench import Workbench
from tests.lsp_server.proofreading.conftest import FIXED, TEXT

pytestmark = pytest.mark.slow


@pytest.fixture
def window(open_draft: Opener, taught: Path) -> Workbench:
    window = open_draft(
        TEXT,
        {
            "reviser.model": str(taught),
            "reviser.completion.enabled": False,
            "reviser.diagnostics.enabled": True,
            "reviser.diagnostics.delayMs": 50,
        },
    )
    window.wait(lambda: window.underlined() == 3)
    return window


def test_a_mistake_is_mended_from_the_light_bulb_and_undone(window: Workbench) -> None:
    window.press("Control+Home", "Control+ArrowRight")
    window.press("Control+.")
    window.choose_action("Fix: “recieved” → “received”")
    window.wait(lambda: window.underlined() == 2)
    assert window.saved() == TEXT.replace("recieved", "received")
    window.press("Control+z")
    window.wait(lambda: window.underlined() == 3)
    assert window.saved() == TEXT


def test_all_are_mended_in_one_step(window: Workbench) -> None:
    window.command("Fix All")
    window.wait(lambda: window.underlined() == 0)
    assert window.saved() == FIXED
    window.press("Control+z")
    window.wait(lambda: window.underlined() == 3)
    assert window.saved() == TEXT
