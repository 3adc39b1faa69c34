"""The options of a command as a dataclass, from which argparse and Typer make the same command line.

A field is an option, or with `Argument` a word by its place. What it means stands beside its type:

    @dataclass(frozen=True, kw_only=True)
    class Options:
        texts: Annotated[Path, Argument("texts to read")]
        limit: Annotated[int | None, Option("texts to take")] = None

A field may also be another dataclass (`Group`): each of its fields is then an option of the command. A command is a
function of such a dataclass. `run_with` reads its words with argparse, for `python -m training` and `python -m
benchmarks`, which also run where Typer is not installed; `with_fields` and `add_deferred` make commands of Typer. Both
are imported only where they are used.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from reviser.cli.entry import complain
from reviser.core.errors import ReviserError

_Made = TypeVar("_Made")
_WORDS = "reviser.words"


@dataclass(frozen=True)
class Option:
    """The meaning of an option, and the values it takes."""

    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    metavar: str | None = None
    default: str | None = None
    """The default as --help shows it, if that is not a value."""
    together: bool = False
    """Several values may follow the option at once: `--seeds 1 2 3`."""
    flags: tuple[str, ...] = ()
    """The names of the option, if that is not `--` and the field's name."""
    complete: Callable[[str], Any] | None = None
    """The function with which a shell completes a value."""


class Argument(Option):
    """A positional argument."""


@dataclass(frozen=True)
class Group:
    """A field whose dataclass gives one option per field; a mapping holds only the options that were given, to
    change a preset by."""

    of: type
    without: Collection[str] = ()


class _Words:
    """Marks the field that stores the words of the command as given, for records."""


Words = Annotated[tuple[str, ...], _Words()]


@dataclass(frozen=True)
class Entry:
    """One option of a command line."""

    name: str
    option: Option
    kind: type
    several: bool
    required: bool
    default: Any

    @property
    def placed(self) -> bool:
        return isinstance(self.option, Argument)

    @property
    def turns_off(self) -> bool:
        """Whether the option switches something off that is on by default."""
        return self.kind is bool and self.default is True and not self.option.flags

    @property
    def flags(self) -> tuple[str, ...]:
        words = self.name.replace("_", "-")
        return self.option.flags or (f"--no-{words}" if self.turns_off else f"--{words}",)

    @property
    def shown_default(self) -> str:
        """The default as --help shows it; empty if none is shown."""
        if self.option.default is not None:
            return self.option.default
        values = self.default if isinstance(self.default, tuple) else (self.default,)
        if self.required or self.kind is bool or values in ((None,), ("",)):
            return ""
        return " ".join(map(str, values))


def entries(options: type) -> tuple[Entry, ...]:
    """The options that a dataclass describes, in the order of its fields."""
    return tuple(_described(options))


def _described(options: type) -> Iterator[Entry]:
    for one, hint, mark in _fields(options):
        if isinstance(mark, Option):
            yield _entry(one, hint, mark)
        elif isinstance(mark, Group):
            # The preset that a mapping changes has the defaults.
            preset = get_origin(hint) is not None
            for inner, inner_hint, said in _fields(mark.of):
                if inner.name not in mark.without:
                    meaning = said if isinstance(said, Option) else Option()
                    if preset:
                        meaning = dataclasses.replace(meaning, metavar="X", default="")
                    yield dataclasses.replace(_entry(inner, inner_hint, meaning), required=False)


def _entry(one: dataclasses.Field[Any], hint: Any, option: Option) -> Entry:
    kind, several = _kind(hint)
    required, default = _default(one)
    return Entry(one.name, option, kind, several, required, default)


def made(options: type[_Made], given: Mapping[str, Any], words: Sequence[str] = ()) -> _Made:
    """An instance of the options from given values, by name; `words` are the words of the command."""
    values: dict[str, Any] = {}
    for one, hint, mark in _fields(options):
        if isinstance(mark, _Words):
            values[one.name] = tuple(words)
        elif isinstance(mark, Group):
            names = {inner.name for inner in dataclasses.fields(mark.of)} - set(mark.without)
            chosen = {name: given[name] for name in names & given.keys()}
            values[one.name] = chosen if get_origin(hint) is not None else mark.of(**chosen)
        elif one.name in given:
            value = given[one.name]
            values[one.name] = tuple(value) if isinstance(mark, Option) and isinstance(value, list) else value
    return options(**values)


def _fields(options: type) -> Iterator[tuple[dataclasses.Field[Any], Any, Any]]:
    """Each field of a dataclass, its type, and its annotation (an `Option`, `Argument` or `Group`)."""
    hints = get_type_hints(options, include_extras=True)
    for one in dataclasses.fields(options):
        hint = hints[one.name]
        if get_origin(hint) is Annotated:
            bare, *marks = get_args(hint)
            yield one, bare, marks[0]
        else:
            yield one, hint, None


def _kind(hint: Any) -> tuple[type, bool]:
    """The type of a value, and whether there may be several values."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    if get_origin(hint) is tuple and Ellipsis in get_args(hint):
        return _kind(get_args(hint)[0])[0], True
    if get_origin(hint) is Literal:
        return str, False
    return hint, False


def _default(one: dataclasses.Field[Any]) -> tuple[bool, Any]:
    if one.default is not dataclasses.MISSING:
        return False, one.default
    if one.default_factory is not dataclasses.MISSING:
        return False, one.default_factory()
    return True, None


def options_of(run: Callable[[Any], Any]) -> type:
    """The dataclass that a command takes as its argument."""
    (parameter,) = inspect.signature(run, eval_str=True).parameters.values()
    options: type = parameter.annotation
    return options


# With argparse -------------------------------------------------------------------------------------

Run = Callable[[Any], int | None]


def run_by_name(package: str, commands: Mapping[str, tuple[str, str]]) -> int:
    """Run the command of `python -m PACKAGE NAME …`; only its module is imported.

    `commands` maps names to a module and a short description. The module has a function `run` that takes the options,
    or `COMMANDS`, which maps names to such a function and a description.
    """
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ("", "-h", "--help"):
        listed = "\n".join(f"  {known:<16} {what}" for known, (_, what) in commands.items())
        print(f"usage: python -m {package} NAME …\n{listed}", file=sys.stdout if name else sys.stderr)
        return 0 if name else 2
    if name not in commands:
        return complain(f"there is no command {name} (see python -m {package} --help)")
    module = import_module(f"{package}.{commands[name][0]}")
    prog, words = f"python -m {package} {name}", sys.argv[2:]
    several: Mapping[str, tuple[Run, str]] | None = getattr(module, "COMMANDS", None)
    return run_one_of(several, words, prog=prog) if several else run_with(module.run, words, prog=prog)


def run_with(run: Run, words: Sequence[str], *, prog: str = "command") -> int:
    """Run a command with the options given in `words`; returns its exit status."""
    try:
        return run(parsed(options_of(run), words, prog=prog, about=sys.modules[run.__module__].__doc__)) or 0
    except ReviserError as error:
        return complain(error)


def run_one_of(commands: Mapping[str, tuple[Run, str]], words: Sequence[str], *, prog: str = "command") -> int:
    """Run the command that the first of `words` names, with the rest as its options."""
    parser = _parser(prog, None)
    choices = parser.add_subparsers(dest="command", required=True)
    for name, (run, help) in commands.items():
        _add_options(choices.add_parser(name, help=help), options_of(run))
    found = vars(parser.parse_args(words))
    run = commands[found["command"]][0]
    try:
        return run(made(options_of(run), found, words)) or 0
    except ReviserError as error:
        return complain(error)


def parsed(options: type[_Made], words: Sequence[str], *, prog: str = "command", about: str | None = None) -> _Made:
    """The options given in `words`."""
    parser = _parser(prog, about)
    _add_options(parser, options)
    several = any(entry.placed and entry.several for entry in entries(options))
    found = parser.parse_intermixed_args(words) if several else parser.parse_args(words)
    return made(options, vars(found), words)


def _parser(prog: str, about: str | None) -> Any:
    """A parser that reports an error in one sentence."""
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            sys.exit(complain(f"{message} (see {self.prog} --help)"))

    return Parser(prog=prog, description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def _add_options(parser: Any, options: type) -> None:
    """Add the options of a dataclass to a parser, which then returns only those that were given."""
    from argparse import SUPPRESS

    for entry in entries(options):
        default = entry.shown_default
        told = " ".join(filter(None, (entry.option.help, f"({default})" if default else "")))
        said: dict[str, Any] = {"help": told.replace("%", "%%")}
        if entry.kind is bool:
            said["action"] = "store_false" if entry.turns_off else "store_true"
        else:
            said |= {"type": _reader(entry), "metavar": entry.option.metavar}
            if entry.option.choices:
                said["choices"] = [entry.kind(choice) for choice in entry.option.choices]
        if entry.placed:
            if not entry.required:
                said["default"] = entry.default
            if entry.several:
                said["nargs"] = "+" if entry.required else "*"
            elif not entry.required:
                said["nargs"] = "?"
            parser.add_argument(entry.name, **said)
            continue
        if entry.several:
            said |= {"action": "extend", "nargs": "+"} if entry.option.together else {"action": "append"}
        parser.add_argument(*entry.flags, dest=entry.name, required=entry.required, default=SUPPRESS, **said)


def _reader(entry: Entry) -> Callable[[str], Any]:
    least = entry.option.least
    if least is None:
        return entry.kind

    def read(word: str) -> Any:
        from argparse import ArgumentTypeError

        value = entry.kind(word)
        if value < least:
            raise ArgumentTypeError(f"{word} is less than {least:g}")
        return value

    read.__name__ = entry.kind.__name__
    return read


# With Typer ----------------------------------------------------------------------------------------


def with_fields(function: Callable[[Any], int | None], options: type | None = None) -> Callable[..., int | None]:
    """A function whose parameters are the fields of the dataclass that `function` takes, for Typer.

    That of a group of commands is called only if none of them was named.
    """
    import typer

    chosen = options or options_of(function)

    def call(context: typer.Context, **values: Any) -> int | None:
        if context.invoked_subcommand is not None:
            return None
        given = {name: _plain(values[name], entry) for name, entry in known.items() if _is_given(values[name], entry)}
        return function(made(chosen, given, context.meta.get(_WORDS, ())))

    known = {entry.name: entry for entry in entries(chosen)}
    # Typer passes the context to the argument of this type.
    parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    # Options of this command alone come first in its help.
    own = [name for name in chosen.__annotations__ if name in known]
    parameters += [_parameter(known[name]) for name in dict.fromkeys([*own, *known])]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


def _is_given(value: Any, entry: Entry) -> bool:
    return value is not None and value != [] and (value is not False or any("/" in flag for flag in entry.flags))


def _plain(value: Any, entry: Entry) -> Any:
    """A value converted from Typer's type to the dataclass's."""
    if isinstance(value, list):
        return [_plain(one, entry) for one in value]
    if isinstance(value, Enum):
        return entry.kind(value.value)
    return value is not entry.turns_off if entry.kind is bool else value


def _parameter(entry: Entry) -> inspect.Parameter:
    """An option or positional argument as a function parameter with Typer's annotations."""
    import typer

    option, kind = entry.option, entry.kind
    # Help as `reviser` writes it: a sentence, unless it begins with a value.
    capital = option.help[:1].upper() if option.help.partition(" ")[0].isalpha() else option.help[:1]
    said: dict[str, Any] = {"help": f"{capital}{option.help[1:]}." if option.help else None}
    if kind is not bool:
        said["metavar"] = option.metavar or (entry.name.upper() if entry.placed else None)
        said["show_default"] = option.default or bool(entry.shown_default)
    if kind in (int, float):
        said |= {"min": option.least, "max": option.most}
    if option.complete:
        said["autocompletion"] = option.complete
    shown: Any = kind
    if option.choices:
        choices: Any = Enum
        shown = choices(entry.name, {choice: choice for choice in option.choices})
    default: Any = inspect.Parameter.empty
    if kind is bool:
        default = bool(entry.default) and not entry.turns_off
    elif not entry.required:
        default = entry.default if entry.shown_default and not option.default else None
    if option.choices and isinstance(default, int | float | str):
        default = shown(str(default))
    if entry.several:
        shown = list[shown]
    if default is None:
        shown = shown | None
    elif isinstance(default, tuple):
        default = list(default)
    info = typer.Argument(**said) if entry.placed else typer.Option(*entry.flags, **said)
    return inspect.Parameter(
        entry.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[shown, info]
    )


