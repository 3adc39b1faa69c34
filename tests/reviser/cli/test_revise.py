"""`reviser revise`, run as a user runs it, on a tiny random model whose vocabulary has Delete."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from reviser.checkpoints import save
from reviser.cli.commands.revise import ask_each, changes_between, range_in
from reviser.core.errors import ReviserError
from reviser.core.vocabulary import PAPER_KINDS, Vocabulary
from reviser.model import Reviser, preset
from reviser.model.layout import Quantisation
from tests.reviser.cli.test_replay import complains, reviser

TEXT = "The cat sat on the mat.\n\nIt was happy.\nThe end.\n"


def tiny_model(
    folder: Path, kinds: frozenset[str], seed: int = 0, quantisation: Quantisation | None = None
) -> Path:
    vocabulary = Vocabulary.gpt2(kinds=kinds)
    torch.manual_seed(seed)
    tiny = Reviser(preset("tiny", vocab_size=vocabulary.size, context=256, canvas_length=256))
    return save(folder, tiny, vocabulary, "gpt2", quantisation=quantisation)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quantised, as the model that comes along is: commands start without torch, in a quarter of the time."""
    folder = tmp_path_factory.mktemp("models") / "revising"
    return tiny_model(folder, PAPER_KINDS | {"delete"}, quantisation=Quantisation(8))


