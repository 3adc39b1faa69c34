"""The plugin in a real Neovim: ghost text, live runs, one-step undo, the user typing meanwhile."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviser import __version__
from tests.e2e.neovim import PLUGIN, ROOT, Neovim, find_neovim, neovim
from tests.e2e.terminal import Terminal
from tests.lsp_server.models import save_tiny_model
from tests.lsp_server.next_edits.conftest import EDITED as RENAMED
from tests.lsp_server.next_edits.conftest import TEXT as TERMS
from tests.lsp_server.proofreading.conftest import FIXED, taught_editor_model
from tests.lsp_server.proofreading.conftest import TEXT as MISTAKEN

NEOVIM = find_neovim()

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NEOVIM is None, reason="there is no Neovim 0.10 or later")]

TEXT = "It was a quiet day.\nThe cat sat on the mat é😀."

# What the models here do is the same at every run. With this seed, a revision changes both lines.
SEED = 1


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def editor(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    folder = tmp_path_factory.mktemp("nvim")
    draft = folder / "draft.txt"
    draft.write_text(TEXT + "\n")
    live = {"maxActions": 900, "editsPerSecond": 20}
    settings = {
        "model": str(model),
        "live": live,
        "seed": SEED,
        # A model of random weights is sure of nothing.
        "completion": {"confidence": 0},
        "diagnostics": {"enabled": False},
    }
    assert NEOVIM
    with neovim(NEOVIM, folder, draft, settings) as editor:
        yield editor


@pytest.fixture(scope="module")
def reviser_editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    """Its model deletes and replaces."""
    folder = tmp_path_factory.mktemp("nvim-revising")
    model = save_tiny_model(folder / "model", revises=True)
    draft = folder / "draft.txt"
    draft.write_text(TEXT + "\n")
    settings = {
        "model": str(model),
        "live": {"editsPerSecond": 20},
        "revise": {"maxActions": 12, "temperature": 0.9},
        "seed": SEED,
        "diagnostics": {"enabled": False},
    }
    assert NEOVIM
    with neovim(NEOVIM, folder, draft, settings) as editor:
        yield editor


def start_anew(editor: Neovim) -> None:
    editor.keys("<Esc>:set noautoindent<CR>:Reviser stop<CR>:edit!<CR>gg0")
    editor.wait(lambda: editor.text == TEXT and not editor.changes())


@pytest.fixture
def revised(reviser_editor: Neovim) -> Neovim:
    """Both lines revised, with changes that wait in each, and the cursor at the start."""
    editor = reviser_editor
    start_anew(editor)
    editor.keys(":%Reviser revise<CR>")
    editor.wait(lambda: editor.text != TEXT)
    editor.wait(lambda: editor.lua("require('reviser').status()") == "idle")
    editor.keys("gg0")
    assert {change["range"]["start"]["line"] for change in editor.changes()} >= {0, 1}
    return editor


@pytest.fixture
def fresh(editor: Neovim) -> Neovim:
    """The text as it was, and nobody in insert mode."""
    editor.keys("<Esc>:Reviser stop<CR>:edit!<CR>gg0")
    editor.wait(lambda: editor.text == TEXT)
    return editor


def test_ghost_text_appears_and_tab_accepts_it(fresh: Neovim) -> None:
    fresh.keys("GA The cat")
    ghost = fresh.wait(fresh.ghost)
    assert fresh.text == TEXT + " The cat"
    fresh.keys("<Tab>")
    fresh.wait(lambda: fresh.text == TEXT + " The cat" + ghost)
    fresh.keys("<Esc>u")
    fresh.wait(lambda: fresh.text == TEXT)


def test_tab_is_a_tab_where_there_is_nothing_to_accept(fresh: Neovim) -> None:
    fresh.keys(":Reviser toggle<CR>")
    fresh.keys("GA<Tab>x")
    fresh.wait(lambda: fresh.text == TEXT + "\tx")
    assert fresh.ghost() is None
    fresh.keys("<Esc>:Reviser toggle<CR>")


def test_keys_with_alt_write_nothing_where_there_is_nothing_to_accept(fresh: Neovim) -> None:
    fresh.keys(":Reviser toggle<CR>")
    fresh.keys("GAx<M-w><M-l>y")
    fresh.wait(lambda: fresh.text == TEXT + "xy")
    assert fresh.lua("vim.api.nvim_get_mode().mode") == "i"
    fresh.keys("<Esc>:Reviser toggle<CR>")


def test_the_users_own_mappings_of_these_keys_go_on(model: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.txt"
    draft.write_text(TEXT + "\n")
    mine = """
        vim.keymap.set("i", "<M-w>", "[word]")
        vim.keymap.set("i", "<Plug>(mine)", "[line]")
        vim.keymap.set("i", "<M-l>", "<Plug>(mine)", { remap = true })
        vim.keymap.set("i", "<Tab>", function() return "[tab]" end, { expr = true })
    """
    assert NEOVIM
    with neovim(NEOVIM, tmp_path, draft, {"model": str(model), "enabled": False}, prelude=mine) as editor:
        editor.keys("GA<M-w><M-l><Tab>")
        editor.wait(lambda: editor.text == TEXT + "[word][line][tab]")


def test_the_command_alone_says_what_the_server_does_and_where_the_help_is(fresh: Neovim) -> None:
    fresh.keys(":messages clear<CR>:Reviser<CR>")
    fresh.wait(lambda: re.search("reviser: (idle|loading), .*; see :help :Reviser", messages(fresh)))
    # A long line wants a key.
    fresh.keys("<CR>")


def test_a_word_is_accepted_and_the_rest_stays(fresh: Neovim) -> None:
    fresh.keys("GA The cat")
    ghost = fresh.wait(fresh.ghost)
    fresh.keys("<M-w>")
    word = ghost[: len(ghost) - len(ghost.lstrip())] + ghost.split()[0]
    fresh.wait(lambda: fresh.text == TEXT + " The cat" + word)
    if word != ghost:
        assert fresh.wait(fresh.ghost) == ghost[len(word) :]
    fresh.keys("<Esc>")


def test_a_run_writes_and_undoes_in_one_step(fresh: Neovim) -> None:
    fresh.keys(":Reviser continue<CR>")
    fresh.wait(lambda: len(fresh.text) > len(TEXT) + 40)
    fresh.wait(lambda: fresh.lua("require('reviser').status()") == "idle")
    assert fresh.text.startswith(TEXT)
    fresh.keys("u")
    fresh.wait(lambda: fresh.text == TEXT)


def test_the_models_cursor_is_drawn_and_stop_stops(fresh: Neovim) -> None:
    fresh.keys(":Reviser continue<CR>")
    marks = "#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()['reviser.live'], 0, -1, {})"
    fresh.wait(lambda: fresh.lua(marks) > 0)
    fresh.keys(":Reviser stop<CR>")
    fresh.wait(lambda: fresh.lua("require('reviser').status()") == "idle")
    text = fresh.text
    assert text.startswith(TEXT)
    fresh.keys(":Reviser reject<CR>")
    fresh.wait(lambda: fresh.text == TEXT)


def test_the_user_types_elsewhere_meanwhile(fresh: Neovim) -> None:
    fresh.keys(":Reviser continue<CR>ggOMine: ")
    fresh.wait(lambda: fresh.lua("require('reviser').status()") == "idle")
    fresh.keys("typed.<Esc>")
    fresh.wait(lambda: fresh.text.startswith("Mine: typed.\n" + TEXT))
    assert len(fresh.text) > len("Mine: typed.\n" + TEXT)
    fresh.keys(":Reviser undo<CR>")
    fresh.wait(lambda: fresh.text == "Mine: typed.\n" + TEXT)


def messages(editor: Neovim) -> str:
    said: str = editor.lua("vim.api.nvim_exec2('messages', {output = true}).output")
    return said


def wait_until_idle(editor: Neovim) -> None:
    editor.wait(lambda: editor.lua("require('reviser').status()") == "idle")


def test_undo_in_insert_mode_takes_the_run_and_not_the_typing(fresh: Neovim) -> None:
    fresh.keys("GA typed<Cmd>Reviser continue<CR>")
    fresh.wait(lambda: len(fresh.text) > len(TEXT) + 30)
    fresh.keys("<Cmd>Reviser stop<CR>")
    wait_until_idle(fresh)
    fresh.keys("<Esc>u")
    fresh.wait(lambda: fresh.text == TEXT + " typed")
    fresh.keys("u")
    fresh.wait(lambda: fresh.text == TEXT)


def test_what_is_typed_while_the_model_writes_is_undone_apart(fresh: Neovim) -> None:
    fresh.keys(":Reviser continue<CR>ggOMi")
    fresh.wait(lambda: len(fresh.text) > len(TEXT) + 30)
    fresh.keys("ne<Cmd>Reviser stop<CR>")
    wait_until_idle(fresh)
    fresh.keys("<Esc>")
    assert fresh.text.startswith("Mine\n" + TEXT)
    seen = [fresh.text]
    while seen[-1] != TEXT:
        fresh.keys("u")
        seen.append(fresh.wait(lambda: fresh.text != seen[-1] and fresh.text))
    # One step took the model's text and left the letters that were there before it.
    assert "Mi\n" + TEXT in seen


def test_a_run_that_wrote_nothing_says_so_and_is_not_undone(fresh: Neovim) -> None:
    fresh.keys("ggOMine.<Esc>:messages clear<CR>:%Reviser infill<CR>G$r!")
    text = "Mine.\n" + TEXT[:-1] + "!"
    fresh.wait(lambda: "you typed where the model was writing" in messages(fresh))
    assert fresh.text == text
    assert "; nothing was written" in messages(fresh)
    fresh.keys(":Reviser undo<CR>")
    fresh.wait(lambda: "there is no run" in messages(fresh))
    fresh.keys("u")
    fresh.wait(lambda: "the run wrote nothing" in messages(fresh))
    assert fresh.text == text
    # Whoever insists undoes what they did themselves.
    fresh.keys("u")
    fresh.wait(lambda: fresh.text == "Mine.\n" + TEXT)


def test_undo_after_a_run_that_was_stopped_while_the_model_loads(model: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.txt"
    draft.write_text(TEXT + "\n")
    settings = {"model": str(model), "completion": {"enabled": False}, "diagnostics": {"enabled": False}}
    assert NEOVIM
    with neovim(NEOVIM, tmp_path, draft, settings) as editor:
        editor.keys("ggOMine.<Esc>:Reviser continue<CR>:Reviser stop<CR>")
        editor.wait(lambda: editor.lua("vim.fn.maparg('u', 'n', false, true).desc") == "Reviser: undo")
        editor.keys("u")
        editor.wait(lambda: "the run wrote nothing" in messages(editor))
        assert editor.text == "Mine.\n" + TEXT


def test_lines_are_written_anew(fresh: Neovim) -> None:
    fresh.keys(":1Reviser infill<CR>")
    second = TEXT.split("\n")[1]
    fresh.wait(lambda: not fresh.text.startswith("It was a quiet day."))
    fresh.wait(lambda: fresh.lua("require('reviser').status()") == "idle")
    assert fresh.text.endswith("\n" + second)
    fresh.keys(":Reviser reject<CR>")
    fresh.wait(lambda: fresh.text == TEXT)


def put_back(text: str, change: dict[str, Any]) -> str:
    """The text with the old text of a change in place of the new."""
    start, end = (offset(text, change["range"][key]) for key in ("start", "end"))
    assert text[start:end] == change["new"]
    return text[:start] + change["old"] + text[end:]


def offset(text: str, position: dict[str, int]) -> int:
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: position["line"]])
    inside = lines[position["line"]].encode()[: position["character"]]
    return before + len(inside.decode())


def test_changes_are_drawn_and_visited(revised: Neovim) -> None:
    changes = revised.changes()
    marks = revised.marks("reviser.changes")
    assert len(marks) == len(changes)
    for change, mark in zip(changes, marks, strict=True):
        assert (mark.get("hl_group") == "ReviserChange") == (change["new"] != "")
        assert ("virt_text" in mark) == (change["old"] != "")
    places = [place_of(revised.text, change) for change in changes]
    assert sorted(visit(revised, "]v", len(changes))) == sorted(places)
    assert sorted(visit(revised, "[v", len(changes))) == sorted(places)


def place_of(text: str, change: dict[str, Any]) -> list[int]:
    """Where the cursor stands at a change; in normal mode, at a line's last character at the most."""
    start = change["range"]["start"]
    *before, _ = text.split("\n")[start["line"]] or "x"
    return [start["line"] + 1, min(start["character"], len("".join(before).encode()))]


