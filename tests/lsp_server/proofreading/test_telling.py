"""Diagnostics are told when there is something to tell, and seldom where there are many."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.processes import cpu_seconds
from tests.lsp_server.proofreading.conftest import LETTER, PLAIN, PULL, PUSH, TEXT, checking_editor, marked, olds, pull
from tests.lsp_server.toy_editor import URI, ToyEditor

MANY = 1500


def pushes(editor: ToyEditor) -> list[dict[str, Any]]:
    return editor.notifications("textDocument/publishDiagnostics")


@pytest.fixture(scope="module")
def pushed(taught: Path) -> Iterator[ToyEditor]:
    """An editor whose user has to pause for long before a text is read again."""
    with checking_editor(taught, PUSH, delay=2000) as editor:
        yield editor


def opened(editor: ToyEditor, text: str, count: int) -> None:
    """Open a text, and wait until so many findings were told."""
    editor.open(text)
    editor.wait(lambda: pushes(editor) and len(pushes(editor)[-1]["diagnostics"]) == count)
    editor.received.clear()


def test_typing_that_only_moves_findings_is_told_at_a_pause(pushed: ToyEditor) -> None:
    opened(pushed, TEXT, 3)
    keys = 15
    for _ in range(keys):
        pushed.edit(0, 0, "x")
        time.sleep(0.08)
    assert len(pushes(pushed)) < keys / 3
    pushed.wait(lambda: pushes(pushed) and pushes(pushed)[-1]["version"] == 1 + keys)
    told = pushes(pushed)[-1]["diagnostics"]
    assert [marked(pushed, item) for item in told] == ["recieved", "teh", "goes"]
    # It is not told again.
    count = len(pushes(pushed))
    time.sleep(0.7)
    pushed.command("reviser.status")
    assert len(pushes(pushed)) == count
    pushed.close()


def test_a_finding_that_is_gone_is_told_while_its_user_types(pushed: ToyEditor) -> None:
    opened(pushed, TEXT, 3)
    place = TEXT.index("teh")
    pushed.edit(place, place + 3, "the")
    pushed.wait(lambda: pushes(pushed) and olds(pushes(pushed)[-1]["diagnostics"]) == ["recieved", "goes"])
    pushed.close()


def test_many_findings_do_not_hold_typing(pushed: ToyEditor) -> None:
    """Every key takes a finding away, so that all others would have to be told at every key."""

    def type_away(count: int) -> float:
        opened(pushed, "\n\n".join([PLAIN, *[LETTER] * count]), count)
        began = cpu_seconds(pushed.process.pid)
        for _ in range(400):
            if pushed.texts[URI].count("recieved") > 1:
                place = pushed.text.index("recieved")
                pushed.edit(place, place + 1, "R")
            else:
                pushed.edit(0, 0, "x")
            # As an editor that asks in between.
            pushed.command("reviser.status")
        taken = cpu_seconds(pushed.process.pid) - began
        pushed.close()
        return taken

    few, many = type_away(1), type_away(MANY)
    assert many < 5 * few


def test_a_question_that_is_taken_back_puts_nothing_together(taught: Path) -> None:
    """An editor that pulls asks at every key, and cancels what it asked before."""
    with checking_editor(taught, PULL, refreshes=True) as editor:
        editor.open("\n\n".join([PLAIN, *[LETTER] * MANY]))
        editor.wait(lambda: len(pull(editor)["items"]) == MANY)

        def type_on(keys: int, asks: bool) -> float:
            began = cpu_seconds(editor.process.pid)
            for _ in range(keys):
                editor.edit(0, 0, "x")
                if asks:
                    asked = editor.begin_request("textDocument/diagnostic", {"textDocument": {"uri": URI}})
                    editor.command("reviser.status")
                    editor.cancel(asked)
                else:
                    editor.command("reviser.status")
            return cpu_seconds(editor.process.pid) - began

        alone, asking = type_on(100, asks=False), type_on(100, asks=True)
        assert asking < 4 * alone
        assert len(pull(editor)["items"]) == MANY
