"""The vocabulary of a project: the words of its package metadata and its files' names, and its lists of words.

They are terms where the list of English words has them not.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from reviser.core.files import STREAM
from reviser.proofreading.project.folders import files_by_git
from reviser.proofreading.project.word_lists import LARGEST_FILE, listed_words, unreported
from reviser.proofreading.project.words import project_folder

METADATA: Final = (
    *("package.json", "pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "environment.yml"),
    *("Cargo.toml", "go.mod", "composer.json", "Gemfile", "mix.exs", "rebar.config"),
    *("build.gradle", "build.gradle.kts", "pom.xml", "CMakeLists.txt", "meson.build", "stack.yaml"),
    *("pubspec.yaml", "Package.swift", "Project.toml", "DESCRIPTION", "dune-project", "deno.json"),
    *("deps.edn", "project.clj", "build.sbt", "Dockerfile", "Makefile", "action.yml"),
    *("CITATION.cff", "AUTHORS", "CONTRIBUTORS", "MAINTAINERS", "CODEOWNERS", ".mailmap"),
    *("AUTHORS.md", "CONTRIBUTORS.md"),
)
"""The files whose words are names: of packages, of people, of a project's parts."""
MOST_FILES: Final = 50_000
"""The most names of files that are looked at."""
FRESH: Final = 60.0
"""The seconds for which the vocabulary of a project is not gathered again."""

_MORE_METADATA: Final = (
    *("requirements*.txt", "*.gemspec", "*.cabal", "*.podspec"),
    *("*.csproj", "*.nimble", "*.rockspec", "*.opam"),
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_HUMP = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")
# Prose, with mistakes of its own.
_DESCRIBES = re.compile(
    r"\s*(?:#|//|<description|[\"']?(?:long_)?(?:description|summary|abstract|title)[\"']?\s*[:=])", re.IGNORECASE
)
# Folders of what others wrote.
_FOREIGN: Final = frozenset(("node_modules", "vendor", "__pycache__"))
_DEEPEST: Final = 4
_MOST_METADATA: Final = 200
_DOCUMENTS = re.compile(r"\.(?:md|rst|txt|html|tex|adoc)\Z", re.IGNORECASE)

_gathered: dict[Path, tuple[float, frozenset[str]]] = {}


def vocabulary_of(
    path: Path, roots: Iterable[Path] = (), report: Callable[[str], object] = unreported
) -> frozenset[str]:
    """The words in lower case that the project of a file uses; `report` is given a sentence for what cannot be read."""
    if path == STREAM:
        return frozenset()
    folder = _folder_of(path, roots)
    if folder is None:
        return frozenset()
    known = _gathered.get(folder)
    if known is None or time.monotonic() - known[0] >= FRESH:
        known = _gathered[folder] = time.monotonic(), frozenset(_gather(folder, report))
    return known[1]


def _folder_of(path: Path, roots: Iterable[Path]) -> Path | None:
    """The folder of a file's project; outside of projects, the nearest one with metadata."""
    found = project_folder(path, roots)
    if found is not None:
        return found
    return next((one for one in path.resolve().parents if any((one / name).is_file() for name in METADATA)), None)


def _gather(folder: Path, report: Callable[[str], object]) -> Iterator[str]:
    """The words of a project."""
    yield from _parts(folder.name)
    names = [*_file_names(folder)]
    yield from {part for name in names for part in _parts(_DOCUMENTS.sub("", name))}
    for path in _metadata(folder, names):
        yield from _words_of_metadata(path)
    for word in listed_words(folder, names, report):
        yield from (part.lower() for part in _WORD.findall(word))


def _file_names(folder: Path) -> list[str]:
    """The paths of a project's files, relative to its folder."""
    listed = files_by_git(folder)
    return [*islice(_walked(folder) if listed is None else listed, MOST_FILES)]


def _walked(folder: Path) -> Iterator[str]:
    """The files below a folder that is no repository."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _FOREIGN]
        yield from ((Path(place) / name).relative_to(folder).as_posix() for name in files)


def _metadata(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    """The files of metadata, those at the top first."""
    found = []
    for name in names:
        parts = name.split("/")
        if len(parts) <= _DEEPEST and (parts[-1] in METADATA or any(map(partial(fnmatch, parts[-1]), _MORE_METADATA))):
            found.append((len(parts), name))
    return (folder / name for _, name in sorted(found)[:_MOST_METADATA])


def _words_of_metadata(path: Path) -> Iterator[str]:
    """The words of a file of metadata, without its comments and descriptions; none if it cannot be read."""
    try:
        text = path.read_bytes()[:LARGEST_FILE].decode(errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        if not _DESCRIBES.match(line):
            yield from _parts(line)


def _parts(text: str) -> set[str]:
    """The words of a text in lower case, with the parts of identifiers."""
    words = _WORD.findall(text)
    return {part.lower() for word in words for part in (word, *_HUMP.findall(word))}
