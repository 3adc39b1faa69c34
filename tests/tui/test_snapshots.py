"""The main screens in three sizes, as pictures that must not change unless they are meant to.

`REDRAW=1 pytest tests/tui/test_snapshots.py` draws them anew. (The usual plugin for this is pinned to
libraries that need an older pytest.)
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from reviser.core.tokenizer import Gpt2Tokenizer
from reviser.editor.edited_text import Selection
from reviser.session.engine import Engine
from tests.conftest import PAPER_TRAJECTORIES
from tests.reviser.proofreading.scripted import GPT2, Known, Scripted
from tests.tui.driving import QUICK, Corrector, drive, until
from tui.app import EditorApp
from tui.runs.recordings import read_recordings, recorded_run
from tui.runs.writer import Loader
from tui.settings import TuiSettings

SIZES = [(40, 16), (80, 24), (120, 36)]

TEXT = """# A quiet morning

The cat sat on the mat and looked at the rain. Nobody had told it that the garden would be wet until
noon, and it did not mean to find out by itself.

\tAn indented line, with 漢字 and e\u0301 in it.

It was a quiet
"""

BETTER = (
    TEXT.replace("sat on the mat and looked", "lay on a rug and listened")
    .replace("told it that", "told it")
    .replace("until\nnoon", "until\nthe afternoon")
)

PICTURES = Path(__file__).parent / "pictures"

Before = Callable[[EditorApp, Pilot[None]], Awaitable[None]]


class Still:
    """A clock that stands, so that nothing fades while the picture is taken."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def still_app(tmp_path: Path, settings: TuiSettings = QUICK, load: Loader | None = None, text: str = TEXT) -> EditorApp:
    path = tmp_path / "morning.md"
    path.write_text(text)
    app = EditorApp([path], settings, load=load, journals=tmp_path / "journals")
    app.clock = Still()
    return app


def show_recording(app: EditorApp, depth: int) -> None:
    """Put a published run on the screen, at some step, with the moves that led there still visible."""
    trajectory = read_recordings(PAPER_TRAJECTORIES)[5]
    run = recorded_run(trajectory, Gpt2Tokenizer())
    run.draft.mark_saved()
    sheet = app.sheets.blank("300M, example 1", run.draft)
    app.desk.add(sheet)
    sheet.run = run
    sheet.follows_model = True
    for step in range(depth):
        run.step(1000.0 - (depth - step) * 0.1)
    app.ticker.wake()


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    found: tuple[int, int] = request.param
    return found


async def settled(app: EditorApp, pilot: Pilot[None], expected: str) -> str:
    """The screen once it stays as it is: for a moment if it is as expected, else for long, as a busy machine draws
    late."""
    drawn, times = "", 0
    while True:
        await pilot.pause(0.1)
        again = app.export_screenshot(title="Reviser")
        times = times + 1 if again == drawn else 0
        if times >= (1 if again == expected else 30):
            return again
        drawn = again


def compare(app: EditorApp, name: str, size: tuple[int, int], before: Before) -> None:
    """Bring the app to where it should be and hold its screen against the picture of that name."""
    drawn: list[str] = []
    path = PICTURES / f"{name}-{size[0]}x{size[1]}.svg"
    expected = path.read_text("utf-8") if path.exists() else ""

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await before(app, pilot)
        drawn.append(await settled(app, pilot, expected))

    drive(app, script, size)
    if os.environ.get("REDRAW"):
        path.write_text(drawn[0], "utf-8")
        expected = drawn[0]
    if drawn[0] != expected:
        changed = path.with_suffix(".changed.svg")
        changed.write_text(drawn[0], "utf-8")
        pytest.fail(f"{path.name} is not what it was; compare it with {changed}")


