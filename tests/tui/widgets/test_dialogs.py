"""Dialogs: each takes exactly one answer, and none that a writer may have typed by chance."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Button

from tests.tui.driving import drive, editor, until
from tui.app import EditorApp
from tui.commands import COMMANDS, TEXT_COMMANDS
from tui.widgets.dialogs import ChoiceDialog, Help, Palette, PromptDialog, QuestionDialog
from tui.widgets.rows import Rows


def burst(app: EditorApp, *keys: str) -> None:
    """Keys that arrive at once, as a slow line or a pasted text delivers them."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def alone(app: EditorApp, pilot: Pilot[None]) -> None:
    """Wait until no dialog is open and nobody waits for an answer."""
    await until(pilot, lambda: len(app.screen_stack) == 1 and not app.workers._workers)


async def ask_to_quit(app: EditorApp, pilot: Pilot[None]) -> None:
    await pilot.press("x", "ctrl+q")


async def ask_for_a_file(app: EditorApp, pilot: Pilot[None]) -> None:
    await pilot.press("ctrl+o")


async def show_help(app: EditorApp, pilot: Pilot[None]) -> None:
    await pilot.press("f1")


async def ask_which(app: EditorApp, pilot: Pilot[None]) -> None:
    app.run_worker(app.prompts.choose("Which?", ["one", "two"]))


async def open_palette(app: EditorApp, pilot: Pilot[None]) -> None:
    await pilot.press("ctrl+p")
    await pilot.press(*"wrap")
    await until(pilot, lambda: isinstance(app.screen, Palette))


DIALOGS = [
    (ask_to_quit, QuestionDialog, ["alt+c"]),
    (ask_to_quit, QuestionDialog, ["right", "right", "enter"]),
    (ask_to_quit, QuestionDialog, ["escape"]),
    (ask_for_a_file, PromptDialog, ["enter"]),
    (ask_for_a_file, PromptDialog, ["escape"]),
    (show_help, Help, ["escape"]),
    (ask_which, ChoiceDialog, ["enter"]),
    (open_palette, Palette, ["escape"]),
    (open_palette, Palette, ["enter"]),
    (open_palette, Palette, ["pagedown", "pageup", "enter"]),
]


