"""The file of a text: opening, saving, and detecting changes by other programs."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from reviser.core.errors import ReviserError
from reviser.session.charsets import UTF_8
from reviser.session.documents import DocumentFile, check_writable


@dataclass(frozen=True, slots=True)
class FileStamp:
    """The identity and state of a file, compared to detect changes without reading it."""

    modified: int
    size: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> FileStamp | None:
        """The stamp of the file at `path`; None if there is none."""
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(status.st_mtime_ns, status.st_size, status.st_ino)


class OpenFile:
    """A file as it was when last read or written; it keeps its encoding and line endings."""

    def __init__(self, document: DocumentFile, stamp: FileStamp | None) -> None:
        # The text is the draft's; a second copy of a large one would only cost memory.
        self.document = replace(document, text="")
        self.stamp = stamp
        self.read_only = False
        self.look_whether_read_only()

    @classmethod
    def open(cls, path: Path, encoding: str | None = None) -> tuple[OpenFile, str]:
        """The file at `path` and its text (empty if there is none). Without `encoding`, the file's bytes decide."""
        try:
            known, folder_known = path.exists(), path.parent.is_dir()
        except OSError as error:
            raise ReviserError(f"{path} cannot be read: {error.strerror}") from None
        if not known:
            if not folder_known:
                raise ReviserError(f"there is no folder {path.parent}")
            return cls(DocumentFile.new(path, encoding), None), ""
        stamp = FileStamp.of(path)
        document = DocumentFile.read(path, encoding)
        return cls(document, stamp), document.text

    @classmethod
    def new(cls, path: Path) -> OpenFile:
        return cls(DocumentFile.new(path), None)

    @property
    def path(self) -> Path:
        return self.document.path

    @property
    def description(self) -> str:
        """The encoding and line endings, if they are unusual."""
        parts = []
        charset = self.document.charset
        if charset != UTF_8:
            mark = " with mark" if charset.name == UTF_8.name else ""
            parts.append(charset.name.upper() + mark)
        names = {"\r\n": "CRLF", "\r": "CR"}
        if self.document.newline in names:
            parts.append(names[self.document.newline])
        return " ".join(parts)

    def save(self, text: str, path: Path | None = None) -> None:
        """Write `text` atomically, here or to another path, which becomes this file's."""
        document = self.document if path is None else replace(self.document, path=path)
        try:
            document.write(text)
        except OSError as error:
            raise ReviserError(f"{document.path} cannot be written: {error.strerror}") from None
        self.document = document
        self.stamp = FileStamp.of(document.path)
        self.look_whether_read_only()

    def look_whether_read_only(self) -> bool:
        """Check whether the file can be saved; returns whether that has changed."""
        before = self.read_only
        folder = Path(os.path.realpath(self.path)).parent
        try:
            check_writable(self.path)
            self.read_only = not os.access(folder, os.W_OK)
        except (ReviserError, OSError):
            self.read_only = True
        return self.read_only != before

    def exists(self) -> bool:
        return FileStamp.of(self.path) is not None

    def changed_on_disk(self) -> bool:
        """Whether the file has changed since it was last read or written."""
        return FileStamp.of(self.path) != self.stamp

    def read_again(self) -> str:
        """Read the file's present text, and regard it as known from now on."""
        stamp = FileStamp.of(self.path)
        document = DocumentFile.read(self.path, self.document.asked)
        self.document, self.stamp = replace(document, text=""), stamp
        return document.text

    def ignore_change(self) -> None:
        """Regard the present file as known without reading it."""
        self.stamp = FileStamp.of(self.path)

    def is_at(self, path: Path) -> bool:
        return os.path.realpath(self.path) == os.path.realpath(path)


def typed_path(text: str) -> Path:
    """The path that a user has typed; `~` stands for a home folder where there is one."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def plain_newlines(text: str) -> str:
    """Text from elsewhere, such as the clipboard, with the line endings of a draft."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
