"""Suggestions while somebody types without a pause, from the first key after the server has started."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.lsp_server.processes import children
from tests.lsp_server.toy_editor import ToyEditor, toy_editor, until

LETTER = (
    "I am writing to you because I would like to know whether the meeting on Monday will take place as planned. As far "
    "as I know, the other members of the committee have not been told about it yet. Please let me know as soon as you "
    "can. I look forward to hearing from you."
)
ENOUGH = 5


def type_evenly(editor: ToyEditor, text: str, gap: float) -> int:
    """Type as an editor reports it, where each key takes back what the one before has asked for, until there were
    enough suggestions; returns how many there were."""
    requests: list[int] = []
    began = time.monotonic()
    shown = 0
    for number, letter in enumerate(text):
        time.sleep(max(began + number * gap - time.monotonic(), 0))
        if requests and requests[-1] not in editor.answers:
            editor.cancel(requests[-1])
        editor.type(letter)
        requests.append(editor.begin_ghost_text(invoked=False))
        answers = [editor.answers[id] for id in requests if id in editor.answers]
        shown = sum(bool(answer.get("result", {}).get("items")) for answer in answers)
        if shown >= ENOUGH:
            break
    return shown


def said_by(editor: ToyEditor, start: str) -> str:
    """How a text goes on as the model has it: then what it suggests stays, however slow the machine is."""
    editor.open(start)
    while len(editor.text) < len(start) + len(LETTER):
        editor.type((editor.ghost_text() or [" the"])[0])
    return editor.text[len(start) :]


def test_even_typing_gets_suggestions_from_a_cold_start(editor: ToyEditor, model: Path) -> None:
    text = said_by(editor, "It was")
    with toy_editor(model) as cold:
        cold.open("It was")
        assert type_evenly(cold, text, 0.25) >= ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.08, 0.12, 0.25, 0.4])
def test_even_typing_gets_suggestions_at_any_pace(gap: float) -> None:
    """With the bundled model, a server as editors start it, and mistakes looked for meanwhile."""
    settings: dict[str, Any] = {"completion": {}, "diagnostics": {}}
    with toy_editor(ROOT / "reviser" / "weights", settings, fresh=True) as editor:
        editor.open("Dear Ms Miller,\n\n")
        assert type_evenly(editor, LETTER, gap) >= ENOUGH


def test_an_open_document_has_its_model_loaded_before_the_first_key(model: Path) -> None:
    with toy_editor(model) as editor:
        editor.open("x = 1", language="python")
        editor.command("reviser.status")
        assert not children(editor.process.pid)
        editor.open("It was")
        until(lambda: editor.command("reviser.status")["modelLoaded"])
        assert editor.command("reviser.status")["requests"] == 0
