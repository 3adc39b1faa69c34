"""Next edits over real standard streams: what is offered after an edit, and what is done about it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.next_edits.conftest import (
    DONE,
    EDITED,
    FIRST,
    SETTINGS,
    TEXT,
    last_news,
    offered,
    offers,
    open_and_edit,
    settle,
    stands,
)
from tests.lsp_server.processes import children
from tests.lsp_server.proofreading.conftest import PUSH, actions, checking_editor, choose, marked
from tests.lsp_server.toy_editor import URI, Refused, ToyEditor, toy_editor

REASON = "You changed 'e-mail' to 'email'"


def test_an_edit_is_offered_wherever_else_it_could_be_made(editor: ToyEditor) -> None:
    found = open_and_edit(editor)
    assert editor.text == EDITED
    assert [(one["old"], one["new"], one["reason"], one["places"]) for one in found] == [
        ("e-mail", "email", REASON, 5)
    ] * 5
    assert all(stands(editor, one) for one in found)
    # Code stays, and so does the place itself.
    assert [one["range"]["start"]["line"] for one in found] == [0, 2, 4, 4, 6]


def test_any_editor_gets_hints_and_quick_fixes(model: Path) -> None:
    with checking_editor(model, PUSH, enabled=False) as editor:
        editor.set(**SETTINGS)
        open_and_edit(editor)
        editor.wait(lambda: editor.notifications("textDocument/publishDiagnostics"))
        items = editor.notifications("textDocument/publishDiagnostics")[-1]["diagnostics"]
        assert len(items) == 5
        assert {(one["severity"], one["code"], one["source"]) for one in items} == {(4, "next edit", "reviser")}
        assert {marked(editor, one) for one in items} == {"e-mail"}
        assert REASON in items[0]["message"]
        place = editor.text.index("e-mail is sent")
        fixes = actions(editor, place, place, only=["quickfix"])
        assert [one["title"] for one in fixes] == [
            f"{REASON}: do so here",
            "Apply to all 5 places",
            "Do not suggest this",
        ]
        assert [one.get("isPreferred") for one in fixes] == [True, None, None]
        choose(editor, fixes, "Apply to all 5 places")
        assert editor.text == DONE == editor.mirror()
        editor.wait(lambda: not editor.notifications("textDocument/publishDiagnostics")[-1]["diagnostics"])


def test_one_is_made_and_the_others_stay(editor: ToyEditor) -> None:
    first, *others = open_and_edit(editor)
    editor.command("reviser.acceptNextEdit", uri=URI, range=first["range"])
    assert len(editor.edits) == 1
    assert editor.text == EDITED.replace("Sending e-mail", "Sending email")
    # Nothing is waited for: they were known before.
    editor.wait(lambda: len(offers(editor)) == len(others))
    assert {one["places"] for one in offered(editor)} == {4}
    assert all(stands(editor, one) for one in settle(editor))


def test_all_are_made_as_one_edit(editor: ToyEditor) -> None:
    found = open_and_edit(editor)
    assert editor.command("reviser.acceptAllNextEdits", uri=URI, position=found[2]["range"]["start"]) == 5
    assert len(editor.edits) == 1
    assert editor.text == DONE == editor.mirror()
    assert settle(editor) == []
    with pytest.raises(Refused, match="no next edit is offered here"):
        editor.command("reviser.acceptAllNextEdits", uri=URI, position=found[2]["range"]["start"])
    with pytest.raises(Refused, match="acceptNextEdit needs a position or a range"):
        editor.command("reviser.acceptNextEdit", uri=URI)


def test_what_was_refused_does_not_come_back_and_lowers_its_like(editor: ToyEditor) -> None:
    found = open_and_edit(editor)
    refused = found[3]
    editor.command("reviser.refuseNextEdit", uri=URI, range=refused["range"])
    left = settle(editor)
    assert [one["range"] for one in left if one["range"] == refused["range"]] == []
    assert 0 < len(left) < len(found)
    before = {str(one["range"]): one["confidence"] for one in found}
    assert all(one["confidence"] < before[str(one["range"])] for one in left)
    # Also where it has moved to, and with more evidence for the edit.
    editor.edit(0, 0, "A line of its own.\n\n")
    place = editor.text.index("Another e-mail") + len("Another e")
    editor.edit(place, place + 1, "")
    again = [editor._offset(URI, one["range"]["start"]) for one in settle(editor)]
    assert editor.text.index("an e-mail today") + 3 in again
    assert editor.text.index("An e-mail") + 3 not in again


def test_undoing_what_was_accepted_refuses_it(editor: ToyEditor) -> None:
    *_, last = open_and_edit(editor)
    editor.command("reviser.acceptNextEdit", uri=URI, range=last["range"])
    start = editor._offset(URI, last["range"]["start"])
    editor.edit(start + 1, start + 1, "-")
    assert editor.text == EDITED
    assert last["range"] not in [one["range"] for one in settle(editor)]


def test_an_undone_edit_takes_its_offers_along_at_once(editor: ToyEditor) -> None:
    open_and_edit(editor)
    editor.set(nextEdits={"delayMs": 60_000, "confidence": 0.3})
    editor.wait(lambda: offers(editor))
    editor.edit(FIRST + 1, FIRST + 1, "-")
    assert editor.text == TEXT
    editor.wait(lambda: not offers(editor))
    editor.set(**SETTINGS)
    assert settle(editor) == []


def test_nothing_is_offered_while_somebody_types(editor: ToyEditor) -> None:
    editor.set(nextEdits={"delayMs": 600, "confidence": 0.3})
    editor.open(TEXT, "markdown")
    editor.edit(FIRST + 1, FIRST + 2, "")
    end = len(editor.text)
    for number, letter in enumerate("A new sentence that is typed."):
        editor.edit(end + number, end + number, letter)
        time.sleep(0.05)
    assert offers(editor) == []
    assert len(offered(editor)) == 5


def test_new_text_is_no_pattern_and_gets_no_offers(editor: ToyEditor) -> None:
    editor.open(TEXT, "markdown")
    editor.type("A wholly new sentence is here. ")
    assert settle(editor) == []
    editor.edit(FIRST + 1, FIRST + 2, "")
    assert len(offered(editor)) == 5
    for letter in "Then somebody writes e-mail again, on purpose":
        editor.type(letter)
    assert len(settle(editor)) == 5
    # Once he is elsewhere, it is a place like any other.
    place = editor.text.index("An e-mail") + 4
    editor.edit(place, place + 1, "")
    assert len(settle(editor)) == 5
    assert editor.text.count("e-mail", place) == 2


def test_what_a_program_changed_is_not_followed(editor: ToyEditor) -> None:
    """A formatter changes more places at once than a person does."""
    text = "e-mail and more\n\n" * 12
    editor.open(text, "markdown")
    places = [at for at in range(len(text)) if text.startswith("e-mail", at)]
    editor.carry_out(URI, [{"range": editor.range(at + 1, at + 2), "newText": ""} for at in places[:9]])
    assert editor.mirror().count("email") == 9
    assert settle(editor) == []
    at = editor.text.index("e-mail")
    editor.edit(at + 1, at + 2, "")
    assert len(settle(editor)) == 2


def test_line_endings_and_wide_characters_move_nothing(editor: ToyEditor) -> None:
    text = "😀 é\r\n\r\n" + TEXT.replace("\n", "\r\n").replace("Another", "𝕏 漢 Another")
    found = open_and_edit(editor, text)
    assert len(found) == 5
    assert all(stands(editor, one) for one in found)
    editor.command("reviser.refuseNextEdit", uri=URI, range=found[-1]["range"])
    assert found[-1]["range"] not in [one["range"] for one in settle(editor)]
    editor.command("reviser.acceptNextEdit", uri=URI, range=found[1]["range"])
    assert editor.mirror() == editor.text
    assert "Each email has" in editor.text


@pytest.mark.parametrize(
    ("settings", "on"),
    [
        ({"nextEdits": {"enabled": False}}, False),
        ({"nextEdits": {"languages": {"markdown": False}}}, False),
        ({"nextEdits": {"languages": {"*": False}}}, False),
        ({"nextEdits": {"languages": {"*": False, "markdown": True}}}, True),
        ({"languages": {"markdown": False}}, False),
        ({"enabled": False}, False),
    ],
)
def test_off_is_off_and_needs_no_process(model: Path, settings: dict[str, Any], on: bool) -> None:
    merged = settings | {"nextEdits": SETTINGS["nextEdits"] | settings.get("nextEdits", {})}
    with toy_editor(model, merged | {"completion": {"enabled": False}}) as editor:
        editor.open(TEXT, "markdown")
        editor.edit(FIRST + 1, FIRST + 2, "")
        assert len(settle(editor)) == (5 if on else 0)
        assert bool(children(editor.process.pid)) == on
        editor.set(nextEdits={"enabled": False})
        editor.wait(lambda: not offers(editor))


def test_a_switched_off_document_has_none(editor: ToyEditor) -> None:
    open_and_edit(editor)
    editor.command("reviser.setEnabled", uri=URI, enabled=False)
    assert settle(editor) == []
    editor.command("reviser.setEnabled", uri=URI, enabled=True)
    assert len(offered(editor)) == 5


def test_clients_of_copilots_server_get_the_nearest(editor: ToyEditor) -> None:
    open_and_edit(editor)
    version = editor.versions[URI]
    here = editor.text.index("An e-mail")

    def ask(version: int, position: Any) -> list[dict[str, Any]]:
        params = {"textDocument": {"uri": URI, "version": version}, "position": position}
        edits: list[dict[str, Any]] = editor.request("textDocument/copilotInlineEdit", params)["edits"]
        return edits

    (edit,) = ask(version, editor.position(here))
    assert edit["textDocument"] == {"uri": URI, "version": version}
    assert edit["range"] == editor.range(here + 3, here + 9)
    assert edit["text"] == "email"
    editor.carry_out(URI, [{"range": edit["range"], "newText": edit["text"]}])
    editor.request("workspace/executeCommand", {key: edit["command"][key] for key in ("command", "arguments")})
    assert ask(version, editor.position(here)) == []
    (other,) = ask(editor.versions[URI], editor.position(here))
    assert other["range"] != edit["range"]
    with pytest.raises(Refused, match='needs a "textDocument"'):
        editor.request("textDocument/copilotInlineEdit", {"textDocument": {"uri": URI, "version": 1}})


def test_of_a_long_document_the_part_around_the_edit_comes_first(editor: ToyEditor) -> None:
    plain = "The evening was quiet and dark. " * 8 + "\n\n"
    text = TEXT + plain * 900 + TEXT
    editor.open(text, "markdown")
    place = text.rindex("Another e-mail") + len("Another e-mail")
    editor.edit(place - 5, place - 4, "")
    settle(editor)
    news = [one["edits"] for one in editor.notifications("reviser/nextEdits") if one["edits"]]
    far = len(TEXT.splitlines())
    assert all(edit["range"]["start"]["line"] > far for edit in news[0])
    assert {edit["range"]["start"]["line"] < far for edit in news[-1]} == {True, False}
    assert all(stands(editor, one) for one in news[-1])
    # What another edit far away does not change is not looked at again, and nothing is lost.
    assert last_news(editor)["version"] == editor.versions[URI]