@pytest.fixture(scope="session")
def full_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its full weights, which torch reads."""
    return tiny_model(tmp_path_factory.mktemp("models") / "full", PAPER_KINDS | {"delete"})


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text(TEXT)
    return path


def revise(
    model: Path, *words: str | Path, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    options = ["--model", model, "--seed", "1", "--temperature", "1", "--max-actions", "6"]
    # A random model is sure of nothing.
    options += [] if "--sureness" in words else ["--sureness", "0"]
    return reviser("revise", *words, *options, stdin=stdin)


def test_the_diff_makes_what_in_place_makes(model: Path, note: Path, tmp_path: Path) -> None:
    diff = revise(model, note)
    assert diff.returncode == 0, diff.stderr
    assert diff.stdout.startswith("--- a/note.txt\n+++ b/note.txt\n@@")
    assert note.read_text() == TEXT
    recorded = tmp_path / "runs.json"
    assert revise(model, note, "--in-place", "--trajectory", recorded).returncode == 0
    changed = note.read_text()
    assert changed != TEXT
    assert changed.count("\n") >= TEXT.count("\n")
    if patch := shutil.which("patch"):
        note.write_text(TEXT)
        subprocess.run([patch, "-sp1"], input=diff.stdout, text=True, cwd=tmp_path, check=True)
        assert note.read_text() == changed
    runs = json.loads(reviser("replay", recorded, "--format", "json").stdout)
    assert [run["matches"] for run in runs] == [True] * 3


def test_json_range_and_pipes(model: Path, full_model: Path, note: Path) -> None:
    told = json.loads(revise(model, note, "--json", "--range", "3-3").stdout)
    assert told["passages"] == 1
    (change,) = told["changes"]
    assert (change["line"], change["before"]) == (3, "It was happy.")
    assert told["text"] == TEXT.replace("It was happy.", change["after"])
    piped = revise(full_model, "-", "--range", "1:5-1:8", stdin=TEXT)
    assert piped.stdout.startswith("--- a/stdin\n")
    assert note.read_text() == TEXT


def test_each_change_can_be_taken_or_left(model: Path, note: Path) -> None:
    assert revise(model, note, "--interactive", stdin="").returncode == 0
    assert note.read_text() == TEXT
    result = revise(model, note, "--interactive", stdin="?\nn\na\n")
    assert "take this change and all that follow" in result.stdout
    lines = note.read_text().split("\n")
    assert lines[0] == "The cat sat on the mat."
    assert note.read_text() != TEXT


def test_it_says_that_there_is_nothing_to_change(model: Path, note: Path) -> None:
    for option in ("--diff", "--in-place", "--interactive"):
        result = revise(model, note, option, "--sureness", "1000")
        assert (result.returncode, result.stdout) == (0, "")
        assert result.stderr == f"{note}: nothing to change\n"
    piped = revise(model, "-", "--sureness", "1000", stdin=TEXT)
    assert piped.stderr == "standard input: nothing to change\n"
    printed = revise(model, note, "-o", "-", "--sureness", "1000")
    assert printed.stdout == note.read_text() == TEXT


def test_what_was_written_while_it_asked_is_not_overwritten(model: Path, note: Path) -> None:
    options = ["--seed", "1", "--temperature", "1", "--max-actions", "6", "--sureness", "0"]
    command = [sys.executable, "-m", "reviser", "revise", note, "--interactive", "--model", model]
    process = subprocess.Popen(
        [*command, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert process.stdout is not None
    shown = b""
    while b"Take this change" not in shown:
        shown += process.stdout.read(1)
    note.write_text("Someone else was here.")
    _, said = process.communicate(b"a\n")
    assert process.returncode == 1
    kept = note.with_name("note.reviser.txt")
    assert said.decode().endswith(f"it stays as it is, and the result is in {kept}\n")
    assert note.read_text() == "Someone else was here."
    assert kept.read_text() not in ("", TEXT)


def in_terminal(command: list[str], **variables: str) -> str:
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "30"} | variables
        os.execv(sys.executable, command)
    screen = b""
    while True:
        try:
            screen += os.read(terminal, 65536)
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return screen.decode()


def test_in_a_terminal_the_diff_has_colours_and_progress_is_shown(model: Path, note: Path) -> None:
    command = [sys.executable, "-m", "reviser", "revise", str(note), "--model", str(model)]
    command += ["--seed", "1", "--temperature", "1", "--max-actions", "6", "--sureness", "0"]
    shown = in_terminal(command, NO_COLOR="")
    assert "revising passage 3 of 3" in re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "\x1b[31m-The cat" in shown
    assert "\x1b[32m+" in shown
    plain = in_terminal(command, NO_COLOR="1")
    assert "\x1b[31m" not in plain
    assert "\n-The cat" in plain


def test_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = "a\nb\nc\nd\ne", "A\nb\nc2\nc3\nd\n"
    for answers, text in {
        "yyy": after,
        "nnn": before,
        "yny": "A\nb\nc\nd\n",
        "ny": "a\nb\nc2\nc3\nd\ne",
        "a": after,
        "nq": before,
        "yd": "A\nb\nc\nd\ne",
    }.items():
        reading, writing = os.pipe()
        os.write(writing, "".join(f"{answer}\n" for answer in answers).encode())
        os.close(writing)
        with os.fdopen(reading) as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            assert ask_each(before, after) == text


def test_neighbouring_lines_are_changes_of_their_own() -> None:
    first, second, rest = changes_between("a\nb\nc\n", "A\nB\nc\n")
    assert (first.before, first.after, first.line) == (("a\n",), ("A\n",), 1)
    assert (second.before, second.after, second.line) == (("b\n",), ("B\n",), 2)
    assert rest.kept == ("c\n",)


def test_ranges() -> None:
    text = "one\ntwo\nthree"
    assert range_in(text, None) == (0, 13)
    assert text[slice(*range_in(text, "2-3"))] == "two\nthree"
    assert text[slice(*range_in(text, "1:2-2:3"))] == "ne\ntw"
    for wrong in ("2", "3-2", "a-b", "9-9"):
        with pytest.raises(ReviserError):
            range_in(text, wrong)


def test_mistakes_give_one_sentence(model: Path, note: Path, tmp_path: Path) -> None:
    plain = tiny_model(tmp_path / "plain", PAPER_KINDS)
    complains(revise(plain, note), "not trained to revise")
    complains(revise(model, note, "--in-place", "--json"), "choose one")
    complains(revise(model, "-", "--interactive"), "standard input")
    complains(revise(model, note, "--range", "7-9"), "no line 7")
    note.chmod(0o444)
    complains(revise(model, note, "--in-place"), "read-only")
