"""The documents in a folder that are worth proofreading: prose, neither hidden nor ignored by git."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from reviser.core.counts import counted
from reviser.core.errors import NotText, ReviserError, UnknownEncoding
from reviser.prose import Format, format_of

PROSE: Final = frozenset(
    [Format.PLAIN, Format.MARKDOWN, Format.MDX, Format.LATEX, Format.RST, Format.HTML, Format.MAIL]
)
"""The formats collected from folders; source code is only proofread when it is named."""

# Files that look like text and are read by programs, or whose words are the law's.
_NO_PROSE = re.compile(
    r"(?:cmakelists|robots|humans|requirements[\w.-]*|constraints[\w.-]*|licen[cs]e[\w.-]*|copying[\w.-]*)"
    r"(?:\.\w+)?",
    re.IGNORECASE,
)


class SkipReason(StrEnum):
    """The reasons for which a file is not read."""

    SOURCE_CODE = "source code"
    NO_PROSE = "no prose"
    NO_FORMAT = "no known format"
    LINK = "link"
    EXCLUDED = "excluded"
    NO_TEXT = "no text"
    ENCODING = "unknown encoding"


class Skipped(NamedTuple):
    """A file that is not read although it, or its folder, was named."""

    path: Path
    reason: SkipReason


@dataclass(frozen=True)
class Gathered:
    """The documents under some paths, each once, and the skipped files.

    `named` are the paths that were given themselves: problems with those are errors.
    """

    documents: list[Path]
    skipped: list[Skipped]
    named: frozenset[Path]

    def passes_over(self, path: Path, error: ReviserError) -> bool:
        """Whether an error means that a document is not text and was not named; then it is recorded as skipped."""
        if path in self.named or not isinstance(error, NotText):
            return False
        unknown = isinstance(error, UnknownEncoding)
        self.skipped.append(Skipped(path, SkipReason.ENCODING if unknown else SkipReason.NO_TEXT))
        return True

    @property
    def told(self) -> str:
        """The number of skipped files by reason, as a phrase; empty if there are none."""
        counts = Counter(skipped.reason for skipped in self.skipped)
        reasons = ", ".join(f"{reason} {counts[reason]:,}" for reason in SkipReason if counts[reason])
        return f"{counted(len(self.skipped), 'file')} skipped: {reasons}" if reasons else ""


def gathered(paths: Iterable[Path], excludes: Callable[[Path], bool]) -> Gathered:
    """The named files, and the documents in the named folders, without those that a project excludes.

    Files that are hidden or ignored by git are neither read nor counted as skipped.
    """
    named = list(paths)
    found: dict[Path, SkipReason | None] = {}
    for path in named:
        inside = path.is_dir()
        for file in sorted(_visible_files(path)) if inside else [path]:
            reason = _reason_against(file) if inside else None
            # One that is named is read, also if it is in one of the folders.
            if found.get(file, SkipReason.EXCLUDED) is not None:
                found[file] = SkipReason.EXCLUDED if excludes(file) else reason
    return Gathered(
        [path for path, reason in found.items() if reason is None],
        [Skipped(path, reason) for path, reason in found.items() if reason is not None],
        frozenset(named),
    )


def _visible_files(folder: Path) -> Iterator[Path]:
    for path in _files(folder):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file():
            yield path


def _reason_against(path: Path) -> SkipReason | None:
    """The reason not to proofread a file in a folder; None if there is none."""
    if path.is_symlink():
        return SkipReason.LINK
    if _NO_PROSE.fullmatch(path.name):
        return SkipReason.NO_PROSE
    format = format_of(path.name)
    if format in PROSE:
        return None
    return SkipReason.NO_FORMAT if format is Format.UNKNOWN else SkipReason.SOURCE_CODE


def _files(folder: Path) -> Iterator[Path]:
    listed = files_by_git(folder)
    if listed is None:
        for place, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from (Path(place) / name for name in names)
        return
    for name in listed:
        # A repository in the repository is one name here.
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            yield from _files(folder / name)
        else:
            yield folder / name


def files_by_git(folder: Path) -> list[str] | None:
    """The tracked and untracked files below a folder that git does not ignore; None outside of a repository, or
    without git."""
    command = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others"]
    try:
        done = subprocess.run([*command, "--exclude-standard"], capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name})
