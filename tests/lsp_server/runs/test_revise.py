"""Revising in a document, over real standard streams: live, change by change, and beside its user."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.lsp_server.toy_editor import IMPATIENT, URI, Refused, ToyEditor, toy_editor

DRAFT = (
    "Title 😀\r\n\r\nIt was a quiet day, and the rain fell on the mat.\r\n"
    "The cat sat é😀 late.\r\n\r\nThe end was quiet.\r\n"
)
# A run in which the tiny model removes something of the draft, too.
SEED = 2
PARAGRAPH = (DRAFT.index("It was"), DRAFT.index("\r\n\r\nThe end"))


@pytest.fixture(scope="module")
def lasting_reviser(reviser_model: Path) -> Iterator[ToyEditor]:
    with toy_editor(reviser_model) as editor:
        yield editor


@pytest.fixture(scope="module")
def impatient_reviser(reviser_model: Path) -> Iterator[ToyEditor]:
    """One whose server does not wait long for edits that do not come back as changes."""
    with toy_editor(reviser_model, first=IMPATIENT) as editor:
        yield editor


@pytest.fixture
def editor(lasting_reviser: ToyEditor) -> ToyEditor:
    lasting_reviser.reset()
    return lasting_reviser


def revise(editor: ToyEditor, start: int, end: int) -> dict[str, Any]:
    """A whole run; returns its last news."""
    editor.command("reviser.revise", uri=URI, range=editor.range(start, end))
    end_of_run = editor.wait_for_end()
    editor.command("reviser.status")
    return end_of_run


def revised(editor: ToyEditor, text: str = DRAFT, least: int = 2) -> list[dict[str, Any]]:
    """Revise all of a text until there are several changes; returns them."""
    for seed in range(30):
        editor.reset()
        editor.set(seed=seed)
        editor.open(text)
        revise(editor, 0, len(text))
        if len(editor.changes()) >= least:
            return editor.changes()
    raise AssertionError("the model changed too little")


def place_of(editor: ToyEditor, change: dict[str, Any]) -> tuple[int, int]:
    """A change's characters in the editor's text."""
    start, end = (editor._offset(URI, change["range"][key]) for key in ("start", "end"))
    return start, end


def test_a_selection_is_revised_live_and_nothing_else(editor: ToyEditor) -> None:
    texts: list[str] = []
    editor.before_apply = lambda: texts.append(editor.text)
    revising = {"maxActions": 40, "temperature": 0.9}
    editor.set(revise=revising, live={"editsPerSecond": 200}, seed=SEED)
    editor.open(DRAFT)
    start, end = PARAGRAPH
    last = revise(editor, start, end)
    assert (last["state"], last["kind"]) == ("finished", "revise")
    assert last["actions"] == 80
    assert editor.text != DRAFT
    assert editor.text.startswith(DRAFT[:start])
    assert editor.text.endswith(DRAFT[end:])
    assert editor.mirror() == editor.text
    assert 2 <= len(editor.edits) <= last["actions"]
    assert {edit["label"] for edit in editor.edits} == {"Reviser run " + last["runId"]}
    # Something goes as well as comes.
    assert any(change["old"] for change in editor.changes())
    assert any(change["new"] for change in editor.changes())
    for text, following in pairwise([*texts, editor.text]):
        assert text != following
        assert following.startswith(DRAFT[:start])
    assert any(run["fresh"] for run in editor.runs())
    assert len({(run["cursor"]["line"], run["cursor"]["character"]) for run in editor.runs()}) > 1
    assert editor.notifications("$/progress")[0]["value"]["message"] == "revising"


def test_a_seed_repeats_a_revision(editor: ToyEditor) -> None:
    made = set()
    for seed in (1, 1, 2):
        editor.reset()
        editor.set(revise={"maxActions": 40, "temperature": 0.9}, seed=seed)
        editor.open(DRAFT)
        revise(editor, *PARAGRAPH)
        made.add((seed, editor.text))
    assert len(made) == 2
    assert len({text for _, text in made}) == 2


def test_changes_say_what_was_and_where(editor: ToyEditor) -> None:
    changes = revised(editor)
    assert editor.notifications("reviser/changes")[-1]["version"] == editor.versions[URI]
    text, shift = "", 0
    end = 0
    for change in changes:
        low, high = place_of(editor, change)
        assert editor.text[low:high] == change["new"] != change["old"]
        assert DRAFT[low - shift : low - shift + len(change["old"])] == change["old"]
        text += editor.text[end:low] + change["old"]
        shift += len(change["new"]) - len(change["old"])
        end = high
    assert text + editor.text[end:] == DRAFT
    assert len({change["id"] for change in changes}) == len(changes)


def test_one_change_is_put_back_and_another_kept(editor: ToyEditor) -> None:
    first, second, *_ = revised(editor)
    low, high = place_of(editor, first)
    text = editor.text
    editor.edits.clear()
    left = editor.command("reviser.rejectChange", uri=URI, changeId=first["id"])
    assert len(editor.edits) == 1
    assert editor.edits[0]["label"] == f"Reviser change {first['id']}"
    assert editor.text == text[:low] + first["old"] + text[high:] == editor.mirror()
    assert left["changes"] == editor.changes()
    assert first["id"] not in {change["id"] for change in editor.changes()}
    text = editor.text
    editor.command("reviser.acceptChange", uri=URI, changeId=second["id"])
    assert editor.text == text
    assert second["id"] not in {change["id"] for change in editor.changes()}
    for command in ("reviser.rejectChange", "reviser.acceptChange"):
        with pytest.raises(Refused, match="no change here"):
            editor.command(command, uri=URI, changeId=second["id"])
    # The run as a whole can still be taken back, with what was kept of it.
    editor.command("reviser.undo", uri=URI)
    assert editor.text == DRAFT == editor.mirror()
    assert editor.changes() == []


def test_all_changes_at_once(editor: ToyEditor) -> None:
    revised(editor)
    editor.edits.clear()
    assert editor.command("reviser.rejectAllChanges", uri=URI)["changes"] == []
    assert len(editor.edits) == 1
    assert editor.text == DRAFT == editor.mirror()
    assert editor.runs()[-1]["state"] == "rejected"
    revised(editor)
    text = editor.text
    assert editor.command("reviser.acceptAllChanges", uri=URI)["changes"] == []
    assert editor.text == text
    assert editor.runs()[-1]["state"] == "accepted"


def test_a_change_is_found_by_its_place_or_in_its_line(editor: ToyEditor) -> None:
    first, *_ = revised(editor)
    low, _ = place_of(editor, first)
    line_start = editor.text.rfind("\n", 0, low) + 1
    editor.command("reviser.acceptChange", uri=URI, position=editor.position(line_start))
    assert first["id"] not in {change["id"] for change in editor.changes()}
    with pytest.raises(Refused, match="no change here"):
        editor.command("reviser.rejectChange", uri=URI, position=editor.position(len(editor.text)))
    with pytest.raises(Refused, match="say which"):
        editor.command("reviser.rejectChange", uri=URI)


def test_code_actions_offer_to_revise_and_to_decide(editor: ToyEditor) -> None:
    def actions(start: int, end: int, kind: int = 1) -> dict[str, dict[str, Any]]:
        found = editor.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": URI},
                "range": editor.range(start, end),
                "context": {"diagnostics": [], "triggerKind": kind},
            },
        )
        return {action["title"]: action["command"] for action in found}

    editor.open(DRAFT)
    start, end = PARAGRAPH
    assert "Reviser: revise the selection" not in actions(start, start)
    offer = actions(start, end)["Reviser: revise the selection"]
    editor.request("workspace/executeCommand", offer)
    editor.wait_for_end()
    (first, *_) = revised(editor)
    low, high = place_of(editor, first)
    offers = actions(low, high, kind=2)
    keep, back, *_ = offers
    assert keep.startswith("Keep this change: “")
    assert back.startswith("Put back: “" if first["old"] else "Take out: “")
    assert f"Reviser: keep all changes ({len(editor.changes())})" in offers
    text = editor.text
    editor.request("workspace/executeCommand", offers[back])
    assert editor.text == text[:low] + first["old"] + text[high:]
    every = next(title for title in offers if title.startswith("Reviser: put back all"))
    editor.request("workspace/executeCommand", offers[every])
    assert editor.text == DRAFT
    assert not actions(low, high, kind=2)


def test_without_a_range_the_paragraph_is_revised(editor: ToyEditor) -> None:
    editor.open(DRAFT)
    start, end = PARAGRAPH
    region = editor.range(start, end)
    news = editor.command("reviser.revise", uri=URI, position=editor.position(start + 70))
    assert news["region"] == region
    editor.wait_for_end()
    assert editor.text.startswith(DRAFT[:start])
    assert editor.text.endswith(DRAFT[end:])
    blank = editor.position(DRAFT.index("\r\n") + 2)
    with pytest.raises(Refused, match="no text here"):
        editor.command("reviser.revise", uri=URI, position=blank)
    with pytest.raises(Refused, match="needs a range or a position"):
        editor.command("reviser.revise", uri=URI)


def test_a_model_that_cannot_revise_says_so_once(editor: ToyEditor, model: Path) -> None:
    editor.set(model=str(model))
    editor.open(DRAFT)
    editor.command("reviser.revise", uri=URI, range=editor.range(*PARAGRAPH))
    last = editor.wait_for_end()
    assert (last["state"], last["said"]) == ("stopped", True)
    editor.wait(lambda: editor.notifications("window/showMessage"))
    editor.command("reviser.status")
    (message,) = editor.notifications("window/showMessage")
    assert message["message"] == ("Reviser: this model was not trained to revise; it can only continue and infill")
    assert not editor.edits
    assert editor.text == DRAFT == editor.mirror()
    assert "Traceback" not in editor.stderr.decode()


def test_a_run_that_changes_nothing_says_so(editor: ToyEditor) -> None:
    """Half a character is nothing that the model could be shown, so it leaves that line alone."""
    editor.open("It was \ud83d late")
    assert revise(editor, 0, len(editor.text))["state"] == "finished"
    (message,) = editor.notifications("window/showMessage")
    assert message["message"] == "Reviser: there is nothing to change"
    assert not editor.edits
    assert not editor.changes()


def test_half_a_character_in_lines_that_the_model_does_not_see_stays(editor: ToyEditor) -> None:
    text = "It was \ud83d late\n" + "The cat sat on the mat.\n" * 200
    start = text.rindex("The cat")
    for command in ("reviser.revise", "reviser.continue"):
        editor.reset()
        editor.set(live={"editsPerSecond": 500, "maxActions": 12})
        editor.open(text)
        editor.command(command, uri=URI, range=editor.range(start, len(text)))
        last = editor.wait_for_end()
        assert (last["state"], last["reason"]) == ("finished", None)
        assert editor.edits
        assert editor.text.startswith(text[:start])
        assert editor.mirror() == editor.text


@pytest.mark.parametrize("manner", ["check", "silent"])
def test_the_user_types_elsewhere_meanwhile(editor: ToyEditor, manner: str) -> None:
    editor.manner = manner
    editor.set(revise={"maxActions": 60, "temperature": 0.9}, live={"editsPerSecond": 100})
    typed = iter("mine")

    def user() -> None:
        if letter := next(typed, None):
            at = editor.text.index("\r\n")
            editor.edit(at, at, letter)

    editor.open(DRAFT)
    editor.before_apply = user
    last = revise(editor, *PARAGRAPH)
    assert last["state"] == "finished"
    assert editor.text.startswith("Title 😀m")
    assert editor.mirror() == editor.text
    for change in editor.changes():
        low, high = place_of(editor, change)
        assert editor.text[low:high] == change["new"]
    editor.before_apply = lambda: None
    mine = editor.text[len("Title 😀") :].partition("\r\n")[0]
    editor.command("reviser.rejectAllChanges", uri=URI)
    assert editor.text == DRAFT.replace("Title 😀", "Title 😀" + mine)


def test_typing_inside_stops_it_and_the_other_changes_stay(editor: ToyEditor) -> None:
    editor.set(revise={"maxActions": 200, "temperature": 0.9}, live={"editsPerSecond": 100})
    texts: list[str] = []

    def user() -> None:
        if len(editor.edits) == 3:
            at = editor.text.index("\r\n\r\nThe end")
            editor.edit(at - 1, at - 1, "X")
            texts.append(editor.text)

    editor.open(DRAFT)
    editor.before_apply = user
    last = revise(editor, *PARAGRAPH)
    assert (last["state"], last["reason"]) == ("stopped", "you typed where the model was writing")
    assert texts == [editor.text]
    assert editor.mirror() == editor.text
    editor.before_apply = lambda: None
    editor.command("reviser.rejectAllChanges", uri=URI)
    assert editor.text == editor.mirror()
    assert "X" in editor.text


@pytest.mark.parametrize("manner", ["refuse", "fail"])
def test_an_edit_that_is_refused_or_fails_stops_the_run(impatient_reviser: ToyEditor, manner: str) -> None:
    editor = impatient_reviser
    for command, where in (("reviser.revise", {"range": editor_range(DRAFT)}), ("reviser.continue", {})):
        editor.reset()
        editor.open(DRAFT)
        editor.manner = manner
        editor.command(command, uri=URI, **where)
        last = editor.wait_for_end()
        assert (last["state"], last["reason"]) == ("stopped", "the editor refused an edit")
        assert not last["said"]
        assert editor.text == DRAFT == editor.mirror()
        assert not editor.changes()


def editor_range(text: str) -> dict[str, Any]:
    lines = text.count("\n")
    return {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}


@pytest.mark.parametrize("manner", ["refuse", "fail"])
def test_a_change_that_cannot_be_put_back_stays_pending(editor: ToyEditor, manner: str) -> None:
    first, *_ = revised(editor)
    text, changes = editor.text, editor.changes()
    editor.manner = manner
    with pytest.raises(Refused, match="refused to take the text back"):
        editor.command("reviser.rejectChange", uri=URI, changeId=first["id"])
    assert editor.text == text == editor.mirror()
    editor.manner = "check"
    assert editor.command("reviser.acceptAllChanges", uri=URI)["changes"] == []
    assert len(changes) >= 2


@pytest.mark.parametrize("manner", ["check", "silent"])
def test_a_change_is_put_back_once_while_the_user_types(editor: ToyEditor, manner: str) -> None:
    """The edit comes for a text that is no more: it is asked for again, and never carried out twice."""
    for _ in range(4):
        change, *_ = revised(editor)
        low, high = place_of(editor, change)
        text, typed = editor.text, iter("#§")

        def user(typed: Iterator[str] = typed) -> None:
            if letter := next(typed, None):
                editor.edit(0, 0, letter)

        editor.manner = manner
        editor.before_apply = user
        editor.command("reviser.rejectChange", uri=URI, changeId=change["id"])
        assert editor.mirror() == editor.text
        assert editor.text.lstrip("#§") == text[:low] + change["old"] + text[high:]
        assert editor.text.startswith("§#")
        assert change["id"] not in {left["id"] for left in editor.changes()}


def test_a_document_closed_while_a_change_is_put_back(editor: ToyEditor) -> None:
    first, *_ = revised(editor)
    editor.before_apply = editor.close
    with pytest.raises(Refused, match=r"refused|closed"):
        editor.command("reviser.rejectChange", uri=URI, changeId=first["id"])
    editor.before_apply = lambda: None
    editor.open(DRAFT)
    assert editor.mirror() == DRAFT


def test_a_run_that_is_stopped_leaves_its_changes_to_decide_about(editor: ToyEditor) -> None:
    editor.set(revise={"maxActions": 900, "temperature": 0.9}, live={"editsPerSecond": 50})
    editor.open(DRAFT)
    editor.command("reviser.revise", uri=URI, range=editor.range(0, len(DRAFT)))
    editor.wait(lambda: len(editor.edits) > 2)
    begun = editor.notifications("$/progress")[0]
    editor.notify("window/workDoneProgress/cancel", {"token": begun["token"]})
    last = editor.wait_for_end()
    assert (last["state"], last["reason"]) == ("stopped", "you cancelled it")
    editor.wait(editor.changes)
    editor.command("reviser.reject", uri=URI)
    assert editor.text == DRAFT == editor.mirror()


def test_two_revisions_of_a_document_wait_side_by_side(editor: ToyEditor) -> None:
    for seed in range(20):
        editor.reset()
        editor.set(seed=seed)
        editor.open(DRAFT)
        start, end = PARAGRAPH
        revise(editor, start, end)
        behind = editor.text.index("The end was")
        revise(editor, behind, behind + len("The end was quiet."))
        if len({change["runId"] for change in editor.changes()}) == 2:
            break
    places = [place_of(editor, change) for change in editor.changes()]
    assert places == sorted(places)
    editor.edits.clear()
    editor.command("reviser.rejectAllChanges", uri=URI)
    assert len(editor.edits) == 2
    assert editor.text == DRAFT == editor.mirror()


def test_a_document_that_is_opened_again_has_no_changes(editor: ToyEditor) -> None:
    revised(editor)
    editor.close()
    editor.open(DRAFT)
    editor.command("reviser.status")
    assert editor.changes() == []
    with pytest.raises(Refused, match="no run"):
        editor.command("reviser.undo", uri=URI)


def test_awkward_text_that_the_model_leaves_alone_stays_as_it_was(editor: ToyEditor) -> None:
    """Mixed line endings, control characters and halves of characters outside of its changes."""
    text = "It was\fquiet\r\nThe cat\rsat on\u2028the mat\x07\n\n\ud83d half\n late"
    for seed in range(8):
        editor.reset()
        editor.set(seed=seed)
        editor.open(text)
        revise(editor, 0, len(text))
        assert editor.mirror() == editor.text
        assert "\ud83d half" in editor.text
        editor.command("reviser.rejectAllChanges", uri=URI)
        assert editor.text == text == editor.mirror()


class Deciding:
    """Keeps and puts back at random, and knows what the text must be.

    `pieces` are the document in turn: what is settled, and what is pending as [id, old, new].
    """

    def __init__(self, editor: ToyEditor, seed: int) -> None:
        self.editor = editor
        self.random = random.Random(seed)
        self.pieces: list[str | list[str]] = []
        end = 0
        for change in editor.changes():
            low, high = place_of(editor, change)
            self.pieces += [editor.text[end:low], [change["id"], change["old"], change["new"]]]
            end = high
        self.pieces.append(editor.text[end:])

    @property
    def text(self) -> str:
        return "".join(piece if isinstance(piece, str) else piece[2] for piece in self.pieces)

    def pending(self) -> list[str]:
        return [piece[0] for piece in self.pieces if isinstance(piece, list)]

    def decide(self) -> None:
        number, piece = self.random.choice(
            [(n, piece) for n, piece in enumerate(self.pieces) if isinstance(piece, list)]
        )
        rejects = self.random.random() < 0.5
        name = "reviser.rejectChange" if rejects else "reviser.acceptChange"
        self.editor.command(name, uri=URI, changeId=piece[0])
        self.pieces[number] = piece[1] if rejects else piece[2]

    def type(self) -> None:
        """The user edits somewhere: what is settled, away from the edges, or inside a change."""
        number = self.random.randrange(len(self.pieces))
        piece = self.pieces[number]
        text = piece if isinstance(piece, str) else piece[2]
        room = [n for n in range(1, len(text)) if not {"\r", "\n"} & set(text[n - 1 : n + 1])]
        if not room:
            return
        start = sum(len(part if isinstance(part, str) else part[2]) for part in self.pieces[:number])
        at = self.random.choice(room)
        size = self.random.choice((0, 0, 1)) if at < len(text) - 1 else 0
        if {"\r", "\n"} & set(text[at : at + size]):
            size = 0
        # Nothing that stands there already, so that it is plain where the edit was.
        new = self.random.choice(("#", "§😀", "¤¤¤"))
        self.editor.edit(start + at, start + at + size, new)
        self.pieces[number] = text[:at] + new + text[at + size :]

    def check(self) -> None:
        assert self.editor.mirror() == self.editor.text == self.text
        assert [change["id"] for change in self.editor.changes()] == self.pending()
        for change in self.editor.changes():
            low, high = place_of(self.editor, change)
            assert self.editor.text[low:high] == change["new"]


@pytest.mark.parametrize("manner", ["check", "silent"])
@pytest.mark.parametrize("seed", range(6))
def test_any_mix_of_decisions_and_edits_leaves_exactly_what_was_decided(
    editor: ToyEditor, manner: str, seed: int
) -> None:
    revised(editor, DRAFT * 3, least=5)
    editor.manner = manner
    deciding = Deciding(editor, seed)
    decided = 0
    while deciding.pending():
        if deciding.random.random() < 0.4:
            deciding.type()
        if deciding.pending():
            deciding.decide()
            decided += 1
        deciding.check()
    assert decided >= 2
    assert editor.text.count("\r\n") == editor.text.count("\n")
