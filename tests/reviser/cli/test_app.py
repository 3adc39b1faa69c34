"""The command itself: quick to start, honest about its version, complete in the shell."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reviser import __version__
from reviser.cli.app import app
from reviser.proofreading.project.settings import kinds_named
from reviser.proofreading.suggestion import Kind
from tests.commands import reviser

HEAVY = {"torch", "numpy", "transformers", "textual", "pygls", "tiktoken", "tokenizers", "numba"}


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


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
    result = subprocess.run([sys.executable, "-m", "reviser", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"reviser {__version__}\n"


def test_shell_completion_is_offered() -> None:
    # As the installed command, whose name the shell's script knows.
    code = "import sys; sys.argv[0] = 'reviser'; from reviser.__main__ import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={"_REVISER_COMPLETE": "complete_bash", "COMP_WORDS": "reviser rep", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "replay\n"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like a model's, which has the name `mine`."""
    monkeypatch.setenv("REVISER_HOME", str(tmp_path))
    folder = tmp_path / "models" / "mine"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return folder


@pytest.fixture
def offered(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """What the shell is told when the last of some words is to be completed."""

    def complete(words: str) -> list[str]:
        monkeypatch.setenv("_REVISER_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words.strip())
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        with pytest.raises(SystemExit):
            app(prog_name="reviser")
        return capsys.readouterr().out.split()

    return complete


@pytest.mark.parametrize("command", ["continue", "infill", "revise", "check", "tui", "serve", "bench", "bench flops"])
def test_models_are_offered(command: str, model: Path, offered: Callable[[str], list[str]]) -> None:
    assert offered(f"reviser {command} --model ") == ["mine", "default"]
    assert offered(f"reviser {command} --model m") == ["mine"]
    folder = str(model)[:-2]
    assert offered(f"reviser {command} --model {folder}") == [f"{model}/"]


@pytest.mark.usefixtures("model")
def test_values_are_offered(offered: Callable[[str], list[str]]) -> None:
    assert offered("reviser models info m") == ["mine"]
    for command in ("revise", "check"):
        for option in ("--only", "--except"):
            assert "verb-form" in offered(f"reviser {command} {option} ")
            assert offered(f"reviser {command} {option} sp") == ["spelling"]
            listed = offered(f"reviser {command} {option} article,spelling,a")
            assert listed == ["article,spelling,agreement"]
        assert offered(f"reviser {command} --format mark") == ["markdown"]
        assert offered(f"reviser {command} --encoding windows-1252") == ["windows-1252"]
    # What is offered is what is understood.
    kinds = offered("reviser check --only ")
    assert kinds_named(kinds) == frozenset(Kind)


def test_without_arguments_it_explains_itself() -> None:
    result = subprocess.run([sys.executable, "-m", "reviser"], capture_output=True, text=True, check=False)
    assert "Usage" in result.stdout + result.stderr
    assert "replay" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ("check", "--output-format", "xml", "x"),
            "'--output-format': 'xml' is not one of 'text', 'json', 'sarif', 'github', 'diff'",
        ),
        (("check", "--jobs", "-3", "x"), "'--jobs' / '-j': -3 is not at least 1"),
        (("revise", "--confidence", "7", "x"), "'--confidence': 7 is not at most 1"),
        (("revise", "--threads", "no", "x"), "'--threads': no is not a whole number"),
        (("revise", "--confidence", "no", "x"), "'--confidence': no is not a number"),
    ],
)
def test_refused_values_are_told_in_our_words(words: tuple[str, ...], reason: str) -> None:
    result = reviser(*words)
    assert result.returncode == 2
    assert result.stderr.startswith(f"reviser: invalid value for {reason} (see ")
