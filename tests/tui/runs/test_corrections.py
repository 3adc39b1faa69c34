"""Revising by proofreading in the editor: a step for each change, looked through and undone like any run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from reviser.core.canvas import Canvas
from reviser.core.trajectory import load_trajectories
from reviser.editor.edited_text import Selection
from reviser.model.scoring import Scores
from reviser.session.engine import Engine
from reviser.session.replay import replay
from tests.reviser.proofreading.scripted import GPT2, Known, Scripted
from tests.tui.driving import QUICK, drive, editor, notes, run_to_the_end, toy_engine, until
from tests.tui.runs.test_revise import review_in, revise, shown_run
from tests.tui.test_editing import answer
from tui.app import EditorApp

KNOWN: Known = {
    "recieved": ("received", 0.9),
    "teh": ("the", 0.97),
    "They goes": ("They go", 0.8),
    "unsure": ("insecure", 0.2),
}
TEXT = "He recieved a letter.\nIt was teh last one, unsure.\n\nThe evening was quiet.\n\nThey goes home.\n"
BETTER = TEXT.replace("recieved", "received").replace("teh", "the").replace("goes", "go")
PROOFREADING = replace(QUICK, revise_temperature=0.0)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))


def proofread(folder: Path, policy: Scripted | None = None, text: str = TEXT) -> EditorApp:
    engine = Engine("scripted", policy or Scripted(KNOWN), GPT2)
    return editor(folder, text, PROOFREADING, load=lambda say: engine)


def test_what_proofreading_finds_is_made_looked_through_and_undone(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        review = await revise(app, pilot, Selection(0, len(TEXT)))
        assert draft.text == BETTER
        changes = [("recieved", "received"), ("teh", "the"), ("goes", "go")]
        assert [(item.old, item.new) for item in review.items] == changes
        run = shown_run(app)
        assert [node.taken.label for node in run.path[1:] if node.taken] == [
            "“recieved” → “received” (spelling)",
            "“teh” → “the” (spelling)",
            "“goes” → “go” (agreement)",
        ]
        # There is no other way, and no key that promises one.
        assert not run.branching
        assert "Other way" not in app.desk.key_bar.render().plain
        await pilot.press("alt+a", "alt+r", "alt+a")
        assert draft.text == BETTER.replace("the last", "teh last")
        assert "2 of 3 changes kept" in notes(app)
        await pilot.press("ctrl+z")
        assert (draft.text, app.sheet.modified, draft.undoable) == (TEXT, False, 0)

    drive(proofread(tmp_path), script)


def test_only_the_paragraph_or_the_selection(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await revise(app, pilot, Selection.at(len(TEXT) - 3))
        assert draft.text == TEXT.replace("goes", "go")
        await pilot.press("ctrl+k")
        start = TEXT.index("It was")
        await revise(app, pilot, Selection(start, start + 20))
        assert draft.text == BETTER.replace("received", "recieved")
        await pilot.press("ctrl+k")
        app.editor.select(Selection.at(draft.text.index("evening")))
        await pilot.press("ctrl+e")
        await run_to_the_end(app, pilot)
        assert "nothing to change" in app.desk.status_line.said[0]

    drive(proofread(tmp_path), script)


def test_steps_scrubbing_and_recording(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        app.editor.select(Selection(0, len(TEXT)))
        await revise(app, pilot, Selection(0, len(TEXT)))
        run = shown_run(app)
        await pilot.press("ctrl+t", "home")
        assert draft.text == TEXT
        await pilot.press("right")
        assert draft.text == TEXT.replace("recieved", "received")
        await pilot.press("escape", "f8")
        assert draft.text == BETTER.replace("go home", "goes home")
        run.play(app.clock())
        await until(pilot, lambda: app.sheet.review is not None)
        assert (draft.text, len(review_in(app).items)) == (BETTER, 3)
        assert len(list(run.leaves())) == 1
        saved, page = tmp_path / "run.json", tmp_path / "run.html"
        await app.run_action("save_run")
        await answer(pilot, app, str(saved))
        await until(pilot, saved.exists)
        (trajectory,) = load_trajectories(saved, saved.read_text())
        done = replay(trajectory, GPT2)
        assert (done.start_text, done.final_text, done.matches) == (TEXT, BETTER, True)
        await app.run_action("export_page")
        await answer(pilot, app, str(page))
        await until(pilot, page.exists)

    drive(proofread(tmp_path), script)


class Halting(Scripted):
    """Waits in the second passage until it may go on."""

    def __init__(self) -> None:
        super().__init__(KNOWN)
        self.waits = threading.Event()
        self.go_on = threading.Event()

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        if len(self.read) > 60:
            self.waits.set()
            self.go_on.wait(20)
        return super().scores(history, canvas)


def test_typing_elsewhere_stopping_and_going_on(tmp_path: Path) -> None:
    text = "\n\n".join(f"It was teh number {number}." for number in range(100)) + "\n"
    halting = Halting()

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        start = text.index("It was teh number 1.")
        app.editor.select(Selection(start, len(text)))
        await pilot.press("ctrl+e")
        await until(pilot, halting.waits.is_set)
        app.editor.select(Selection.at(0))
        await pilot.press("O", "h", " ")
        await until(pilot, lambda: len(shown_run(app).path) > 3)
        assert draft.text.startswith("Oh It was teh number 0.\n\nIt was the number 1.")
        await pilot.press("escape")
        assert 0 < len(review_in(app).items) < 99
        halting.go_on.set()
        await pilot.press("f7")
        await until(pilot, lambda: len(shown_run(app).path) == 100)
        await until(pilot, lambda: app.sheet.review is not None)
        changed = "Oh " + text[:start] + text[start:].replace("teh", "the")
        assert draft.text == changed
        await pilot.press("ctrl+k")
        assert draft.text == changed

    drive(proofread(tmp_path, halting, text), script)


def test_what_is_ignored_stays(tmp_path: Path) -> None:
    (tmp_path / ".reviser").mkdir()
    place = "file.txt\trecieved\treceived\tHe\ta letter. It"
    (tmp_path / ".reviser" / "ignore.txt").write_text(f"{place}\n")
    (tmp_path / ".reviser" / "words.txt").write_text("teh\n")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection(0, len(TEXT)))
        assert app.sheet.draft.text == TEXT.replace("goes", "go")

    drive(proofread(tmp_path), script)


def test_models_that_cannot_say_so(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+e")
        await until(pilot, lambda: "not trained to revise" in notes(app))
        assert (app.sheet.draft.text, app.run_now) == (TEXT, None)

    drive(editor(tmp_path, TEXT, PROOFREADING, load=toy_engine), script)

    async def freely(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+e")
        await until(pilot, lambda: "revise_temperature of 0" in notes(app))
        assert (app.sheet.draft.text, app.run_now) == (TEXT, None)

    engine = Engine("scripted", Scripted(KNOWN), GPT2)
    drive(editor(tmp_path, TEXT, QUICK, load=lambda say: engine), freely)