def add_deferred(app: Any, name: str, module: str, *, extra: str, help: str) -> None:
    """Add a command whose function `run` is in a module beside the engine.

    The module is imported when the command is used; `extra` is named in the error if that fails.
    """
    import typer
    from typer.core import TyperCommand

    from reviser.cli.extras import load_extra

    class Deferred(TyperCommand):
        """A command whose help text is known from the start, and whose options are loaded on use."""

        @cached_property
        def _options(self) -> type:
            return options_of(load_extra(module, extra).run)

        @cached_property
        def _loaded(self) -> Any:
            inner = typer.Typer(add_completion=False)
            inner.command()(with_fields(load_extra(module, extra).run, self._options))
            return typer.main.get_command(inner)

        def get_params(self, ctx: Any) -> list[Any]:
            found: list[Any] = self._loaded.get_params(ctx)
            return found

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            ctx.meta[_WORDS] = list(args)
            together = {flag for entry in entries(self._options) if entry.option.together for flag in entry.flags}
            rest: list[str] = super().parse_args(ctx, list(_apart(args, together)))
            return rest

        def invoke(self, ctx: Any) -> Any:
            if status := self._loaded.invoke(ctx):
                raise typer.Exit(status)

    def shown() -> None:
        """The function from which Typer takes the command's name; it has no options."""

    app.command(name, cls=Deferred, help=help)(shown)


def _apart(words: Sequence[str], together: set[str]) -> Iterator[str]:
    """The words with `--seeds 1 2` written as `--seeds 1 --seeds 2`, which Typer understands."""
    flag = before = ""
    for word in words:
        if word.startswith("-"):
            flag = word if word in together else ""
        elif flag and before != flag:
            yield flag
        yield word
        before = word
