"""Commands by name, `python -m training NAME` and `python -m benchmarks NAME`: each is there, and documents cite no
other."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from benchmarks.__main__ import COMMANDS as MEASUREMENTS
from reviser.cli.app import app
from reviser.cli.options import options_of, run_one_of, run_with
from tests.conftest import ROOT
from training.__main__ import COMMANDS as TRAINING

MODULES = {
    "benchmarks": {name: f"benchmarks.{module}" for name, (module, _) in MEASUREMENTS.items()},
    "training": {name: f"training.{module}" for name, (module, _) in TRAINING.items()},
}
# The changelog tells of commands that were.
PAGES = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
DOCUMENTS = [*PAGES, *ROOT.glob("docs/**/*.md"), ROOT / "Makefile"]
_PROGRAM = re.compile(r"(?:python3?\)?|\)/python) -m (benchmarks|training)[ .]|reviser (bench|train|tokenise)\b")
_COMMIT = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,12}\b")


@pytest.mark.parametrize("package", MODULES)
def test_every_command_is_a_function_of_its_options(package: str) -> None:
    for name, path in MODULES[package].items():
        module = import_module(path)
        several = getattr(module, "COMMANDS", None)
        for run in [run for run, _ in several.values()] if several else [module.run]:
            assert is_dataclass(options_of(run)), name


@dataclass(frozen=True)
class Cited:
    """A command that a document cites, and the paragraph around it."""

    words: tuple[str, ...]
    paragraph: str

    @property
    def is_dated(self) -> bool:
        """Whether it is told at which commit it ran."""
        return _COMMIT.search(self.paragraph) is not None


def cited(path: Path) -> Iterator[Cited]:
    """The commands of a document, in blocks of code and between backticks; a line that ends with a backslash goes
    on."""
    for paragraph in path.read_text("utf-8").split("\n\n"):
        joined = re.sub(r"\\\n\s*", "", paragraph)
        inline = [found[1] for found in re.finditer(r"`([^`]+)`", joined)]
        lines = [line for line in joined.splitlines() if line.startswith(("    ", "\t")) or "`" not in line]
        for text in (*inline, *lines):
            if (found := _PROGRAM.search(text)) is None:
                continue
            rest = re.split(r"[|>;,()]|&&| #|\s…", text[found.end() :].replace("'", '"'))[0]
            program = found[1] or found[2]
            dotted = "." if text[found.end() - 1] == "." else ""
            yield Cited((program + dotted, *shlex.split(rest.replace('"', ""))), paragraph)


@cache
def flags_of(*command: str) -> frozenset[str] | None:
    """The options that a command has today; None where there is no such command."""
    program, name, *_ = (*command, "")
    if program in MODULES:
        if name not in MODULES[program]:
            return None
        import contextlib
        import io

        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
            module = import_module(MODULES[program][name])
            words = [*command[2:], "--help"]
            several = getattr(module, "COMMANDS", None)
            run_one_of(several, words) if several else run_with(module.run, words)
        return frozenset(re.findall(r"--[a-z][a-z0-9-]*", told.getvalue()))
    group: Any = typer.main.get_command(app).commands[program]  # type: ignore[attr-defined]
    if name:
        group = group.commands.get(name)
    if group is None:
        return None
    context = typer.Context(group)
    return frozenset(flag for option in group.get_params(context) for flag in option.opts)


def objection(command: Cited) -> str | None:
    """What is wrong with a command today, or None."""
    program, *words = command.words
    if program.endswith("."):
        return f"python -m {program}{words[0]} is no way to start a command"
    named = [word for word in words[:1] if re.fullmatch(r"[a-z_]+", word)]
    if not named and words and not words[0].startswith("--"):
        return None
    if program in ("train", "tokenise"):
        named = []
    if named in (["mistakes"], ["sessions"]) and words[1:]:
        named = words[:2]
    known = flags_of(program, *named)
    if known is None:
        return f"there is no {program} {' '.join(named)}"
    given = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
    unknown = given - known - {"--help"}
    return f"{program} {' '.join(named)} has no {', '.join(sorted(unknown))}" if unknown else None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_cited_command_runs_today_or_is_dated(path: Path) -> None:
    wrong = {}
    for command in cited(path):
        if (why := objection(command)) and not command.is_dated:
            wrong[" ".join(command.words)] = why
    assert wrong == {}


def test_commands_are_found_and_judged(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Run `python -m benchmarks speed --rounds 2`, then:\n\n"
        "    python -m training run smol \\\n        --dance 3\n    reviser bench dance --each 2\n\n"
        "Once it was `python -m benchmarks.sureness --limit 2` at 4a8a061, or `reviser bench speed --gone`.\n"
    )
    found = list(cited(page))
    assert [objection(one) for one in found] == [
        None,
        "training run has no --dance",
        "there is no bench dance",
        "python -m benchmarks.sureness is no way to start a command",
        "bench speed has no --gone",
    ]
    assert [one.is_dated for one in found] == [False, False, False, True, True]


def test_documents_cite_many_commands() -> None:
    assert sum(1 for path in DOCUMENTS for _ in cited(path)) > 60


@pytest.mark.parametrize("package", MODULES)
def test_an_unknown_name_is_said_in_a_sentence(package: str) -> None:
    command = [sys.executable, "-m", package]
    unknown = subprocess.run([*command, "dance"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("reviser: there is no ")
    assert unknown.stderr.count("\n") == 1
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert all(f"  {name} " in helped.stdout for name in MODULES[package])
