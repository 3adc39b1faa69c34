"""A text file with its encoding and line endings, which are kept byte for byte."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from reviser.errors import ReviserError
from reviser.files import read_bytes, write_atomically

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
            raise ReviserError(f"{path} is a binary file, not text")
        newline = _only_newline(text)
        return cls(path, text.replace(newline, "\n"), encoding, mark, newline)

    def encode(self, text: str) -> bytes:
        """The bytes of `text` as this document's file would hold it."""
        return self.mark + text.replace("\n", self.newline).encode(self.encoding)

    def write(self, text: str) -> None:
        """Replace the file by one that holds `text`, atomically."""
        check_writable(self.path)
        write_atomically(self.path, self.encode(text))


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
    """Refuse a file that says it must not be written; replacing it would get around that."""
    if str(path) == "-":
        raise ReviserError("standard input cannot be changed in place")
    if not path.exists():
        return
    writable_by_someone = stat.S_IMODE(path.stat().st_mode) & 0o222
    if not writable_by_someone or not os.access(path, os.W_OK):
        raise ReviserError(f"{path} is read-only")
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
        return f"{path} is a binary file, not text"
    return f"{path} is not valid UTF-8 text"
