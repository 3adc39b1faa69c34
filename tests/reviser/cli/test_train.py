"""`reviser tokenise` and `reviser train`, commands of another package."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from reviser.checkpoints.home import load
from reviser.cli.app import app
from reviser.core.errors import ReviserError
from tests import commands

TEXT = "The lamp burned low. The keeper climbed the stairs and looked out upon the water.\n" * 40


def reviser(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("command", ["train", "tokenise", "bench reproduce", "bench everyday"])
def test_usage_names_the_command_that_was_typed(command: str) -> None:
    helped = commands.reviser(*command.split(), "--help")
    assert f"reviser {command} [" in helped.stdout
    refused = commands.reviser(*command.split(), "--no-such")
    assert refused.returncode == 2
    assert refused.stderr.startswith("reviser: ")
    assert refused.stderr.endswith(f"reviser {command} --help)\n")
    assert refused.stderr.count("\n") == 1


def test_a_missing_word_is_said_in_one_line() -> None:
    told = commands.reviser("train").stderr
    assert told.startswith("reviser: missing argument 'PRESET'")
    assert "tiny" in told
    assert told.count("\n") == 1


def test_from_a_text_to_a_model(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    made = reviser("tokenise", tmp_path / "data", "--tokenizer", "gpt2", text)
    assert made.exit_code == 0, made.output
    options = ("--data", tmp_path / "data", "--tokenizer", "gpt2", "--out", tmp_path / "run")
    trained = reviser("train", "tiny", *options, "--steps", "1")
    assert trained.exit_code == 0, trained.output
    assert load(tmp_path / "run" / "model").vocabulary.name == "gpt2"
    again = reviser("train", "tiny", *options, "--steps", "1")
    assert isinstance(again.exception, ReviserError)
