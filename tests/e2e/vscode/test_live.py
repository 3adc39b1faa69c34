"""Live runs in the real VS Code: watched, stopped, undone, and written beside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.vscode.conftest import Opener
from tests.e2e.vscode.workbench import Workbench

pytestmark = pytest.mark.slow

DRAFT = "Title 😀\r\n\r\nIt was quiet"
CONTINUE = "Control+Alt+Enter"


@pytest.fixture
def window(open_draft: Opener, slow_model: Path) -> Workbench:
    settings = {"reviser.model": str(slow_model), "reviser.live.maxActions": 900}
    return open_draft(DRAFT, settings | {"reviser.completion.enabled": False})


def _is_writing(window: Workbench) -> bool:
    return window.model_cursor() is not None


def _run_for_a_while(window: Workbench) -> None:
    """Start a run and let it write some words."""
    before = len(window.text())
    window.press(CONTINUE)
    window.wait(lambda: len(window.text()) > before + 40)


def _stop(window: Workbench) -> None:
    window.press("Escape")
    window.wait(lambda: not _is_writing(window) and "idle" in window.status())


def test_a_run_is_seen_at_work_and_stopped(window: Workbench) -> None:
    window.type(" and")
    _run_for_a_while(window)
    places, texts, fresh = set(), [], []
    for _ in range(20):
        places.add(window.model_cursor())
        texts.append(window.text())
        fresh.append(window.tinted("fresh"))
        window.page.wait_for_timeout(100)
    assert len(places - {None}) > 3
    assert len(set(texts)) > 3
    assert texts[0].startswith(DRAFT.replace("\r\n", "\n") + " and")
    assert window.tinted("region")
    assert any(fresh)
    window.wait_for_status("Reviser is writing")
    assert window.status_text().endswith("/s")
    _stop(window)
    stopped = window.saved()
    assert window.tinted("region")
    assert not window.tinted("fresh")
    window.page.wait_for_timeout(1000)
    assert window.saved() == stopped
    assert stopped.startswith(DRAFT + " and")
    assert "\n" not in stopped.replace("\r\n", "")


def test_one_undo_takes_a_run_back_and_nothing_of_the_user_s(window: Workbench) -> None:
    window.type(" and")
    _run_for_a_while(window)
    _stop(window)
    written = window.saved()
    window.press("Control+z")
    assert window.saved() == DRAFT + " and"
    assert not window.tinted("region")
    window.press("Control+z")
    assert window.saved() == DRAFT
    window.press("Control+y", "Control+y")
    assert window.saved() == written
    # What is typed after a run is a step of its own, too.
    window.type("x")
    window.press("Control+z")
    assert window.saved() == written


def test_undo_during_a_run_ends_it_and_takes_it_back(window: Workbench) -> None:
    window.type(" and")
    _run_for_a_while(window)
    window.press("Control+z")
    window.wait(lambda: not _is_writing(window))
    window.page.wait_for_timeout(500)
    assert window.saved() == DRAFT + " and"


def test_the_user_writes_elsewhere_during_a_run(window: Workbench) -> None:
    _run_for_a_while(window)
    window.press("Control+Home")
    window.type("Räuber 😀 and ", delay_ms=60)
    # The model may write below what is in view here.
    window.wait_for_status("Reviser is writing")
    window.press("Control+End")
    before = window.text()
    window.wait(lambda: window.text() != before)
    _stop(window)
    both = window.saved()
    assert both.startswith("Räuber 😀 and " + DRAFT)
    window.press("Control+Alt+Backspace")
    window.wait(lambda: window.text().endswith("It was quiet"))
    assert window.saved() == "Räuber 😀 and " + DRAFT
    window.press("Control+z")
    assert window.saved() == both


def test_undo_keeps_what_the_user_wrote_during_a_run_apart(window: Workbench) -> None:
    _run_for_a_while(window)
    window.press("Control+Home")
    window.type("abc")
    window.page.wait_for_timeout(600)
    _stop(window)
    assert window.saved().startswith("abcTitle")
    # The latest first: the model's text after the typing, the typing, the model's before it.
    window.press("Control+z")
    assert window.saved().startswith("abcTitle")
    seen = set()
    for _ in range(8):
        window.press("Control+z")
        seen.add(window.saved())
    assert window.saved() == DRAFT
    assert any(text.startswith("Title") and text != DRAFT for text in seen)


def test_typing_where_the_model_writes_takes_over(window: Workbench) -> None:
    _run_for_a_while(window)
    window.press("Control+End")
    window.type("!")
    window.wait(lambda: not _is_writing(window))
    text = window.saved()
    window.page.wait_for_timeout(800)
    assert window.saved() == text
    assert text.count("!") >= 1


def test_a_run_is_accepted_or_rejected_as_one(window: Workbench) -> None:
    _run_for_a_while(window)
    _stop(window)
    written = window.saved()
    window.press("Shift+Alt+Enter")
    window.wait(lambda: not window.tinted("region"))
    assert window.saved() == written
    _run_for_a_while(window)
    _stop(window)
    window.press("Shift+Alt+Backspace")
    window.wait(lambda: not window.tinted("region"))
    assert window.saved() == written


def test_a_run_goes_on_while_its_document_is_hidden(window: Workbench) -> None:
    draft = window.draft
    other = draft.with_name("other.txt")
    other.write_text("another text")
    _run_for_a_while(window)
    window.open(other.name)
    window.page.wait_for_timeout(1500)
    assert window.text() == "another text"
    window.open(draft.name)
    window.wait_for_status("Reviser is writing")
    _stop(window)
    assert len(window.saved()) > len(DRAFT) + 40
    window.press("Control+Alt+Backspace")
    window.wait(lambda: window.text().endswith("It was quiet"))
    assert window.saved() == DRAFT


def test_a_selection_is_written_anew(window: Workbench) -> None:
    window.press("Control+Shift+ArrowLeft")
    window.command("Reviser: Fill In Here, or Write the Selection Anew")
    window.wait(lambda: _is_writing(window))
    window.wait(lambda: "quiet" not in window.text().partition("It was")[2][:6])
    window.press("Escape")
    window.wait(lambda: not _is_writing(window))
    assert window.saved().startswith("Title 😀\r\n\r\nIt was")
    window.press("Control+z")
    assert window.saved() == DRAFT


def test_a_run_that_cannot_start_says_why(open_draft: Opener, tmp_path: Path) -> None:
    window = open_draft(DRAFT, {"reviser.model": str(tmp_path / "nowhere")})
    window.press(CONTINUE)
    window.wait(lambda: any("nowhere" in message for message in window.messages()))
    assert window.saved() == DRAFT
