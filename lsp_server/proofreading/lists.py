"""The lists of words that stay and of findings that are ignored, for the documents that are open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lsp_server.documents.document import Document
from lsp_server.proofreading.findings import Finding
from reviser.core.errors import ReviserError
from reviser.proofreading.project.ignoring import IGNORE_FILE, Place, ignore, read_ignored
from reviser.proofreading.project.words import (
    PROJECT_FILE,
    Words,
    add_word,
    project_file,
    project_folder,
    user_file,
)

Owner = Literal["project", "user"]


def file_of(uri: str) -> Path | None:
    """The file of a document, if it has one."""
    parts = urlsplit(uri)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


class Lists:
    """What the user and the project of a document want left alone."""

    def __init__(self, roots: Callable[[], Iterable[Path]], report: Callable[[str], None]) -> None:
        self._roots = roots
        self._report = report
        # What is ignored in documents without a project, until the server ends.
        self._for_now: set[tuple[str, Place]] = set()
        self._read: dict[Path, tuple[object, frozenset[Place]]] = {}

    def words(self, document: Document) -> Words:
        file = file_of(document.uri)
        try:
            paths = [project_file(file) if file else None, user_file()]
            return Words.read(*(path for path in paths if path and path.is_file()))
        except (ReviserError, OSError) as error:
            self._report(str(error))
            return Words()

    def add_word(self, document: Document, word: str, owner: Owner) -> Path:
        """Add a word to the user's list, or to the project's; returns where that is."""
        file = file_of(document.uri)
        if owner == "user":
            path = user_file()
        elif file is None:
            raise ReviserError("this document has no file, so it belongs to no project")
        else:
            folder = project_folder(file, self._roots()) or file.parent
            path = project_file(file) or folder / PROJECT_FILE
        add_word(path, word)
        return path

    def ignored(self, document: Document) -> Callable[[Finding], bool]:
        """Says of a finding of a document whether it is ignored."""
        name, path = self._place_of(document)
        places = {place for uri, place in self._for_now if uri == document.uri}
        if path is not None:
            places |= self._ignored_in(path)
        text = document.text
        return lambda one: bool(places) and _place(name, text, one) in places

    def ignore(self, document: Document, finding: Finding) -> Path | None:
        """Ignore a finding from now on; returns the file that says so, if it belongs to a project."""
        name, path = self._place_of(document)
        place = _place(name, document.text, finding)
        if path is None:
            self._for_now.add((document.uri, place))
        else:
            ignore(path, place)
        return path

    def _place_of(self, document: Document) -> tuple[str, Path | None]:
        """The name of a document in its project, and the project's file of what is ignored."""
        file = file_of(document.uri)
        folder = project_folder(file, self._roots()) if file else None
        if file is None or folder is None:
            return document.uri, None
        return file.resolve().relative_to(folder).as_posix(), folder / IGNORE_FILE

    def _ignored_in(self, path: Path) -> frozenset[Place]:
        try:
            state = path.stat()
            stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
            if self._read.get(path, (None,))[0] != stamp:
                self._read[path] = (stamp, read_ignored(path))
            return self._read[path][1]
        except FileNotFoundError:
            return frozenset()
        except (ReviserError, OSError) as error:
            self._report(str(error))
            return frozenset()


def _place(name: str, text: str, finding: Finding) -> Place:
    return Place.of(name, text, finding.start, finding.old, finding.new)
