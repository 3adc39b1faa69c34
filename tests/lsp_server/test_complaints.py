"""What users of such servers complain about, one test for each complaint, over real standard streams."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reviser.model.layout import Quantisation
from tests.lsp_server.models import save_tiny_model
from tests.lsp_server.processes import children, cpu_seconds, lives
from tests.lsp_server.toy_editor import URI, Refused, ToyEditor, toy_editor, until

DRAFT = "It was a quiet day.\nThe cat sat on the mat.\n"
MIDDLE = len("It was a quiet day.")
# Behind a whole sentence, little of what random weights would write is shown.
UNFINISHED = "It was"


def edits_of(editor: ToyEditor) -> list[dict[str, Any]]:
    return [edit["edit"]["documentChanges"][0]["edits"][0] for edit in editor.edits]


def finish(editor: ToyEditor, command: str = "reviser.continue", **argument: Any) -> dict[str, Any]:
    """A whole run; returns its last news."""
    editor.command(command, uri=URI, **argument)
    return editor.wait_for_end()


def test_1_a_run_undoes_in_one_step_and_leaves_the_users_typing(editor: ToyEditor) -> None:
    editor.open(DRAFT)
    finish(editor, "reviser.infill", range=editor.range(MIDDLE, MIDDLE))
    written = editor.text[MIDDLE : len(editor.text) - len(DRAFT) + MIDDLE]
    assert len({edit["label"] for edit in editor.edits}) == 1
    assert len(editor.edits) > 1
    middle = MIDDLE + len(written) // 2
    editor.edit(middle, middle, "[mine]")
    editor.edit(0, 0, "Mine. ")
    editor.edits.clear()
    editor.command("reviser.undo", uri=URI)
    assert len(editor.edits) == 1
    assert editor.text == "Mine. " + DRAFT[:MIDDLE] + "[mine]" + DRAFT[MIDDLE:]
    assert editor.mirror() == editor.text
    with pytest.raises(Refused, match="no run"):
        editor.command("reviser.undo", uri=URI)


def test_1_rejecting_a_rewritten_selection_gives_it_back(editor: ToyEditor) -> None:
    editor.open(DRAFT)
    finish(editor, "reviser.infill", range=editor.range(3, 18))
    assert editor.text != DRAFT
    editor.command("reviser.reject", uri=URI)
    assert editor.text == DRAFT == editor.mirror()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.usefixtures("lasting_editor")
def test_2_offsets_hold_on_text_beyond_ascii(model: Path, encoding: str) -> None:
    before, after = "Grüße 😀𝕏 e\u0301 漢字\u2028 it", "😀 on\r\n𝕏 mat\rэто\n"
    with toy_editor(model, {"sharedEngine": True}, encoding=encoding) as editor:
        editor.open("é😀\r\n" + before + after)
        before = "é😀\r\n" + before
        editor.edit(2, 2, "𝕏漢")
        before = before[:2] + "𝕏漢" + before[2:]
        assert editor.mirror() == before + after
        assert editor.ghost_text(len(before + "😀 on"))
        finish(editor, "reviser.infill", range=editor.range(len(before), len(before)))
        assert editor.text.startswith(before)
        assert editor.text.endswith(after)
        assert len(editor.text) > len(before) + len(after)
        assert editor.mirror() == editor.text
        region = editor.runs()[-1]["region"]
        assert region == editor.range(len(before), len(editor.text) - len(after))


@pytest.mark.parametrize("manner", ["check", "late", "silent", "careless"])
def test_3_a_stale_edit_does_no_harm(editor: ToyEditor, manner: str) -> None:
    """The user types at the top while edits for the middle are on their way."""
    editor.open("\n" + DRAFT)
    editor.manner = manner
    typed = iter("The user types, and goes on.")

    def user() -> None:
        if len(editor.edits) % 2 and (letter := next(typed, None)):
            at = editor.text.index("\n")
            editor.edit(at, at, letter)

    editor.before_apply = user
    end = finish(editor, "reviser.infill", range=editor.range(MIDDLE + 1, MIDDLE + 1))
    editor.command("reviser.status")
    assert editor.mirror() == editor.text
    first, rest = editor.text.split("\n", 1)
    assert "The user types, and goes on.".startswith(first)
    assert first
    if manner == "careless":
        # Edits for a text that is no more were carried out: harmless here, since lines moved alone.
        assert end["state"] in ("finished", "stopped")
    else:
        assert end["state"] == "finished", end
        assert rest.startswith(DRAFT[:MIDDLE])
        assert rest.endswith(DRAFT[MIDDLE:])


def test_3_an_edit_gone_wrong_stops_the_run(impatient_editor: ToyEditor) -> None:
    """An editor that carries out anything, and a user who types in the same line before it."""
    editor = impatient_editor
    words = "Oh! What comes now is nothing that I would have said. "
    typed: list[int] = []

    def user() -> None:
        (change,) = editor.edits[-1]["edit"]["documentChanges"]
        first_line = change["edits"][0]["range"]["start"]["line"] == 0
        if len(editor.edits) >= 3 and first_line and not typed:
            editor.edit(0, 0, words)
            typed.append(len(editor.edits))

    for seed in range(30):  # until a run still edits the first line at its third edit
        editor.reset()
        editor.set(seed=seed)
        editor.open(DRAFT)
        editor.manner = "careless"
        editor.before_apply = user
        end = finish(editor, "reviser.infill", range=editor.range(MIDDLE, MIDDLE))
        if typed:
            break
    assert end["state"] == "stopped"
    assert typed == [len(editor.edits)]
    assert editor.mirror() == editor.text
    assert editor.text.startswith(words[:MIDDLE])


def test_3_a_refused_edit_stops_the_run(impatient_editor: ToyEditor) -> None:
    editor = impatient_editor
    editor.open(DRAFT)
    editor.manner = "refuse"
    end = finish(editor)
    assert (end["state"], end["reason"]) == ("stopped", "the editor refused an edit")
    assert len(editor.edits) == 1
    assert editor.text == DRAFT == editor.mirror()


def test_3_typing_where_the_model_writes_stops_it(editor: ToyEditor) -> None:
    editor.open(DRAFT)
    texts: list[str] = []

    def user() -> None:
        if len(editor.edits) == 3:
            editor.edit(MIDDLE + 1, MIDDLE + 1, "X")
            texts.append(editor.text)

    editor.before_apply = user
    end = finish(editor, "reviser.infill", range=editor.range(MIDDLE, MIDDLE))
    assert (end["state"], end["reason"]) == ("stopped", "you typed where the model was writing")
    assert texts == [editor.text]
    assert editor.mirror() == editor.text


def is_cancelled_at_work(editor: ToyEditor) -> bool:
    """Whether a suggestion was being thought of when it was cancelled: a quick model may be through before."""
    request = editor.begin_ghost_text()
    at_work = editor.command("reviser.status")["state"] == "thinking"
    editor.cancel(request)
    try:
        editor.answer(request)
    except Refused as refused:
        return at_work and refused.code == -32800
    return False


def test_4_cancelled_work_ends_and_requests_do_not_pile_up(editor: ToyEditor) -> None:
    editor.set(completion={"maxActionsInvoked": 900, "unit": "line", "candidates": 10})
    editor.open("It was")
    until(lambda: is_cancelled_at_work(editor))
    slow = {"minDelayMs": 5000, "maxDelayMs": 5000, "candidates": 1, "maxActionsInvoked": 8}
    editor.set(completion=slow)
    before = editor.command("reviser.status")
    requests = []
    for word in ("the", "cat", "sat", "on", "the", "mat", "and", "it", "was"):
        editor.type(" " + word)
        requests.append(editor.begin_ghost_text(invoked=False))
    editor.type(" late")
    # Asked for, a suggestion waits for no pause.
    assert editor.ghost_text(invoked=True)
    assert not any(editor.answer(request)["items"] for request in requests)
    after = editor.command("reviser.status")
    assert after["superseded"] - before["superseded"] == len(requests)
    assert after["requests"] - before["requests"] <= 3
    (engine,) = children(editor.process.pid)
    used = cpu_seconds(engine)
    assert editor.command("reviser.status")["state"] == "idle"
    until(lambda: cpu_seconds(engine) == cpu_seconds(engine, wait=0.2))
    # What comes after that is little beside what it had taken to load the model and answer.
    assert cpu_seconds(engine) - used < used / 2


def test_5_a_cold_model_answers_though_every_key_cancels_the_last_request(full_model: Path) -> None:
    """One that takes longer to load than its user types."""
    with toy_editor(full_model) as editor:
        editor.open("It was")
        request = editor.begin_ghost_text(invoked=False)
        for letter in " quiet":
            editor.cancel(request)
            editor.type(letter)
            request = editor.begin_ghost_text(invoked=False)
        assert editor.answer(request)["items"]


def test_6_off_computes_nothing(model: Path) -> None:
    with toy_editor(model, {"enabled": False}) as editor:
        editor.open(DRAFT)
        for letter in "and on":
            editor.type(letter)
            assert editor.ghost_text() == []
            assert editor.ghost_text(invoked=False) == []
        with pytest.raises(Refused, match="switched off"):
            editor.command("reviser.continue", uri=URI)
        status = editor.command("reviser.status")
        assert (status["state"], status["modelLoaded"], status["requests"]) == ("off", False, 0)
        assert children(editor.process.pid) == []
        editor.set(enabled=True)
        assert editor.ghost_text()
        (engine,) = children(editor.process.pid)
        editor.set(enabled=False)
        until(lambda: not lives(engine))
        assert not editor.command("reviser.status")["modelLoaded"]


def test_6_an_idle_model_is_unloaded_and_comes_back(model: Path) -> None:
    with toy_editor(model, {"unloadAfterS": 0.2}) as editor:
        editor.open(UNFINISHED)
        assert editor.ghost_text()
        until(lambda: not children(editor.process.pid))
        assert not editor.command("reviser.status")["modelLoaded"]
        editor.type(" the")
        assert editor.ghost_text()


def test_7_nothing_lingers_when_the_editor_is_gone(full_model: Path) -> None:
    """Not even an engine with torch in it."""
    with toy_editor(full_model) as editor:
        editor.open(UNFINISHED)
        assert editor.ghost_text()
        (engine,) = children(editor.process.pid)
        editor.command("reviser.continue", uri=URI)
        assert editor.process.stdin
        editor.process.stdin.close()
        assert editor.process.wait(30) == 1
        until(lambda: not lives(engine))


def test_7_nothing_lingers_when_the_editor_is_killed(model: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    with toy_editor(model, process_id=parent.pid) as editor:
        editor.open(UNFINISHED)
        assert editor.ghost_text()
        (engine,) = children(editor.process.pid)
        parent.kill()
        parent.wait()
        editor.process.wait(30)
        until(lambda: not lives(engine))


def test_7_several_editors_share_one_engine_that_ends_with_the_last(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    socket = tmp_path / "reviser" / "engine.sock"
    shared = {"sharedEngine": True}
    with toy_editor(model, shared) as one, toy_editor(model, shared) as other:
        for editor in (one, other):
            editor.open(UNFINISHED)
            assert editor.ghost_text()
        assert socket.stat().st_mode & 0o777 == 0o600
        assert socket.parent.stat().st_mode & 0o777 == 0o700
        engines = [pid for editor in (one, other) for pid in children(editor.process.pid)]
        assert len(engines) == 1
        assert one.exit() == 0
        other.type("The")
        assert other.ghost_text()
        assert lives(engines[0])
        assert other.exit() == 0
        until(lambda: not lives(engines[0]))
        assert not socket.exists()


def test_8_edits_touch_only_what_changes(editor: ToyEditor) -> None:
    """Nothing is taken away and written again, and cursors come at the pace that was set."""
    editor.open(DRAFT)
    texts: list[str] = []
    editor.before_apply = lambda: texts.append(editor.text)
    end = finish(editor, "reviser.infill", range=editor.range(MIDDLE, MIDDLE))
    assert 1 < len(editor.edits) <= end["actions"]
    for text, following in zip(texts, [*texts[1:], editor.text], strict=True):
        shared = next(
            (i for i, (a, b) in enumerate(zip(text, following, strict=False)) if a != b), min(len(text), len(following))
        )
        assert shared >= MIDDLE
    for edit in edits_of(editor):
        start, stop = edit["range"]["start"], edit["range"]["end"]
        assert edit["newText"] or start != stop
    assert any(run["fresh"] for run in editor.runs())


def test_9_ghost_text_survives_accepting_a_word(editor: ToyEditor) -> None:
    editor.set(completion={"unit": "line"})
    editor.open("It was a quiet day. ")
    (whole, *_) = editor.ghost_text()
    requests = editor.command("reviser.status")["requests"]
    rest = whole
    while words := re.match(r"\s*\S+", rest):
        editor.type(words.group())
        rest = rest[words.end() :]
        if rest:
            assert editor.ghost_text(invoked=False) == [rest]
    assert whole.count(" ") > 2
    assert editor.command("reviser.status")["requests"] == requests


def test_9_ghost_text_survives_typing_it_letter_by_letter(editor: ToyEditor) -> None:
    editor.open("It was a quiet day. ")
    whole = editor.ghost_text(invoked=False)[0]
    requests = editor.command("reviser.status")["requests"]
    for typed in range(1, len(whole)):
        editor.type(whole[typed - 1])
        (ghost,) = editor.ghost_text(invoked=False)
        assert ghost.startswith(whole[typed:])
    assert editor.command("reviser.status")["requests"] == requests


def complete(editor: ToyEditor) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = editor.request(
        "textDocument/completion", {"textDocument": {"uri": URI}, "position": editor.position(len(editor.text))}
    )["items"]
    return items


def test_10_tab_has_one_meaning(editor: ToyEditor) -> None:
    editor.open("It was a qui")
    assert complete(editor) == []
    editor.set(completion={"list": "on"})
    items = complete(editor)
    assert items
    for item in items:
        assert "commitCharacters" not in item
        assert "preselect" not in item
        assert item["filterText"].startswith("qui")
        assert item["textEdit"]["newText"] == item["filterText"]
    ghost = editor.ghost_text()
    start, end = editor.position(9), editor.position(12)
    for chosen, wanted in ((f"qui{ghost[0]}", [f"qui{ghost[0]}"]), ("quince", [])):
        answer = editor.request(
            "textDocument/inlineCompletion",
            {
                "textDocument": {"uri": URI},
                "position": end,
                "context": {
                    "triggerKind": 2,
                    "selectedCompletionInfo": {"range": {"start": start, "end": end}, "text": chosen},
                },
            },
        )
        assert [item["insertText"] for item in answer["items"]] == wanted


def test_11_what_the_user_removed_is_not_suggested(editor: ToyEditor) -> None:
    text = "It was a quiet day."
    editor.open(text)
    ghost = editor.ghost_text(invoked=False)[0]
    editor.type(ghost)
    for _ in ghost:
        editor.edit(len(editor.text) - 1, len(editor.text), "")
    assert editor.text == text
    again = [*editor.ghost_text(invoked=False), *editor.ghost_text()]
    assert again
    assert not any(other.strip().startswith(ghost.strip()) for other in again)
    editor.edit(0, 0, "Oh! ")
    assert not any(other.strip().startswith(ghost.strip()) for other in editor.ghost_text())


def test_12_what_follows_is_not_written_again(editor: ToyEditor) -> None:
    editor.set(completion={"unit": "line", "candidates": 5})
    text = "It was a quiet day."
    editor.open(text)
    for ghost in editor.ghost_text():
        words = ghost.split()
        for after in (ghost, ghost.lstrip(), " " + " ".join(words[len(words) // 2 :])):
            editor.edit(len(text), len(editor.text), after + "\nEnd.")
            for offered in editor.ghost_text(len(text)):
                assert not offered.endswith(after)
                assert len(after.split()) == 1 or f" {after.strip()} " not in f" {offered} "


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("markdown", "It was late.\n\n```\nthe cat ¦\n```\n"),
        ("markdown", "---\ntitle: the cat ¦\n---\n\nIt was late.\n"),
        ("markdown", "See https://example.org/the¦\n"),
        ("git-commit", "It was late\n\n# The cat ¦\n"),
        ("markdown", "It was lat¦e.\n"),
    ],
)
def test_12_nothing_is_suggested_where_it_is_no_prose(editor: ToyEditor, language: str, text: str) -> None:
    at = text.index("¦")
    editor.open(text.replace("¦", ""), language)
    assert editor.ghost_text(at, invoked=False) == []
    requests = editor.command("reviser.status")["requests"]
    editor.edit(0, 0, "It was a quiet day. \n\n")
    assert editor.ghost_text(20, invoked=False) or language == "git-commit"
    assert editor.command("reviser.status")["requests"] > requests or language == "git-commit"


def test_12_only_what_is_sure_enough_comes_unasked(editor: ToyEditor) -> None:
    editor.set(completion={"confidence": 1})
    editor.open("Nobody had asked on such a day. ")
    assert editor.ghost_text(invoked=False) == []
    assert editor.ghost_text()
    # What was asked for stays while it is typed.
    assert editor.ghost_text(invoked=False)


def test_12_a_suggestion_begins_as_its_place_wants(editor: ToyEditor) -> None:
    editor.set(completion={"candidates": 5})
    for text in ("It was a quiet day.", "It was a quiet day. ", "It was late.\n", "It was a qui"):
        editor.open(text)
        found = editor.ghost_text()
        assert found
        for ghost in found:
            assert ghost == ghost.rstrip()
            glued = text.endswith(".") and ghost[0].isalnum()
            doubled = text[-1].isspace() and ghost[0].isspace()
            assert not glued, (text, ghost)
            assert not doubled, (text, ghost)


def test_12_a_run_is_not_glued_to_the_sentence_before_it(editor: ToyEditor) -> None:
    text = "It was a quiet day."
    for seed in range(4):
        editor.reset()
        editor.set(seed=seed, live={"maxActions": 6})
        editor.open(text)
        finish(editor)
        assert editor.text.startswith(text)
        assert not editor.text[len(text) :][:1].isalnum()


def test_13_prose_a_language_a_folder_and_a_document_have_switches(editor: ToyEditor) -> None:
    def answers(language: str, uri: str = URI) -> bool:
        editor.open("# It was a quiet day. The", language, uri)
        position = editor.position(len(editor.texts[uri]), uri)
        answer = editor.request(
            "textDocument/inlineCompletion",
            {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 1}},
        )
        editor.close(uri)
        return bool(answer["items"])

    assert answers("markdown")
    assert not answers("python")
    editor.set(languages={"markdown": False, "python": True})
    assert not answers("markdown")
    assert answers("python")
    editor.set(globs={"**/private/**": False})
    assert not answers("markdown", "file:///home/ann/private/diary.md")
    assert answers("markdown", "file:///home/ann/public/diary.md")
    editor.set(completion={"enabled": False})
    assert not answers("markdown")
    editor.set()
    editor.open("It was a quiet day. The")
    assert editor.command("reviser.setEnabled", uri=URI, enabled=False)["enabled"] is False
    assert editor.ghost_text() == []
    assert editor.command("reviser.setEnabled", uri=URI)["enabled"] is True
    assert editor.ghost_text()


def test_a_finished_text_gets_nothing_more_and_the_user_is_told(tmp_path: Path) -> None:
    letter = "Hi Anna,\n\nthe photos are lovely. See you on Sunday!\n\nBest,\nTom\n"
    model = save_tiny_model(tmp_path / "model", stops=True, quantisation=Quantisation(8))
    with toy_editor(model) as editor:
        for text in (letter, letter + "\n", "Buy milk. Buy milk. Buy milk."):
            editor.reset()
            editor.open(text)
            assert finish(editor)["state"] == "finished"
            editor.command("reviser.status")
            (message,) = editor.notifications("window/showMessage")
            assert message["message"] == "Reviser: there is nothing to add"
            assert not editor.edits
            assert editor.text == text == editor.mirror()
