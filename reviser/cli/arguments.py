"""The command line of a program that is not part of `reviser`, with the same manners.

It needs nothing but the standard library: training and benchmarks also run where Typer is not installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from reviser.cli.entry import complain
from reviser.cli.options import Entry, entries, made
from reviser.core.errors import ReviserError

_Made = TypeVar("_Made")


class Parser(argparse.ArgumentParser):
    """A parser that says in one sentence what it does not understand."""

    def error(self, message: str) -> NoReturn:
        sys.exit(complain(f"{message} (see {self.prog} --help)"))


def run_with(
    options: type[_Made],
    run: Callable[[_Made], int | None],
    words: Sequence[str] | None,
    *,
    prog: str,
    about: str | None,
) -> int:
    """Carry out a command with the options that its words name; returns its exit status."""
    try:
        return run(parsed(options, words, prog=prog, about=about)) or 0
    except ReviserError as error:
        return complain(error)


def parsed(options: type[_Made], words: Sequence[str] | None, *, prog: str, about: str | None) -> _Made:
    """The options that the words of a command name, by default those of this process."""
    parser = Parser(prog=prog, description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, options)
    given = list(sys.argv[1:] if words is None else words)
    if any(entry.placed and entry.several for entry in entries(options)):
        found = parser.parse_intermixed_args(given)
    else:
        found = parser.parse_args(given)
    return made(options, vars(found), given)


def parsed_command(
    commands: Mapping[str, tuple[type, str]], words: Sequence[str] | None, *, prog: str, about: str | None
) -> Any:
    """The options of one of several commands, each with a sentence on what it does."""
    parser = Parser(prog=prog, description=about)
    choices = parser.add_subparsers(dest="command", required=True)
    for name, (options, help) in commands.items():
        add_options(choices.add_parser(name, help=help), options)
    given = list(sys.argv[1:] if words is None else words)
    found = vars(parser.parse_args(given))
    return made(commands[found["command"]][0], found, given)


def add_options(parser: argparse.ArgumentParser, options: type) -> None:
    """Let a parser understand the options that a dataclass describes. It gives only those that were named."""
    for entry in entries(options):
        said: dict[str, Any] = {"help": _help(entry)}
        if entry.kind is bool:
            parser.add_argument(
                entry.flag,
                dest=entry.name,
                action="store_false" if entry.turns_off else "store_true",
                required=entry.required,
                default=argparse.SUPPRESS,
                **said,
            )
            continue
        said |= {"type": _reader(entry), "metavar": entry.option.metavar}
        if entry.option.choices:
            said["choices"] = [entry.kind(choice) for choice in entry.option.choices]
        if entry.placed:
            if entry.several:
                said |= {"nargs": "+" if entry.required else "*"}
            elif not entry.required:
                said["nargs"] = "?"
            if not entry.required:
                said["default"] = entry.default
            parser.add_argument(entry.name, **said)
            continue
        if entry.several:
            said["action"] = _Added
            if entry.option.together:
                said["nargs"] = "+"
        parser.add_argument(entry.flag, required=entry.required, default=argparse.SUPPRESS, **said)


def _help(entry: Entry) -> str:
    default = entry.shown_default
    words = (entry.option.help, f"({default})" if default else "")
    return " ".join(filter(None, words)).replace("%", "%%")


def _reader(entry: Entry) -> Callable[[str], Any]:
    least = entry.option.least
    if least is None:
        return entry.kind

    def read(word: str) -> Any:
        value = entry.kind(word)
        if value < least:
            raise argparse.ArgumentTypeError(f"{word} is less than {least:g}")
        return value

    read.__name__ = entry.kind.__name__
    return read


class _Added(argparse.Action):
    """A value, or several that follow an option at once, added to those that came before."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        added = values if isinstance(values, list) else [values]
        setattr(namespace, self.dest, (*getattr(namespace, self.dest, ()), *added))
