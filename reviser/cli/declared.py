"""Declarations of options and arguments that do not import Typer: importing it takes a tenth of a command's start.

A command that can be read without Typer (see `reviser.cli.quick`) declares its options here. `for_typer` turns a type
with such a declaration into one that Typer reads.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

_Result = TypeVar("_Result")


class Declared:
    """What `typer.Option` or `typer.Argument` will be called with."""

    def __init__(self, kind: Literal["Option", "Argument"], flags: tuple[str, ...], settings: dict[str, Any]) -> None:
        self.kind = kind
        self.flags = flags
        self.settings = settings

    @property
    def least(self) -> float | None:
        found: float | None = self.settings.get("min")
        return found

    @property
    def most(self) -> float | None:
        found: float | None = self.settings.get("max")
        return found


def option(*flags: str, **settings: Any) -> Declared:
    return Declared("Option", flags, settings)


def argument(**settings: Any) -> Declared:
    return Declared("Argument", (), settings)


def for_typer(hint: Any) -> Any:
    """The same type with what Typer itself makes of its declaration; any other type as it is."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *marks = get_args(hint)
    return Annotated[(kind, *map(_by_typer, marks))]


def _by_typer(mark: Any) -> Any:
    if not isinstance(mark, Declared):
        return mark
    import typer

    make = getattr(typer, mark.kind)
    return make(*mark.flags, **mark.settings)


def readable_by_typer(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """A function some of whose arguments are declared here, as one from which Typer makes a command."""
    hints = {name: for_typer(hint) for name, hint in get_type_hints(function, include_extras=True).items()}

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> _Result:
        return function(*given, **named)

    signature = inspect.signature(function)
    parameters = [one.replace(annotation=hints[one.name]) for one in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = hints
    return call
