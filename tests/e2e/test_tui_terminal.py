"""The terminal editor in a real terminal, as a user meets it: tmux in between, a tiny model behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from reviser.checkpoints import save
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import Reviser, preset
from tests.conftest import PAPER_TRAJECTORIES
from tests.e2e.terminal import Terminal
from tui.document.journal import read_journal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

TEXT = "The cat sat on the mat.\nIt was a quiet"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    vocabulary = Vocabulary.gpt2(kinds=PAPER_KINDS)
    torch.manual_seed(0)
    tiny = Reviser(preset("tiny", vocab_size=vocabulary.size, context=256, canvas_length=256))
    return save(tmp_path_factory.mktemp("models") / "tiny", tiny, vocabulary, "gpt2")


class Editor(Terminal):
    """The terminal editor in a terminal, with settings of its own."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home

    def journaled(self) -> list[str]:
        """The texts that would be offered back after a crash at this moment."""
        found = [read_journal(path) for path in (self._home / "journal").glob("*.journal")]
        return [each.text for each in found if each is not None]

    def start(self, *arguments: str | Path, size: tuple[int, int] = (90, 24), **env: str) -> None:
        command = [sys.executable, "-m", "reviser", "tui", *map(str, arguments)]
        self.run(command, size, **({"REVISER_HOME": str(self._home)} | env))


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Editor]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "tui.toml").write_text("max_actions = 15\nseed = 7\nspeed = 0\n")
    terminal = Editor(home)
    yield terminal
    terminal.end()


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    path = tmp_path / "draft.txt"
    path.write_bytes(TEXT.encode())
    return path


def shown_text(screen: str) -> str:
    """The text between the tabs and the bars, line numbers and wrapping taken away."""
    rows = [row for row in screen.split("\n")[1:-4] if row.strip()]
    text = ""
    for row in rows:
        found = re.match(r" *(\d+)?  ?(.*)", row)
        assert found is not None
        text += ("\n" if found[1] and text else "") + found[2]
    return text


def test_type_generate_branch_undo_save(terminal: Editor, model: Path, draft: Path) -> None:
    terminal.start(draft, "--model", model)
    terminal.wait_for("It was a quiet")
    terminal.type("Héllo 漢字. ")
    terminal.wait_for("Héllo 漢字. The cat")
    terminal.keys("F5")
    first = terminal.wait_for("limit of actions reached")
    assert "15/15" in first
    terminal.keys("F4")
    terminal.wait_for("Branches")
    terminal.keys("Home")
    terminal.wait_for("at step 0 of 15")
    terminal.keys("Down", "Down", "Down")
    terminal.wait_for("at step 3 of 15")
    terminal.keys("Right", "Home")
    terminal.wait_for("●")
    # The likeliest option may be the one that was taken; the one after it then is not.
    chosen = terminal.screen().split("\n")[1]
    terminal.keys("Down" if "●" in chosen else "Home", "Enter")
    terminal.wait_for("limit of actions reached")
    terminal.keys("Right")
    terminal.wait_for(lambda screen: screen.count("steps") >= 4)
    terminal.keys("F4")
    second = terminal.wait_for(lambda screen: "Branches" not in screen)
    terminal.keys("C-s")
    terminal.wait_for("Saved draft.txt")
    written = draft.read_text()
    assert written.startswith(f"Héllo 漢字. {TEXT}")
    assert len(written) > len(f"Héllo 漢字. {TEXT}")
    seen = re.sub(r"\s+", "", shown_text(second))
    assert seen.startswith(re.sub(r"\s+", "", written)[:60])
    terminal.keys("C-z")
    terminal.wait_for("draft.txt •")
    terminal.keys("C-s")
    terminal.wait_for(lambda screen: "draft.txt •" not in screen)
    assert draft.read_text() == f"Héllo 漢字. {TEXT}"
    terminal.keys("C-q")
    terminal.wait_for("ended with 0")


