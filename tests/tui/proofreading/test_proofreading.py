"""Mistakes in the terminal editor: underlined while the user pauses, listed, fixed, and left alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rich.style import Style
from textual.pilot import Pilot

from reviser.core.canvas import Canvas
from reviser.editor.edited_text import Selection
from reviser.model.scoring import Scores
from reviser.session.engine import Engine
from tests.reviser.proofreading.scripted import GPT2, Known, Scripted
from tests.tui.driving import drive, editor, notes, strike, toy_engine, until
from tui.app import EditorApp
from tui.settings import TuiSettings
from tui.widgets.mistake_list import mistake_lines

KNOWN: Known = {"recieved": ("received", 0.9), "teh": ("the", 0.97), "Boys goes": ("Boys go", 0.8)}
LETTER = "He recieved a letter today."
ROAD = "She walked down teh long road."
HOME = "Boys goes home at night."
TEXT = f"{LETTER}\n\n{ROAD}\n\nThe evening was quiet.\n\n{HOME}\n"
FIXED = TEXT.replace("recieved", "received").replace("teh", "the").replace("goes", "go")

READING = TuiSettings(seed=5, max_actions=30)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REVISER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def loads(policy: Scripted) -> Callable[[Callable[[str], None]], Engine]:
    return lambda say: Engine("scripted", policy, GPT2)


def proofread(folder: Path, text: str = TEXT, policy: Scripted | None = None, **options: object) -> EditorApp:
    given = {"load": loads(policy or Scripted(KNOWN))} | options
    return editor(folder, text, READING, **given)


def olds(app: EditorApp) -> list[str]:
    return [one.old for one in app.sheet.mistakes.findings]


async def found(app: EditorApp, pilot: Pilot[None], *wanted: str) -> None:
    await until(pilot, lambda: olds(app) == list(wanted))


def is_read(app: EditorApp) -> bool:
    """Whether the text as it is has been read to its end."""
    state = app.proofreading
    seen = state._seen == (app.sheet, app.sheet.draft.version)
    return seen and state._due is None and state._reading is None


def underlined(app: EditorApp, row: int) -> str:
    """What of a row on the screen is marked as a mistake."""
    strip = app.editor.render_line(row)
    mark = app.editor.text_styles.mistake
    return "".join(
        segment.text
        for segment in strip
        if (style := segment.style or Style.null()).underline and style.color == mark.color
    )


def test_mistakes_are_underlined_and_only_what_changed_is_read_again(tmp_path: Path) -> None:
    reader = Scripted(KNOWN)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "recieved", "teh", "goes")
        assert [underlined(app, row) for row in (0, 2, 4, 6)] == ["recieved", "teh", "", "goes"]
        assert app.desk.status_line.said[0] == "3 mistakes"
        assert sum("evening" in text for text in reader.read) == 1
        reader.read.clear()
        app.editor.select(Selection.at(TEXT.index("\n\nThe evening")))
        await strike(app, pilot, *" Boys goes.")
        # The marks move with the text at once, before anything is read again.
        assert underlined(app, 2) == "teh"
        await found(app, pilot, "recieved", "teh", "goes", "goes")
        assert reader.read
        assert not any("letter" in text or "evening" in text for text in reader.read)

    drive(proofread(tmp_path, policy=reader), script)


def test_going_from_mistake_to_mistake_and_mending(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await found(app, pilot, "recieved", "teh", "goes")
        places = []
        for key in ("alt+j", "alt+j", "alt+j", "alt+j", "alt+k"):
            await pilot.press(key)
            places.append(draft.selection.cursor)
        first, second, third = (TEXT.index(old) for old in ("recieved", "teh", "goes"))
        assert places == [first, second, third, first, third]
        await pilot.press("alt+k")
        assert app.desk.status_line.said[0] == "“teh” → “the” · spelling · 97%"
        assert "Fix" in app.desk.key_bar.render().plain
        await pilot.press("alt+m")
        assert draft.text == TEXT.replace("teh", "the")
        assert draft.selection.cursor == second
        assert olds(app) == ["recieved", "goes"]
        await pilot.press("ctrl+z")
        assert (draft.text, draft.undoable) == (TEXT, 0)
        await found(app, pilot, "recieved", "teh", "goes")
        await choose(app, pilot, "fix-kind")
        assert draft.text == FIXED.replace("go home", "goes home")
        assert "2 mistakes fixed" in notes(app)
        await pilot.press("ctrl+z")
        assert draft.text == TEXT
        await found(app, pilot, "recieved", "teh", "goes")
        await choose(app, pilot, "fix-all")
        assert (draft.text, draft.undoable) == (FIXED, 1)
        await pilot.press("ctrl+z")
        assert draft.text == TEXT
        await pilot.press("ctrl+y")
        assert draft.text == FIXED
        await pilot.press("alt+j")
        assert "No mistakes found" in notes(app) or "Reading" in notes(app)

    drive(proofread(tmp_path), script)


async def choose(app: EditorApp, pilot: Pilot[None], id: str) -> None:
    """Carry out a command that has no key."""
    from tui.commands import COMMANDS

    (command,) = [one for one in COMMANDS if one.id == id]
    await app.run_action(command.action)
    await pilot.pause()


def test_the_list_of_mistakes(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft, rows = app.sheet.draft, app.desk.mistake_list
        await found(app, pilot, "recieved", "teh", "goes")
        await pilot.press("ctrl+l")
        assert rows.has_focus
        assert rows.display
        (first, sure), _, (third, _) = mistake_lines(app.sheet)
        assert (first, sure) == (" 1:4  spelling   “recieved” → “received”", "90%")
        assert third.endswith("“goes” → “go”")
        await pilot.press("down")
        assert draft.selection.cursor == TEXT.index("teh")
        await pilot.press("m")
        assert draft.text == TEXT.replace("teh", "the")
        # On to the next.
        assert draft.text[draft.selection.cursor :].startswith("goes")
        await pilot.press("a")
        assert draft.text == FIXED
        await pilot.press("escape")
        assert app.editor.has_focus
        await pilot.press("ctrl+l")
        assert not rows.display

    drive(proofread(tmp_path), script)


def test_the_first_row_is_chosen_wherever_the_cursor_is(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await found(app, pilot, "recieved", "teh", "goes")
        assert draft.selection.cursor == 0
        await pilot.press("ctrl+l", "m")
        assert draft.text == TEXT.replace("recieved", "received")
        await pilot.press("i")
        assert olds(app) == ["goes"]

    drive(proofread(tmp_path), script)


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    async def ignoring(app: EditorApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "recieved", "teh", "goes")
        await pilot.press("alt+j", "alt+i")
        assert olds(app) == ["teh", "goes"]
        kept = (tmp_path / ".reviser" / "ignore.txt").read_text().splitlines()
        assert kept[1:] == ["file.txt\trecieved\treceived\tHe\ta letter today."]
        assert app.sheet.draft.text == TEXT
        app.editor.select(Selection.at(0))
        await strike(app, pilot, *"Oh. ")
        await found(app, pilot, "recieved", "teh", "goes")  # other words stand around it now
        await pilot.press("ctrl+z")
        await found(app, pilot, "teh", "goes")

    drive(proofread(tmp_path), ignoring)

    async def again(app: EditorApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "teh", "goes")

    drive(proofread(tmp_path), again)


def test_words_that_are_added_are_no_mistakes(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".git").mkdir()

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "recieved", "teh", "goes")
        await pilot.press("alt+j")
        await choose(app, pilot, "add-word-project")
        assert (tmp_path / ".reviser" / "words.txt").read_text() == "recieved\n"
        await found(app, pilot, "teh", "goes")
        await pilot.press("alt+j")
        await choose(app, pilot, "add-word-user")
        assert (home / "words.txt").read_text() == "teh\n"
        await found(app, pilot, "goes")
        await pilot.press("ctrl+end")
        await strike(app, pilot, "x")
        await until(pilot, lambda: is_read(app))
        assert olds(app) == ["goes"]

    drive(proofread(tmp_path), script)


def test_confidence_and_the_switch(tmp_path: Path) -> None:
    settings = TuiSettings(seed=5, confidence=0.85)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "recieved", "teh")
        await choose(app, pilot, "proofread")
        assert olds(app) == []
        assert underlined(app, 0) == ""
        await choose(app, pilot, "proofread")
        await found(app, pilot, "recieved", "teh")

    drive(editor(tmp_path, TEXT, settings, load=loads(Scripted(KNOWN))), script)


def test_a_model_that_cannot_proofread_says_so_when_asked(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.proofreading._failure)
        assert notes(app) == ""
        await pilot.press("alt+j")
        assert "Mistakes are not looked for: " in notes(app)
        assert app.sheet.draft.text == TEXT

    drive(editor(tmp_path, TEXT, READING, load=toy_engine), script)


class Slow(Scripted):
    """Takes its time, and says when it has begun."""

    def __init__(self) -> None:
        super().__init__(KNOWN)
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def scores(self, history: Sequence[int], canvas: Canvas) -> Scores:
        self.begun.set()
        self.go_on.wait(20)
        return super().scores(history, canvas)


def test_typing_does_not_wait_for_the_reader_and_makes_its_reading_old(tmp_path: Path) -> None:
    slow = Slow()

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, slow.begun.is_set)
        start = time.monotonic()
        await strike(app, pilot, *"Then ")
        # Not the twenty seconds that the model would take.
        assert time.monotonic() - start < 10
        assert app.sheet.draft.text == f"Then {TEXT}"
        slow.go_on.set()
        await found(app, pilot, "recieved", "teh", "goes")
        assert underlined(app, 0) == "recieved"

    drive(proofread(tmp_path, policy=slow), script)


class Careful(Scripted):
    """Takes a while for each sentence until it is told to hurry."""

    hurries = False

    def _begin(self, canvas: Canvas) -> None:
        time.sleep(0 if self.hurries else 0.2)
        super()._begin(canvas)


def test_a_run_does_not_wait_for_the_reader(tmp_path: Path) -> None:
    """The model's thread lets go of a long text as soon as the user wants a run of the model."""
    reader = Careful(KNOWN)
    text = "\n\n".join(f"{number} {ROAD}" for number in range(40))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(reader.read) > 2)
        await pilot.press("f5")
        await until(pilot, lambda: app.sheet.run is not None and len(app.sheet.run.path) > 1)
        assert len(olds(app)) < 40
        reader.hurries = True
        await pilot.press("escape", "ctrl+k")
        await until(pilot, lambda: len(olds(app)) == 40)

    drive(proofread(tmp_path, text, reader), script)


