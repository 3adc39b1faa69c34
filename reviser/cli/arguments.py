"""Command lines of options that a dataclass describes (`reviser.cli.options`), read by Typer.

`run_with` is for the commands of `python -m training` and `python -m benchmarks`. Typer is imported only when words are read.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from reviser.cli.entry import complain
from reviser.cli.options import Entry, entries, made
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    import typer

_Made = TypeVar("_Made")
_HELP = {"help_option_names": ["-h", "--help"]}


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


def parsed(
    options: type[_Made], words: Sequence[str] | None, *, prog: str, about: str | None
) -> _Made:
    """The options that the words of a command name, by default those of this process."""
    app = _app(about)
    found: _Made = _read(app, {"": _added(app, None, options, about)}, words, prog)
    return found


def parsed_command(
    commands: Mapping[str, tuple[type, str]],
    words: Sequence[str] | None,
    *,
    prog: str,
    about: str | None,
) -> Any:
    """The options of one of several commands, each with a sentence on what it does."""
    app = _app(about)
    readers = {
        name: _added(app, name, options, _sentence(help))
        for name, (options, help) in commands.items()
    }
    return _read(app, readers, words, prog)


def _app(about: str | None) -> typer.Typer:
    import typer

    # Help is plain text here: brackets in it are no markup.
    return typer.Typer(
        help=_kept_lines(about), add_completion=False, rich_markup_mode=None, context_settings=_HELP
    )


def _added(app: typer.Typer, name: str | None, options: type, about: str | None) -> _Reader:
    reader = _Reader(options)
    app.command(name, help=_kept_lines(about), context_settings=_HELP)(
        as_function(options, reader.take)
    )
    return reader


def _kept_lines(about: str | None) -> str | None:
    """Help whose indented paragraphs are shown line by line: they are commands."""
    if about is None:
        return None
    paragraphs = about.split("\n\n")
    return "\n\n".join(f"\b\n{one}" if one.startswith(" ") else one for one in paragraphs)


class _Reader:
    """Keeps the values that Typer has read from the words of a command."""

    def __init__(self, options: type) -> None:
        self.options = options
        self.values: dict[str, Any] | None = None

    def take(self, context: Any, values: dict[str, Any]) -> None:
        self.values = values


def _read(
    app: typer.Typer, readers: Mapping[str, _Reader], words: Sequence[str] | None, prog: str
) -> Any:
    """The options that the words name; ends the program where they ask for help, or mean nothing."""
    import typer

    given = list(sys.argv[1:] if words is None else words)
    several = [reader.options for reader in readers.values()]
    together = {flag for options in several for flag in flags_together(options)}
    usage_error: type[Any] = typer.BadParameter.__mro__[1]
    try:
        status = app(list(apart(given, together)), prog_name=prog, standalone_mode=False)
    except usage_error as error:
        sys.exit(complain_about_words(error, prog))
    for reader in readers.values():
        if reader.values is not None:
            return made(reader.options, reader.values, given)
    sys.exit(status)


def complain_about_words(error: Any, prog: str) -> int:
    """One sentence about words that a command does not understand, and where to read on."""
    said = " ".join(error.format_message().split()).rstrip(".")
    if said:
        place = error.ctx.command_path if error.ctx else prog
        complain(f"{said[0].lower()}{said[1:]} (see {place} --help)")
    return int(error.exit_code)


def as_function(
    options: type, take: Callable[[Any, dict[str, Any]], int | None]
) -> Callable[..., int | None]:
    """A function with an argument for each option, from which Typer makes a command.

    `take` gets Typer's context and the values that were given, by name.
    """
    import typer

    def call(context: typer.Context, **values: Any) -> int | None:
        return take(
            context,
            {
                entry.name: _plain(values[entry.name], entry)
                for entry in entries(options)
                if _given(values[entry.name])
            },
        )

    # Typer passes the context to the argument of this type.
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    every = [context, *map(_parameter, entries(options))]
    call.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in every}
    return call


def flags_together(options: type) -> set[str]:
    """The options that several values may follow at once."""
    return {entry.flag for entry in entries(options) if entry.option.together}


def apart(words: Sequence[str], together: set[str]) -> Iterator[str]:
    """`--seeds 1 2` as `--seeds 1 --seeds 2`, which Typer understands."""
    flag = ""
    before = ""
    for word in words:
        if word.startswith("-"):
            flag = word if word in together else ""
        elif flag and before != flag:
            yield flag
        yield word
        before = word


def _given(value: Any) -> bool:
    return value is not None and value is not False and value != []


def _plain(value: Any, entry: Entry) -> Any:
    """A value as the dataclass has it."""
    if isinstance(value, list):
        return [_plain(one, entry) for one in value]
    if isinstance(value, Enum):
        return entry.kind(value.value)
    return not entry.turns_off if entry.kind is bool else value


def _sentence(help: str) -> str:
    """Help as `reviser` writes it: a sentence, unless it begins with a value."""
    first = help.partition(" ")[0]
    return f"{help[:1].upper() if first.isalpha() else help[:1]}{help[1:]}." if help else ""


def _parameter(entry: Entry) -> inspect.Parameter:
    """An option, or a word by its place, as an argument of a function that Typer makes a command of."""
    import typer

    option = entry.option
    said: dict[str, Any] = {"help": _sentence(option.help) or None}
    if entry.kind is not bool:
        said["metavar"] = option.metavar or (entry.name.upper() if entry.placed else None)
        said["show_default"] = option.default or bool(entry.shown_default)
    if entry.kind in (int, float):
        said["min"] = option.least
    kind: Any = entry.kind
    if option.choices:
        choices: Any = Enum
        kind = choices(entry.name, {choice: choice for choice in option.choices})
    default: Any = inspect.Parameter.empty
    if entry.kind is bool:
        default = False
    elif not entry.required:
        default = entry.default if entry.shown_default and not option.default else None
    if option.choices and isinstance(default, int | float | str):
        default = kind(str(default))
    if entry.several:
        kind = list[kind]
    if default is None:
        kind = kind | None
    elif isinstance(default, tuple):
        default = list(default)
    info = typer.Argument(**said) if entry.placed else typer.Option(entry.flag, **said)
    return inspect.Parameter(
        entry.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )
