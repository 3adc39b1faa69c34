"""Quick fixes over real standard streams: each is one edit, and what is left alone stays so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.proofreading.conftest import (
    FIXED,
    LETTER,
    PLAIN,
    PULL,
    ROAD,
    TEXT,
    actions,
    checking_editor,
    choose,
    olds,
    pull,
)
from tests.lsp_server.toy_editor import URI, Refused, ToyEditor

LETTER_AT = TEXT.index("recieved")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def lasting(taught: Path, home: Path) -> Iterator[ToyEditor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REVISER_HOME", str(home))
        with checking_editor(taught, PULL) as editor:
            yield editor


@pytest.fixture
def editor(lasting: ToyEditor, home: Path) -> ToyEditor:
    for list in ("words.txt", "ignore.txt"):
        (home / list).unlink(missing_ok=True)
    lasting.reset()
    return lasting


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def opened(editor: ToyEditor, text: str = TEXT, uri: str = URI) -> list[dict[str, Any]]:
    """Open a text, and wait until it is read."""
    editor.open(text, uri=uri)
    items: list[dict[str, Any]] = pull(editor, uri)["items"]
    assert items
    return items


def test_what_is_offered_at_a_mistake(editor: ToyEditor) -> None:
    opened(editor)
    offered = actions(editor, LETTER_AT + 2, LETTER_AT + 2, only=["quickfix"])
    assert [(one["title"], one["kind"]) for one in offered] == [
        ("Fix: “recieved” → “received”", "quickfix"),
        ("Ignore here: “recieved” → “received”", "quickfix"),
        ("Add “recieved” to the project's words", "quickfix"),
        ("Add “recieved” to your words", "quickfix"),
        ("Fix all of the kind “spelling” (2)", "quickfix"),
        ("Fix all in the document (3)", "quickfix"),
    ]
    assert offered[0]["isPreferred"]
    assert olds(offered[0]["diagnostics"]) == ["recieved"]
    plain = TEXT.index("quiet")
    assert actions(editor, plain, plain, only=["quickfix"]) == []
    # Unasked, an editor hears of mistakes alone.
    automatic = actions(editor, LETTER_AT, LETTER_AT, triggerKind=2)
    assert {one["kind"] for one in automatic} == {"quickfix"}
    assert actions(editor, plain, plain, triggerKind=2) == []


def test_a_word_that_everybody_knows_is_not_to_be_added(editor: ToyEditor) -> None:
    opened(editor)
    place = TEXT.index("goes")
    titles = [one["title"] for one in actions(editor, place, place, only=["quickfix"])]
    assert titles[:2] == ["Fix: “goes” → “go”", "Ignore here: “goes” → “go”"]
    assert not [title for title in titles if "words" in title]


@pytest.mark.parametrize(
    ("title", "fixed"),
    [
        ("Fix: “recieved” → “received”", TEXT.replace("recieved", "received")),
        ("Fix all of the kind “spelling” (2)", TEXT.replace("recieved", "received").replace("teh", "the")),
        ("Fix all in the document (3)", FIXED),
    ],
)
def test_a_fix_is_one_edit_of_this_version(editor: ToyEditor, title: str, fixed: str) -> None:
    opened(editor)
    offered = actions(editor, LETTER_AT, LETTER_AT)
    (action,) = [one for one in offered if one["title"] == title]
    assert len(action["edit"]["documentChanges"]) == 1
    choose(editor, offered, title)
    assert editor.text == fixed
    assert editor.mirror() == fixed
    left = [old for old in ("recieved", "teh", "goes") if old in fixed]
    assert olds(pull(editor)["items"]) == left


def test_fix_all_is_there_when_asked_for(editor: ToyEditor) -> None:
    opened(editor, TEXT.replace("\n", "\r\n"))
    for only in ("source.fixAll.reviser", "source.fixAll", "source"):
        (action,) = actions(editor, 0, 0, only=[only])
        assert action["kind"] == "source.fixAll.reviser"
    choose(editor, [action], action["title"])
    assert editor.text == FIXED.replace("\n", "\r\n")
    assert actions(editor, 0, 0, only=["source.fixAll"]) == []


def test_hover_says_all_that_is_known(editor: ToyEditor) -> None:
    opened(editor)
    where = {"textDocument": {"uri": URI}}
    said = editor.request("textDocument/hover", where | {"position": editor.position(LETTER_AT + 1)})
    lines = said["contents"]["value"].split("\n")
    assert lines[:2] == ["“recieved” → “received”", "kind: spelling"]
    assert lines[2].startswith("confidence: ")
    assert said["range"] == editor.range(LETTER_AT, LETTER_AT + len("recieved"))
    nothing = where | {"position": editor.position(TEXT.index("quiet"))}
    assert editor.request("textDocument/hover", nothing) is None


def test_a_finding_is_ignored_here_for_good(editor: ToyEditor, project: Path, taught: Path) -> None:
    uri = (project / "notes" / "a b.txt").as_uri()
    assert olds(opened(editor, f"{LETTER}\n\n{ROAD}\n", uri)) == ["recieved", "teh"]
    choose(editor, actions(editor, 5, 5, uri), "Ignore here: “recieved” → “received”")
    assert olds(pull(editor, uri)["items"]) == ["teh"]
    kept = (project / ".reviser" / "ignore.txt").read_text().splitlines()
    assert kept[1:] == ["notes/a b.txt\trecieved\treceived\tHe\ta letter today."]
    assert [path.name for path in (project / ".reviser").iterdir()] == ["ignore.txt"]
    # It moves with its text, and another server knows of it.
    editor.edit(0, 0, f"{PLAIN}\n\n", uri)
    assert olds(pull(editor, uri)["items"]) == ["teh"]
    with checking_editor(taught, PULL) as other:
        other.open(f"{LETTER}\n", uri=uri)
        assert pull(other, uri)["items"] == []


def test_without_a_project_it_is_ignored_for_good_too(
    editor: ToyEditor, home: Path, taught: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert olds(opened(editor)) == ["recieved", "teh", "goes"]
    choose(editor, actions(editor, LETTER_AT, LETTER_AT), "Ignore here: “recieved” → “received”")
    assert olds(pull(editor)["items"]) == ["teh", "goes"]
    assert not editor.notifications("window/showMessage")
    assert "/home/ann/draft.txt\trecieved\treceived\tHe\ta letter today." in (home / "ignore.txt").read_text()
    monkeypatch.setenv("REVISER_HOME", str(home))
    with checking_editor(taught, PULL) as other:
        other.open(TEXT)
        assert olds(pull(other)["items"]) == ["teh", "goes"]
        other.open(TEXT, uri="file:///home/ann/other.txt")
        assert olds(pull(other, "file:///home/ann/other.txt")["items"]) == ["recieved", "teh", "goes"]


def test_without_a_file_it_is_ignored_for_now_which_is_said(editor: ToyEditor) -> None:
    uri = "untitled:Untitled-1"
    assert olds(opened(editor, TEXT, uri)) == ["recieved", "teh", "goes"]
    choose(editor, actions(editor, LETTER_AT, LETTER_AT, uri), "Ignore here: “recieved” → “received”")
    assert olds(pull(editor, uri)["items"]) == ["teh", "goes"]
    (said,) = editor.notifications("window/showMessage")
    assert said["message"].endswith("is ignored until the editor ends: this document has no file")
    offered = actions(editor, TEXT.index("teh"), TEXT.index("teh"), uri)
    with pytest.raises(Refused, match="belongs to no project"):
        choose(editor, offered, "Add “teh” to the project's words")


def test_a_word_is_added_to_the_project(editor: ToyEditor, project: Path) -> None:
    uri, other = (project / "a.txt").as_uri(), (project / "deep" / "b.txt").as_uri()
    opened(editor, TEXT, uri)
    opened(editor, TEXT, other)
    title = "Add “recieved” to the project's words"
    choose(editor, actions(editor, LETTER_AT, LETTER_AT, uri), title)
    assert (project / ".reviser" / "words.txt").read_text() == "recieved\n"
    assert [path.name for path in (project / ".reviser").iterdir()] == ["words.txt"]
    for one in (uri, other):
        assert olds(pull(editor, one)["items"]) == ["teh", "goes"]


def test_a_word_is_added_to_the_users(editor: ToyEditor, home: Path) -> None:
    opened(editor)
    choose(editor, actions(editor, LETTER_AT, LETTER_AT), "Add “recieved” to your words")
    assert (home / "words.txt").read_text() == "recieved\n"
    assert olds(pull(editor)["items"]) == ["teh", "goes"]


def test_a_list_that_cannot_be_written_is_said(editor: ToyEditor, project: Path) -> None:
    (project / ".reviser").write_text("a file where a folder should be")
    uri = (project / "a.txt").as_uri()
    opened(editor, TEXT, uri)
    offered = actions(editor, LETTER_AT, LETTER_AT, uri)
    with pytest.raises(Refused, match="cannot be made"):
        choose(editor, offered, "Add “recieved” to the project's words")
    assert olds(pull(editor, uri)["items"]) == ["recieved", "teh", "goes"]


def test_the_paragraph_at_the_cursor_is_revised(editor: ToyEditor) -> None:
    """Also where nothing is shown."""
    editor.set(diagnostics={"enabled": False})
    editor.open(TEXT)
    place = TEXT.index("road")
    choose(editor, actions(editor, place, place), "Reviser: revise this paragraph")
    assert editor.text == TEXT.replace("teh", "the")
    assert len(editor.edits) == 1
    assert editor.mirror() == editor.text
    assert pull(editor)["items"] == []
    editor.command("reviser.reviseParagraph", uri=URI, position=editor.position(place))
    said = [news["message"] for news in editor.notifications("window/showMessage")]
    assert said == ["Reviser: there is nothing to change"]


def test_several_mistakes_of_a_paragraph_are_one_edit(editor: ToyEditor) -> None:
    text = f"{LETTER}\n{PLAIN}\n\n- {ROAD}\n- {LETTER}\n"
    editor.open(text, "markdown")
    place = text.index("- ")
    count = editor.command("reviser.reviseParagraph", uri=URI, position=editor.position(place))
    assert count == 2
    assert len(editor.edits) == 1
    assert "teh" not in editor.text
    assert editor.text.count("recieved") == 1


def test_an_edit_while_the_paragraph_is_read_wins(editor: ToyEditor) -> None:
    editor.open(TEXT)
    pull(editor)
    editor.before_apply = lambda: editor.type("More.")
    with pytest.raises(Refused, match="did not make the changes"):
        editor.command("reviser.reviseParagraph", uri=URI, position=editor.position(0))
    assert editor.text == TEXT + "More."


@pytest.mark.parametrize(
    ("command", "argument", "reason"),
    [
        ("reviser.addWord", {"word": "x", "words": "theirs"}, '"words" must be "project" or "user"'),
        ("reviser.addWord", {}, 'needs a "word"'),
        ("reviser.addWord", {"word": "…", "words": "user"}, "holds no word"),
        ("reviser.ignoreFinding", {}, "needs a position or a range"),
        ("reviser.reviseParagraph", {}, "needs a position or a range"),
    ],
)
def test_a_command_that_makes_no_sense(editor: ToyEditor, command: str, argument: dict[str, Any], reason: str) -> None:
    editor.open(PLAIN)
    with pytest.raises(Refused, match=reason):
        editor.command(command, uri=URI, **argument)
