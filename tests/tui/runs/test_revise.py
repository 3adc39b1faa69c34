"""Revising in the editor: watched live, then looked through change by change, and undone in one step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from reviser.core.trajectory import load_trajectories
from reviser.editor.edited_text import Selection
from reviser.editor.review import Review
from reviser.session.replay import replay
from tests.toys import ToyTokenizer
from tests.tui.driving import QUICK, Corrector, drive, editor, notes, revising_engine, run_to_the_end, until
from tests.tui.test_editing import answer, choose
from tui.app import EditorApp
from tui.runs.run import DraftRun
from tui.runs.statistics import Statistics
from tui.runs.tree import walk

TEXT = "A title\n\nThe cat sat on the mat.\nIt was glad. The end is near.\n\nThe cat\n"
BETTER = "A title\n\nThe dog sat on a mat.\nIt was sad. The end was near.\n\nThe cat\n"
CHANGES = [("cat", "dog"), ("the", "a"), ("glad", "sad"), ("is", "was")]


def corrected(tmp_path: Path, extensions: tuple[str, ...] = (), **changes: object) -> EditorApp:
    settings = replace(QUICK, max_actions=200, **changes)  # type: ignore[arg-type]
    return editor(tmp_path, TEXT, settings, load=Corrector(TEXT, BETTER, extensions=extensions).load)


def shown_run(app: EditorApp) -> DraftRun:
    assert app.sheet.run is not None
    return app.sheet.run


def review_in(app: EditorApp) -> Review:
    assert app.sheet.review is not None
    return app.sheet.review


async def revise(app: EditorApp, pilot: Pilot[None], selection: Selection) -> Review:
    """Revise, and wait until the changes are there to be looked through."""
    app.editor.select(selection)
    await pilot.press("ctrl+e")
    await until(pilot, lambda: app.sheet.review is not None)
    return review_in(app)


def screen(app: EditorApp, rows: int = 6) -> str:
    return "\n".join(app.editor.render_line(y).text.rstrip() for y in range(rows))


def test_the_paragraph_at_the_cursor_is_revised_and_each_change_decided(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        review = await revise(app, pilot, Selection.at(TEXT.index("sat")))
        assert draft.text == BETTER
        assert [(item.old, item.new) for item in review.items] == CHANGES
        assert "change 1 of 4" in app.desk.status_line.said[0]
        # What was there stands beside what is there now.
        assert "The cat dog sat on the a mat." in screen(app)
        await pilot.press("alt+r")
        assert draft.text == BETTER.replace("dog", "cat")
        assert "The cat sat on the a mat." in screen(app)
        assert review.number == 2
        await pilot.press("alt+down")
        assert review.number == 3
        await pilot.press("alt+up", "alt+a")
        assert (review.number, draft.text) == (3, BETTER.replace("dog", "cat"))
        await pilot.press("alt+r", "alt+a")
        wanted = BETTER.replace("dog", "cat").replace("sad", "glad")
        assert (draft.text, app.sheet.review, app.run_now) == (wanted, None, None)
        assert "2 of 4 changes kept" in notes(app)
        assert draft.undoable == 1
        await pilot.press("ctrl+z")
        assert (draft.text, app.sheet.modified) == (TEXT, False)
        await pilot.press("ctrl+y")
        assert draft.text == wanted

    drive(corrected(tmp_path), script)


def test_a_selection_is_revised_and_nothing_around_it(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        start = TEXT.index("glad")
        review = await revise(app, pilot, Selection(start + len("glad. The end is"), start))
        assert [(item.old, item.new) for item in review.items] == CHANGES[2:]
        assert draft.text == BETTER.replace("dog sat on a", "cat sat on the")
        changed = draft.text
        await pilot.press("alt+d")
        assert (draft.text, app.sheet.modified, app.sheet.review) == (TEXT, False, None)
        # Discarding is one step of undo, the run below it another.
        await pilot.press("ctrl+z")
        assert (draft.text, app.sheet.modified) == (changed, True)
        await pilot.press("ctrl+y")
        assert (draft.text, app.sheet.modified) == (TEXT, False)
        await pilot.press("ctrl+z", "ctrl+z")
        assert (draft.text, app.sheet.modified, draft.undoable) == (TEXT, False, 0)
        await revise(app, pilot, Selection(0, len(TEXT)))
        await pilot.press("alt+r", "ctrl+k")
        assert draft.text == BETTER.replace("dog", "cat")
        assert (app.sheet.review, draft.undoable) == (None, 1)
        await pilot.press("ctrl+z")
        assert draft.text == TEXT

    drive(corrected(tmp_path), script)


def test_another_size_of_the_window_leaves_the_change_in_sight(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(60)]
    better = [*lines[:55], "row 55", *lines[56:]]
    text = "\n".join(lines)
    app = editor(tmp_path, text, load=Corrector(text, "\n".join(better)).load)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        start = app.sheet.draft.text.index("line 55")
        app.editor.select(Selection(start, start + len("line 55")))
        await pilot.press("ctrl+e")
        await until(pilot, lambda: app.sheet.review is not None)
        app.sheet.draft.select(Selection.at(0))
        for size in ((60, 12), (30, 8), (90, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert any("row" in row for row in app.editor.viewport.screen_text()), size
        # Who looks elsewhere goes on looking there.
        await pilot.press("down")
        await pilot.resize_terminal(60, 12)
        await pilot.pause()
        assert app.editor.viewport.screen_text()[0] == "line 0"

    drive(app, script)


def test_what_is_erased_can_be_seen_for_a_while(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection.at(TEXT.index("sat")))
        run = shown_run(app)
        now = [app.clock()]
        app.clock = app.editor.clock = lambda: now[0]
        deleting = next(n for n in run.path if n.taken is not None and n.taken.kind == "delete")
        run.scrub(deleting.depth - 1, now[0] - 10)
        await pilot.press("f8")
        assert run.current is deleting
        assert run.current.taken is not None
        assert run.current.taken.label == 'Delete " cat"'
        assert app.sheet.review is None
        assert app.sheet.draft.text == TEXT.replace("The cat sat", "The sat")
        assert "The cat sat" in screen(app)
        (ghost,) = app.editor.viewport.view.ghosts
        assert ghost.text.strip() == "cat"
        assert ghost.style.strike
        now[0] += 1.5
        app.editor.fade()
        (fainter,) = app.editor.viewport.view.ghosts
        assert fainter.style != ghost.style
        now[0] += 1.5
        app.editor.fade()
        assert "The sat on" in screen(app)
        assert Statistics.of(run).kinds["delete"] == 1

    drive(corrected(tmp_path), script)


def test_steps_are_named_and_counted(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection(0, len(TEXT)))
        run = shown_run(app)
        labels = [node.taken.label for node in walk(run.root) if node.taken is not None]
        assert any(label.startswith('Replace "') for label in labels)
        assert any(label.startswith("SpanDelete ") and '"' in label for label in labels)
        assert Statistics.of(run).kinds["replace"] > 0
        assert Statistics.of(run).kinds["stop"] == 4  # the model reads each line by itself
        await pilot.press("f4")
        await until(pilot, lambda: len(app.desk.panel.query_one("#Log").lines) == len(run.path))

    drive(corrected(tmp_path, ("span_delete", "replace")), script)


def test_typing_among_the_changes_keeps_them_open_and_into_one_settles_it(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        review = await revise(app, pilot, Selection.at(TEXT.index("sat")))
        app.editor.select(Selection.at(0))
        await pilot.press(*"My ")
        app.editor.select(Selection.at(draft.text.index("on a")))
        await pilot.press(*"up")
        assert len(review.open_items) == 4
        assert draft.text == "My " + BETTER.replace("sat on", "sat upon")
        # The text is not the run's alone any more, so its timeline is over.
        assert app.run_now is None
        assert not app.desk.timeline.display
        app.editor.select(Selection.at(draft.text.index("dog") + 3))
        await pilot.press(*"gy")
        assert [item.open for item in review.items] == [False, True, True, True]
        assert "change 2 of 4 · 3 to decide" in app.desk.status_line.said[0]
        await pilot.press("alt+r", "alt+r", "alt+a")
        wanted = "My " + TEXT.replace("cat sat on", "doggy sat upon", 1).replace("is near", "was near")
        assert (draft.text, app.sheet.review) == (wanted, None)
        await pilot.press("ctrl+s")
        assert (tmp_path / "file.txt").read_text() == wanted
        texts = []
        while draft.undoable:
            await pilot.press("ctrl+z")
            texts.append(draft.text)
        assert texts[-1] == TEXT
        assert "My " + TEXT.replace("sat on", "sat upon", 1) in texts

    drive(corrected(tmp_path), script)


def test_saving_during_a_review_saves_what_is_on_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection(0, len(TEXT)))
        await pilot.press("alt+r", "ctrl+s")
        assert path.read_text() == app.sheet.draft.text == BETTER.replace("dog", "cat")
        assert not app.sheet.modified
        await pilot.press("ctrl+k")
        assert not app.sheet.modified
        await pilot.press("ctrl+z")
        assert app.sheet.modified
        assert app.sheet.draft.text == TEXT

    drive(corrected(tmp_path), script)


def test_undo_takes_the_run_back_also_in_the_middle_of_its_review(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection(0, len(TEXT)))
        await pilot.press("alt+a", "alt+r", "ctrl+z")
        assert app.sheet.draft.text == TEXT
        assert (app.sheet.review, app.run_now) == (None, None)
        assert not app.check_action("decide", (True,))
        await pilot.press("alt+a", "alt+r", "alt+down")
        assert app.sheet.draft.text == TEXT
        await pilot.press("ctrl+y")
        assert app.sheet.draft.text == BETTER.replace("the mat", "a mat").replace("a mat", "the mat", 1)

    drive(corrected(tmp_path), script)


def test_the_run_behind_a_review_can_be_scrubbed_and_branched(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await revise(app, pilot, Selection(0, len(TEXT)))
        run = shown_run(app)
        await pilot.press("alt+r", "alt+a", "ctrl+t", "home")
        assert (draft.text, app.sheet.review) == (TEXT, None)
        for depth in (5, len(run.path) - 2, 12):
            run.scrub(depth, app.clock())
            assert draft.text == run.path[depth].text_from(run.original)
        # Back at the end, what was decided still is.
        await pilot.press("end")
        assert draft.text == BETTER.replace("dog", "cat")
        assert review_in(app).decisions == (False, True, None, None)
        # Another way from a step in the first lines: the lines behind are revised anew.
        deleting = next(n for n in run.path if n.taken is not None and n.taken.kind == "delete")
        assert deleting.parent is not None
        run.go_to(deleting.parent, app.clock())
        await pilot.press("escape", "f9")
        await run_to_the_end(app, pilot)
        assert len(deleting.parent.children) == 2
        first, second = (child.taken for child in deleting.parent.children)
        assert first is not None
        assert second is not None
        assert first.id != second.id
        assert second.id == first.options[1].id
        await until(pilot, lambda: app.sheet.review is not None)
        assert draft.text == BETTER
        saved = tmp_path / "run.json"
        await app.run_action("save_run")
        await answer(pilot, app, str(saved))
        await until(pilot, saved.exists)
        trajectories = load_trajectories(saved, saved.read_text())
        assert len(trajectories) == 8
        for trajectory, line in zip(trajectories[:4], (0, 2, 3, 5), strict=True):
            assert trajectory.draft_tokens is not None
            done = replay(trajectory, ToyTokenizer())
            assert done.matches
            assert BETTER.split("\n")[line] in done.final_text
            assert TEXT.split("\n")[line] in done.start_text

    drive(corrected(tmp_path), script)


def test_a_stopped_run_is_looked_through_as_far_as_it_came(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        app.editor.select(Selection.at(TEXT.index("sat")))
        await pilot.press("ctrl+e")
        run = shown_run(app)
        await until(pilot, lambda: "dog" in app.sheet.draft.text)
        await pilot.press("f7")
        assert app.sheet.review is None
        assert app.check_action("look", (1,))
        await pilot.press("escape")
        assert review_in(app).items[0].new == "dog"
        await pilot.press("f7")
        assert (run.writing, app.sheet.review) == (True, None)
        run.speed = 0
        await until(pilot, lambda: app.sheet.review is not None)
        assert app.sheet.draft.text == BETTER

    drive(corrected(tmp_path, speed=8), script)


def test_a_patch_of_a_reviewed_run_holds_what_was_accepted(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection(0, len(TEXT)))
        await pilot.press("alt+r")
        for name in ("open.diff", "closed.diff"):
            await app.run_action("export_diff")
            await answer(pilot, app, str(tmp_path / name))
            await until(pilot, (tmp_path / name).exists)
            await pilot.press("ctrl+k")

    drive(corrected(tmp_path), script)
    patch = (tmp_path / "open.diff").read_text()
    assert "+The cat sat on a mat." in patch
    assert "-It was glad. The end is near." in patch
    assert (tmp_path / "closed.diff").read_text() == patch


def test_nothing_to_change_is_said_and_changes_nothing(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+e")
        await run_to_the_end(app, pilot)
        assert app.sheet.review is None
        assert "nothing to change" in app.desk.status_line.said[0]
        assert (app.sheet.draft.text, app.sheet.modified) == (TEXT, False)
        await pilot.press("down", "ctrl+e")
        await until(pilot, lambda: "nothing to revise" in notes(app))

    drive(corrected(tmp_path), script)


def test_a_model_that_was_not_trained_to_revise_says_so_once(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+e")
        await until(pilot, lambda: "not trained to revise" in notes(app))
        assert (app.sheet.draft.text, app.sheet.modified) == (TEXT, False)
        assert (app.run_now, app.sheet.review) == (None, None)
        assert len(app.desk.status_line.messages) == 1

    drive(editor(tmp_path, TEXT), script)


def test_rejecting_the_last_change_is_undone_before_the_users_own_words(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("ctrl+end", "enter", "enter")
        mine = f"{TEXT}\n\n"
        await revise(app, pilot, Selection.at(TEXT.index("sat")))
        await pilot.press("alt+r", "alt+r", "alt+r", "alt+r")
        assert (draft.text, app.sheet.review) == (mine, None)
        await pilot.press("ctrl+z")
        assert draft.text == mine.replace(*CHANGES[-1])
        await pilot.press("ctrl+z")
        assert draft.text == mine
        await pilot.press("ctrl+z", "ctrl+z")
        assert draft.text == TEXT

    drive(corrected(tmp_path), script)


def test_a_model_of_random_weights_is_reviewed_like_any_other(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        review = await revise(app, pilot, Selection(0, len(TEXT)))
        assert draft.text == shown_run(app).text != TEXT
        await pilot.press("alt+r", "alt+a", "alt+d")
        assert app.sheet.review is None
        assert [item.accepted for item in review.items][:2] == [False, True]
        await pilot.press("ctrl+z", "ctrl+z")
        assert draft.text == TEXT

    settings = replace(QUICK, max_actions=12, revise_temperature=1.0, sureness=0.0)
    drive(editor(tmp_path, TEXT, settings, load=revising_engine), script)


def test_it_quits_and_closes_in_the_middle_of_a_review(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection(0, len(TEXT)))
        await pilot.press("alt+r", "ctrl+n")
        assert app.sheet.review is None
        await pilot.press("alt+left")
        assert "change 2 of 4" in app.desk.status_line.said[0]
        await pilot.press("ctrl+q")
        await choose(pilot, app, "d")

    app = corrected(tmp_path)
    drive(app, script)
    assert app.return_code == 0
    assert (tmp_path / "file.txt").read_text() == TEXT
    assert list((tmp_path / "journals").iterdir()) == []


def test_keys_of_a_review_can_be_bound_elsewhere(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        app.editor.select(Selection.at(TEXT.index("sat")))
        await pilot.press("f10")
        await until(pilot, lambda: app.sheet.review is not None)
        await pilot.press("f11")
        assert app.sheet.draft.text == BETTER.replace("dog", "cat")

    drive(corrected(tmp_path, keys={"revise": "f10", "reject": "f11"}), script)


def test_without_colour_old_text_stands_in_brackets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await revise(app, pilot, Selection.at(TEXT.index("sat")))
        assert "The [-cat-] dog sat on [-the-] a mat." in screen(app)

    drive(corrected(tmp_path), script)


def test_the_cursor_walks_past_what_is_not_there(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await revise(app, pilot, Selection.at(TEXT.index("sat")))
        app.editor.select(Selection.at(0))
        start, end = (draft.buffer.line_start(line) for line in (2, 3))
        app.editor.select(Selection.at(start))
        for offset in range(start + 1, end + 1):
            app.editor.action_move("right")
            assert draft.selection.cursor == offset
        rows = []
        while draft.selection.cursor:
            app.editor.action_move("up")
            rows.append(draft.selection.cursor)
        assert rows == sorted(set(rows), reverse=True)
        # Clicking on old text goes to where it stood.
        place = (
            app.editor.viewport.rows()[2].x_of(app.editor.viewport.view.shown_before(13))
            + app.editor.viewport.gutter_width
        )
        await pilot.click("#editor", offset=(place + 1, 2))
        assert draft.selection.cursor == BETTER.index("dog")

    drive(corrected(tmp_path), script, (24, 24))
