"""Runs that one can follow: their pace, the rest of a move, and where the log says that it goes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from textual.pilot import Pilot

from reviser.core.tokenizer import Gpt2Tokenizer
from tests.conftest import PAPER_TRAJECTORIES
from tests.tui.driving import QUICK, drive, editor, until
from tui.app import EditorApp
from tui.runs.recordings import read_recordings, recorded_run
from tui.runs.run import DraftRun
from tui.settings import TuiSettings

SLOW = replace(QUICK, speed=4)


def paper_run() -> DraftRun:
    return recorded_run(read_recordings(PAPER_TRAJECTORIES)[5], Gpt2Tokenizer())


def test_a_move_stays_longer_than_other_steps() -> None:
    run = paper_run()
    run.speed = TuiSettings().speed
    run.play(0.0)
    shown: list[float] = []
    for tick in range(80 * 300):
        run.tick(tick / 80)
        shown += [tick / 80] * (run.current.depth - len(shown))
    assert run.current is run.tip
    stayed: dict[str, list[float]] = {"move": [], "insert": []}
    for node, (came, went) in zip(run.path[1:], pairwise(shown), strict=False):
        assert node.taken is not None
        stayed[node.taken.kind].append(went - came)
    assert min(stayed["move"]) > 3 * max(stayed["insert"])
    # Eight a second.
    assert max(stayed["insert"]) < 2 * min(stayed["insert"])
    assert sum(stayed["insert"]) == pytest.approx(len(stayed["insert"]) / 8, rel=0.1)


def test_the_log_says_where_a_move_goes() -> None:
    run = paper_run()
    moves = [node for node in run.path if node.taken is not None and node.taken.kind == "move"]
    assert len(moves) > 10
    for node in moves:
        assert node.parent is not None
        assert node.taken is not None
        text = run.began_in[: run.region.start] + node.text_from(run.original)
        cursor = run.region.start + node.cursor
        arrow, place = node.taken.label.removeprefix("Move ").split(" ", 1)
        assert arrow == ("←" if node.cursor < node.parent.cursor else "→")
        if place == "the end":
            assert not text[cursor:].strip()
            continue
        before, behind = place[1:-1].split("|")
        assert text[:cursor].endswith(before.replace("\\n", "\n"))
        assert text[cursor:].lstrip().startswith(behind.split()[0])


def test_one_key_shows_the_rest_at_full_speed(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f5")
        run = app.sheet.run
        assert run is not None
        await until(pilot, lambda: len(run.path) > 1)
        assert "Full speed" in app.desk.key_bar.render().plain
        await pilot.press("alt+g")
        await until(pilot, lambda: run.ending)
        # The next run goes at its usual pace again.
        await pilot.press("f5")
        assert app.run_now is not None
        assert app.run_now.speed == SLOW.speed
        # Of a recording the rest is there at once.
        recorded = paper_run()
        app.desk.add(app.sheets.blank("recorded", recorded.draft))
        app.player.adopt(app.sheet, recorded)
        await pilot.press("alt+g")
        assert recorded.current is recorded.tip

    drive(editor(tmp_path, "The cat sat on the mat. ", SLOW), script, (120, 24))
