"""The command itself: quick to start, honest about its version, complete in the shell."""

from __future__ import annotations

import subprocess
import sys

from reviser import __version__

HEAVY = {"torch", "numpy", "transformers", "textual", "pygls", "tiktoken", "tokenizers", "numba"}


def python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_help_and_version_import_nothing_heavy() -> None:
    for argument in ("--help", "--version"):
        code = f"""
import sys
from reviser.__main__ import main
sys.argv = ["reviser", "{argument}"]
try:
    main()
except SystemExit as stop:
    assert not stop.code
print("MODULES", *sys.modules)
"""
        loaded = {name.partition(".")[0] for name in python(code).split("MODULES")[1].split()}
        assert loaded & HEAVY == set()


def test_version() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "reviser", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"reviser {__version__}\n"


def test_shell_completion_is_offered() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "reviser"],
        env={"_REVISER_COMPLETE": "complete_bash", "COMP_WORDS": "reviser rep", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "replay" in result.stdout


def test_without_arguments_it_explains_itself() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "reviser"], capture_output=True, text=True, check=False
    )
    assert "Usage" in result.stdout + result.stderr
    assert "replay" in result.stdout + result.stderr