def visit(editor: Neovim, key: str, times: int) -> list[list[int]]:
    """Where a key brings the cursor, press by press."""
    places = []
    for _ in range(times):
        editor.keys(key)
        places.append(editor.lua("vim.api.nvim_win_get_cursor(0)"))
    return places


def test_every_change_is_visited_wherever_it_stands(fresh: Neovim) -> None:
    """Among them some where the cursor cannot stand, and two where it stands at the same character."""
    first, second = TEXT.split("\n")
    end, last = len(first), len(second.encode())
    places = [(0, 3), (0, end - 1), (0, end), (1, 0), (1, last - 1), (1, last)]
    changes = [
        {"id": f"1.{number}", "runId": "1", "range": {"start": place, "end": place}, "old": "x", "new": ""}
        for number, (line, column) in enumerate(places)
        for place in [{"line": line, "character": column}]
    ]
    sent = json.dumps({"uri": fresh.lua("vim.uri_from_bufnr(0)"), "version": 0, "changes": changes})
    told = f"require('reviser.changes').on_changes(nil, vim.json.decode([==[{sent}]==]))"
    assert fresh.lua(f"(function() {told} return true end)()")
    wanted = [place_of(TEXT, change) for change in changes]
    assert visit(fresh, "]v", 7) == [*wanted, wanted[0]]
    assert visit(fresh, "[v", 7) == [*reversed(wanted), wanted[-1]]
    # From anywhere else, the nearest in that direction.
    fresh.keys("gg0")
    assert visit(fresh, "[v", 1) == [wanted[-1]]
    fresh.keys("G0l")
    assert visit(fresh, "]v", 1) == [wanted[4]]
    fresh.keys(":edit!<CR>")


