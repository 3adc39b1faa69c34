"""Commands of `reviser` whose options are dataclasses of other packages, which are loaded when a command is used."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from reviser.cli.extras import load_extra
from reviser.cli.options import Entry, entries, made

_WORDS = "reviser.words"


def command_with(
    app: typer.Typer, module: str, *, options: str, extra: str
) -> Callable[[Callable[[Any], int | None]], Callable[[Any], int | None]]:
    """Make a function a command of `app`; it takes the options that a class of `module` describes.

    The module is loaded when the command is used; `extra` is what to install where that fails.
    """

    def register(function: Callable[[Any], int | None]) -> Callable[[Any], int | None]:
        class Command(_Deferred):
            described = (module, options, extra)
            run = staticmethod(function)

        def shown() -> None:
            """Typer reads the help of the command from this, and no options."""

        shown.__doc__ = function.__doc__
        app.command(function.__name__, cls=Command)(shown)
        return function

    return register


class _Deferred(TyperCommand):
    """A command that knows its help from the start, and its options only when it is used."""

    described: tuple[str, str, str]
    run: Callable[[Any], int | None]

    @cached_property
    def _options(self) -> type:
        module, name, extra = self.described
        found: type = getattr(load_extra(module, extra), name)
        return found

    @cached_property
    def _loaded(self) -> Any:
        """The same command as Typer makes it from a function with an argument for each option."""
        options = self._options

        def call(context: typer.Context, **values: Any) -> int | None:
            given = {
                entry.name: _plain(values[entry.name], entry)
                for entry in entries(options)
                if _given(values[entry.name])
            }
            return self.run(made(options, given, context.meta[_WORDS]))

        parameters = [_parameter(entry) for entry in entries(options)]
        # Typer passes the context to the argument of this type.
        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        every = [context, *parameters]
        call.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in every}
        app = typer.Typer(add_completion=False)
        app.command()(call)
        return typer.main.get_command(app)

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = self._loaded.get_params(ctx)
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        together = {entry.flag for entry in entries(self._options) if entry.option.together}
        rest: list[str] = super().parse_args(ctx, list(_apart(args, together)))
        return rest

    def invoke(self, ctx: Any) -> Any:
        if status := self._loaded.invoke(ctx):
            raise typer.Exit(status)


def _apart(words: Sequence[str], together: set[str]) -> Iterator[str]:
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
        entry.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )
