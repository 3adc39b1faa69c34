"""The model at work in the editor: writing, halting, branching, undoing, and telling about it."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.core.trajectory import load_trajectories
from reviser.editor.edited_text import Selection
from reviser.session.engine import Engine
from reviser.session.replay import replay
from reviser.session.session import Session
from tests.conftest import PAPER_TRAJECTORIES
from tests.toys import ToyTokenizer
from tests.tui.driving import QUICK, drive, editor, notes, run_to_the_end, toy_engine, until
from tests.tui.test_editing import answer, choose
from tui.app import EditorApp
from tui.runs.run import DraftRun
from tui.runs.statistics import Statistics
from tui.runs.tree import Node, walk
from tui.widgets.dialogs import ChoiceDialog
from tui.widgets.panels import Timeline
from tui.widgets.rows import Rows

TEXT = "The cat sat on the mat.\n\nThe cat\n"
SLOW = replace(QUICK, speed=4)


def shown_run(app: EditorApp) -> DraftRun:
    assert app.sheet.run is not None
    return app.sheet.run


def test_continuing_writes_before_the_last_line_ending_and_undoes_in_one_step(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("f5")
        await run_to_the_end(app, pilot)
        written = draft.text
        assert written.startswith(TEXT.removesuffix("\n"))
        assert written.endswith("\n")
        assert len(written) > len(TEXT)
        assert draft.text == TEXT[:-1] + shown_run(app).text + "\n"
        assert app.sheet.modified
        await pilot.press("ctrl+z")
        assert draft.text == TEXT
        await until(pilot, lambda: app.run_now is None)
        await pilot.press("ctrl+y")
        assert draft.text == written
        await pilot.press("ctrl+z", "ctrl+z")
        assert (draft.text, app.sheet.modified) == (TEXT, False)

    drive(editor(tmp_path, TEXT), script)


def test_a_finished_text_gets_nothing_more_and_the_user_is_told(tmp_path: Path) -> None:
    letter = "Hi Anna,\n\nthe photos are lovely. See you on Sunday!\n\nBest,\nTom\n"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        await run_to_the_end(app, pilot)
        assert "nothing to add" in app.desk.status_line.said[0]
        assert (app.sheet.draft.text, app.sheet.modified) == (letter, False)

    drive(editor(tmp_path, letter), script)


@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("key", ["f5", "f6"])
def test_steps_back_are_checked_as_the_settings_say(
    key: str, checks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def watched(write: Callable[..., object]) -> Callable[..., object]:
        def begin(*given: object, **options: object) -> object:
            asked.append(options["check_steps_back"])
            return write(*given, **options)

        return begin

    for name in ("continue_", "infill"):
        monkeypatch.setattr(Session, name, watched(getattr(Session, name)))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press(key)
        await run_to_the_end(app, pilot)
        assert asked
        assert set(asked) == {checks}

    drive(editor(tmp_path, TEXT, replace(QUICK, check_steps_back=checks)), script)


def test_writing_in_the_place_of_a_selection_and_rejecting_it(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        app.editor.select(Selection(8, 11))
        await pilot.press("f6")
        await run_to_the_end(app, pilot)
        assert draft.text.startswith("The cat ")
        assert draft.text.endswith(" on the mat.\n\nThe cat\n")
        assert draft.text[8 : 8 + len(shown_run(app).text)] == (shown_run(app).text)
        await pilot.press("alt+d")
        assert (draft.text, app.sheet.modified, app.run_now) == (TEXT, False, None)
        app.editor.select(Selection(8, 11))
        await pilot.press("f6")
        await run_to_the_end(app, pilot)
        written = draft.text
        await pilot.press("ctrl+k")
        assert (draft.text, app.run_now) == (written, None)
        await pilot.press("ctrl+z")
        assert draft.text == TEXT

    drive(editor(tmp_path, TEXT), script)


def test_discarding_is_one_step_of_undo_and_leaves_the_users_words(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press(*"Mine ", "f5")
        await run_to_the_end(app, pilot)
        written = draft.text
        await pilot.press("alt+d")
        assert (draft.text, app.run_now) == (f"Mine {TEXT}", None)
        await pilot.press("ctrl+z")
        assert draft.text == written
        await pilot.press("ctrl+y")
        assert draft.text == f"Mine {TEXT}"
        await pilot.press("ctrl+z", "ctrl+z")
        assert draft.text == f"Mine {TEXT}"
        await pilot.press("ctrl+z")
        assert (draft.text, app.sheet.modified) == (TEXT, False)

    drive(editor(tmp_path, TEXT), script)


def test_discarding_a_run_that_has_done_nothing_leaves_no_step_behind(tmp_path: Path) -> None:
    gate = threading.Event()

    def slow_load(say: Callable[[str], None]) -> Engine:
        gate.wait(60)
        return toy_engine(say)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        app.editor.select(Selection(4, 7))
        await pilot.press("f6")
        assert app.sheet.draft.text == TEXT.replace("cat", "", 1)
        await pilot.press("alt+d")
        assert (app.sheet.draft.text, app.sheet.draft.undoable) == (TEXT, 0)
        gate.set()

    drive(editor(tmp_path, TEXT, load=slow_load), script)


def test_the_footer_says_what_the_key_will_do(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        def shown() -> str:
            return app.desk.key_bar.render().plain

        await pilot.press("f5")
        run = shown_run(app)
        await until(pilot, lambda: len(run.path) > 2)
        await until(pilot, lambda: "F7 Pause" in shown())
        await pilot.press("f7")
        assert "F7 Resume" in shown()
        await pilot.press("f7")
        assert "F7 Pause" in shown()
        await pilot.press("f7", "alt+d")
        assert "F7" not in shown()
        assert "F5 Continue" in shown()

    drive(editor(tmp_path, TEXT, SLOW), script)


@pytest.mark.parametrize("width", [40, 80])
def test_the_footer_fits_and_cuts_nothing_off(tmp_path: Path, width: int) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        def shown() -> str:
            return app.desk.key_bar.render().plain

        before = shown()
        await pilot.press("f5")
        run = shown_run(app)
        await until(pilot, lambda: len(run.path) > 2)
        await pilot.press("f7")
        during = shown()
        for text, wanted in ((before, ("F5 Continue", "^Q Quit")), (during, ("F7 Resume",))):
            assert len(text) <= width
            assert text.startswith("F1 Help ")
            assert all(each in text for each in wanted)
        assert "Alt+D Discard" in during
        # What is shown can be clicked.
        await pilot.click("KeyBar", offset=(during.index("Discard"), 0))
        await until(pilot, lambda: app.run_now is None)
        assert app.sheet.draft.text == TEXT

    drive(editor(tmp_path, TEXT, SLOW), script, (width, 16))


def test_pausing_stepping_speed_and_stopping(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        run = shown_run(app)
        await until(pilot, lambda: len(run.path) > 2)
        await pilot.press("f7")
        assert run.state == "paused"
        await until(pilot, lambda: not app.writer.busy)
        await pilot.pause(0.1)
        app.ticker.tick()
        halted = len(run.path)
        await pilot.press("f8")
        await until(pilot, lambda: len(run.path) == halted + 1)
        assert run.current is run.tip
        await pilot.press("ctrl+down")
        assert run.speed == 2
        await pilot.press("f7")
        assert run.state == "playing"
        await pilot.press("escape")
        assert run.state == "paused"
        await pilot.press(*["ctrl+up"] * 6)
        assert run.speed == 0
        await pilot.press("f7")
        await run_to_the_end(app, pilot)
        assert run.tip.ending in ("stop", "limit")
        assert len(run.path) - 1 <= QUICK.max_actions

    drive(editor(tmp_path, TEXT, SLOW), script)


def test_typing_elsewhere_goes_on_while_the_model_writes(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("f5")
        run = shown_run(app)
        for number in range(4):
            await until(pilot, lambda number=number: len(run.path) > number + 1)
            await pilot.press(*"ab ")
        assert run.writing
        assert draft.text.startswith("ab ab ab ab The cat")
        await pilot.press("ctrl+z")
        assert draft.text.startswith("ab ab ab The cat")
        assert run.writing
        run.speed = 0
        await run_to_the_end(app, pilot)
        written = run.text
        assert draft.text == "ab ab ab " + TEXT[:-1] + written + "\n"
        await pilot.press("ctrl+k", "ctrl+z")
        assert draft.text == "ab ab ab " + TEXT
        await pilot.press("ctrl+z", "ctrl+z", "ctrl+z")
        assert draft.text == TEXT

    drive(editor(tmp_path, TEXT, SLOW), script)


def test_typing_into_the_models_words_stops_it(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("f5")
        run = shown_run(app)
        await until(pilot, lambda: len(run.text) > 1)
        written = run.text
        app.editor.select(Selection.at(run.region.start + 1))
        await pilot.press("!")
        expected = TEXT[:-1] + written[:1] + "!" + written[1:] + "\n"
        assert draft.text == expected
        await until(pilot, lambda: not run.open)
        await until(pilot, lambda: not app.writer.busy)
        assert draft.text == expected
        await pilot.press("ctrl+z")
        assert draft.text == TEXT[:-1] + written + "\n"
        await pilot.press("ctrl+z")
        assert draft.text == TEXT

    drive(editor(tmp_path, TEXT, SLOW), script)


def test_the_timeline_scrubs_and_a_restored_state_can_be_written_on(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("f5")
        await run_to_the_end(app, pilot)
        run = shown_run(app)
        last = len(run.path) - 1
        await pilot.press("ctrl+t")
        assert isinstance(app.focused, Timeline)
        await pilot.press("home")
        assert draft.text == TEXT
        for depth in range(1, 4):
            await pilot.press("right")
            assert run.current is run.path[depth]
            assert draft.text == TEXT[:-1] + run.path[depth].text_from(run.original) + "\n"
        await pilot.press("end", "left", "pageup")
        assert run.current.depth == last - 11
        timeline = app.query_one(Timeline)
        start, room = timeline._bar()
        await pilot.click(Timeline, offset=(start + room - 1, 0))
        assert run.current is run.tip
        await pilot.press("home", *["right"] * 3, "enter")
        assert app.editor.has_focus
        kept = run.path[3].text_from(run.original)
        assert draft.text == TEXT[:-1] + kept + "\n"
        await pilot.press("f9")
        await run_to_the_end(app, pilot)
        assert len(run.path[3].children) == 2
        assert len(run.leaves()) == 2
        await pilot.press("ctrl+t", "home", *["right"] * 3, "escape", "ctrl+k")
        assert draft.text == TEXT[:-1] + kept + "\n"
        await pilot.press("ctrl+z")
        assert draft.text == TEXT

    drive(editor(tmp_path, TEXT), script)


def test_playing_on_from_an_earlier_state_shows_the_known_steps(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        await run_to_the_end(app, pilot)
        run = shown_run(app)
        path = list(run.path)
        run.scrub(0, app.clock())
        await pilot.press("f8")
        assert run.current is path[1]
        await pilot.press("f7")
        await until(pilot, lambda: run.current is path[-1])
        assert run.path == path

    drive(editor(tmp_path, TEXT), script)


def test_the_panels_tell_and_another_option_branches(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("f5", "f4")
        await run_to_the_end(app, pilot)
        run = shown_run(app)
        rows = app.desk.panel.query_one("#Log", Rows)
        await until(pilot, lambda: len(rows.lines) == len(run.path))
        assert rows.has_focus
        assert rows.lines[1][0].endswith(run.path[1].taken.label)  # type: ignore[union-attr]
        assert rows.lines[1][1].endswith("%")
        first_path = list(run.path)
        await pilot.press("home", *["down"] * 4)
        assert run.current is first_path[4]
        await pilot.press("right")
        assert app.desk.panel.active == "Options"
        options = app.desk.panel.query_one("#Options", Rows)
        taken = run.current.taken
        assert taken is not None
        assert options.chosen == [option.id for option in taken.options].index(taken.id)
        other = 0 if options.chosen else 1
        await pilot.press("home", *["down"] * other, "enter")
        await run_to_the_end(app, pilot)
        assert run.path[:4] == first_path[:4]
        branch = run.path[4].taken
        assert branch is not None
        assert branch.id == taken.options[other].id
        assert branch.probability == taken.options[other].probability
        assert draft.text == TEXT[:-1] + run.text + "\n"
        # The states of the branch are those that its actions make.
        assert run.seed is not None
        await pilot.press("right")
        assert app.desk.panel.active == "Branches"
        tree = app.desk.panel.query_one("#Branches", Rows)
        assert len(tree.lines) == 3
        await pilot.press("home", "down", "enter")
        assert run.current is first_path[-1]
        assert draft.text == TEXT[:-1] + first_path[-1].text_from(run.original) + "\n"
        await pilot.press("right")
        assert app.desk.panel.active == "Figures"
        figures = Statistics.of(run)
        assert figures.actions == len(first_path) - 1
        assert figures.branches == 2
        assert sum(figures.kinds.values()) == figures.actions
        assert len(figures.order) == len(run.text)
        await pilot.press("left", "escape", "f4", "f4")
        assert app.desk.panel.has_class("shown")
        await pilot.press("f4")
        assert not app.desk.panel.has_class("shown")

    drive(editor(tmp_path, TEXT), script)


def test_the_log_shows_the_step_however_few_rows_it_has(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5", "f4")
        await run_to_the_end(app, pilot)
        rows = app.desk.panel.query_one("#Log", Rows)
        for size in ((40, 16), (40, 11), (40, 9), (90, 9), (90, 30), (40, 14)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            for key in ("pageup", "end", "up"):
                await pilot.press(key)
                top = rows.scroll_offset.y
                assert top <= rows.chosen < top + max(rows.size.height, 1), (size, key)

    drive(editor(tmp_path, TEXT), script)


def test_a_recording_whose_tokenizer_cannot_be_had_says_so_and_the_writer_goes_on(tmp_path: Path) -> None:
    saved = tmp_path / "run.json"
    broken = [False]

    def load(say: Callable[[str], None]) -> Engine:
        if broken[0]:
            raise ValueError("a file is cut short")
        return toy_engine(say)

    async def record(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        await run_to_the_end(app, pilot)
        await app.run_action("save_run")
        await answer(pilot, app, str(saved))
        await until(pilot, saved.exists)

    async def play(app: EditorApp, pilot: Pilot[None]) -> None:
        broken[0] = True
        await app.run_action("play_file")
        await answer(pilot, app, str(saved))
        await until(pilot, lambda: "the model failed: ValueError" in notes(app))
        broken[0] = False
        await pilot.press("f5")
        await run_to_the_end(app, pilot)
        assert len(shown_run(app).path) > 1

    drive(editor(tmp_path, TEXT, load=load), record)
    drive(editor(tmp_path, TEXT, load=load), play)


def test_runs_are_saved_played_and_exported(tmp_path: Path) -> None:
    saved, page, patch = (tmp_path / name for name in ("run.json", "run.html", "run.diff"))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        await run_to_the_end(app, pilot)
        run = shown_run(app)
        run.scrub(3, app.clock())
        await pilot.press("f9")
        await run_to_the_end(app, pilot)
        for action, path in (("save_run", saved), ("export_page", page), ("export_diff", patch)):
            await app.run_action(action)
            await answer(pilot, app, str(path))
            await until(pilot, path.exists)
        after = app.sheet.draft.text
        (tmp_path / "after.txt").write_text(after)
        trajectories = load_trajectories(saved, saved.read_text())
        assert len(trajectories) == 2
        for trajectory, leaf in zip(trajectories, run.leaves(), strict=True):
            done = replay(trajectory, ToyTokenizer())
            assert done.matches
            assert done.final_text == TEXT[:-1] + leaf.text_from("")
            assert done.start_text == TEXT[:-1]
        await app.run_action("save_run")
        await answer(pilot, app, str(saved))
        await choose(pilot, app, "c")
        await app.run_action("play_file")
        await answer(pilot, app, str(saved))
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until(pilot, lambda: len(app.sheets) == 2)
        await run_to_the_end(app, pilot)
        played = shown_run(app)
        assert played.recorded
        assert app.sheet.draft.text == trajectories[0].final_text
        first = played.path[1].taken
        assert first is not None
        assert first.probability is not None

    drive(editor(tmp_path, TEXT), script)
    assert "<html" in page.read_text()
    assert '"probability":0.' in page.read_text()
    (tmp_path / "file.txt").write_text(TEXT)
    subprocess.run(["patch", "-s", "file.txt", "run.diff"], cwd=tmp_path, check=True)
    assert (tmp_path / "file.txt").read_text() == (tmp_path / "after.txt").read_text()


def test_the_published_runs_play(tmp_path: Path) -> None:
    published = json.loads(PAPER_TRAJECTORIES.read_text("utf-8"))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog) and app.focused)
        assert len(app.screen.query_one(Rows).lines) == len(published)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.run_now is not None)
        run = shown_run(app)
        run.scrub(0, app.clock())
        assert app.sheet.draft.text == published[1]["prompt"]
        run.scrub(10**9, app.clock())
        assert app.sheet.draft.text == published[1]["final_text"]
        assert any(node.taken and node.taken.kind == "move" for node in walk(run.root))
        assert app.check_action("rewrite", ()) is False
        # What was only watched need not be saved; what was changed must.
        assert not app.sheet.modified
        app.editor.select(Selection.at(0))
        await pilot.press("x")
        assert app.sheet.modified
        await pilot.press("ctrl+z", "ctrl+q")

    drive(editor(tmp_path, play=PAPER_TRAJECTORIES), script)


def test_a_file_that_is_no_trajectory_gets_a_sentence(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "is not JSON" in notes(app))
        assert len(app.sheets) == 1

    drive(editor(tmp_path, play=bad), script)


def no_model(say: Callable[[str], None]) -> Engine:
    raise ReviserError("no model comes with this installation")


def test_without_a_model_the_text_stays_and_a_sentence_says_why(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        app.editor.select(Selection(4, 7))
        await pilot.press("f6")
        await until(pilot, lambda: "no model comes" in notes(app))
        assert app.sheet.draft.text == TEXT
        assert (app.run_now, app.sheet.modified) == (None, False)

    drive(editor(tmp_path, TEXT, load=no_model), script)


def test_an_empty_text_is_not_continued(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5", "f6")
        await until(pilot, lambda: "a few words" in notes(app))
        assert app.sheet.run is None

    drive(editor(tmp_path), script)


def test_one_run_at_a_time_but_one_in_each_text(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        first = shown_run(app)
        await until(pilot, lambda: len(first.path) > 2)
        await pilot.press("ctrl+n", *"The cat", "f5")
        second = shown_run(app)
        assert first.state == "paused"
        await until(pilot, lambda: len(second.path) > 2)
        await pilot.press("f5")
        assert not second.open
        await pilot.press("ctrl+pageup", "f7")
        await until(pilot, lambda: first.current is first.tip and len(first.path) > 4)

    drive(editor(tmp_path, TEXT, replace(SLOW, speed=15)), script)


def test_a_frame_without_styles_waits(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        run = shown_run(app)
        await until(pilot, lambda: len(run.path) > 2)
        kept = dict(app.editor._component_styles)
        app.editor._component_styles.clear()
        app.editor.notify_style_update()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app.ticker, "_advance_runs", lambda now: True)
            app.ticker.tick()
        app.editor._component_styles.update(kept)
        await until(pilot, lambda: run.state == "closed" or len(run.path) > 5)

    drive(editor(tmp_path, TEXT, replace(SLOW, speed=15)), script)


@pytest.mark.parametrize("state", ["loading", "writing", "paused", "scrubbed", "playing"])
def test_it_quits_in_every_state(tmp_path: Path, state: str) -> None:
    gate = threading.Event()

    def slow_load(say: Callable[[str], None]) -> Engine:
        say("loading")
        gate.wait(20)
        return toy_engine(say)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        run = shown_run(app)
        if state == "loading":
            await until(pilot, lambda: run.status)
            await pilot.press("ctrl+q")
            return
        await until(pilot, lambda: len(run.path) > 3)
        if state == "paused":
            await pilot.press("f7")
        elif state in ("scrubbed", "playing"):
            run.scrub(1, app.clock())
            if state == "playing":
                await pilot.press("f7")
        modified = app.sheet.modified
        await pilot.press("ctrl+q")
        if modified:
            await choose(pilot, app, "d")

    load = slow_load if state == "loading" else toy_engine
    app = editor(tmp_path, TEXT, SLOW, load=load)
    drive(app, script)
    gate.set()
    assert app.return_code == 0
    assert (tmp_path / "file.txt").read_text() == TEXT
    journals = tmp_path / "journals"
    assert not journals.exists() or list(journals.iterdir()) == []


def test_authors_know_who_wrote_what() -> None:
    from reviser.editor.edited_text import EditedText
    from tui.runs.tree import TakenAction

    draft = EditedText("ab")
    run = DraftRun(draft, draft.open_region(1, 1), Node(None, 0))
    taken = TakenAction(0, "x", "insert", None)
    for edit in (Edit(0, "", "XY"), Edit(1, "", "z"), Edit(0, "X", "")):
        run.add_recorded(run.tip.after((edit,), edit.start + len(edit.new), taken))
    run.scrub(2, 0.0)
    assert [node.depth for node in run.authors.written] == [1, 2, 1]
    run.scrub(3, 0.0)
    assert [node.depth for node in run.authors.written] == [2, 1]
    assert draft.text == "azYb"
    run.scrub(0, 0.0)
    assert (draft.text, run.authors.written) == ("ab", [])


def test_words_alike_are_told_apart() -> None:
    from reviser.editor.edited_text import EditedText
    from tui.runs.tree import TakenAction

    draft = EditedText("the stars")
    run = DraftRun(draft, draft.open_region(0, 9), Node(None, 9))
    taken = TakenAction(0, "x", "insert", None)
    for edit in (Edit(3, "", " sense"), Edit(9, "", " sense"), Edit(3, " sense", "")):
        run.add_recorded(run.tip.after((edit,), edit.start + len(edit.new), taken))
    run.step(0.0)
    assert list(run.authors.between(0, 15)) == [(3, 9, run.current)]
    run.step(0.0)
    assert list(run.authors.between(0, 21)) == [(3, 9, run.current.parent), (9, 15, run.current)]
    run.step(0.0)
    assert [(gone.at, gone.text) for gone in run.erased] == [(3, " sense")]
    assert list(run.authors.between(0, 15)) == [(3, 9, run.path[2])]
