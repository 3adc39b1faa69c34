"""Findings that are ignored, each in its place: in `.reviser/ignore.txt` of their project or in the user's own file,
one on each line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from reviser.core.files import home_folder, read_utf8
from reviser.proofreading.project.words import PROJECT_FILE, add_line, project_folder

IGNORE_FILE: Final = PROJECT_FILE.with_name("ignore.txt")
"""Where a project keeps what it ignores, in its folder."""

_HEAD: Final = (
    "# What Reviser leaves alone: file, old text, new text, the words before it and behind it,"
    " with tabs between them.\n"
)
_WORDS_AROUND: Final = 3
_CHARACTERS_AROUND: Final = 80
_BLANK_LINE = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)")


class IgnoredPlace(NamedTuple):
    """A finding in its place: the file within its project, or its whole path, what it says, and the words of the
    paragraph on both sides.

    It stays the same while the text around it moves, and is gone when the words beside it change.
    """

    file: str
    old: str
    new: str
    before: str
    after: str

    @classmethod
    def of(cls, file: str, text: str, start: int, old: str, new: str) -> IgnoredPlace:
        """The place of a finding at `start` of a text."""
        end = start + len(old)
        left = _BLANK_LINE.split(text[max(start - _CHARACTERS_AROUND, 0) : start])[-1]
        right = _BLANK_LINE.split(text[end : end + _CHARACTERS_AROUND])[0]
        before, after = left.split()[-_WORDS_AROUND:], right.split()[:_WORDS_AROUND]
        parts = (file, old, new, " ".join(before), " ".join(after))
        return cls(*(" ".join(part.split()) for part in parts))


def user_ignore_file() -> Path:
    """Where is kept what is ignored in files of no project: `$REVISER_HOME/ignore.txt`, or the platform's place for
    state."""
    return home_folder("XDG_STATE_HOME", ".local/state") / IGNORE_FILE.name


def list_for(file: Path, roots: Iterable[Path] = ()) -> tuple[str, Path]:
    """The name of a file in its project, and the project's file of what is ignored; for a file of no project its path,
    and the user's own list."""
    folder = project_folder(file, roots)
    if folder is None:
        return file.resolve().as_posix(), user_ignore_file()
    return file.resolve().relative_to(folder).as_posix(), folder / IGNORE_FILE


def read_ignored(path: Path) -> frozenset[IgnoredPlace]:
    """What a file says is to be ignored; none if there is no such file."""
    return frozenset(_places(read_utf8(path).splitlines())) if path.is_file() else frozenset()


def _places(lines: Iterable[str]) -> Iterable[IgnoredPlace]:
    for line in lines:
        parts = line.split("\t")
        if not line.startswith("#") and len(parts) == len(IgnoredPlace._fields):
            yield IgnoredPlace(*parts)


def ignore(path: Path, place: IgnoredPlace) -> None:
    """Add a finding to a file, if it is not there."""
    if place not in read_ignored(path):
        add_line(path, "\t".join(place), _HEAD)
