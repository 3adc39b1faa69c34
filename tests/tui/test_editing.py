"""Keys and mouse in the editor, and the commands for files, searching and looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from reviser.core.errors import ReviserError
from reviser.editor.edited_text import Selection
from tests.tui.driving import drive, editor, notes, strike, until
from tui.app import EditorApp
from tui.commands import COMMANDS
from tui.settings import TuiSettings
from tui.widgets.dialogs import Help, PromptDialog, QuestionDialog
from tui.widgets.text.editor import Editor

TEXT = "The cat sat.\nIt was a long day\n\n\tdone"


MOVES: list[tuple[list[str], int, int]] = [
    (["right", "right", "left"], 1, 1),
    (["down", "down", "up"], 13, 13),
    (["end"], 12, 12),
    (["end", "down"], 25, 25),
    (["end", "down", "down", "up"], 25, 25),
    (["end", "home"], 0, 0),
    (["ctrl+end"], 37, 37),
    (["ctrl+end", "home"], 33, 33),
    (["ctrl+end", "home", "home"], 32, 32),
    (["ctrl+end", "ctrl+home"], 0, 0),
    (["ctrl+right", "ctrl+right"], 7, 7),
    (["ctrl+right", "ctrl+right", "ctrl+left"], 4, 4),
    (["pagedown"], 32, 32),
    (["ctrl+end", "pageup"], 8, 8),
    (["up"], 0, 0),
    (["ctrl+a"], 0, 37),
    (["shift+right", "shift+right"], 0, 2),
    (["shift+down"], 0, 13),
    (["ctrl+shift+right"], 0, 3),
    (["shift+end", "left"], 0, 0),
    (["shift+end", "right"], 12, 12),
    (["right", "ctrl+shift+end"], 1, 37),
]


def selections_after(tmp_path: Path, text: str, presses: list[list[str]]) -> list[Selection]:
    """What is selected after each of several series of keys, each from the start of the text."""
    found: list[Selection] = []

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        for keys in presses:
            app.editor.select(Selection.at(0))
            await pilot.press(*keys)
            found.append(app.sheet.draft.selection)

    drive(editor(tmp_path, text), script)
    return found


def test_the_cursor_goes_where_the_keys_say(tmp_path: Path) -> None:
    found = selections_after(tmp_path, TEXT, [keys for keys, _, _ in MOVES])
    for (keys, anchor, cursor), selection in zip(MOVES, found, strict=True):
        assert selection == Selection(anchor, cursor), keys


def test_the_cursor_steps_over_whole_characters(tmp_path: Path) -> None:
    text = "e\u0301漢👩‍💻x\r\ny\r\nz\n"
    presses = [["right"], ["right"] * 3, ["right"] * 5, ["right"] * 5 + ["left"] * 3]
    places = [selection.cursor for selection in selections_after(tmp_path, text, presses)]
    assert places == [2, 6, 9, 3]


def test_typing_erasing_and_undoing(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press(*"Hi é漢", "enter", "tab", *"two words")
        assert draft.text == "Hi é漢\n\ttwo words"
        await pilot.press("backspace", "backspace", "ctrl+backspace")
        assert draft.text == "Hi é漢\n\ttwo "
        await pilot.press("ctrl+home", "ctrl+d", "ctrl+delete")
        assert draft.text == " é漢\n\ttwo "
        await pilot.press("ctrl+z", "ctrl+z", "ctrl+z")
        assert draft.text == "Hi é漢\n\ttwo wor"
        await pilot.press(*["ctrl+z"] * 9)
        assert (draft.text, app.sheet.modified) == ("", False)
        await pilot.press(*["ctrl+y"] * 12)
        assert draft.text == " é漢\n\ttwo "

    drive(editor(tmp_path), script)


def test_erasing_takes_marks_one_by_one_but_joined_emoji_whole(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+end", "backspace")
        assert app.sheet.draft.text == "e\u0301"
        await pilot.press("backspace")
        assert app.sheet.draft.text == "e"

    drive(editor(tmp_path, "e\u0301👩‍💻"), script)


def test_the_clipboard(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("ctrl+shift+right", "ctrl+x")
        assert (draft.text, app.clipboard) == (" cat", "The")
        await pilot.press("ctrl+end", "ctrl+v", "ctrl+v")
        assert draft.text == " catTheThe"
        await pilot.press("ctrl+a", "ctrl+c", "ctrl+end")
        app.editor.post_message(events.Paste("a\r\nb\rc\x00"))
        await pilot.pause()
        assert draft.text == " catTheThea\nb\nc"
        assert app.clipboard == " catTheThe"
        await pilot.press("ctrl+z")
        assert draft.text == " catTheThe"

    drive(editor(tmp_path, "The cat"), script)


def test_the_mouse_places_drags_and_selects(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        gutter = app.editor.viewport.gutter_width
        await pilot.click(Editor, offset=(gutter + 5, 0))
        assert app.sheet.draft.selection == Selection.at(5)
        await pilot.mouse_down(Editor, offset=(gutter + 4, 0))
        await pilot.hover(Editor, offset=(gutter + 2, 1))
        await pilot.mouse_up(Editor, offset=(gutter + 2, 1))
        assert app.sheet.draft.selection == Selection(4, 15)
        await pilot.click(Editor, offset=(gutter + 5, 0), times=2)
        assert app.sheet.draft.selection == Selection(4, 7)
        await pilot.click(Editor, offset=(gutter + 5, 0), times=3)
        assert app.sheet.draft.selection == Selection(0, 13)
        await pilot.click(Editor, offset=(gutter + 1, 0))
        await pilot.click(Editor, offset=(gutter + 3, 0), shift=True)
        assert app.sheet.draft.selection == Selection(1, 3)

    drive(editor(tmp_path, TEXT), script)


def test_wheel_and_scrollbar_move_the_view_and_not_the_cursor(tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(500))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        area = app.editor
        down = events.MouseScrollDown(area, 1, 1, 0, 1, 0, False, False, False)
        area.post_message(down)
        await pilot.pause()
        assert area.viewport.screen_text()[0] == "line 3"
        assert app.sheet.draft.selection == Selection.at(0)
        await pilot.click(Editor, offset=(area.size.width - 1, area.size.height - 1))
        assert area.viewport.screen_text()[-1] == "line 499"
        await pilot.press("down")
        assert area.viewport.screen_text()[0] == "line 0"
        await pilot.press("ctrl+end")
        assert area.viewport.screen_text()[-1] == "line 499"

    drive(editor(tmp_path, text), script)


def test_wrapped_lines_and_wide_ones(tmp_path: Path) -> None:
    text = "word " * 40 + "\n" + "漢字" * 40

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        area = app.editor
        rows = area.viewport.screen_text()
        assert len(rows) > 4
        assert "".join(rows) == text.replace("\n", "")
        await pilot.press("down", "end")
        assert area.viewport.rows()[1].start < app.sheet.draft.selection.cursor <= area.viewport.rows()[1].end
        await pilot.press("alt+z")
        assert area.viewport.screen_text() == text.split("\n")
        await pilot.press("end")
        assert app.sheet.left > 0
        place = area.viewport.cursor_place
        assert place is not None
        assert 0 <= place.x < area.size.width
        await pilot.press("home")
        assert app.sheet.left == 0
        width = area.viewport.gutter_width
        await pilot.press("alt+n")
        assert (width > 0, area.viewport.gutter_width) == (True, 0)

    drive(editor(tmp_path, text), script, (40, 20))


def test_one_line_of_a_megabyte_can_be_walked_and_edited(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+end", "x", "up", "up", "pageup", "y", "ctrl+home", "z")
        text = app.sheet.draft.text
        assert (text[0], text[-1], len(text), "y" in text[1:-1]) == ("z", "x", 1_000_003, True)

    drive(editor(tmp_path, "a" * 1_000_000), script)


@pytest.mark.parametrize("lines", [10, 200])
def test_a_screen_that_was_small_for_a_while_shows_the_first_line_again(tmp_path: Path, lines: int) -> None:
    text = "\n".join(f"line {number}" for number in range(lines))

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        area = app.editor
        await pilot.press(*["down"] * 8)
        for size in ((80, 8), (40, 5), (80, 8), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert area.viewport.cursor_place is not None
        assert area.viewport.screen_text()[0] == "line 0"
        # Who has scrolled meanwhile stays there, as far as the text goes.
        await pilot.resize_terminal(80, 8)
        await pilot.press("ctrl+end")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert area.viewport.screen_text()[-1] == f"line {lines - 1}"
        assert len(area.viewport.screen_text()) == min(lines, area.size.height)

    drive(editor(tmp_path, text), script)


async def answer(pilot: Pilot[None], app: EditorApp, text: str) -> None:
    """Fill in the prompt that is open."""
    await until(pilot, lambda: isinstance(app.screen, PromptDialog))
    app.screen.query_one(Input).value = text
    await pilot.press("enter")
    await until(pilot, lambda: not isinstance(app.screen, PromptDialog))


async def choose(pilot: Pilot[None], app: EditorApp, letter: str) -> None:
    """Answer the question that is open."""
    await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
    asked = app.screen
    await pilot.press(f"alt+{letter}")
    await until(pilot, lambda: app.screen is not asked)


def test_saving_keeps_the_bytes_and_clears_the_dot(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+end", *"more")
        assert app.sheet.modified
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.sheet.modified)
        assert path.read_bytes() == "\ufeffone\r\ntwo\r\nmore".encode()
        await pilot.press("enter", "ctrl+s")
        await until(pilot, lambda: not app.sheet.modified)
        assert path.read_bytes() == "\ufeffone\r\ntwo\r\nmore\r\n".encode()

    drive(editor(tmp_path, "\ufeffone\r\ntwo\r\n"), script)


def test_new_open_save_as_and_tabs(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("other")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+n", *"fresh", "f12")
        await answer(pilot, app, str(tmp_path / "fresh.txt"))
        await until(pilot, (tmp_path / "fresh.txt").exists)
        assert (tmp_path / "fresh.txt").read_text() == "fresh"
        await pilot.press("ctrl+o")
        await answer(pilot, app, str(tmp_path / "other.txt"))
        await until(pilot, lambda: len(app.sheets) == 3)
        assert [sheet.title for sheet in app.sheets] == ["file.txt", "fresh.txt", "other.txt"]
        await pilot.press("ctrl+pagedown")
        assert app.sheet.title == "file.txt"
        await pilot.press("ctrl+pageup", "ctrl+pageup")
        assert app.sheet.title == "fresh.txt"
        await pilot.press("f12")
        await answer(pilot, app, str(tmp_path / "other.txt"))
        await choose(pilot, app, "c")
        assert (tmp_path / "other.txt").read_text() == "other"
        await pilot.press("ctrl+o")
        await answer(pilot, app, str(tmp_path / "file.txt"))
        await until(pilot, lambda: app.sheet.title == "file.txt")
        assert len(app.sheets) == 3
        await pilot.press("alt+w")
        await until(pilot, lambda: len(app.sheets) == 2)
        await pilot.click("TabBar", offset=(14, 0))
        assert app.sheet.title == "other.txt"

    drive(editor(tmp_path, "file"), script)


def test_a_file_keeps_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    legacy = "“naïve”\r\n".encode("cp1252")
    path.write_bytes(legacy)
    app = EditorApp([path], journals=tmp_path / "journals")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "ctrl+s")
        await until(pilot, lambda: not app.sheet.modified)
        assert path.read_bytes() == b"x" + legacy
        await pilot.press("ж", "ctrl+s")
        await until(pilot, lambda: "is in windows-1252, which has no “ж”" in notes(app))
        assert app.sheet.modified

    drive(app, script)
    assert path.read_bytes() == b"x" + legacy
    path.write_bytes("Привет".encode("cp1251"))
    with pytest.raises(ReviserError, match="--encoding"):
        EditorApp([path])
    assert EditorApp([path], encoding="cp1251").sheet.draft.text == "Привет"


def test_files_that_cannot_be_opened_or_written_get_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x00\x01")
    with pytest.raises(ReviserError, match="binary"):
        EditorApp([tmp_path / "binary"])

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+o")
        await answer(pilot, app, str(tmp_path / "binary"))
        await until(pilot, lambda: "binary file" in notes(app))
        (tmp_path / "file.txt").chmod(0o444)
        await pilot.press("x", "ctrl+s")
        await until(pilot, lambda: "read-only" in notes(app))
        assert app.sheet.modified

    drive(editor(tmp_path, "text"), script)


def test_a_read_only_file_says_so_when_it_is_opened(tmp_path: Path) -> None:
    for name in ("file.txt", "other.txt"):
        (tmp_path / name).write_text("text")
        (tmp_path / name).chmod(0o444)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "file.txt is read-only" in notes(app))
        await pilot.press("ctrl+o")
        await answer(pilot, app, str(tmp_path / "other.txt"))
        await until(pilot, lambda: "other.txt is read-only" in notes(app))
        assert "other.txt (read-only)" in app.desk.tab_bar.render().plain
        # The state follows the file, and a text that is saved elsewhere is not read-only there.
        (tmp_path / "other.txt").chmod(0o644)
        app.autosave.look_at_disk()
        assert "other.txt (read-only)" not in app.desk.tab_bar.render().plain
        app.desk.show(app.sheets[0])
        assert "file.txt (read-only)" in app.desk.tab_bar.render().plain
        await pilot.press("f12")
        await answer(pilot, app, str(tmp_path / "mine.txt"))
        await until(pilot, (tmp_path / "mine.txt").exists)
        await until(pilot, lambda: "read-only" not in app.desk.tab_bar.render().plain)

    drive(EditorApp([tmp_path / "file.txt"], journals=tmp_path / "journals"), script)


def test_unsaved_changes_are_guarded_when_closing_and_quitting(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "alt+w")
        await choose(pilot, app, "c")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, QuestionDialog))
        assert app.is_running
        assert app.sheet.draft.text == "xtext"
        await pilot.press("alt+w")
        await choose(pilot, app, "s")
        await until(pilot, lambda: app.sheet.title == "untitled")
        assert path.read_text() == "xtext"
        await pilot.press("y", "ctrl+q")
        await choose(pilot, app, "d")

    app = editor(tmp_path, "text")
    drive(app, script)
    assert app.return_code == 0
    assert list((tmp_path / "journals").glob("*.journal")) == []


def test_quitting_with_saving_saves(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "ctrl+q")
        await choose(pilot, app, "s")

    drive(editor(tmp_path, "text"), script)
    assert (tmp_path / "file.txt").read_text() == "xtext"


def test_changes_on_disk_are_taken_over_or_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("right", "right")
        path.write_text("first line\ntext")
        app.autosave.look_at_disk()
        await pilot.pause()
        assert (draft.text, app.sheet.modified) == ("first line\ntext", False)
        await pilot.press("ctrl+z")
        assert draft.text == "text"
        path.write_text("theirs")
        # What is being typed must not answer a question that comes in between.
        app.autosave.look_at_disk()
        await pilot.pause()
        assert not isinstance(app.screen, QuestionDialog)
        app.autosave.look_at_disk()
        await choose(pilot, app, "k")
        assert draft.text == "text"
        path.write_text("theirs again")
        await pilot.press("ctrl+s")
        await choose(pilot, app, "c")
        assert path.read_text() == "theirs again"
        app.autosave.look_at_disk()
        await choose(pilot, app, "r")
        assert draft.text == "theirs again"
        path.unlink()
        app.autosave.look_at_disk()
        await until(pilot, lambda: "was removed" in notes(app))
        await pilot.press("!", "ctrl+s")
        await until(pilot, path.exists)
        await until(pilot, lambda: not app.sheet.modified)
        path.write_text("reload me")
        await app.run_action("reload")
        assert draft.text == "reload me"

    drive(editor(tmp_path, "text"), script)


def test_what_a_crash_left_behind_is_offered_back(tmp_path: Path) -> None:
    journals = tmp_path / "journals"

    async def crash(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+end", *" typed", "ctrl+n", *"no file")
        app.autosave.flush_journals()
        # A process that dies lets go of its locks and leaves its files.
        for sheet in app.sheets:
            assert sheet._journal._held is not None
            sheet._journal._held.file.close()

    drive(editor(tmp_path, "text"), crash)
    assert len(list(journals.glob("*.journal"))) == 2
    assert (tmp_path / "file.txt").read_text() == "text"

    async def recover(app: EditorApp, pilot: Pilot[None]) -> None:
        await choose(pilot, app, "r")
        await choose(pilot, app, "r")
        await until(pilot, lambda: len(app.sheets) == 2)
        texts = {sheet.draft.text for sheet in app.sheets}
        assert texts == {"text typed", "no file"}
        assert all(sheet.modified for sheet in app.sheets)
        app.desk.show(next(sheet for sheet in app.sheets if sheet.file))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not app.sheet.modified)
        await pilot.press("ctrl+q")
        await choose(pilot, app, "d")

    app = EditorApp([], journals=journals)
    drive(app, recover)
    assert (tmp_path / "file.txt").read_text() == "text typed"
    assert list(journals.glob("*.journal")) == []


def test_without_a_place_for_the_journal_one_can_still_write(tmp_path: Path) -> None:
    (tmp_path / "journals").write_text("a file where the folder should be")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "y")
        assert app.sheet.draft.text == "xytext"
        await until(pilot, lambda: "no journal for recovery" in notes(app))
        await pilot.press("ctrl+s")
        assert (tmp_path / "file.txt").read_text() == "xytext"

    drive(editor(tmp_path, "text"), script)


def test_finding_and_replacing(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        draft = app.sheet.draft
        await pilot.press("ctrl+f", *"cat")
        await pilot.pause()
        assert draft.selection == Selection(4, 7)
        await pilot.press("enter")
        assert draft.selection == Selection(9, 12)
        await pilot.press("up")
        assert draft.selection == Selection(4, 7)
        await pilot.press("escape", "f3")
        assert app.editor.has_focus
        assert draft.selection == Selection(9, 12)
        await pilot.press("f3", "shift+f3")
        assert draft.selection == Selection(9, 12)
        await pilot.press("ctrl+r", "tab", *"dog", "enter")
        assert draft.text == "The cat, dog."
        await pilot.press("escape", "ctrl+z", "ctrl+r", "alt+c")
        assert draft.selection == Selection(9, 12)
        await pilot.press(*["backspace"] * 3, *"cat", "alt+a")
        assert draft.text == "The dog, Cat."
        await pilot.press("alt+c", "alt+a", "escape", "ctrl+z")
        assert draft.text == "The dog, Cat."

    drive(editor(tmp_path, "The cat, Cat."), script)


def test_patterns_in_the_find_bar(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+r", "alt+r", *"(b+)", "tab", *r"<\1>", "alt+a")
        assert app.sheet.draft.text == "a<bb>c<b>"
        await pilot.press("shift+tab", *"(")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: "not a pattern" in notes(app))

    drive(editor(tmp_path, "abbcb"), script)


def test_keys_that_come_fast_reach_the_field_they_are_meant_for(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+r")
        await strike(app, pilot, *"cat", "tab", *"dog", "shift+tab", *"s")
        values = {field.id: field.value for field in app.desk.find_bar.query(Input)}
        assert values == {"find": "cats", "replace": "dog"}
        await pilot.press("escape", "ctrl+home")
        # A slow line delivers a command and what is typed behind it at once.
        await strike(app, pilot, "ctrl+f", *"long", "enter")
        await until(pilot, lambda: app.sheet.draft.selection == Selection(22, 26))
        await pilot.press("escape")
        await strike(app, pilot, "ctrl+g", "2", "enter")
        await until(pilot, lambda: app.sheet.draft.selection == Selection.at(13))
        await strike(app, pilot, "ctrl+o", *str(tmp_path / "other.txt"), "enter")
        await until(pilot, lambda: app.sheet.title == "other.txt")
        assert app.sheets[0].draft.text == TEXT

    drive(editor(tmp_path, TEXT), script)


def test_going_to_a_line(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+g")
        await answer(pilot, app, "2")
        assert app.sheet.draft.selection == Selection.at(13)
        await pilot.press("ctrl+g")
        await answer(pilot, app, "999")
        assert app.sheet.draft.selection == Selection.at(32)
        await pilot.press("ctrl+g")
        await answer(pilot, app, "9" * 5000)
        await until(pilot, lambda: f"{'9' * 20} is not the number of a line" in notes(app))
        await pilot.press("ctrl+g")
        await answer(pilot, app, "x")
        await until(pilot, lambda: "not the number of a line" in notes(app))

    drive(editor(tmp_path, TEXT), script)


def test_help_theme_and_palette(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f1")
        assert isinstance(app.screen, Help)
        await pilot.press("escape")
        assert not isinstance(app.screen, Help)
        await pilot.press("f2")
        assert app.theme == "light"
        await pilot.press("ctrl+p", *"light or", "enter")
        await until(pilot, lambda: app.theme == "dark")

    drive(editor(tmp_path, TEXT), script)


def test_every_command_can_be_carried_out(tmp_path: Path) -> None:
    app = editor(tmp_path)
    for command in COMMANDS:
        name = command.action.partition("(")[0]
        assert callable(getattr(app, f"action_{name}"))
    ids = [command.id for command in COMMANDS]
    assert len(set(ids)) == len(ids)
    keys = [key for command in COMMANDS for key in command.key.split(",") if key]
    assert len(set(keys)) == len(keys)


def test_keys_can_be_bound_anew(tmp_path: Path) -> None:
    settings = TuiSettings(keys={"theme": "f10", "undo": "ctrl+u", "select-all": "ctrl+e"})

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f2")
        assert app.theme == "dark"
        await pilot.press("f10")
        assert app.theme == "light"
        await pilot.press("x", "ctrl+u")
        assert app.sheet.draft.text == "text"
        await pilot.press("ctrl+e")
        assert app.sheet.draft.selection == Selection(0, 4)

    drive(editor(tmp_path, "text", settings), script)
    with pytest.raises(ReviserError, match="unknown command: nonsense"):
        EditorApp([], TuiSettings(keys={"nonsense": "f10"}))


def test_settings_set_the_looks(tmp_path: Path) -> None:
    settings = TuiSettings(theme="light", wrap=False, line_numbers=False, tab_width=8)

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        area = app.editor
        assert (app.theme, area.word_wrap, area.viewport.gutter_width) == ("light", False, 0)
        assert area.viewport.screen_text() == ["        tab"]

    drive(editor(tmp_path, "\ttab", settings), script)


def test_a_choice_of_paths_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chapter one.txt").write_text("one")

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))
        field = app.screen.query_one(Input)
        await pilot.press(*"chap")
        await until(pilot, lambda: field._suggestion == "chapter one.txt")
        await pilot.press("right", "enter")
        await until(pilot, lambda: app.sheet.title == "chapter one.txt")

    drive(editor(tmp_path), script)


def test_names_that_no_file_can_have_are_refused_in_words(tmp_path: Path) -> None:
    long = "x" * 300

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))
        await pilot.press(*"~nobody-here/text", "enter")
        await until(pilot, lambda: "there is no folder ~nobody-here" in notes(app))
        await pilot.press("ctrl+o")
        await answer(pilot, app, long)
        await until(pilot, lambda: "cannot be read: File name too long" in notes(app))
        await pilot.press("f12")
        await answer(pilot, app, long)
        await until(pilot, lambda: "cannot be written: File name too long" in notes(app))
        assert [sheet.title for sheet in app.sheets] == ["file.txt"]

    drive(editor(tmp_path, "text"), script)


def test_quitting_asks_once_however_often_the_key_is_pressed(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        await pilot.press("ctrl+q", "ctrl+q")
        await pilot.pause()
        assert len(app.screen_stack) == 2
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("ctrl+q")
        await choose(pilot, app, "d")

    drive(editor(tmp_path, "text"), script)


@pytest.mark.parametrize("size", [(80, 24), (40, 16)])
def test_what_is_said_in_passing_covers_no_text(tmp_path: Path, size: tuple[int, int]) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        status = app.desk.status_line
        await pilot.press("ctrl+end")
        await pilot.press("ctrl+e")
        await until(pilot, lambda: notes(app))
        for message in ("short", "a long message " * 12):
            app.notify(message, timeout=600)
            await pilot.pause()
            told = status.render().plain
            assert " ".join(message.split()[-3:]) in " ".join(told.split())
            assert "100 words" in told
            # The last line, where one writes, stays in sight.
            await until(pilot, lambda: app.editor.viewport.cursor_place is not None)
            assert app.editor.region.bottom <= status.region.y
        assert status.size.height > 3
        status.messages.clear()
        status.refresh(layout=True)
        await pilot.pause()
        assert status.size.height == 1

    drive(editor(tmp_path, "word\n" * 100), script, size)


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_closing_terminal_leaves_the_journal(tmp_path: Path, signal_name: str) -> None:
    import os
    import signal

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x")
        os.kill(os.getpid(), getattr(signal, signal_name))
        await until(pilot, lambda: not app.is_running or app._exit)

    drive(editor(tmp_path, "text"), script)
    assert len(list((tmp_path / "journals").iterdir())) == 1
