"""The actions of the application and the part that carries out each; keys and the palette refer to them by name."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from textual.app import App

from reviser.editor.edited_text import Selection
from tui.autosave import Autosave
from tui.files import Files
from tui.next_edits.following import Following
from tui.player.player import Player
from tui.player.run_files import RunFiles
from tui.prompts import Prompts
from tui.proofreading.proofreading import Proofreading
from tui.sheets import Sheets
from tui.widgets.desk import Desk

Action = Callable[..., object]


@dataclass(frozen=True)
class EditorParts:
    """The parts of an app that carry out its actions."""

    app: App[None]
    sheets: Sheets
    desk: Desk
    prompts: Prompts
    player: Player
    files: Files
    run_files: RunFiles
    proofreading: Proofreading
    following: Following
    autosave: Autosave


def actions_of(parts: EditorParts) -> dict[str, Action]:
    """All actions by name. One that asks the user a question runs in a worker of the app, which is not blocked."""
    player, files, runs, desk, sheets = parts.player, parts.files, parts.run_files, parts.desk, parts.sheets

    def asking(act: Callable[[], Coroutine[Any, Any, object]]) -> Action:
        return lambda: parts.app.run_worker(act())

    return {
        "continue": player.continue_,
        "infill": player.infill,
        "revise": player.revise,
        "pause": player.pause_or_play,
        "step": player.step,
        "rewrite": player.rewrite,
        "keep": lambda: _decider(parts).keep(),
        "discard": lambda: _decider(parts).discard(),
        "speed": player.change_speed,
        "full_speed": player.finish,
        "look": lambda by: _decider(parts).look(by),
        "decide": lambda accepted: _decider(parts).decide(accepted),
        "play_file": asking(runs.open),
        "save_run": asking(runs.save),
        "export_page": asking(runs.export_page),
        "export_diff": asking(runs.export_diff),
        "mistake": parts.proofreading.go,
        "fix": parts.proofreading.fix,
        "ignore": parts.proofreading.ignore,
        "add_word": parts.proofreading.add_word,
        "proofread": parts.proofreading.switch,
        "mistakes": lambda: desk.switch_list(desk.mistake_list),
        "places": parts.following.switch_list,
        "next_edits": parts.following.switch,
        "new": files.new,
        "open": asking(lambda: _open(parts)),
        "recover": asking(parts.autosave.recover),
        # If there is no question, save at once, so that text typed next is not in the file yet.
        "save": lambda: _save(parts),
        "save_as": asking(lambda: files.save_as(sheets.current)),
        "reload": lambda: files.read_again(sheets.current),
        "close": asking(lambda: files.close(sheets.current)),
        "tab": lambda by: desk.show(sheets[(sheets.index + by) % len(sheets)]),
        "panel": desk.switch_panel,
        "timeline": lambda: desk.focus(desk.timeline) if sheets.current.open_run is not None else None,
        "focus_editor": lambda: desk.focus(desk.editor),
        "find": lambda replacing: desk.find_bar.open(replacing=replacing),
        "find_next": lambda forwards: desk.find_bar.find_again(forwards=forwards),
        "go_to_line": asking(lambda: _go_to_line(parts)),
        "wrap": desk.editor.switch_wrap,
        "numbers": desk.editor.switch_numbers,
    }


def _decider(parts: EditorParts) -> Following | Player:
    """The part whose changes the user looks through: there are never both offered ones and those of a run."""
    return parts.following if parts.sheets.current.offers.shown else parts.player


async def _open(parts: EditorParts) -> None:
    if sheet := await parts.files.open():
        await parts.autosave.offer_leftovers_of(sheet)


def _save(parts: EditorParts) -> None:
    if parts.files.asks_before_saving(parts.sheets.current):
        parts.app.run_worker(parts.files.save(parts.sheets.current))
    else:
        parts.files.write(parts.sheets.current)


async def _go_to_line(parts: EditorParts) -> None:
    buffer = parts.sheets.current.draft.buffer
    answer = await parts.prompts.ask_line(f"Go to line (1 to {buffer.line_count})")
    if answer is None:
        return
    try:
        line = max(1, min(int(answer), buffer.line_count)) - 1
    except ValueError:
        parts.prompts.warn(f"{answer[:20]} is not the number of a line.")
        return
    parts.desk.editor.select(Selection.at(buffer.line_start(line)))
