"""Commands of `reviser` whose options are dataclasses of other packages, which are loaded when a command is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import typer
from typer.core import TyperCommand

from reviser.cli.arguments import apart, as_function, flags_together
from reviser.cli.extras import load_extra
from reviser.cli.options import made

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

        def take(context: Any, given: dict[str, Any]) -> int | None:
            return self.run(made(options, given, context.meta[_WORDS]))

        app = typer.Typer(add_completion=False)
        app.command()(as_function(options, take))
        return typer.main.get_command(app)

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = self._loaded.get_params(ctx)
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        together = flags_together(self._options)
        rest: list[str] = super().parse_args(ctx, list(apart(args, together)))
        return rest

    def invoke(self, ctx: Any) -> Any:
        if status := self._loaded.invoke(ctx):
            raise typer.Exit(status)
