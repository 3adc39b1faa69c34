"""A model that cannot be loaded: its user is told, once, and sees it in the status."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lsp_server.toy_editor import ToyEditor, toy_editor, until

WARNING = 2


def cut_off(model: Path, folder: Path) -> Path:
    """A copy whose weights end too soon."""
    shutil.copytree(model, folder / "cut")
    (weights,) = (folder / "cut").glob("*.safetensors")
    weights.write_bytes(weights.read_bytes()[:1000])
    return folder / "cut"


def absent(model: Path, folder: Path) -> Path:
    return folder / "absent"


def messages(editor: ToyEditor) -> list[str]:
    shown = editor.notifications("window/showMessage")
    assert {one["type"] for one in shown} <= {WARNING}
    return [one["message"] for one in shown]


@pytest.mark.parametrize("broken", [cut_off, absent])
def test_a_model_that_cannot_be_loaded_is_told_and_shown(
    model: Path, tmp_path: Path, broken: Callable[[Path, Path], Path]
) -> None:
    with toy_editor(broken(model, tmp_path), {"diagnostics": {"delayMs": 0}}) as editor:
        editor.open("It was")
        # Before anything is typed.
        editor.wait(lambda: messages(editor))
        status = editor.command("reviser.status")
        assert (status["state"], status["requests"]) == ("failed", 0)
        assert messages(editor) == [f"Reviser: {status['problem']}"]
        assert editor.notifications("reviser/status")[-1]["problem"] == status["problem"]
        for letter in " the":
            editor.type(letter)
            assert editor.ghost_text(invoked=False) == []
        assert len(messages(editor)) == 1
        problem = status["problem"]
        editor.command("reviser.setModel", model=str(model))
        assert editor.ghost_text()
        until(lambda: editor.command("reviser.status")["problem"] is None)
        assert editor.command("reviser.status")["state"] == "idle"
        assert len([message for message in messages(editor) if problem in message]) == 1
