"""Revising over real standard streams: without chance it is proofreading, and its changes are kept or put back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lsp_server.proofreading.conftest import FIXED, HOME, LETTER, PLAIN, ROAD, TEXT
from tests.lsp_server.toy_editor import URI, ToyEditor


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def lasting(taught: Path, home: Path) -> Iterator[ToyEditor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REVISER_HOME", str(home))
        editor = ToyEditor(taught, {"diagnostics": {"enabled": False}})
        try:
            editor.initialize()
            yield editor
        finally:
            editor.process.kill()
            editor.process.wait()


@pytest.fixture
def editor(lasting: ToyEditor) -> ToyEditor:
    lasting.reset()
    lasting.set(revise={"temperature": 0}, live={"editsPerSecond": 500})
    return lasting


def revise(editor: ToyEditor, start: int, end: int, uri: str = URI) -> str:
    editor.command("reviser.revise", uri=uri, range=editor.range(start, end, uri))
    last = editor.wait_for_end()
    editor.command("reviser.status")
    assert last["kind"] == "revise"
    return str(last["state"])


def test_a_revision_makes_what_proofreading_finds(editor: ToyEditor) -> None:
    editor.open(TEXT)
    assert revise(editor, 0, len(TEXT)) == "finished"
    assert editor.text == FIXED == editor.mirror()
    changes = editor.changes()
    assert [(one["old"], one["new"]) for one in changes] == [("recieved", "received"), ("teh", "the"), ("goes", "go")]
    # Changes that come fast are one edit; each is put back or kept by itself.
    assert 1 <= len(editor.edits) <= 3
    editor.command("reviser.rejectChange", uri=URI, changeId=changes[1]["id"])
    assert editor.text == FIXED.replace("the long", "teh long") == editor.mirror()
    editor.command("reviser.acceptChange", uri=URI, changeId=changes[0]["id"])
    editor.command("reviser.rejectAllChanges", uri=URI)
    assert editor.text == TEXT.replace("recieved", "received") == editor.mirror()


def test_line_endings_and_what_is_around_the_selection_stay(editor: ToyEditor) -> None:
    text = TEXT.replace("\n", "\r\n")
    editor.open(text)
    start = text.index(ROAD)
    assert revise(editor, start, start + len(ROAD)) == "finished"
    assert editor.text == text.replace("teh", "the") == editor.mirror()


def test_code_is_left_alone(editor: ToyEditor) -> None:
    text = f"{LETTER}\n\n```\n{ROAD}\n```\n\n{HOME}\n"
    uri = "file:///notes.md"
    editor.open(text, uri=uri, language="markdown")
    assert revise(editor, 0, len(text), uri) == "finished"
    assert editor.texts[uri] == text.replace("recieved", "received").replace("goes", "go")


def test_what_is_ignored_or_listed_stays(editor: ToyEditor, tmp_path: Path, home: Path) -> None:
    (tmp_path / ".reviser").mkdir()
    (tmp_path / ".reviser" / "ignore.txt").write_text("a.txt\trecieved\treceived\tHe\ta letter today.\n")
    (tmp_path / ".reviser" / "words.txt").write_text("teh\n")
    uri = (tmp_path / "a.txt").as_uri()
    editor.open(TEXT, uri=uri)
    assert revise(editor, 0, len(TEXT), uri) == "finished"
    assert editor.texts[uri] == TEXT.replace("goes", "go")


def test_nothing_to_change_is_said(editor: ToyEditor) -> None:
    editor.open(f"{PLAIN}\n")
    assert revise(editor, 0, len(PLAIN)) == "finished"
    assert not editor.edits
    (message,) = editor.notifications("window/showMessage")
    assert message["message"] == "Reviser: there is nothing to change"