def test_a_dialog_takes_one_answer_however_fast_the_next_one_comes(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        for ask, kind, keys in DIALOGS:
            wrapped = app.editor.word_wrap
            await ask(app, pilot)
            await until(pilot, lambda kind=kind: isinstance(app.screen, kind))
            dialog = app.screen
            if kind is not Help:
                await until(pilot, lambda: app.focused is not None)
            burst(app, *keys[:-1], *[keys[-1]] * 4)
            await until(pilot, lambda dialog=dialog: dialog not in app.screen_stack)
            await alone(app, pilot)
            assert app.is_running
            chosen = kind is Palette and keys[-1] == "enter"
            await until(pilot, lambda wanted=wrapped ^ chosen: app.editor.word_wrap == wanted)
            await pilot.pause()
            assert app.editor.word_wrap == wrapped ^ chosen

    drive(editor(tmp_path, "text"), script)


def test_an_answer_to_a_dialog_that_is_covered_does_not_close_the_one_above(tmp_path: Path) -> None:
    answers = []

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        async def ask(question: str) -> None:
            answers.append((question, await app.prompts.ask(question, [("yes", "Yes")])))

        stack: list[Screen[object]] = []
        for question in ("lower", "upper"):
            app.run_worker(ask(question))
            await until(pilot, lambda: len(app.screen_stack) == len(stack) + 2)
            stack.append(app.screen)
        stack[0].query_one(Button).press()
        await pilot.pause()
        assert app.screen is stack[1]
        await pilot.press("enter")
        await until(pilot, lambda: answers == [("upper", "yes")])
        await pilot.press("enter")
        await until(pilot, lambda: answers == [("upper", "yes"), ("lower", "yes")])

    drive(editor(tmp_path, "text"), script)


def test_the_palette_opens_over_no_other_dialog(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        await pilot.press("ctrl+p", "ctrl+p")
        assert isinstance(app.screen, QuestionDialog)
        await pilot.press("escape", "escape")
        await alone(app, pilot)

    drive(editor(tmp_path, "text"), script)


def test_letters_alone_answer_nothing(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        await pilot.press(*"abcdefghijklmnopqrstuvwxyz ", "D", "S", "C")
        assert isinstance(app.screen, QuestionDialog)
        await pilot.press("alt+c")
        await alone(app, pilot)
        assert app.sheet.draft.text == "xtext"

    drive(editor(tmp_path, "text"), script)


@pytest.mark.parametrize("untitled", [True, False])
def test_a_burst_into_a_question_leaves_nobody_waiting(tmp_path: Path, untitled: bool) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        # A dialog that comes by itself, at any moment of what is typed; its answers begin with these letters.
        answers = [("restore", "Restore"), ("later", "Later"), ("discard", "Discard")]
        for pauses in range(8):
            app.run_worker(app.prompts.ask("Restore it?", answers))
            for _ in range(pauses):
                await pilot.pause(0)
            burst(app, *"hello", "alt+l", "alt+l", "o", "ctrl+s")
            await pilot.pause()
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
            await alone(app, pilot)
            assert app.focused is app.editor
        before = app.sheet.draft.text
        await pilot.press("ctrl+end", "z")
        assert app.sheet.draft.text == f"{before}z"

    drive(editor(tmp_path, None if untitled else "text"), script)


def test_the_editor_ends_while_a_command_is_about_to_ask(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x")
        # Nothing is waited for: the app is shut down in the middle of this.
        burst(app, "alt+w")

    drive(editor(tmp_path, "text"), script)

    async def quit(app: EditorApp, pilot: Pilot[None]) -> None:
        burst(app, "ctrl+s", "ctrl+q")
        await until(pilot, lambda: app._exit)

    app = editor(tmp_path)
    drive(app, quit)
    assert app.return_code == 0

    async def quit_while_typing(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x")
        burst(app, "ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        burst(app, *"typed", "alt+d", *"typed")
        await until(pilot, lambda: app._exit)

    app = editor(tmp_path, "text")
    drive(app, quit_while_typing)
    assert app.return_code == 0


def test_keys_behind_a_command_reach_the_dialog_that_it_opens(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x")
        burst(app, "alt+w", "d", "right", "right", "enter", "y")
        await until(pilot, lambda: "y" in app.sheet.draft.text)
        await alone(app, pilot)
        assert (app.sheet.title, app.sheet.draft.text) == ("file.txt", "xytext")

    drive(editor(tmp_path, "text"), script)


def test_help_names_every_command_with_its_keys(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("f1")
        assert isinstance(app.screen, Help)
        drawn = re.sub(r"<[^>]*>", "\n", app.export_screenshot())
        told = " ".join(unescape(drawn).replace("\xa0", " ").split())
        for command in [*COMMANDS, *TEXT_COMMANDS]:
            assert command.title in told, command.title
        for row in ("ctrl+x Cut", "ctrl+c Copy", "ctrl+v Paste", "ctrl+z Undo", "ctrl+y Redo"):
            assert row in told
        assert "delete ctrl+d Erase forwards" in told
        assert "alt+d Discard the run" in told

    drive(editor(tmp_path, "text"), script, (110, 150))


def test_the_palette_undoes_and_selects_too(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("x", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette) and app.focused)
        burst(app, *"undo", "enter")
        await until(pilot, lambda: app.sheet.draft.text == "text")

    drive(editor(tmp_path, "text"), script)


def test_the_palette_does_what_its_words_said_when_enter_was_pressed(tmp_path: Path) -> None:
    """The list of commands is filtered before the next key is handled, so none that was typed away is carried out."""

    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette) and app.focused)
        burst(app, *"light", "pageup", "pagedown", " ", "pageup", "enter")
        await until(pilot, lambda: app.theme == "light")
        await alone(app, pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette) and app.focused)
        burst(app, *"nothing at all", "pageup", "enter", "pagedown", "enter")
        await until(pilot, lambda: app.screen.query_one(Rows).lines == [])
        burst(app, "escape")
        await alone(app, pilot)
        assert app.theme == "light"
        assert app.sheet.draft.text == "text"

    drive(editor(tmp_path, "text"), script)


def test_lists_take_keys_before_they_are_drawn(tmp_path: Path) -> None:
    async def script(app: EditorApp, pilot: Pilot[None]) -> None:
        for _ in range(3):
            burst(app, "ctrl+p")
            # The list is filled, laid out and drawn in several turns of the loop: a key in each of them.
            for _ in range(200):
                burst(app, "pageup")
                await asyncio.sleep(0.0001)
            await until(pilot, lambda: isinstance(app.screen, Palette) and app.focused)
            burst(app, "escape")
            await alone(app, pilot)

    drive(editor(tmp_path, "text"), script)
