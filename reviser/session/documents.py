"""Text files with their encoding and line endings, which are kept byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import STREAM, check_not_read_only, input_name, read_bytes, write_atomically
from reviser.session.charsets import UTF_8, Charset, read_text, write_text


@dataclass(frozen=True)
class DocumentFile:
    """The text of a file, with the encoding and line endings to write it back.

    `text` has `\\n` line endings where the file has one kind of ending throughout, so that added lines get the same; a
    file of mixed endings keeps them in `text` as they are. `asked` is the encoding that the user named.
    """

    path: Path
    text: str
    charset: Charset = UTF_8
    newline: str = "\n"
    asked: str | None = None

    @classmethod
    def read(cls, path: Path, encoding: str | None = None) -> DocumentFile:
        """The document in the file at `path`, or on standard input for `-`; without `encoding`, it is detected."""
        text, charset = read_text(read_bytes(path), input_name(path), encoding)
        newline = _only_newline(text)
        return cls(path, text.replace(newline, "\n"), charset, newline, encoding)

    @classmethod
    def new(cls, path: Path, encoding: str | None = None) -> DocumentFile:
        """An empty document for a new file at `path`."""
        text, charset = read_text(b"", input_name(path), encoding)
        return cls(path, text, charset, asked=encoding)

    def encode(self, text: str) -> bytes:
        """The bytes of a file that holds `text`; raises an error if the text could not be read back from them."""
        written = text.replace("\n", self.newline)
        return write_text(written, self.charset, input_name(self.path), self.asked)

    def write(self, text: str) -> None:
        """Replace the file by one that holds `text`, atomically, whatever it holds now."""
        check_writable(self.path)
        write_atomically(self.path, self.encode(text))

    def update(self, text: str) -> None:
        """The same, but raises `FileChanged` if the file has changed since it was read."""
        check_writable(self.path)
        write_atomically(self.path, self.encode(text), replacing=self.encode(self.text))

    def diff(self, text: str, name: str | None = None) -> str:
        """A unified diff from this document to `text`, for `patch` to apply to the file.

        The file is called `name`, by default its name in its folder.
        """
        from reviser.session.replay import unified_diff

        name = name or ("stdin" if self.path == STREAM else self.path.name)
        return unified_diff(self._raw(self.text), self._raw(text), f"a/{name}", f"b/{name}")

    def _raw(self, text: str) -> str:
        """The characters of a file that holds `text`, as far as a diff can show them."""
        mark = self.charset.mark.decode() if self.charset.name == "utf-8" else ""
        # To a patch, only a line feed ends a line.
        return mark + (text.replace("\n", "\r\n") if self.newline == "\r\n" else text)


def offset_at(text: str, line: int, column: int) -> int:
    """The character offset of a line and column, both counted from 1."""
    start = 0
    for _ in range(1, line):
        start = text.find("\n", start) + 1
        if not start:
            break
    if line < 1 or (line > 1 and not start):
        raise ReviserError(f"there is no line {line}; the text has {text.count(chr(10)) + 1}")
    end = text.find("\n", start)
    length = (len(text) if end < 0 else end) - start
    if not 1 <= column <= length + 1:
        raise ReviserError(f"there is no column {column} in line {line}; it has {counted(length, 'character')}")
    return start + column - 1


def check_writable(path: Path) -> None:
    """Raise `ReviserError` for a path that cannot be replaced by a file, or a file that is read-only."""
    if path == STREAM:
        raise ReviserError("standard input cannot be changed in place")
    if not path.exists():
        return
    check_not_read_only(path)
    if not path.is_file():
        raise ReviserError(f"{path} is not a regular file")


def _only_newline(text: str) -> str:
    """The line ending that all lines share; `\\n` if they differ, which leaves the text unchanged."""
    crlf, lf, cr = text.count("\r\n"), text.count("\n"), text.count("\r")
    if crlf and crlf == lf == cr:
        return "\r\n"
    return "\r" if cr and not lf else "\n"
