"""The options of a command as a dataclass, from which argparse and Typer make the same command line.

A field is an option, or with `Argument` a word by its place. What it means stands beside its type:

    @dataclass(frozen=True, kw_only=True)
    class Options:
        texts: Annotated[Path, Argument("texts to read")]
        limit: Annotated[int | None, Option("texts to take")] = None

A field may also be another dataclass (`Group`): each of its fields is then an option of the command.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from reviser.cli.declared import for_typer

_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Option:
    """What an option means, and which values it takes."""

    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    metavar: str | None = None
    default: str | None = None
    """What --help calls the default, where that is not a value."""
    together: bool = False
    """Several values may follow the option at once: `--seeds 1 2 3`."""


class Argument(Option):
    """A word that is known by its place among the words of the command."""


@dataclass(frozen=True)
class Group:
    """Each field of a dataclass as an option; a mapping has those that were given, for a preset to be changed by."""

    of: type
    help: Mapping[str, str] = field(default_factory=dict)
    without: Collection[str] = ()


class _Words:
    """Marks the field that keeps the words of the command as they were given, for records."""


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
        """Whether the option says no to what is otherwise done."""
        return self.kind is bool and self.default is True

    @property
    def flag(self) -> str:
        words = self.name.replace("_", "-")
        return f"--no-{words}" if self.turns_off else f"--{words}"

    @property
    def shown_default(self) -> str:
        """The default as --help shows it; nothing where it says nothing."""
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
            kind, several = _kind(hint)
            required, default = _default(one)
            yield Entry(one.name, mark, kind, several, required, default)
        elif isinstance(mark, Group):
            # The preset that a mapping changes has the defaults.
            preset = get_origin(hint) is not None
            for inner, inner_hint, _ in _fields(mark.of):
                if inner.name not in mark.without:
                    kind, several = _kind(inner_hint)
                    default = _default(inner)[1]
                    meaning = Option(
                        mark.help.get(inner.name, ""), metavar="X" if preset else None, default="" if preset else None
                    )
                    yield Entry(inner.name, meaning, kind, several, False, default)


def made(options: type[_Made], given: Mapping[str, Any], words: Sequence[str] = ()) -> _Made:
    """The options from the values that were given, by name; `words` are those of the command."""
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
            values[one.name] = tuple(value) if isinstance(value, list) else value
    return options(**values)


def with_fields(function: Callable[[Any], None]) -> Callable[..., None]:
    """A function of a dataclass as one of its fields, from whose annotations Typer makes a command."""
    (parameter,) = inspect.signature(function, eval_str=True).parameters.values()
    options = parameter.annotation
    found = get_type_hints(options, include_extras=True)
    hints = {name: for_typer(hint) for name, hint in found.items()}
    own = [one for one in dataclasses.fields(options) if one.name in options.__annotations__]
    inherited = [one for one in dataclasses.fields(options) if one not in own]

    def call(**values: Any) -> None:
        function(options(**values))

    # What only this command has comes first in its help.
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if _default(one)[0] else _default(one)[1],
                annotation=hints[one.name],
            )
            for one in (*own, *inherited)
        ]
    )
    call.__annotations__ = hints
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


def words_of(options: object) -> tuple[str, ...]:
    """The words of a command line that name these options, for the record of what was called by none."""
    chosen: dict[str, Any] = {}
    for one, _, mark in _fields(type(options)):
        value = getattr(options, one.name)
        if isinstance(mark, Group):
            chosen |= value if isinstance(value, Mapping) else _changed(value)
        elif isinstance(mark, Option) and value != _default(one)[1]:
            chosen[one.name] = value
    words: list[str] = []
    for entry in entries(type(options)):
        if entry.name in chosen:
            value = chosen[entry.name]
            values = [str(one) for one in value] if entry.several else [str(value)]
            if entry.placed:
                words += values
            elif entry.kind is bool:
                words.append(entry.flag)
            elif entry.option.together:
                words += [entry.flag, *values]
            else:
                words += [word for one in values for word in (entry.flag, one)]
    return tuple(words)


def _changed(held: Any) -> dict[str, Any]:
    """The fields of a dataclass that differ from their defaults."""
    every = dataclasses.fields(held)
    return {one.name: getattr(held, one.name) for one in every if getattr(held, one.name) != one.default}


def _fields(options: type) -> Iterator[tuple[dataclasses.Field[Any], Any, Any]]:
    """Each field of a dataclass, its type, and what is said beside it."""
    hints = get_type_hints(options, include_extras=True)
    for one in dataclasses.fields(options):
        hint = hints[one.name]
        if get_origin(hint) is Annotated:
            bare, *marks = get_args(hint)
            yield one, bare, marks[0]
        else:
            yield one, hint, None


def _kind(hint: Any) -> tuple[type, bool]:
    """The type of a value, and whether there may be several."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    if get_origin(hint) is tuple:
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