def rests(app: EditorApp) -> bool:
    """Whether nothing is looked at any more until something happens."""
    timer = app.proofreading._timer
    return timer is not None and not timer._active.is_set()


def lines_read(reader: Scripted) -> set[int]:
    """The numbers of the lines of a long text that have been read."""
    return {int(one.split()[0]) for one in reader.read if one[:1].isdigit()}


def test_of_a_long_text_only_what_is_around_the_screen_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.proofreading.reading._AROUND", 700)
    reader = Scripted(KNOWN)
    text = "\n\n".join(f"{number} {ROAD}" for number in range(40_000))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: is_read(app))
        assert lines_read(reader) == set(range(max(lines_read(reader)) + 1))
        assert len(lines_read(reader)) < 100
        reader.read.clear()
        await pilot.press("ctrl+end")
        await until(pilot, lambda: 39_999 in lines_read(reader) and is_read(app))
        assert min(lines_read(reader)) > 39_000
        # Where one scrolls to, too.
        app.editor.viewport.scroll_to_share(0.5)
        app.editor.changed()
        await until(pilot, lambda: any(19_000 < line < 21_000 for line in lines_read(reader)) and is_read(app))
        # What was read is not read again, and nobody looks at it any more.
        await until(pilot, lambda: rests(app))

    drive(proofread(tmp_path, text, reader), script)


