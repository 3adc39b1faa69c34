"""Revising in the real VS Code: changes seen, kept, put back, and undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.vscode.conftest import Opener
from tests.e2e.vscode.workbench import Workbench

pytestmark = pytest.mark.slow

TITLE = "Title 😀\r\n\r\n"
PARAGRAPH = "It was a quiet day.\r\nThe cat sat on the mat.\r\nIt was late, and the rain fell."
DRAFT = TITLE + PARAGRAPH
REVISE = "Control+Alt+r"
KEEP, PUT_BACK = "Shift+Alt+Enter", "Shift+Alt+Backspace"


@pytest.fixture
def window(open_draft: Opener, reviser_model: Path) -> Workbench:
    """A window with changes in several places that wait, and the cursor at the start."""
    window = open_draft(
        DRAFT,
        {
            "reviser.model": str(reviser_model),
            "reviser.completion.enabled": False,
            "reviser.revise.maxActions": 10,
            "reviser.revise.temperature": 0.9,
        },
    )
    for _ in range(10):
        window.press(REVISE)
        _wait_for_changes(window)
        if _count(window) >= 3:
            break
        window.press("Control+z")
        window.wait(lambda: not window.lenses())
        assert window.saved() == DRAFT
    assert _count(window) >= 3
    window.press("Control+Home")
    window.wait(lambda: window.cursor_place() == "Ln 1, Col 1")
    return window


def _wait_for_changes(window: Workbench) -> None:
    window.wait(lambda: _count(window) and "idle" in window.status())


def _count(window: Workbench) -> int:
    """How many changes wait, by the words above them."""
    return sum(text == "Put Back" for text in window.lenses())


def _go_to_next_change(window: Workbench) -> None:
    """Press its key, and see the cursor move: the next key is about where it is then."""
    before = window.cursor_place()
    window.press("Alt+F5")
    window.wait(lambda: window.cursor_place() != before)


def test_changes_are_seen_and_all_put_back(window: Workbench) -> None:
    assert window.saved().startswith(TITLE)
    assert window.tinted("change") or window.struck_out()
    assert not window.tinted("region")
    assert f"Keep All {_count(window)}" in window.lenses()
    window.click_lens("Put All Back")
    window.wait(lambda: not window.lenses())
    assert window.saved() == DRAFT
    assert not window.tinted("change")
    assert not window.struck_out()


def test_changes_are_decided_about_one_by_one(window: Workbench) -> None:
    count, text = _count(window), window.saved()
    window.click_lens("Keep (“|without)")
    window.wait(lambda: _count(window) == count - 1)
    assert window.saved() == text
    _go_to_next_change(window)
    window.press(PUT_BACK)
    window.wait(lambda: _count(window) == count - 2)
    changed = window.saved()
    assert changed != text
    # What is put back is a step of undo of its own, and the revision another.
    window.press("Control+z")
    assert window.saved() == text
    window.press("Control+z")
    assert window.saved() == DRAFT
    window.wait(lambda: not window.lenses())


def test_the_keys_go_from_change_to_change(window: Workbench) -> None:
    text = window.saved()
    _go_to_next_change(window)
    for left in range(_count(window) - 1, -1, -1):
        place = window.cursor_place()
        window.press(KEEP)
        window.wait(lambda left=left: _count(window) == left)
        # It goes on to the next change by itself.
        window.wait(lambda left=left, place=place: not left or window.cursor_place() != place)
    assert window.saved() == text
    window.press("Control+Alt+Backspace")
    window.wait(lambda: all(line in window.text() for line in PARAGRAPH.split("\r\n")))
    assert window.saved() == DRAFT


def test_changes_move_with_the_text_around_them(window: Workbench) -> None:
    count = _count(window)
    window.type("Mine. ")
    window.page.wait_for_timeout(300)
    assert _count(window) == count
    window.command("Reviser: Put Back All Changes")
    window.wait(lambda: not window.lenses())
    assert window.saved() == "Mine. " + DRAFT


def test_a_selection_is_revised_and_undone(open_draft: Opener, reviser_model: Path) -> None:
    settings = {
        "reviser.model": str(reviser_model),
        "reviser.completion.enabled": False,
        "reviser.revise.temperature": 0.9,
    }
    window = open_draft(DRAFT, settings)
    window.press("Shift+Home")
    window.command("Reviser: Revise the Selection or the Paragraph")
    _wait_for_changes(window)
    last = DRAFT.rindex("It was late")
    assert window.saved().startswith(DRAFT[:last])
    window.press("Control+z")
    window.wait(lambda: not window.lenses())
    assert window.saved() == DRAFT


def test_a_model_that_cannot_revise_says_so_once(open_draft: Opener) -> None:
    window = open_draft(DRAFT, {"reviser.completion.enabled": False})
    window.press(REVISE)
    window.wait(lambda: any("not trained to revise" in text for text in window.messages()))
    window.page.wait_for_timeout(500)
    assert sum("not trained to revise" in text for text in window.messages()) == 1
    assert window.saved() == DRAFT
