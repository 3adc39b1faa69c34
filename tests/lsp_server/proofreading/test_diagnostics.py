"""Mistakes in open documents over real standard streams: pulled, pushed, in their places, and never in the way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.processes import children, lives
from tests.lsp_server.proofreading.conftest import (
    FIXED,
    HOME,
    KNOWN,
    LETTER,
    PLAIN,
    PULL,
    PUSH,
    ROAD,
    TEXT,
    checking_editor,
    marked,
    olds,
    pull,
)
from tests.lsp_server.toy_editor import URI, ToyEditor, until

PARAGRAPHS = [LETTER, ROAD, HOME, PLAIN]
MANY = 600
LONG = "\n\n".join(f"{PLAIN} It is number {number}." for number in range(MANY))
FOUND = ["recieved", "teh", "goes"]


@pytest.fixture(scope="module")
def lasting_puller(taught: Path) -> Iterator[ToyEditor]:
    with checking_editor(taught, PULL) as editor:
        yield editor


@pytest.fixture
def puller(lasting_puller: ToyEditor) -> ToyEditor:
    lasting_puller.reset()
    return lasting_puller


@pytest.fixture(scope="module")
def lasting_pushed(taught: Path) -> Iterator[ToyEditor]:
    with checking_editor(taught, PUSH, encoding="utf-8") as editor:
        yield editor


@pytest.fixture
def pushed(lasting_pushed: ToyEditor) -> ToyEditor:
    lasting_pushed.reset()
    return lasting_pushed


def pushes(editor: ToyEditor, uri: str = URI) -> list[dict[str, Any]]:
    sent = editor.notifications("textDocument/publishDiagnostics")
    return [news for news in sent if news["uri"] == uri]


def last(editor: ToyEditor, uri: str = URI) -> list[str]:
    sent = pushes(editor, uri)
    return olds(sent[-1]["diagnostics"]) if sent else []


def paragraphs_read(editor: ToyEditor) -> int:
    count: int = editor.command("reviser.status")["paragraphsRead"]
    return count


def test_what_a_diagnostic_says(puller: ToyEditor) -> None:
    puller.open(TEXT)
    report = pull(puller)
    assert report["kind"] == "full"
    first = report["items"][0]
    assert first["range"] == puller.range(TEXT.index("recieved"), TEXT.index(" a letter"))
    assert first["message"] == "“recieved” → “received” (spelling)"
    assert (first["source"], first["code"], first["severity"]) == ("reviser", "spelling", 3)
    data = first["data"]
    assert (data["old"], data["new"], data["kind"]) == ("recieved", "received", "spelling")
    assert 0.5 <= data["confidence"] <= 1
    assert olds(report["items"]) == FOUND
    assert report["items"][2]["code"] == "agreement"


def test_the_same_result_is_not_sent_again(puller: ToyEditor) -> None:
    puller.open(TEXT)
    report = pull(puller)
    again = pull(puller, known=report["resultId"])
    assert again == {"kind": "unchanged", "resultId": report["resultId"]}
    puller.edit(0, 0, "A start.\n\n")
    later = pull(puller, known=report["resultId"])
    assert later["kind"] == "full"
    assert olds(later["items"]) == FOUND
    assert [marked(puller, item) for item in later["items"]] == FOUND


def test_only_paragraphs_that_changed_are_read_again(puller: ToyEditor) -> None:
    puller.open(TEXT)
    pull(puller)
    before = paragraphs_read(puller)
    puller.edit(0, 0, PLAIN + "\n\n")
    pull(puller)
    assert paragraphs_read(puller) == before
    puller.edit(TEXT.index("evening"), TEXT.index("evening"), "late ")
    pull(puller)
    assert paragraphs_read(puller) == before + 1


def test_an_editor_that_can_be_asked_is_asked_to_ask_again(taught: Path) -> None:
    with checking_editor(taught, PULL | PUSH, refreshes=True) as editor:
        editor.open(TEXT)

        def told() -> list[dict[str, Any]]:
            return [m for m in editor.received if m["method"] == "workspace/diagnostic/refresh"]

        editor.wait(told)
        until(lambda: olds(pull(editor)["items"]) == FOUND)
        assert not pushes(editor)


def test_an_editor_that_cannot_ask_again_is_told(taught: Path) -> None:
    """As Neovim 0.11: what is found after its question would be lost."""
    with checking_editor(taught, PULL | PUSH) as editor:
        editor.open(TEXT)
        assert pull(editor)["items"] == []
        editor.wait(lambda: last(editor) == FOUND)


def test_findings_are_pushed_with_their_version_and_taken_back(pushed: ToyEditor) -> None:
    pushed.open(TEXT)
    pushed.wait(lambda: last(pushed) == FOUND)
    assert pushes(pushed)[-1]["version"] == 1
    place = TEXT.index("teh")
    pushed.edit(place, place + 3, "the")
    pushed.wait(lambda: last(pushed) == ["recieved", "goes"])
    pushed.close()
    pushed.wait(lambda: last(pushed) == [])


def test_columns_are_in_the_units_of_the_editor(pushed: ToyEditor) -> None:
    text = f"{PLAIN}\r\n\r\n😀é {LETTER}\r\n\r\n{ROAD}\r\n"
    pushed.open(text)
    pushed.wait(lambda: "teh" in last(pushed))
    pushed.edit(0, 0, "é😀\r\n")
    pushed.wait(lambda: pushes(pushed)[-1].get("version") == 2 and "teh" in last(pushed))
    for item in pushes(pushed)[-1]["diagnostics"]:
        assert marked(pushed, item) == item["data"]["old"]


@pytest.mark.parametrize(
    ("language", "name", "text", "found"),
    [
        ("markdown", "a.md", f"{LETTER}\n\n```\n{ROAD}\n```\n", ["recieved"]),
        ("plaintext", "a.md", f"{LETTER}\n\n```\n{ROAD}\n```\n", ["recieved"]),
        ("python", "a.py", f"# {LETTER}\n", []),
        ("latex", "a.tex", f"{LETTER}\n% {ROAD}\n", ["recieved"]),
    ],
)
def test_only_prose_is_read(puller: ToyEditor, language: str, name: str, text: str, found: list[str]) -> None:
    uri = f"file:///home/ann/{name}"
    puller.open(text, language, uri)
    assert olds(pull(puller, uri)["items"]) == found


def test_settings_decide(puller: ToyEditor) -> None:
    puller.open(TEXT)
    assert olds(pull(puller)["items"]) == FOUND
    puller.set(diagnostics={"kinds": ["agreement"]})
    assert olds(pull(puller)["items"]) == ["goes"]
    puller.set(diagnostics={"confidence": 1.0})
    assert olds(pull(puller)["items"]) == []
    puller.set(diagnostics={"enabled": False})
    assert olds(pull(puller)["items"]) == []
    puller.set(diagnostics={"kinds": ["grammar"]})
    puller.wait(
        lambda: (
            "the setting diagnostics.kinds cannot be ['grammar']"
            in [news["message"] for news in puller.notifications("window/logMessage")]
        )
    )
    assert olds(pull(puller)["items"]) == FOUND


def test_switched_off_means_idle(taught: Path) -> None:
    with checking_editor(taught, PULL, enabled=False, completes=False) as editor:
        editor.open(TEXT)
        assert pull(editor)["items"] == []
        assert children(editor.process.pid) == []


def test_switching_off_ends_a_reading_and_switching_on_begins_it_again(taught: Path) -> None:
    with checking_editor(taught, PULL) as editor:
        editor.open(LONG + f"\n\n{ROAD}\n")
        until(lambda: paragraphs_read(editor))
        editor.command("reviser.setEnabled", uri=URI, enabled=False)
        assert pull(editor)["items"] == []
        until(lambda: not children(editor.process.pid))
        editor.command("reviser.setEnabled", uri=URI, enabled=True)
        editor.edit(0, len(editor.text), TEXT)
        assert olds(pull(editor)["items"]) == FOUND
        said = [news["message"] for news in editor.notifications("window/logMessage")]
        assert not [message for message in said if "unexpectedly" in message]


def test_a_model_that_cannot_revise_says_so_once(model: Path) -> None:
    with checking_editor(model, PULL) as editor:
        editor.open(TEXT)
        assert pull(editor)["items"] == []
        editor.type("More.")
        assert pull(editor)["items"] == []
        said = [news["message"] for news in editor.notifications("window/logMessage")]
        assert len([message for message in said if "not trained to revise" in message]) == 1


def test_a_shared_engine_reads_too(taught: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with checking_editor(taught, PULL, shared=True) as editor:
        editor.open(TEXT)
        assert olds(pull(editor)["items"]) == FOUND
        # Not the one that others wait for, and that loads the model meanwhile.
        assert "reading.sock" in [path.name for path in (tmp_path / "reviser").glob("*.sock")]
        assert editor.exit() == 0
    until(lambda: not list((tmp_path / "reviser").glob("*.sock")))


def test_a_document_closed_while_it_is_read(taught: Path) -> None:
    with checking_editor(taught, PULL) as editor:
        editor.open(LONG)
        editor.open(TEXT, uri="file:///home/ann/other.txt")
        request = editor.begin_request("textDocument/diagnostic", {"textDocument": {"uri": URI}})
        until(lambda: paragraphs_read(editor))
        editor.close()
        # The question is answered, and the other document is read.
        assert editor.answer(request)["items"] == []
        pull(editor, "file:///home/ann/other.txt")
        editor.open(PLAIN)
        pull(editor)
        engines = children(editor.process.pid)
        assert editor.exit() == 0
        until(lambda: not any(map(lives, engines)))
        assert not editor.stderr


def test_an_edit_ends_the_reading_of_the_text_before_it(taught: Path) -> None:
    """The paragraph with the edit is read first, though many wait."""
    with checking_editor(taught, PUSH) as editor:
        editor.open(LONG)
        until(lambda: paragraphs_read(editor))
        editor.type(f"\n\n{ROAD}\n")
        editor.wait(lambda: "teh" in last(editor))
        assert paragraphs_read(editor) < MANY


def test_reading_blocks_neither_suggestions_nor_runs(taught: Path) -> None:
    with checking_editor(taught, PUSH, delay=0) as editor:
        editor.open(LONG)
        until(lambda: paragraphs_read(editor))
        # While it reads, the model writes.
        editor.set(live={"maxActions": 6, "editsPerSecond": 500}, diagnostics={"enabled": True, "delayMs": 0})
        editor.command("reviser.continue", uri=URI)
        assert editor.wait_for_end()["state"] == "finished"
        assert editor.mirror() == editor.text
        editor.ghost_text()
        assert paragraphs_read(editor) < MANY


def test_findings_stay_during_a_run_elsewhere(taught: Path) -> None:
    with checking_editor(taught, PUSH) as editor:
        editor.open(TEXT)
        editor.wait(lambda: last(editor) == FOUND)
        editor.command("reviser.continue", uri=URI)
        editor.wait_for_end()
        for news in pushes(editor):
            if news["version"] in editor.history:
                check(editor, news, editor.history[news["version"]])
        assert last(editor)[:3] == FOUND


def check(editor: ToyEditor, news: dict[str, Any], text: str) -> None:
    """All that was said is about this text, in its order, and nothing is over another."""
    now = editor.texts[URI]
    editor.texts[URI] = text
    try:
        end = 0
        for item in news.get("diagnostics", news.get("items", [])):
            place = editor._offset(URI, item["range"]["start"])
            if item["data"]["old"].strip():
                assert marked(editor, item) == item["data"]["old"]
                assert place >= end
                end = place + len(item["data"]["old"])
    finally:
        editor.texts[URI] = now


PIECES = [
    "a", " ", "\n\n", "é", "😀", "\r\n", "\u2028", "\ud83d", "teh", "recieved ", "```\n", "# ", "- ",
    f"\n\n{LETTER}\n\n", f"\n\n{ROAD}\n\n", f"\r\n\r\n{HOME}\r\n\r\n", f"\n\n{PLAIN}\n\n",
]  # fmt: skip


def look(editor: ToyEditor, features: dict[str, Any]) -> int:
    """Check all that was said so far against the text it was said of; returns how much that was."""
    if features is PULL:
        answer = pull(editor)
        check(editor, answer, editor.text)
        return len(answer["items"])
    editor.command("reviser.status")
    with editor.lock:
        sent = pushes(editor)
        for news in sent:
            check(editor, news, editor.history[news["version"]])
        editor.received.clear()
        editor.history = {editor.versions[URI]: editor.text}
    return sum(len(news["diagnostics"]) for news in sent)


def start_again(editor: ToyEditor, features: dict[str, Any]) -> None:
    """Whatever was there before, this is found."""
    editor.edit(0, len(editor.text), TEXT)
    if features is PULL:
        assert olds(pull(editor)["items"]) == FOUND
    else:
        editor.wait(lambda: last(editor) == FOUND)


@pytest.mark.parametrize(("features", "encoding", "edits"), [(PUSH, "utf-16", 4_000), (PULL, "utf-8", 1_000)])
def test_findings_are_about_the_present_text(taught: Path, features: dict[str, Any], encoding: str, edits: int) -> None:
    """Random edits between requests, as fast as they go: five thousand in all."""
    draw = random.Random(edits)
    with checking_editor(taught, features, encoding=encoding, delay=0) as editor:
        editor.open("", "markdown")
        start_again(editor, features)
        seen = 0
        for number in range(edits):
            with editor.lock:
                text = editor.text
                low = draw.randint(0, len(text))
                high = min(low + draw.choice((0, 0, 0, 1, 5, 40)), len(text))
                low, high = (at - (text[max(at - 1, 0) : at + 1] == "\r\n") for at in (low, high))
                new = "".join(draw.choices(PIECES, k=draw.choice((0, 1, 1, 2))))
                editor.edit(low, high, new if len(text) < 1500 else "")
                if len(editor.text) < 200:
                    editor.type(f"\n\n{draw.choice(PARAGRAPHS)}\n\n")
            if number % 50 == 0:
                seen += look(editor, features)
            if number % 500 == 499:
                start_again(editor, features)
        assert seen
        assert editor.mirror() == editor.text
        assert not editor.stderr


def test_a_long_document_is_read_around_the_cursor(taught: Path) -> None:
    filler = f"{PLAIN}\n\n" * 5_000
    text = f"{LETTER}\n\n{filler}{ROAD}\n\n{filler}"
    middle = text.index(ROAD)
    with checking_editor(taught, PULL) as editor:
        editor.open(text)
        assert olds(pull(editor)["items"]) == ["recieved"]
        # Where the user is, it is read too; what was found stays.
        editor.request("textDocument/hover", {"textDocument": {"uri": URI}, "position": editor.position(middle)})
        assert olds(pull(editor)["items"]) == ["recieved", "teh"]
        editor.edit(0, 0, "A")
        items = pull(editor)["items"]
        assert [marked(editor, item) for item in items] == ["recieved", "teh"]


def test_known_mistakes_are_those_of_the_model() -> None:
    assert {old.split()[-1] for old in KNOWN} == {*FOUND}
    assert FIXED.count("received") == 1
