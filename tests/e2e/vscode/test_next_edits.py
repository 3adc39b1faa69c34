"""Next edits in the real VS Code: shown in the text, made with Tab, refused with Escape, undone in one step."""

from __future__ import annotations

import pytest

from tests.e2e.vscode.conftest import Opener
from tests.e2e.vscode.workbench import Workbench
from tests.lsp_server.next_edits.conftest import DONE, EDITED, TEXT

pytestmark = pytest.mark.slow

SHOWN = ["e-mail", "email"]


@pytest.fixture
def window(open_draft: Opener) -> Workbench:
    """A window in which the user has just made one "e-mail" an "email"; the nearest next one is in the same line."""
    window = open_draft(
        TEXT,
        {
            "reviser.completion.enabled": False,
            "reviser.nextEdits.enabled": True,
            "reviser.nextEdits.delayMs": 100,
            "reviser.nextEdits.confidence": 0.3,
        },
    )
    window.press("Control+Home", "ArrowDown", "ArrowDown", *["ArrowRight"] * 13, "Backspace")
    window.wait(lambda: window.offered() == SHOWN)
    return window


def test_a_next_edit_is_shown_reached_made_and_undone(window: Workbench) -> None:
    window.press("Tab")
    window.wait(lambda: window.cursor_place() == "Ln 3, Col 24")
    window.press("Tab")
    once = EDITED.replace("Each e-mail", "Each email")
    # The next one is further down, which is said at the cursor's line.
    window.wait(lambda: window.offered() == ["Tab: line 5", *SHOWN])
    assert window.saved() == once
    window.press("Control+z")
    assert window.saved() == EDITED
    window.press("Control+z")
    window.wait(lambda: window.offered() == [])
    assert window.saved() == TEXT


def test_all_places_are_made_from_the_light_bulb_in_one_step(window: Workbench) -> None:
    window.press("Tab")
    window.wait(lambda: window.cursor_place() == "Ln 3, Col 24")
    window.press("Control+.")
    window.choose_action("Apply to all 5 places")
    window.wait(lambda: window.offered() == [])
    assert window.saved() == DONE
    window.press("Control+z")
    assert window.saved() == EDITED


def test_escape_refuses_and_tab_is_a_tab_without_a_next_edit(window: Workbench) -> None:
    def refused() -> bool:
        if window.offered():
            window.press("Escape")
        return not window.offered()

    window.wait(refused)
    assert window.saved() == EDITED
    window.press("Control+End", "Tab")
    assert window.saved() == EDITED + "    "


def test_while_somebody_types_nothing_is_shown(window: Workbench) -> None:
    window.press("Control+End")
    window.wait(lambda: "Tab: line 1" in window.offered())
    seen = []
    for letter in "Yes, ":
        window.press(letter)
        seen.append(window.offered())
    assert [] in seen
    window.wait(lambda: "Tab: line 1" in window.offered())
    assert window.saved() == EDITED + "Yes, "
