"""Taking a run back takes what it showed and nothing else, over real standard streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.toy_editor import URI, Refused, ToyEditor, toy_editor

DRAFT = "It was a quiet day.\nThe cat sat on the mat.\n"
SELECTED = (3, 18)


def rewrite(editor: ToyEditor) -> dict[str, Any]:
    """Have the selection written anew; returns the run's last news."""
    editor.command("reviser.infill", uri=URI, range=editor.range(*SELECTED))
    return editor.wait_for_end()


def titles(editor: ToyEditor) -> list[str]:
    """The code actions for the start of the document."""
    found = editor.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": URI}, "range": editor.range(0, 0), "context": {"diagnostics": []}},
    )
    return [action["title"] for action in found]


def check_that_there_is_nothing_to_take_back(editor: ToyEditor) -> None:
    text = editor.text
    assert not {"Reviser: accept", "Reviser: reject"} & set(titles(editor))
    with pytest.raises(Refused, match="no run"):
        editor.command("reviser.undo", uri=URI)
    assert editor.text == text == editor.mirror()


def test_a_run_that_was_typed_into_before_it_wrote_leaves_the_typing(editor: ToyEditor) -> None:
    """Its first edit meets a text that the user has changed, so the editor refuses it."""
    editor.open(DRAFT)
    typed: list[str] = []

    def type_inside() -> None:
        if not typed:
            typed.append("two letters")
            editor.edit(8, 8, typed[0])

    editor.before_apply = type_inside
    end = rewrite(editor)
    assert (end["state"], end["reason"]) == ("stopped", "you typed where the model was writing")
    assert end["region"]["start"] == end["region"]["end"]
    editor.edit(4, 4, "Peter")
    check_that_there_is_nothing_to_take_back(editor)


def test_what_is_typed_right_after_a_run_was_asked_for_stops_it(editor: ToyEditor) -> None:
    """Both messages come at once: the run is about the text before the second."""
    editor.open(DRAFT)
    with editor.lock:
        request = editor.begin_request(
            "workspace/executeCommand",
            {"command": "reviser.infill", "arguments": [{"uri": URI, "range": editor.range(*SELECTED)}]},
        )
        editor.edit(17, 18, "!")
    editor.answer(request)
    assert editor.wait_for_end()["reason"] == "you typed where the model was writing"
    assert editor.text == DRAFT[:17] + "!" + DRAFT[18:] == editor.mirror()


def test_a_run_that_was_stopped_while_the_model_loads_leaves_the_typing(full_model: Path) -> None:
    with toy_editor(full_model) as editor:
        editor.open(DRAFT)
        editor.command("reviser.infill", uri=URI, range=editor.range(*SELECTED))
        stopped = editor.command("reviser.stop")
        assert (stopped["state"], stopped["actions"]) == ("stopped", 0)
        editor.edit(8, 12, "Peter")
        check_that_there_is_nothing_to_take_back(editor)


def test_undo_is_about_the_last_run_that_wrote(impatient_editor: ToyEditor) -> None:
    editor = impatient_editor
    editor.open(DRAFT)
    editor.command("reviser.continue", uri=URI)
    assert editor.wait_for_end()["state"] == "finished"
    editor.manner = "refuse"
    assert rewrite(editor)["reason"] == "the editor refused an edit"
    editor.manner = "check"
    editor.edit(9, 14, "loud")
    assert {"Reviser: accept", "Reviser: reject"} <= set(titles(editor))
    editor.command("reviser.undo", uri=URI)
    assert editor.text == DRAFT.replace("quiet", "loud") == editor.mirror()


def test_a_selection_that_was_only_removed_comes_back(editor: ToyEditor) -> None:
    """The user removes what a run has put in its place, and types elsewhere before they take it back."""
    editor.open(DRAFT)
    assert rewrite(editor)["state"] == "finished"
    written = editor.text[3 : len(editor.text) - len(DRAFT) + 18]
    editor.edit(3, 3 + len(written), "")
    editor.edit(0, 0, "Well. ")
    typed: list[str] = []

    def type_once() -> None:
        if not typed:
            typed.append("!")
            editor.type("!")

    editor.before_apply = type_once
    editor.command("reviser.undo", uri=URI)
    assert editor.text == "Well. " + DRAFT + "!" == editor.mirror()
