"""The plugin in a real Neovim: ghost text, live runs, one-step undo, the user typing meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.neovim import Neovim, find_neovim, neovim
from tests.lsp_server.models import save_tiny_model

NEOVIM = find_neovim()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NEOVIM is None, reason="there is no Neovim 0.10 or later"),
]

TEXT = "It was a quiet day.\nThe cat sat on the mat é😀."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def editor(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    folder = tmp_path_factory.mktemp("nvim")
    draft = folder / "draft.txt"
    draft.write_text(TEXT + "\n")
    settings = {"model": str(model), "live": {"maxActions": 900, "editsPerSecond": 20}}
    assert NEOVIM
    with neovim(NEOVIM, folder, draft, settings) as editor:
        yield editor


@pytest.fixture
def fresh(editor: Neovim) -> Neovim:
    """The text as it was, and nobody in insert mode."""
    editor.keys("<Esc>:Reviser stop<CR>:edit!<CR>gg0")
    editor.wait(lambda: editor.text == TEXT)
    return editor


def test_ghost_text_appears_and_tab_accepts_it(fresh: Neovim) -> None:
    fresh.keys("GA It")
    ghost = fresh.wait(fresh.ghost)
    assert fresh.text == TEXT + " It"
    fresh.keys("<Tab>")
    fresh.wait(lambda: fresh.text == TEXT + " It" + ghost)
    fresh.keys("<Esc>u")
    fresh.wait(lambda: fresh.text == TEXT)


def test_tab_is_a_tab_where_there_is_nothing_to_accept(fresh: Neovim) -> None:
    fresh.keys(":Reviser toggle<CR>")
    fresh.keys("GA<Tab>x")
    fresh.wait(lambda: fresh.text == TEXT + "\tx")
    assert fresh.ghost() is None
    fresh.keys("<Esc>:Reviser toggle<CR>")


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


def test_lines_are_written_anew(fresh: Neovim) -> None:
    fresh.keys(":1Reviser infill<CR>")
    second = TEXT.split("\n")[1]
    fresh.wait(lambda: not fresh.text.startswith("It was a quiet day."))
    fresh.wait(lambda: fresh.lua("require('reviser').status()") == "idle")
    assert fresh.text.endswith("\n" + second)
    fresh.keys(":Reviser reject<CR>")
    fresh.wait(lambda: fresh.text == TEXT)


def test_health_says_what_is_there(fresh: Neovim) -> None:
    fresh.keys(":checkhealth reviser<CR>")
    report = fresh.wait(lambda: "reviser" in fresh.text and fresh.text)
    assert "ERROR" not in report
    assert "the server runs (utf-8 positions)" in report
    fresh.keys(":bdelete!<CR>")