def test_the_change_that_the_cursor_was_brought_to_is_decided_about(revised: Neovim) -> None:
    ids = [change["id"] for change in revised.changes()]
    revised.keys("gg0[v<M-y>")
    revised.wait(lambda: [change["id"] for change in revised.changes()] == ids[:-1])


def test_help_is_there_after_the_documented_installation(fresh: Neovim, tmp_path: Path) -> None:
    for topic in ("reviser", ":Reviser", "reviser.setup()"):
        fresh.keys(f":help {topic}<CR>")
        fresh.wait(lambda: fresh.lua("vim.fn.expand('%:t')") == "reviser.txt")
        fresh.keys(":quit<CR>")
        fresh.wait(lambda: fresh.lua("vim.fn.expand('%:t')") == "draft.txt")
    # The index of topics that comes along is the one that Neovim makes.
    shutil.copy(PLUGIN / "doc" / "reviser.txt", tmp_path)
    fresh.keys(f":helptags {tmp_path}<CR>")
    made = fresh.wait(lambda: (tags := tmp_path / "tags").exists() and tags.read_text())
    assert (PLUGIN / "doc" / "tags").read_text() == made


LUA = re.compile("```lua\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("manager", ["none", "no plugin"])
def test_the_lines_to_paste_of_the_documents_start_the_server(model: Path, tmp_path: Path, manager: str) -> None:
    assert NEOVIM
    _, plain, alone = LUA.findall((ROOT / "docs" / "editors.md").read_text("utf-8"))
    lines = plain.replace("~/src/reviser/editors/nvim", str(PLUGIN)) if manager == "none" else alone
    (tmp_path / "reviser").write_text(f'#!/bin/sh\nexec {sys.executable} -m reviser "$@"\n')
    (tmp_path / "reviser").chmod(0o755)
    (tmp_path / "init.lua").write_text(lines)
    (tmp_path / "draft.txt").write_text(TEXT)
    wait = "vim.wait(60000, function() local c = vim.lsp.get_clients()[1]; return c ~= nil and c.initialized end)"
    said = subprocess.run(
        [*NEOVIM, "--headless", "-i", "NONE", "-n", "-u", str(tmp_path / "init.lua"), str(tmp_path / "draft.txt"),
         "-c", f"lua {wait} print(vim.lsp.get_clients()[1].name, vim.v.errmsg)", "-c", "qa!"],
        capture_output=True, text=True, check=True,
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "REVISER_MODEL": str(model)},
    )  # fmt: skip
    assert said.stderr.split() == ["reviser"]