def test_what_the_user_has_left_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.proofreading.reading._AROUND", 700)
    reader = Careful(KNOWN)
    text = "\n\n".join(f"{number} {ROAD}" for number in range(40_000))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(reader.read) > 2)
        await pilot.press("ctrl+end")
        await until(pilot, lambda: any(line > 39_000 for line in lines_read(reader)))
        assert len([line for line in lines_read(reader) if line < 1000]) < 15
        reader.hurries = True
        await until(pilot, lambda: is_read(app))

    drive(proofread(tmp_path, text, reader), script)


def test_a_long_text_without_prose_is_looked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "data.xyz"
    path.write_text("1 2 3\n" * 40_000)
    app = EditorApp([path], READING, load=loads(Scripted(KNOWN)), journals=tmp_path / "journals")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+end")
        await until(pilot, lambda: is_read(app))
        await until(pilot, lambda: rests(app))

    drive(app, script)


def test_formats_decide_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(f"# Notes\n\n{LETTER}\n\n```\n{ROAD}\n```\n")
    app = EditorApp([path], READING, load=loads(Scripted(KNOWN)), journals=tmp_path / "journals")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "recieved")

    drive(app, script)


@pytest.mark.parametrize(
    ("project", "wanted"),
    [
        ('except = ["spelling"]', ["goes"]),
        ("confidence = 0.85", ["recieved", "teh"]),
        ('words = ["teh"]', ["recieved", "goes"]),
        ('exclude = ["*.txt"]', []),
    ],
)
def test_the_projects_settings_decide(tmp_path: Path, project: str, wanted: list[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.reviser]\n{project}\n")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: is_read(app))
        assert olds(app) == wanted

    drive(proofread(tmp_path), script)


def test_the_users_confidence_comes_before_the_projects(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.reviser]\nconfidence = 0.99\n")
    settings = TuiSettings(seed=5, confidence=0.85)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "recieved", "teh")

    drive(editor(tmp_path, TEXT, settings, load=loads(Scripted(KNOWN))), script)
