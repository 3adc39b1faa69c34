"""A project's settings in an editor: the same mistakes as `reviser check` finds, unless the user wants others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lsp_server.proofreading.conftest import PULL, TEXT, checking_editor, olds, pull
from tests.lsp_server.toy_editor import ToyEditor

ALL = ["recieved", "teh", "goes"]


@pytest.fixture(scope="module")
def lasting_editor(taught: Path) -> Iterator[ToyEditor]:
    with checking_editor(taught, PULL) as editor:
        yield editor


@pytest.fixture
def editor(lasting_editor: ToyEditor) -> ToyEditor:
    lasting_editor.reset()
    return lasting_editor


def shown(editor: ToyEditor, file: Path) -> list[str]:
    """What is found in a document of this name, which is opened for it."""
    uri = file.as_uri()
    editor.open(TEXT, "plaintext", uri)
    try:
        return olds(pull(editor, uri)["items"])
    finally:
        editor.close(uri)


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ("", ALL),
        ('only = ["agreement"]', ["goes"]),
        ('except = ["agreement"]', ["recieved", "teh"]),
        ("confidence = 1.0", []),
        ('words = ["teh"]', ["recieved", "goes"]),
        ('ignore = ["terms.txt"]', ["teh", "goes"]),
        ('exclude = ["docs/"]', []),
        ('exclude = ["other/"]', ALL),
    ],
)
def test_a_project_says_what_is_shown(editor: ToyEditor, tmp_path: Path, settings: str, found: list[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.reviser]\n{settings}\n")
    (tmp_path / "terms.txt").write_text("recieved\n")
    assert shown(editor, tmp_path / "docs" / "a.txt") == found


def test_the_users_own_settings_come_first(editor: ToyEditor, tmp_path: Path) -> None:
    (tmp_path / ".reviser").mkdir()
    config = tmp_path / ".reviser" / "config.toml"
    config.write_text('confidence = 1.0\nonly = ["agreement"]\n')
    file = tmp_path / "a.txt"
    assert shown(editor, file) == []
    editor.set(diagnostics={"confidence": 0.5, "delayMs": 10})
    assert shown(editor, file) == ["goes"]
    editor.set(diagnostics={"confidence": 0.5, "kinds": ["spelling"], "delayMs": 10})
    assert shown(editor, file) == ["recieved", "teh"]


def test_settings_that_change_count_from_the_next_edit_on(editor: ToyEditor, tmp_path: Path) -> None:
    uri = (tmp_path / "a.txt").as_uri()
    editor.open(TEXT, "plaintext", uri)
    assert olds(pull(editor, uri)["items"]) == ALL
    (tmp_path / "pyproject.toml").write_text('[tool.reviser]\nonly = ["spelling"]\n')
    editor.edit(0, 0, "A start.\n\n", uri)
    assert olds(pull(editor, uri)["items"]) == ["recieved", "teh"]


def test_a_mistake_in_the_settings_is_said_and_mistakes_are_shown(editor: ToyEditor, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.reviser]\nconfidence = 7\n")
    assert shown(editor, tmp_path / "a.txt") == ALL
    said = [news["message"] for news in editor.notifications("window/logMessage")]
    assert any("confidence: 7 is not a number from 0 to 1" in message for message in said)