def test_a_missing_server_is_said_once_with_where_to_look(tmp_path: Path) -> None:
    setup = tmp_path / "init.lua"
    setup.write_text(
        f"vim.opt.runtimepath:prepend('{PLUGIN}')\n"
        "require('reviser').setup({ cmd = { 'no-such-reviser', 'lsp' } })\n"
    )
    texts = [tmp_path / name for name in ("one.txt", "two.txt")]
    for text in texts:
        text.write_text("It was\n")
    assert NEOVIM
    said = subprocess.run(
        [*NEOVIM, "--headless", "-i", "NONE", "-n", "-u", str(setup), *map(str, texts),
         "-c", "next", "-c", "qa!"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stderr.count("no-such-reviser") == 1
    assert "see :checkhealth reviser" in said.stderr
    assert "Error" not in said.stderr


def test_a_change_is_put_back_and_another_kept(revised: Neovim) -> None:
    text, changes = revised.text, revised.changes()
    first = changes[0]
    start = first["range"]["start"]
    revised.lua(f"vim.api.nvim_win_set_cursor(0, {{{start['line'] + 1}, {start['character']}}})")
    revised.keys("<M-n>")
    without = put_back(text, first)
    revised.wait(lambda: revised.text == without)
    revised.wait(lambda: len(revised.changes()) == len(changes) - 1)
    # Only that change comes back with one undo, and then the whole revision goes with another.
    revised.keys("u")
    revised.wait(lambda: revised.text == text)
    revised.keys("u")
    revised.wait(lambda: revised.text == TEXT)
    revised.wait(lambda: not revised.changes())


def test_all_changes_are_put_back_or_kept(revised: Neovim) -> None:
    text, count = revised.text, len(revised.changes())
    last = revised.changes()[-1]["range"]["start"]
    revised.lua(f"vim.api.nvim_win_set_cursor(0, {{{last['line'] + 1}, {last['character']}}})")
    revised.keys("<M-y>")
    revised.wait(lambda: len(revised.changes()) == count - 1)
    assert revised.text == text
    revised.keys(":Reviser reject all<CR>")
    revised.wait(lambda: not revised.changes())
    assert not revised.marks("reviser.changes")
    assert revised.lua("vim.fn.maparg(']v', 'n')") == ""
    revised.keys(":Reviser undo<CR>")
    revised.wait(lambda: revised.text == TEXT)


def test_edits_move_changes_and_settle_them(revised: Neovim) -> None:
    changes = revised.changes()
    revised.keys("ggOMine.<Esc>")
    revised.wait(
        lambda: (
            [change["range"]["start"]["line"] for change in revised.changes()]
            == [change["range"]["start"]["line"] + 1 for change in changes]
        )
    )
    revised.keys(":Reviser reject all<CR>")
    revised.wait(lambda: revised.text == "Mine.\n" + TEXT)


def test_one_undo_takes_a_revision_back(revised: Neovim) -> None:
    revised.keys("u")
    revised.wait(lambda: revised.text == TEXT)
    revised.wait(lambda: not revised.changes())


def test_the_paragraph_at_the_cursor_is_revised(reviser_editor: Neovim) -> None:
    start_anew(reviser_editor)
    reviser_editor.keys("ggO<CR><Esc>ggiAlone.<Esc>")
    head = "Alone.\n\n"
    reviser_editor.wait(lambda: reviser_editor.text == head + TEXT)
    reviser_editor.keys("G:Reviser revise<CR>")
    reviser_editor.wait(lambda: reviser_editor.text != head + TEXT)
    reviser_editor.wait(lambda: reviser_editor.lua("require('reviser').status()") == "idle")
    assert reviser_editor.text.startswith(head)
    reviser_editor.keys("u")
    reviser_editor.wait(lambda: reviser_editor.text == head + TEXT)


def test_a_model_that_cannot_revise_says_so(fresh: Neovim) -> None:
    fresh.keys(":%Reviser revise<CR>")
    said = "vim.api.nvim_exec2('messages', {output = true}).output"
    fresh.wait(lambda: "not trained to revise" in fresh.lua(said))
    assert fresh.lua(said).count("not trained to revise") == 1
    assert fresh.text == TEXT


# What Neovim 0.12 has, as far as the plugin uses it, for a Neovim before that.
INLINE_COMPLETION = """
enabled, taken, item = {}, {}, nil
vim.lsp.inline_completion = {
  enable = function(on, filter) enabled[#enabled + 1] = { on, filter.bufnr } end,
  get = function(options)
    if not item then return false end
    local accepted = item
    item = nil
    vim.schedule(function()
      taken[#taken + 1] = accepted.insert_text
      if options and options.on_accept then options.on_accept(accepted) end
    end)
    return true
  end,
}
"""


def suggest(editor: Neovim, text: str) -> None:
    made = f"(function() item = {{insert_text = '{text}', client_id = 1}} return true end)()"
    assert editor.lua(made)


def test_neovims_own_inline_completion_is_used_where_there_is_one(model: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.txt"
    draft.write_text("It was")
    assert NEOVIM
    with neovim(NEOVIM, tmp_path, draft, {"model": str(model)}, INLINE_COMPLETION) as editor:
        assert editor.lua("enabled") == [[True, 1]]
        editor.keys("A a<Tab>x")
        editor.wait(lambda: editor.text == "It was a\tx")
        assert editor.ghost() is None
        suggest(editor, " quiet day")
        editor.keys("<M-w>")
        editor.wait(lambda: editor.text == "It was a\tx quiet")
        suggest(editor, " day")
        editor.keys("<C-]>")
        editor.wait(lambda: editor.lua("#taken") == 2)
        suggest(editor, " night")
        editor.keys("<Tab>")
        editor.wait(lambda: editor.lua("#taken") == 3)
        assert editor.text == "It was a\tx quiet"


def test_health_says_what_is_there(fresh: Neovim) -> None:
    fresh.keys(":checkhealth reviser<CR>")
    report = fresh.wait(lambda: "reviser" in fresh.text and fresh.text)
    assert "ERROR" not in report
    assert f"reviser {__version__}" in report
    assert "compiled kernels" not in report
    assert "the server runs (utf-8 positions)" in report
    fresh.keys(":bdelete!<CR>")
    fresh.lua("vim.fn.setenv('REVISER_NATIVE', '0')")
    fresh.keys(":checkhealth reviser<CR>")
    report = fresh.wait(lambda: "reviser" in fresh.text and fresh.text)
    assert "compiled kernels are missing, so models run slowly" in report
    fresh.keys(":bdelete!<CR>")
    fresh.lua("vim.fn.setenv('REVISER_NATIVE', vim.NIL)")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    terminal = Terminal()
    yield terminal
    terminal.end()


def test_a_terminal_shows_what_the_model_writes(terminal: Terminal, tmp_path: Path) -> None:
    # Slow enough to be seen at work, and few enough words for one screen.
    model = save_tiny_model(tmp_path / "model", width=768, layers=16)
    draft = tmp_path / "draft.txt"
    draft.write_text("It was a quiet day.\nThe cat sat on\n")
    settings = {"model": str(model), "live": {"maxActions": 80}, "completion": {"confidence": 0}}
    assert NEOVIM
    with neovim(NEOVIM, tmp_path, draft, settings) as editor:
        terminal.run(editor.screen_command())
        terminal.wait_for("The cat sat on")

        def line(screen: str) -> str:
            return screen.split("\n")[1].rstrip()

        terminal.type("GA it")
        typed = "The cat sat on it"
        shown = line(terminal.wait_for(lambda screen: len(line(screen)) > len(typed)))
        assert shown.startswith(typed)
        assert line(editor.text) == typed
        terminal.keys("Tab", "Escape")
        editor.wait(lambda: line(editor.text).startswith(shown))
        terminal.type("u")
        terminal.wait_for(lambda screen: line(screen) == "The cat sat on")

        terminal.type(":Reviser continue\n")
        terminal.wait_for("▏")
        shown = terminal.wait_for(lambda screen: "▏" not in screen)
        assert len(editor.text.split()) > 20
        # Lines are broken anywhere on the screen.
        assert "".join(shown.split()).startswith("".join(editor.text.split())[:80])
        terminal.type("u")
        terminal.wait_for(lambda screen: line(screen) == "The cat sat on")
        assert editor.text == "It was a quiet day.\nThe cat sat on"
        terminal.type(":quit\n")
        terminal.wait_for("ended with 0")


@pytest.fixture(scope="module")
def proofread(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    """Its model knows some mistakes, and its draft has them."""
    folder = tmp_path_factory.mktemp("nvim-proofreading")
    model = taught_editor_model(folder / "model")
    draft = folder / "draft.txt"
    draft.write_text(MISTAKEN)
    settings = {"model": str(model), "diagnostics": {"delayMs": 50}}
    assert NEOVIM
    with neovim(NEOVIM, folder, draft, settings) as editor:
        yield editor


def shown(editor: Neovim) -> list[str]:
    """The mistakes that Neovim shows in the buffer, from the first to the last."""
    found = editor.lua("vim.diagnostic.get(0)")
    found.sort(key=lambda one: (one["lnum"], one["col"]))
    return [one["user_data"]["lsp"]["data"]["old"] for one in found]


def choose(editor: Neovim, title: str) -> None:
    """`vim.lsp.buf.code_action`, of which the action with this title is taken."""
    wanted = f"function(one) return one.title == '{title}' end"
    editor.keys(f":lua vim.lsp.buf.code_action({{ filter = {wanted}, apply = true }})<CR>")


def test_mistakes_are_shown_mended_and_undone(proofread: Neovim) -> None:
    editor, text = proofread, MISTAKEN.rstrip("\n")
    editor.wait(lambda: shown(editor) == ["recieved", "teh", "goes"])
    editor.keys("gg0w")
    choose(editor, "Fix: “recieved” → “received”")
    editor.wait(lambda: editor.text == text.replace("recieved", "received"))
    editor.wait(lambda: shown(editor) == ["teh", "goes"])
    editor.keys("u")
    editor.wait(lambda: editor.text == text)
    editor.wait(lambda: shown(editor) == ["recieved", "teh", "goes"])
    choose(editor, "Fix all in the document (3)")
    editor.wait(lambda: editor.text == FIXED.rstrip("\n"))
    editor.wait(lambda: shown(editor) == [])
    editor.keys("u")
    editor.wait(lambda: editor.text == text)


def test_the_paragraph_at_the_cursor_is_mended_in_one_step(proofread: Neovim) -> None:
    editor, text = proofread, MISTAKEN.rstrip("\n")
    editor.keys("<Esc>:edit!<CR>")
    editor.wait(lambda: editor.text == text)
    editor.keys("3G:Reviser paragraph<CR>")
    editor.wait(lambda: editor.text == text.replace("teh", "the"))
    editor.keys("u")
    editor.wait(lambda: editor.text == text)


@pytest.fixture
def following(model: Path, tmp_path: Path) -> Iterator[Neovim]:
    """An editor in which the user has changed one "e-mail" to "email" and paused."""
    draft = tmp_path / "draft.md"
    draft.write_text(TERMS)
    settings = {
        "model": str(model),
        "completion": {"enabled": False},
        "diagnostics": {"enabled": False},
        "nextEdits": {"delayMs": 50, "confidence": 0.3},
    }
    assert NEOVIM
    with neovim(NEOVIM, tmp_path, draft, settings) as editor:
        editor.keys("3G0f-x")
        editor.wait(lambda: len(offers(editor)) == 5)
        assert editor.text == RENAMED.rstrip("\n")
        yield editor


def offers(editor: Neovim) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = editor.lua("require('reviser.next_edits').list()")
    return found


def test_a_next_edit_is_shown_visited_made_and_undone(following: Neovim) -> None:
    marks = following.marks("reviser.next_edits")
    assert [mark["virt_text"][0][0] for mark in marks if "virt_text" in mark] == ["email"] * 5
    assert [mark["hl_group"] for mark in marks if "hl_group" in mark] == ["ReviserOld"] * 5
    following.keys("<M-j>")
    following.wait(lambda: following.lua("vim.api.nvim_win_get_cursor(0)") == [3, 23])
    following.keys("<M-a>")
    made = RENAMED.replace("Each e-mail", "Each email").rstrip("\n")
    following.wait(lambda: following.text == made)
    following.wait(lambda: len(offers(following)) == 4)
    following.keys("u")
    following.wait(lambda: following.text == RENAMED.rstrip("\n"))
    # What was undone is not offered again.
    following.keys("Go<Esc>")
    following.wait(lambda: 0 < len(offers(following)) < 5)
    assert [2, 23] not in [
        [one["range"]["start"]["line"], one["range"]["start"]["character"]] for one in offers(following)
    ]


def test_all_next_edits_are_made_in_one_step_from_insert_mode(following: Neovim) -> None:
    following.keys("A Yes.<M-A>")
    made = RENAMED.replace("e-mail", "email").replace("`email`", "`e-mail`").replace("is code.", "is code. Yes.")
    following.wait(lambda: following.text == made.rstrip("\n"))
    following.wait(lambda: not offers(following))
    following.keys("<Esc>u")
    following.wait(lambda: following.text == RENAMED.replace("is code.", "is code. Yes.").rstrip("\n"))


def test_a_refused_next_edit_is_gone_and_its_keys_with_the_last(following: Neovim) -> None:
    following.keys("<M-x>")
    following.wait(lambda: 0 < len(offers(following)) < 5)
    following.keys(":Reviser take all<CR>")
    following.wait(lambda: not offers(following))
    assert "Each e-mail" in following.text
    assert following.lua("vim.fn.maparg('<M-j>', 'n')") == ""


def test_an_undone_edit_takes_its_next_edits_along(following: Neovim) -> None:
    following.keys("u")
    following.wait(lambda: following.text == TERMS.rstrip("\n") and not offers(following))
    assert following.marks("reviser.next_edits") == []