def test_keys_arrive_as_a_terminal_sends_them(terminal: Editor, draft: Path) -> None:
    terminal.start(draft)
    terminal.wait_for("  1  The cat")
    terminal.keys("M-n")
    terminal.wait_for(lambda screen: "\nThe cat" in screen)
    terminal.keys("M-n")
    terminal.wait_for("  1  The cat")
    terminal.keys("C-f")
    terminal.type("CAT")
    terminal.wait_for("1 found")
    terminal.keys("M-c")
    terminal.wait_for("nothing found Aa")
    terminal.keys("Escape")
    terminal.wait_for(lambda screen: "found" not in screen)
    terminal.keys("C-End", "M-BSpace", "C-Left", "Delete", "S-Left", "x")
    terminal.wait_for("It wasx")
    terminal.tmux("set-buffer", "pasted\ntwice")
    terminal.tmux("paste-buffer", "-p")
    terminal.wait_for("  3  twice")
    terminal.type("«\u00a0می\u200cخ")
    terminal.wait_for("twice«")
    terminal.keys("C-s")
    terminal.wait_for("Saved draft.txt")
    assert draft.read_text() == "The cat sat on the mat.\nIt wasxpasted\ntwice«\u00a0می\u200cخ "
    terminal.keys("C-q")
    terminal.wait_for("ended with 0")


def test_killed_it_offers_back_what_was_typed(terminal: Editor, draft: Path) -> None:
    terminal.start(draft)
    terminal.wait_for("It was a quiet")
    terminal.type("Not saved yet. ")
    terminal.wait_for("Not saved yet. The cat")
    terminal.wait_until(lambda: terminal.journaled() == [f"Not saved yet. {TEXT}"])
    os.kill(terminal.process(), 9)
    terminal.wait_for("ended with 137")
    terminal.end()
    assert draft.read_text() == TEXT
    # A writer who goes on typing as if nothing had happened answers nothing.
    terminal.start(draft)
    terminal.wait_for("The editor ended without saving")
    terminal.type("dear hello")
    terminal.keys("C-s", "C-s")
    terminal.wait_for("The editor ended without saving")
    assert terminal.journaled() == [f"Not saved yet. {TEXT}"]
    terminal.keys("Enter")
    terminal.wait_for("Not saved yet. The cat")
    terminal.keys("C-s")
    terminal.wait_for("Saved draft.txt")
    assert draft.read_text() == f"Not saved yet. {TEXT}"
    terminal.keys("C-q")
    terminal.wait_for("ended with 0")


def test_without_colour_none_is_sent_and_a_narrow_screen_suffices(terminal: Editor) -> None:
    terminal.start("--play", PAPER_TRAJECTORIES, size=(40, 16), NO_COLOR="1")
    terminal.wait_for("Which run")
    terminal.keys("Enter")
    terminal.wait_for("playing")
    terminal.keys("F7")
    terminal.wait_for(lambda screen: "at step" in screen and "example 1" in screen.split("\n")[0])
    styled = terminal.screen("-e")
    codes = [code for found in re.findall(r"\x1b\[([\d;]*)m", styled) for code in found.split(";")]
    assert "7" in codes
    assert not {code for code in codes if code.isdigit() and 30 <= int(code) <= 49} - {"39", "49"}
    terminal.keys("C-q")
    terminal.wait_for("ended with 0")


def test_it_quits_while_the_model_is_being_loaded(terminal: Editor, model: Path, draft: Path) -> None:
    terminal.start(draft, "--model", model)
    terminal.wait_for("It was a quiet")
    terminal.keys("F5", "C-q")
    terminal.wait_for("ended with 0")
    assert draft.read_text() == TEXT


def test_bad_arguments_get_one_sentence(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\x00")
    done = subprocess.run(
        [sys.executable, "-m", "reviser", "tui", str(binary)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "reviser: the editor needs a terminal\n"


def test_it_starts_without_torch_and_numpy() -> None:
    code = "import sys, tui.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "numpy", "transformers", "tokenizers", "tiktoken"} & set(loaded)
