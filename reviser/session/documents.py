"""A text file with its encoding and line endings, which are kept byte for byte."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from reviser.core.errors import ReviserError
from reviser.core.files import (
    STREAM,
    check_not_read_only,
    input_name,
    read_bytes,
    write_atomically,
)

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


@dataclass(frozen=True)
class Document:
    """What a file says and how it says it.

    `text` has `\\n` line endings where the file has one kind of ending throughout, so that what is
    added to it gets the same; a file of mixed endings keeps them in `text` as they are.
    """

    path: Path
    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    newline: str = "\n"

    @classmethod
    def read(cls, path: Path) -> Document:
        """The document in the file at `path`, or on standard input for `-`."""
        data = read_bytes(path)
        mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
        encoding = _MARKS.get(mark, "utf-8")
        try:
            text = data[len(mark) :].decode(encoding)
        except UnicodeDecodeError:
            raise ReviserError(_undecodable(path, data)) from None
        if "\x00" in text:
            raise ReviserError(f"{input_name(path)} is a binary file, not text")
        newline = _only_newline(text)
        return cls(path, text.replace(newline, "\n"), encoding, mark, newline)

    def encode(self, text: str) -> bytes:
        """The bytes of `text` as this document's file would hold it."""
        return self.mark + text.replace("\n", self.newline).encode(self.encoding)

    def write(self, text: str) -> None:
        """Replace the file by one that holds `text`, atomically, whatever it holds now."""
        check_writable(self.path)
        write_atomically(self.path, self.encode(text))

    def update(self, text: str) -> None:
        """The same, unless the file no longer says what was read: that raises `FileChanged`."""
        check_writable(self.path)
        write_atomically(self.path, self.encode(text), replacing=self.encode(self.text))

    def diff(self, text: str, name: str | None = None) -> str:
        """A unified diff from this document to one that says `text`, for `patch` to apply to the file.

        The file is called `name`, by default as it is in its folder.
        """
        from reviser.session.replay import unified_diff

        name = name or ("stdin" if self.path == STREAM else self.path.name)
        return unified_diff(self._raw(self.text), self._raw(text), f"a/{name}", f"b/{name}")

    def _raw(self, text: str) -> str:
        """The characters of the file that would hold `text`, as far as a diff can show them."""
        mark = self.mark.decode("utf-8") if self.encoding == "utf-8" else ""
        # To a patch, only a line feed ends a line.
        return mark + (text.replace("\n", "\r\n") if self.newline == "\r\n" else text)


def offset_at(text: str, line: int, column: int) -> int:
    """The character offset of a line and column, both counted from 1."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        raise ReviserError(f"there is no line {line}; the text has {len(lines)}")
    if not 1 <= column <= len(lines[line - 1]) + 1:
        raise ReviserError(
            f"there is no column {column} in line {line}; it has {len(lines[line - 1])} characters"
        )
    return sum(len(before) + 1 for before in lines[: line - 1]) + column - 1


def check_writable(path: Path) -> None:
    """Refuse what cannot be replaced by another file, or says that it must not be."""
    if path == STREAM:
        raise ReviserError("standard input cannot be changed in place")
    if not path.exists():
        return
    check_not_read_only(path)
    if not path.is_file():
        raise ReviserError(f"{path} is not a regular file")


def _only_newline(text: str) -> str:
    """The line ending that all lines share; `\\n` if they differ, which leaves the text as it is."""
    crlf, lf, cr = text.count("\r\n"), text.count("\n"), text.count("\r")
    if crlf and crlf == lf == cr:
        return "\r\n"
    return "\r" if cr and not lf else "\n"


def _undecodable(path: Path, data: bytes) -> str:
    if b"\x00" in data[:65536]:
        return f"{input_name(path)} is a binary file, not text"
    return f"{input_name(path)} is not valid UTF-8 text"
