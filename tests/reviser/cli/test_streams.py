"""Standard streams that are closed, full or interrupted end a command in a sentence or quietly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import reviser
from tests.conftest import PAPER_TRAJECTORIES

COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "help of a command": ["continue", "--help"],
    "replay": ["replay", str(PAPER_TRAJECTORIES)],
    "models": ["models", "info", "default"],
    "flops": ["bench", "flops"],
    "tokenise": ["tokenise", "--help"],
}


def shell(redirected: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", f'"$@" {redirected}', "bash", sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
@pytest.mark.parametrize("place", [">&-", "> /dev/full"])
def test_output_that_cannot_be_written_is_told_in_a_sentence(place: str, words: list[str]) -> None:
    result = shell(place, "-m", "reviser", *words)
    assert result.returncode == 1
    assert result.stderr.startswith("reviser: standard output cannot be written: ")
    assert result.stderr.count("\n") == 1


def test_other_programs_tell_it_as_well() -> None:
    for words in (["training", "--help"], ["benchmarks", "infill", "--help"]):
        result = shell("> /dev/full", "-m", *words)
        assert result.returncode == 1
        assert result.stderr == ("reviser: standard output cannot be written: No space left on device\n")


def test_all_programs_complain_in_the_same_words(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    for words in (
        ["reviser", "replay", missing],
        ["reviser", "replay"],
        ["reviser", "train", "--no-such-option"],
        ["training", "nothing"],
        ["training", "edits", missing],
        ["training", "edits"],
        ["benchmarks", "next-edits", missing],
        ["benchmarks", "next-edits"],
    ):
        program, *others = words
        result = reviser(*others, program=program)
        assert result.returncode == 2
        assert result.stderr.startswith("reviser: "), words
        assert result.stderr.count("\n") == 1, words


def test_a_reader_that_has_left_is_left_in_peace() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "reviser", *COMMANDS["replay"]]
    with os.fdopen(writing) as pipe:
        result = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (result.returncode, result.stderr) == (141, b"")


def test_a_command_that_prints_nothing_needs_no_output(tmp_path: Path) -> None:
    page = tmp_path / "runs.html"
    words = ["-m", "reviser", "replay", str(PAPER_TRAJECTORIES), "--html", str(page)]
    for closed in (">&-", "2>&-", "<&- >&- 2>&-", "2> /dev/full"):
        assert shell(closed, *words).returncode == 0
        text = page.read_text()
        assert text.startswith("<!")
        assert "wrote" not in text[-200:]  # no stream's number went to the file
        page.unlink()


def test_closed_standard_input_is_told_in_a_sentence() -> None:
    result = shell("<&-", "-m", "reviser", "replay", "-")
    assert result.returncode == 2
    assert result.stderr == "reviser: standard input cannot be read: Bad file descriptor\n"


# Ctrl-C -------------------------------------------------------------------------------------------

# Interrupts the command when it imports its so-and-so-manieth module; the count starts with `reviser.cli.app`.
INTERRUPTED = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
moment, seen = int(sys.argv.pop(1)), 0
class Interrupter:
    def find_spec(self, name, path=None, target=None):
        global seen
        if seen or name == "reviser.cli.app":
            seen += 1
            if seen == moment:
                signal.raise_signal(signal.SIGINT)
        return None
sys.meta_path.insert(0, Interrupter())
sys.argv[0] = "reviser"
try:
    runpy.run_module("reviser", run_name="__main__", alter_sys=True)
finally:
    if not moment:
        print("imports:", seen, file=sys.stderr)
"""


def interrupted(moment: int, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", INTERRUPTED, str(moment), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["version", "replay"])
def test_ctrl_c_ends_it_quietly_whatever_it_is_importing(command: str) -> None:
    words = COMMANDS[command]
    imports = int(interrupted(0, *words).stderr.rpartition("imports:")[2])
    for moment in range(1, imports + 1, max(1, imports // 6)):
        result = interrupted(moment, *words)
        assert result.returncode in (130, -signal.SIGINT), moment
        assert result.stderr == "", moment
