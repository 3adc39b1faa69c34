"""A project's settings for proofreading, from `[tool.reviser]` of its pyproject.toml or from `.reviser/config.toml`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from reviser.core.errors import ReviserError
from reviser.core.files import STREAM, read_utf8
from reviser.proofreading.suggestion import Kind

CONFIDENCE: Final = 0.5
"""The default confidence that a change must reach."""
OWN_FILE: Final = Path(".reviser") / "config.toml"
PROJECT_FILE: Final = Path("pyproject.toml")
_TABLE: Final = "tool.reviser"


@dataclass(frozen=True)
class ProjectSettings:
    """The settings of a project; `folder` is the project's, to which paths are relative."""

    folder: Path = field(default_factory=Path.cwd)
    model: str | None = None
    confidence: float | None = None
    only: frozenset[Kind] | None = None
    without: frozenset[Kind] = frozenset()
    words: tuple[str, ...] = ()
    ignore: tuple[Path, ...] = ()
    exclude: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()

    def dial(self, wanted: float | None) -> float:
        """The required confidence: the user's choice, else the project's."""
        return next(one for one in (wanted, self.confidence, CONFIDENCE) if one is not None)

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of changes that the project allows."""
        return (frozenset(Kind) if self.only is None else self.only) - self.without

    def excludes(self, path: Path) -> bool:
        """Whether a pattern excludes the file at `path`, or one of its folders."""
        if not self.exclude:
            return False
        place = Path(os.path.abspath(path))  # noqa: PTH100 - a link is excluded by its own name
        if not place.is_relative_to(self.folder):
            return False
        parts = place.relative_to(self.folder).parts
        names = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        return any(
            _is_matched(pattern, name, is_folder=len(name) < len(names[-1]))
            for pattern in self.exclude
            for name in names
        )


def settings_for(paths: Iterable[Path]) -> ProjectSettings:
    """The nearest settings, from the common folder of all paths upward; the defaults if there are none."""
    folders = [path if path.is_dir() else path.parent for path in paths if path != STREAM]
    # Only the links that lead to a folder count: a file's settings are where its name is.
    start = Path(os.path.commonpath([folder.resolve() for folder in folders or [Path.cwd()]]))
    for folder, file, table in _places(start):
        path = folder / file
        if path.is_file() and (found := _table(path, table)) is not None:
            return _settings(found, path, folder, table)
    return ProjectSettings()


def files_of_settings(folder: Path) -> list[Path]:
    """The files that may hold the settings for a folder, the nearest first."""
    return [above / file for above, file, _ in _places(folder.resolve())]


def _places(start: Path) -> Iterator[tuple[Path, Path, str]]:
    """The folders from `start` upward, each with the files that may hold settings and the name of the table there."""
    for folder in (start, *start.parents):
        yield folder, OWN_FILE, ""
        yield folder, PROJECT_FILE, _TABLE


def kinds_named(names: Iterable[str]) -> frozenset[Kind]:
    """The kinds of changes with these names, in which hyphens may stand for spaces; raises `ReviserError` for
    others."""
    known = {kind.value.replace(" ", "-"): kind for kind in Kind}
    wanted = [re.sub(r"[\s_]+", "-", name.strip().lower()) for name in names]
    for name in wanted:
        if name not in known:
            raise ReviserError(f"there is no kind of change {name}; there are {', '.join(known)}")
    return frozenset(known[name] for name in wanted)


# Reading -----------------------------------------------------------------------------------------


def _table(path: Path, name: str) -> dict[str, Any] | None:
    """The table with a dotted name in a TOML file; None if there is none."""
    try:
        found: Any = tomllib.loads(read_utf8(path))
    except tomllib.TOMLDecodeError as error:
        raise ReviserError(f"{path} is not valid TOML: {error}") from None
    for part in filter(None, name.split(".")):
        found = found.get(part) if isinstance(found, dict) else None
    if found is None:
        return None
    if not isinstance(found, dict):
        raise ReviserError(f"{path}: {name} is not a table")
    return found


def _settings(table: Mapping[str, Any], path: Path, folder: Path, name: str) -> ProjectSettings:
    for key in table:
        if key not in _KEYS:
            place = f" in [{name}]" if name else ""
            raise ReviserError(f"{path}: there is no setting {key}{place}; there are {', '.join(_KEYS)}")
    read = {}
    for key, value in table.items():
        attribute, reader = _KEYS[key]
        try:
            read[attribute] = reader(value)
        except ReviserError as error:
            raise ReviserError(f"{path}: {key}: {error}") from None
    if "ignore" in read:
        read["ignore"] = tuple(folder / file for file in read["ignore"])
    return ProjectSettings(folder=folder, **read)


def _confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ReviserError(f"{value!r} is not a number from 0 to 1")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ReviserError(f"{value!r} is not a text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ReviserError(f"{value!r} is not a list of texts")
    return tuple(map(_text, value))


def _kinds(value: object) -> frozenset[Kind]:
    return kinds_named(_texts(value))


_KEYS: Final[dict[str, tuple[str, Callable[[object], Any]]]] = {
    "model": ("model", _text),
    "confidence": ("confidence", _confidence),
    "only": ("only", _kinds),
    "except": ("without", _kinds),
    "words": ("words", _texts),
    "ignore": ("ignore", _texts),
    "exclude": ("exclude", _texts),
    "presets": ("presets", _texts),
}


# Patterns ----------------------------------------------------------------------------------------


def _is_matched(pattern: str, name: str, *, is_folder: bool) -> bool:
    """Whether a pattern in the notation of .gitignore matches a path relative to the project's folder."""
    if pattern.endswith("/") and not is_folder:
        return False
    pattern = pattern.rstrip("/")
    if "/" not in pattern:
        name = name.rpartition("/")[2]
    return re.fullmatch(_expression(pattern.removeprefix("/").split("/")), name) is not None


def _expression(parts: Sequence[str]) -> str:
    pieces = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            pieces.append(".*" if last else "(?:.*/)?")
        else:
            pieces.append(_part_expression(part) + ("" if last else "/"))
    return "(?s:" + "".join(pieces) + ")"


def _part_expression(part: str) -> str:
    pieces = []
    for found in re.finditer(r"\[!?\]?[^\]]*\]|.", part, re.DOTALL):
        piece = found[0]
        if piece == "*":
            pieces.append("[^/]*")
        elif piece == "?":
            pieces.append("[^/]")
        elif len(piece) > 1:
            inner = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            inner = "^" + inner[1:] if inner.startswith("!") else inner
            pieces.append(f"[{inner}]")
        else:
            pieces.append(re.escape(piece))
    return "".join(pieces)
