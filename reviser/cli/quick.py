"""A fast path for `continue` and `infill`: plain options are parsed here, because building the whole command line takes
as long as loading a model.

All other words, such as `--help`, are left to Typer.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from reviser.cli.options import Entry, entries, options_of

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


class NeedsFullParser(Exception):
    """An option that the fast path does not understand."""


def quick_command(words: Sequence[str]) -> Callable[[], int] | None:
    """The command given by some words, ready to run; None if Typer has to parse them."""
    if not words or words[0] not in COMMANDS or _COMPLETING in os.environ:
        return None
    _import_numpy()
    module = import_module("reviser.cli.commands.generate")
    function: Callable[[Any], None] = getattr(module, COMMANDS[words[0]])
    try:
        options = read_options(options_of(function), words[1:])
    except NeedsFullParser:
        return None

    def run() -> int:
        function(options)
        return 0

    return run


def _import_numpy() -> None:
    """Import numpy without its linear algebra threads: nothing here needs them, and idle ones use processor time."""
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ or "numpy" in sys.modules:
        return
    os.environ[name] = "1"
    try:
        import_module("numpy")
    finally:
        # Other libraries, such as torch, are to have theirs.
        del os.environ[name]


def _value(entry: Entry, word: str) -> Any:
    pattern = _PLAIN.get(entry.kind)
    if pattern is None or not pattern.fullmatch(word):
        raise NeedsFullParser
    value = entry.kind(word)
    least, most = entry.option.least, entry.option.most
    if (least is not None and value < least) or (most is not None and value > most):
        raise NeedsFullParser
    return value


def read_options(options: type, words: Sequence[str]) -> Any:
    """An options dataclass parsed from plain words; raises `NeedsFullParser` for any other."""
    known = entries(options)
    placed = [one for one in known if one.placed]
    by_flag = {flag: one for one in known if one not in placed for flag in one.flags}
    given: dict[str, object] = {}
    waiting = list(reversed(words))
    while waiting:
        flag, equals, value = waiting.pop().partition("=")
        if not flag.startswith("-") or flag == "-":
            if not placed:
                raise NeedsFullParser
            one = placed.pop()
            given[one.name] = _value(one, flag + equals + value)
            continue
        found = by_flag.get(flag)
        if found is None or found.name in given or (equals and not flag.startswith("--")):
            raise NeedsFullParser
        if found.kind is bool:
            if equals:
                raise NeedsFullParser
            given[found.name] = True
            continue
        if not equals:
            if not waiting:
                raise NeedsFullParser
            value = waiting.pop()
        given[found.name] = _value(found, value)
    try:
        return options(**given)
    except TypeError:
        # Something is missing.
        raise NeedsFullParser from None
