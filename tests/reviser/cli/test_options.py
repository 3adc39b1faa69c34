"""Options as dataclasses: argparse and Typer make the same of the same words, and words can be made of options."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from reviser.cli.options import Argument, Group, Option, Words, add_deferred, parsed, run_with
from reviser.core.errors import ReviserError
from training.dagger.run import DaggerOptions
from training.trainer.settings import RunOptions


@dataclass(frozen=True)
class Lamp:
    colour: str = "white"
    watts: Annotated[int, Option("strength")] = 40
    lit: bool = True


@dataclass(frozen=True, kw_only=True)
class Options:
    place: Annotated[str, Argument("where", choices=("porch", "hall"))]
    files: Annotated[tuple[Path, ...], Argument("what to read")] = ()
    name: Annotated[str, Option("a name")]
    count: Annotated[int, Option("how many", least=1)] = 3
    seeds: Annotated[tuple[int, ...], Option("seeds", together=True)] = (1, 2)
    judge: Annotated[tuple[Literal["one", "two"], ...], Option("a judge")] = ()
    bits: Annotated[int, Option("of weights", choices=("4", "8"))] = 4
    quiet: Annotated[bool, Option("say nothing")] = False
    lamp: Annotated[Lamp, Group(Lamp)] = Lamp()
    words: Words = ()


@dataclass(frozen=True, kw_only=True)
class Changing:
    changes: Annotated[Mapping[str, Any], Group(Lamp, without=("colour",))] = field(default_factory=dict)


LINES = [
    ["porch", "--name", "x"],
    ["hall", "a", "b", "--name", "x", "--count", "7", "--quiet"],
    ["hall", "--name", "x", "a", "--judge", "one", "--judge", "two", "b"],
    ["hall", "--seeds", "5", "6", "7", "--name=x", "--watts", "9", "--no-lit"],
    ["porch", "--name", "x", "--seeds", "5", "--seeds", "6", "--bits", "8"],
]


def by_typer(words: list[str], options: type = Options) -> Any:
    app = typer.Typer()
    found: list[Any] = []

    def run(chosen: Any) -> int:
        found.append(chosen)
        return 0

    run.__annotations__["chosen"] = options
    module = ModuleType("a_command")
    module.run = run  # type: ignore[attr-defined]
    sys.modules["a_command"] = module
    add_deferred(app, "command", "a_command", extra="train", help="A command.")

    @app.command()
    def other() -> None:
        """Another, so that the first has a name."""

    result = CliRunner().invoke(app, ["command", *words])
    return found[0] if found else result


def by_argparse(words: list[str]) -> Options:
    return parsed(Options, words)


@pytest.mark.parametrize("words", LINES)
def test_both_front_ends_make_the_same_options(words: list[str]) -> None:
    made = by_argparse(words)
    assert made == by_typer(words)
    assert made.words == tuple(words)
    assert isinstance(made.seeds, tuple)
    assert all(isinstance(file, Path) for file in made.files)


def test_what_is_not_named_has_its_default() -> None:
    assert by_argparse(LINES[0]) == Options(place="porch", name="x", words=tuple(LINES[0]))
    chosen = by_argparse(LINES[3])
    assert chosen.lamp == Lamp(watts=9, lit=False)
    assert chosen.seeds == (5, 6, 7)


def test_a_mapping_holds_only_what_was_named() -> None:
    assert parsed(Changing, ["--no-lit"]).changes == {"lit": False}
    assert by_typer(["--watts", "40"], Changing).changes == {"watts": 40}
    assert parsed(Changing, []).changes == {}


@pytest.mark.parametrize(
    "words",
    [
        ["cellar", "--name", "x"],
        ["porch"],
        ["porch", "--name", "x", "--count", "0"],
        ["porch", "--name", "x", "--count", "many"],
        ["porch", "--name", "x", "--bits", "5"],
        ["porch", "--name", "x", "--dance"],
    ],
)
def test_both_refuse_the_same_words(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        by_argparse(words)
    assert stop.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("reviser: ")
    assert told.endswith(" (see command --help)\n")
    assert by_typer(words).exit_code == 2


def test_help_names_every_option_and_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        by_argparse(["--help"])
    listed = capsys.readouterr().out
    shown = by_typer(["--help"]).output
    for flag in ("--name", "--count", "--seeds", "--judge", "--quiet", "--watts", "--no-lit"):
        assert flag in listed
        assert flag in shown
    assert "how many (3)" in listed
    assert "seeds (1 2)" in listed
    assert "How many." in shown


def test_an_error_of_the_command_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(options: Options) -> None:
        raise ReviserError(f"there is no {options.name}")

    assert run_with(fail, LINES[0]) == 2
    assert capsys.readouterr().err == "reviser: there is no x\n"


def test_settings_of_a_preset_are_changed_by_what_is_named() -> None:
    words = ["smol", "--data", "d", "--out", "o", "--steps", "4", "--history", "256", "--no-compile"]
    options = parsed(RunOptions, words)
    settings = options.settings()
    assert (settings.steps, settings.minutes) == (4, None)
    assert (settings.history, settings.rows, settings.compile) == (256, 128, False)
    # The preset says otherwise, so it has to be told although it is the usual value.
    assert options.changes["history"] == 256


def test_dagger_takes_its_rounds_and_the_settings_of_a_run() -> None:
    words = ["tiny", "--init", "m", "--data", "d", "--edits", "e", "--out", "o"]
    options = parsed(DaggerOptions, [*words, "--rounds", "2", "--updates", "3"])
    assert options.plan.rounds == 2
    assert options.settings().steps == 6
    with pytest.raises(SystemExit):
        parsed(DaggerOptions, [*words, "--steps", "3"])


def test_commands_by_name_need_no_typer() -> None:
    code = (
        "import sys\n"
        "for name in ('typer', 'click', 'rich', 'pydantic', 'textual', 'pygls'):\n"
        "    sys.modules[name] = None\n"
        "from importlib import import_module\n"
        "from benchmarks.__main__ import COMMANDS as measurements\n"
        "from training.__main__ import COMMANDS as training\n"
        "others = {'lsp', 'everyday', 'proofreading', 'lines'}\n"
        "for name, (module, _) in training.items():\n"
        "    import_module(f'training.{module}')\n"
        "for name in measurements.keys() - others:\n"
        "    import_module(f'benchmarks.{measurements[name][0]}')\n"
        "from reviser.cli.options import run_with\n"
        "from training.trainer.run import run\n"
        "sys.exit(run_with(run, ['tiny', '--data', 'nowhere', '--out', 'none']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "reviser: there is no file nowhere/manifest.json\n"