def test_a_text(tmp_path: Path, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("down", "down", "right", "shift+right", "shift+right", "shift+right")

    compare(still_app(tmp_path), "text", size, before)


def test_a_run_with_its_log(tmp_path: Path, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        show_recording(app, 62)
        await pilot.press("f4")

    compare(still_app(tmp_path), "run", size, before)


@pytest.mark.parametrize("panel", ["Branches", "Figures"])
def test_a_run_in_the_light(tmp_path: Path, panel: str, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        show_recording(app, 195)
        await pilot.press("f4")
        app.desk.panel.activate(panel)

    compare(still_app(tmp_path, replace(QUICK, theme="light")), f"light-{panel.lower()}", size, before)


MISTAKES: Known = {
    "sat on": ("sits on", 0.83),
    "looked at": ("looks at", 0.71),
    "did not mean": ("does not mean", 0.64),
    "a quiet": ("a quieter", 0.91),
}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_mistakes(tmp_path: Path, theme: str, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(app.sheet.mistakes) == len(MISTAKES))
        await pilot.press("ctrl+l", "down")
        await until(pilot, lambda: app.proofreading._reading is None)

    settings = replace(QUICK, theme=theme, proofread=True)
    app = still_app(tmp_path, settings, lambda say: Engine("scripted", Scripted(MISTAKES), GPT2))
    compare(app, f"mistakes-{theme}", size, before)


NOTES = """# Orders

Each user gets an e-mail about an order. The e-mail has a number, which the user gives when asking.

## When an e-mail is sent

- An e-mail is sent once; a second e-mail needs a reason.
- To a user without an e-mail address a letter is sent.
- `e-mail` is also the name of a field.
"""


class Passing(Still):
    """A clock that goes on by a moment whenever it is read."""

    def __call__(self) -> float:
        self.now += 0.05
        return self.now


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_next_edits(tmp_path: Path, theme: str, size: tuple[int, int]) -> None:
    app = still_app(tmp_path, replace(QUICK, theme=theme, next_edits=True), text=NOTES)
    app.clock = Passing()

    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        for _ in range(2):
            app.editor.select(Selection.at(app.sheet.draft.text.index("e-mail") + 2))
            await pilot.press("backspace")
        await until(pilot, lambda: app.sheet.offers.shown)
        # The list has more places than those that are likely enough to be shown unasked.
        await pilot.press("alt+down", *(["alt+p"] if theme == "dark" else []))

    compare(app, f"next-edits-{theme}", size, before)


def test_finding(tmp_path: Path, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        for field in app.desk.find_bar.query(Input):
            field.cursor_blink = False
        await pilot.press("ctrl+r", *"the")

    compare(still_app(tmp_path), "find", size, before)


def test_help(tmp_path: Path, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f1")

    compare(still_app(tmp_path), "help", size, before)


def test_a_question(tmp_path: Path, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "ctrl+q")
        await until(pilot, lambda: len(app.screen_stack) == 2)

    compare(still_app(tmp_path), "question", size, before)


def test_a_text_that_a_crash_left_behind(tmp_path: Path, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(app.screen_stack) == 2)

    (tmp_path / "journals").mkdir()
    journal = tmp_path / "journals" / "1-a.journal"
    header = json.dumps({"path": None, "bytes": 0})
    journal.write_text(f'{header}\n\n[0, 0, "Dear reader"]\n')
    # At noon, wherever the test runs.
    at = time.mktime((2026, 1, 2, 12, 0, 0, 0, 0, -1))
    os.utime(journal, (at, at))
    app = EditorApp([], QUICK, journals=journal.parent)
    app.clock = Still()
    compare(app, "recovery", size, before)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_looking_through_changes(tmp_path: Path, theme: str, size: tuple[int, int]) -> None:
    async def before(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("down", "down", "ctrl+e")
        await until(pilot, lambda: app.sheet.review is not None)
        await pilot.press("alt+down")

    settings = replace(QUICK, theme=theme, max_actions=200)
    app = still_app(tmp_path, settings, Corrector(TEXT, BETTER).load)
    compare(app, f"review-{theme}", size, before)
