"""A fast path for `continue` and `infill`: their plain words are read here, because building the whole command line
takes as long as loading a model.

All other words, such as `--help`, are left to Typer.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from reviser.cli.declared import Declared

COMMANDS: Final = {"continue": "continue_", "infill": "infill"}
"""Functions of `reviser.cli.commands.generate`, by the names of their commands."""
_COMPLETING = "_REVISER_COMPLETE"

# What each kind of value plainly looks like; anything else is for Typer to judge.
_PLAIN: dict[type, re.Pattern[str]] = {
    int: re.compile(r"\d{1,18}", re.ASCII),
    float: re.compile(r"\d{1,9}(?:\.\d{1,18})?", re.ASCII),
    str: re.compile(r".+", re.DOTALL),
    Path: re.compile(r".+", re.DOTALL),
}


class NotPlain(Exception):
    """A word that this reading does not understand."""


def quick_command(words: Sequence[str]) -> Callable[[], int] | None:
    """The command that some words name, ready to run; None if it is to be found by Typer."""
    if not words or words[0] not in COMMANDS or _COMPLETING in os.environ:
        return None
    _import_numpy()
    module = import_module("reviser.cli.commands.generate")
    function: Callable[[Any], None] = getattr(module, COMMANDS[words[0]])
    (parameter,) = inspect.signature(function, eval_str=True).parameters.values()
    try:
        options = read_options(parameter.annotation, words[1:])
    except NotPlain:
        return None

    def run() -> int:
        function(options)
        return 0

    return run


def _import_numpy() -> None:
    """Import numpy without the threads of its linear algebra: nothing here needs them, and they wait by spinning."""
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ or "numpy" in sys.modules:
        return
    os.environ[name] = "1"
    try:
        import_module("numpy")
    finally:
        # Other libraries, such as torch, are to have theirs.
        del os.environ[name]


@dataclasses.dataclass(frozen=True)
class _Field:
    """An option of a command, or its one word by its place."""

    name: str
    kind: type
    info: Declared

    @property
    def flags(self) -> Sequence[str]:
        return self.info.flags or [f"--{self.name.replace('_', '-')}"]

    def value(self, word: str) -> Any:
        pattern = _PLAIN.get(self.kind)
        if pattern is None or not pattern.fullmatch(word):
            raise NotPlain
        value = self.kind(word)
        least, most = self.info.least, self.info.most
        if (least is not None and value < least) or (most is not None and value > most):
            raise NotPlain
        return value


def read_options(options: type, words: Sequence[str]) -> Any:
    """A dataclass of options from plain words."""
    fields = [*map(_field, *_hints(options))]
    placed = [one for one in fields if one.info.kind == "Argument"]
    by_flag = {flag: one for one in fields if one not in placed for flag in one.flags}
    given: dict[str, object] = {}
    waiting = list(reversed(words))
    while waiting:
        flag, equals, value = waiting.pop().partition("=")
        if not flag.startswith("-") or flag == "-":
            if not placed:
                raise NotPlain
            one = placed.pop()
            given[one.name] = one.value(flag + equals + value)
            continue
        found = by_flag.get(flag)
        if found is None or found.name in given or (equals and not flag.startswith("--")):
            raise NotPlain
        if found.kind is bool:
            if equals:
                raise NotPlain
            given[found.name] = True
            continue
        if not equals:
            if not waiting:
                raise NotPlain
            value = waiting.pop()
        given[found.name] = found.value(value)
    try:
        return options(**given)
    except TypeError:
        # Something is missing.
        raise NotPlain from None


def _hints(options: type) -> tuple[list[str], list[Any]]:
    hints = get_type_hints(options, include_extras=True)
    names = [one.name for one in dataclasses.fields(options)]
    return names, [hints[name] for name in names]


def _field(name: str, hint: Any) -> _Field:
    assert get_origin(hint) is Annotated
    kind, info = get_args(hint)
    if get_origin(kind) is UnionType:
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    return _Field(name, kind, info)
