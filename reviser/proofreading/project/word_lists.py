"""Word lists of other programs: those of cspell, Vale, Hunspell, codespell and Harper are read where a project has
them.

What cannot be read is reported in one sentence and left out. An entry that is no word, such as a regular expression of
Vale that stands for many, is left out as well.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from configparser import ConfigParser
from configparser import Error as ConfigError
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any, Final

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8

LARGEST_FILE: Final = 1 << 20
"""The bytes of a file from which on it is not read."""

_CSPELL: Final = re.compile(r"\.?cspell(?:\.config)?\.(?:json|jsonc|yaml|yml)")
_CSPELL_KEYS: Final = ("words", "ignoreWords", "userWords")
_VALE: Final = re.compile(r"(?:config/vocabularies|Vocab)/[^/]+/accept\.txt\Z")
_PLAIN_LISTS: Final = frozenset(
    (".harper-dictionary.txt", ".spelling", ".wordlist.txt", "wordlist.txt", "spelling_wordlist.txt", ".dictionary.txt")
)
_CODESPELL: Final = frozenset((".codespellrc", "setup.cfg", "pyproject.toml"))
# A comment of JSON, or a text, which is left as it is; commas before a bracket.
_JSON_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r",(?=\s*[\]}])")
_YAML_KEY = re.compile(r"(\s*)(?:- )?([\w-]+):\s*(.*)")
_YAML_ITEM = re.compile(r"\s*- +(.*)")
_CLASS = re.compile(r"\[([^\]\\^-]+)\]|(\w)\?|([\w'’. &+-])")
# Words that an entry of Vale may stand for, at the most.
_MOST_READINGS: Final = 16


def unreported(sentence: str) -> None:
    """A report that is dropped."""


def listed_words(folder: Path, names: Iterable[str], report: Callable[[str], object] = unreported) -> Iterator[str]:
    """The words of all lists among a project's files, whose `names` are relative to its folder."""
    for name in names:
        path = PurePosixPath(name)
        read = _reader(path)
        if read is None:
            continue
        try:
            yield from read(folder / name)
        except (ReviserError, OSError, ValueError, ConfigError, RecursionError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            report(f"the words of {folder / name} are not read: {reason}")


def _reader(path: PurePosixPath) -> Callable[[Path], Iterable[str]] | None:
    """The function that reads a list with this name; None if the name is not that of a list."""
    readers: list[tuple[object, Callable[[Path], Iterable[str]]]] = [
        (_CSPELL.fullmatch(path.name), _cspell),
        (path.name == "settings.json" and path.parent.name == ".vscode", _vscode),
        (_VALE.search(str(path)), _vale),
        (path.suffix == ".dic", _hunspell),
        (path.name in _PLAIN_LISTS, _lines),
        (path.name in _CODESPELL, _codespell),
    ]
    return next((read for fits, read in readers if fits), None)


def _text(path: Path) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise ReviserError(f"it has more than {LARGEST_FILE >> 20} MiB")
    return read_utf8(path)


def _lines(path: Path) -> list[str]:
    """The lines of a list with a word on each, without comments."""
    lines = (line.strip() for line in _text(path).splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _cspell(path: Path) -> Iterator[str]:
    """The words of a configuration of cspell, and of the dictionaries that it defines in its folder."""
    text = _text(path)
    if path.suffix in (".yaml", ".yml"):
        yield from _yaml_items(text, _CSPELL_KEYS)
        files = list(_yaml_items(text, ("path",)))
    else:
        settings = _json(text)
        for key in _CSPELL_KEYS:
            yield from _texts(settings.get(key))
        defined = settings.get("dictionaryDefinitions")
        files = [one.get("path", "") for one in defined if isinstance(one, dict)] if isinstance(defined, list) else []
    for file in files:
        place = (path.parent / str(file)).resolve()
        # A list of another place is not this project's.
        if place.suffix == ".txt" and place.is_relative_to(path.parent.resolve()) and place.is_file():
            yield from (word for line in _lines(place) for word in line.split())


def _vscode(path: Path) -> Iterator[str]:
    """The words that the extension of cspell keeps in the settings of VS Code."""
    settings = _json(_text(path))
    for key in _CSPELL_KEYS:
        yield from _texts(settings.get(f"cSpell.{key}"))


def _codespell(path: Path) -> Iterator[str]:
    """The words that codespell is told to ignore, in its configuration and in the files that this names."""
    if path.suffix == ".toml":
        tables = tomllib.loads(_text(path)).get("tool", {})
        table = tables.get("codespell", {}) if isinstance(tables, dict) else {}
    else:
        parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        parser.read_string(_text(path))
        table = dict(parser["codespell"]) if parser.has_section("codespell") else {}
    for key, value in table.items():
        values = value if isinstance(value, list) else str(value or "").replace("\n", ",").split(",")
        some = [str(one).strip() for one in values if str(one).strip()]
        if key.replace("_", "-") == "ignore-words-list":
            yield from some
        elif key.replace("_", "-") == "ignore-words":
            yield from (word for file in some if (path.parent / file).is_file() for word in _lines(path.parent / file))


def _hunspell(path: Path) -> list[str]:
    """The words of a dictionary of Hunspell, without their flags and its first line, a number."""
    return [line.split("/")[0].split("\t")[0] for line in _lines(path) if not line.isdigit()]


def _vale(path: Path) -> list[str]:
    return [word for line in _lines(path) for word in _vale_words(line)]


def _vale_words(entry: str) -> list[str]:
    """The words that an entry of Vale stands for: letters, classes of letters, and letters that may lack."""
    entry = entry.removeprefix("(?i)")
    parts = [*_CLASS.finditer(entry)]
    if "".join(part[0] for part in parts) != entry:
        return []
    choices = [[*part[1]] if part[1] else [part[2], ""] if part[2] else [part[3]] for part in parts]
    count = 1
    for choice in choices:
        count *= len(choice)
    return ["".join(word) for word in product(*choices)] if count <= _MOST_READINGS else []


def _json(text: str) -> dict[str, Any]:
    """An object in JSON with comments; raises `ValueError` for anything else."""
    plain = _LAST_COMMA.sub("", _JSON_COMMENT.sub(lambda found: found[1] or "", text))
    found = json.loads(plain)
    if not isinstance(found, dict):
        raise ReviserError("it is no object of JSON")
    return found


def _texts(value: object) -> Iterator[str]:
    return (one for one in value if isinstance(one, str)) if isinstance(value, list) else iter(())


def _yaml_items(text: str, keys: tuple[str, ...]) -> Iterator[str]:
    """The items of the lists under some keys of a file in YAML, or their single values."""
    key = ""
    for whole in text.splitlines():
        line = re.sub(r"(?:\A|\s)#.*", "", whole).rstrip()
        if found := _YAML_KEY.fullmatch(line):
            key, value = found[2], found[3]
            if key in keys and value:
                yield from (_unquoted(one) for one in value.strip("[]").split(","))
        elif key in keys and (found := _YAML_ITEM.fullmatch(line)):
            yield _unquoted(found[1])


def _unquoted(text: str) -> str:
    return text.strip().strip("\"'")
