"""The documents in a folder that are worth proofreading: prose, neither hidden nor ignored by git."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from reviser.prose import Format, format_of

PROSE: Final = frozenset(
    [Format.PLAIN, Format.MARKDOWN, Format.MDX, Format.LATEX, Format.RST, Format.MAIL]
)
"""Formats of documents; source code is proofread where it is named."""

# Files that look like text and are read by programs, or whose words are the law's.
_NO_PROSE = re.compile(
    r"(?:cmakelists|robots|humans|requirements[\w.-]*|constraints[\w.-]*|licen[cs]e[\w.-]*|copying[\w.-]*)"
    r"(?:\.\w+)?",
    re.IGNORECASE,
)


def documents_among(paths: Iterable[Path]) -> list[Path]:
    """The files that are named, and the documents in the folders that are, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        found |= dict.fromkeys(documents_in(path) if path.is_dir() else [path])
    return list(found)


def documents_in(folder: Path) -> list[Path]:
    """The documents in a folder and its folders, in order."""
    return sorted(path for path in _files(folder) if _is_document(path, folder))


def _is_document(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    if hidden or _NO_PROSE.fullmatch(path.name) or path.is_symlink() or not path.is_file():
        return False
    return format_of(path.name) in PROSE


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
        done = subprocess.run(
            [*command, "--exclude-standard"], capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name})
