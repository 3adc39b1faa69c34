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
"""Formats of documents; source code is proofread where it is named."""

# Files that look like text and are read by programs, or whose words are the law's.
_NO_PROSE = re.compile(
    r"(?:cmakelists|robots|humans|requirements[\w.-]*|constraints[\w.-]*|licen[cs]e[\w.-]*|copying[\w.-]*)"
    r"(?:\.\w+)?",
    re.IGNORECASE,
)


class Reason(StrEnum):
    """Why a file is not read."""

    SOURCE_CODE = "source code"
    NO_PROSE = "no prose"
    NO_FORMAT = "no known format"
    LINK = "link"
    EXCLUDED = "excluded"
    NO_TEXT = "no text"
    ENCODING = "unknown encoding"


class Skipped(NamedTuple):
    """A file that is not read, although it was named or is in a folder that was."""

    path: Path
    reason: Reason


@dataclass(frozen=True)
class Gathered:
    """The documents that some paths lead to, each once, and the files that are left out.

    `named` are the paths themselves: what is wrong with one of those is an error.
    """

    documents: list[Path]
    skipped: list[Skipped]
    named: frozenset[Path]

    def passes_over(self, path: Path, error: ReviserError) -> bool:
        """Whether a document turns out to be no text, and nobody asked for it by name; then it is skipped."""
        if path in self.named or not isinstance(error, NotText):
            return False
        unknown = isinstance(error, UnknownEncoding)
        self.skipped.append(Skipped(path, Reason.ENCODING if unknown else Reason.NO_TEXT))
        return True

    @property
    def told(self) -> str:
        """How many files were skipped, and why; empty if none was."""
        counts = Counter(skipped.reason for skipped in self.skipped)
        reasons = ", ".join(f"{reason} {counts[reason]:,}" for reason in Reason if counts[reason])
        return f"{counted(len(self.skipped), 'file')} skipped: {reasons}" if reasons else ""


def gathered(paths: Iterable[Path], excludes: Callable[[Path], bool]) -> Gathered:
    """The files that are named and the documents in the folders that are, without what a project excludes.

    What is hidden or ignored by git is neither read nor counted as skipped.
    """
    named = list(paths)
    found: dict[Path, Reason | None] = {}
    for path in named:
        inside = path.is_dir()
        for file in sorted(_visible_files(path)) if inside else [path]:
            reason = _reason_against(file) if inside else None
            # One that is named is read, also if it is in one of the folders.
            if found.get(file, Reason.EXCLUDED) is not None:
                found[file] = Reason.EXCLUDED if excludes(file) else reason
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


def _reason_against(path: Path) -> Reason | None:
    """Why a file in a folder is not worth proofreading; None if it is."""
    if path.is_symlink():
        return Reason.LINK
    if _NO_PROSE.fullmatch(path.name):
        return Reason.NO_PROSE
    format = format_of(path.name)
    if format in PROSE:
        return None
    return Reason.NO_FORMAT if format is Format.UNKNOWN else Reason.SOURCE_CODE


def _files(folder: Path) -> Iterator[Path]:
    listed = _files_by_git(folder)
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


def _files_by_git(folder: Path) -> list[str] | None:
    """What git knows or would take in below a folder; None where there is no repository, or no git."""
    command = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others"]
    try:
        done = subprocess.run([*command, "--exclude-standard"], capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name})
