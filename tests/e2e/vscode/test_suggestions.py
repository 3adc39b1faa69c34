"""Suggestions in the real VS Code: ghost text, its keys, the list, and the off switch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.vscode.conftest import Opener, usual_settings
from tests.e2e.vscode.workbench import Workbench, until
from tests.lsp_server.processes import children, lives

pytestmark = pytest.mark.slow

DRAFT = "Ein Märchen 😀.\n\nIt was quiet"


def _ghost_text(window: Workbench) -> str:
    text: str = window.wait(window.ghost_text)
    return text


def test_tab_accepts_ghost_text_and_is_a_tab_without_it(open_draft: Opener) -> None:
    window = open_draft(DRAFT, {"reviser.completion.unit": "line"})
    window.type(" and")
    suggested = _ghost_text(window)
    window.press("Tab")
    accepted = DRAFT + " and" + suggested
    window.wait(lambda: window.text() == accepted)
    assert window.saved() == accepted
    window.press("Control+z")
    window.wait(lambda: window.text() == DRAFT + " and")
    window.press("Control+Home", "Tab")
    window.wait(lambda: window.text().startswith(" " * 4 + "Ein"))


def test_ghost_text_is_accepted_word_by_word_and_stays(open_draft: Opener) -> None:
    window = open_draft(DRAFT, {"reviser.completion.unit": "line"})
    for start in (" and", " it", " the"):
        window.type(start)
        if len(_ghost_text(window).split()) > 2:
            break
    before, suggested = window.text(), _ghost_text(window)
    for _ in range(2):
        shown = window.text()
        window.press("Control+ArrowRight")
        window.wait(lambda shown=shown: window.text() != shown)
    taken = window.text()[len(before) :]
    assert suggested.startswith(taken)
    assert suggested != taken
    window.wait(lambda: window.ghost_text() == suggested[len(taken) :])


def test_a_cold_model_s_first_suggestion_is_shown_without_another_key(open_draft: Opener) -> None:
    # In plain text VS Code gives a request up when it opens its own list.
    window = open_draft(DRAFT, suffix=".txt")
    server = window.language_server()
    window.command("Reviser: Restart the Server")
    until(lambda: not lives(server))
    window.wait_for_status("Reviser is idle")
    window.type(" and")
    assert _ghost_text(window)


def test_the_list_offers_suggestions_when_it_is_asked_to(open_draft: Opener) -> None:
    window = open_draft(DRAFT, {"reviser.completion.list": "on", "reviser.completion.unit": "line"})
    window.type(" and ")
    window.press("Escape", "Control+Space")
    offered = window.wait(window.completions)
    window.press("Enter")
    window.wait(lambda: len(window.text()) > len(DRAFT + " and "))
    first = offered[0].removesuffix("Reviser").strip().rstrip("…")
    assert " ".join(window.text()[len(DRAFT + " and ") :].split()).startswith(first)


def test_off_means_no_suggestion_and_no_model(open_draft: Opener, model: Path) -> None:
    window = open_draft(DRAFT)
    window.type(" and")
    _ghost_text(window)
    server = window.language_server()
    assert children(server)
    settings = usual_settings(model)
    window.set(settings | {"reviser.enabled": False})
    window.wait_for_status("Reviser is off")
    until(lambda: not children(server))
    window.press("Escape")
    window.type(" the mat")
    window.page.wait_for_timeout(1500)
    assert not window.ghost_text()
    assert not children(server)
    window.set(settings)
    window.wait_for_status("Reviser is idle")
    window.type(" on")
    _ghost_text(window)


def test_code_is_left_alone_until_it_is_switched_on(open_draft: Opener) -> None:
    window = open_draft("# It was quiet", suffix=".py", status="")
    window.type(" and")
    window.page.wait_for_timeout(1500)
    assert not window.ghost_text()
    window.command("Reviser: Switch On or Off for This Document")
    window.wait_for_status("Reviser is idle")
    window.type(" the")
    _ghost_text(window)


def test_all_of_it_is_switched_off_and_on_by_one_command(open_draft: Opener) -> None:
    window = open_draft(DRAFT)
    window.command("Reviser: Switch On or Off Everywhere")
    window.wait_for_status("Reviser is off")
    window.command("Reviser: Switch On or Off Everywhere")
    window.wait_for_status("Reviser is idle")
