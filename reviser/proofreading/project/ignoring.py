"""The list of ignored findings, one per line: in a project's `.reviser/ignore.txt`, or in the user's own file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from reviser.core.files import home_folder, read_utf8
from reviser.proofreading.project.words import PROJECT_FILE, add_line, project_folder

IGNORE_FILE: Final = PROJECT_FILE.with_name("ignore.txt")
"""The path of a project's list, relative to its folder."""

_HEAD: Final = (
    "# What Reviser leaves alone: file, old text, new text, the words before it and behind it,"
    " with tabs between them.\n"
)
_WORDS_AROUND: Final = 3
_CHARACTERS_AROUND: Final = 80
_BLANK_LINE = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)")


class IgnoredPlace(NamedTuple):
    """An ignored finding: the file (relative to its project, or absolute), the old and new text, and the words on both
    sides.

    It still matches when the text around it moves, and no longer when the words beside it change.
    """

    file: str
    old: str
    new: str
    before: str
    after: str

    @classmethod
    def of(cls, file: str, text: str, start: int, old: str, new: str) -> IgnoredPlace:
        """The entry for a finding at offset `start` of a text."""
        end = start + len(old)
        left = _BLANK_LINE.split(text[max(start - _CHARACTERS_AROUND, 0) : start])[-1]
        right = _BLANK_LINE.split(text[end : end + _CHARACTERS_AROUND])[0]
        before, after = left.split()[-_WORDS_AROUND:], right.split()[:_WORDS_AROUND]
        parts = (file, old, new, " ".join(before), " ".join(after))
        return cls(*(" ".join(part.split()) for part in parts))


def user_ignore_file() -> Path:
    """The user's list, for files outside of projects: `$REVISER_HOME/ignore.txt`, or the platform's place for state."""
    return home_folder("XDG_STATE_HOME", ".local/state") / IGNORE_FILE.name


def list_for(file: Path, roots: Iterable[Path] = ()) -> tuple[str, Path]:
    """The name of a file in its project, and the path of the project's list; outside of projects, its path and the
    user's list."""
    folder = project_folder(file, roots)
    if folder is None:
        return file.resolve().as_posix(), user_ignore_file()
    return file.resolve().relative_to(folder).as_posix(), folder / IGNORE_FILE


def read_ignored(path: Path) -> frozenset[IgnoredPlace]:
    """The entries of a list; empty if the file does not exist."""
    return frozenset(_places(read_utf8(path).splitlines())) if path.is_file() else frozenset()


def _places(lines: Iterable[str]) -> Iterable[IgnoredPlace]:
    for line in lines:
        parts = line.split("\t")
        if not line.startswith("#") and len(parts) == len(IgnoredPlace._fields):
            yield IgnoredPlace(*parts)


def ignore(path: Path, place: IgnoredPlace) -> None:
    """Add a finding to a list, unless it is there."""
    if place not in read_ignored(path):
        add_line(path, "\t".join(place), _HEAD)
