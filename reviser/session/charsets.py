"""Text encodings of files: detection, decoding and encoding."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from reviser.core.errors import NotText, ReviserError, UnknownEncoding


@dataclass(frozen=True)
class Charset:
    """An encoding, and the byte order mark at the start of the file, if it has one."""

    name: str
    mark: bytes = b""

    def decode(self, data: bytes) -> str:
        """The text of a file without its byte order mark; raises `UnicodeDecodeError`."""
        return data[len(self.mark) :].decode(self.name)

    def encode(self, text: str) -> bytes:
        """The bytes of a file, with its byte order mark; raises `UnicodeEncodeError`."""
        return self.mark + text.encode(self.name)


UTF_8: Final = Charset("utf-8")
_WINDOWS: Final = Charset("windows-1252")
_MARKED: Final = tuple(
    Charset(name, mark)
    for name, mark in (
        ("utf-8", codecs.BOM_UTF8),
        ("utf-32-le", codecs.BOM_UTF32_LE),  # it starts like the next one
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-32-be", codecs.BOM_UTF32_BE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    )
)
# Names that leave the order of bytes to the mark, and what a file without one is in.
_UNMARKED: Final = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_CONTROLS: Final = re.compile("[\0-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffe\uffff]")
_CONTROL_BYTES: Final = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LATIN: Final = re.compile(r"[\t\n\r -~\xa0-\xff]")
_LETTER: Final = re.compile(rb"[A-Za-z]")
_HIGH: Final = re.compile(rb"[\x80-\xff]")
_HIGH_LETTER: Final = re.compile(rb"[\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xc0-\xff]")


def read_text(data: bytes, name: str, asked: str | None = None) -> tuple[str, Charset]:
    """The text of a file and its encoding: the one that is `asked` for, or the one that its bytes suggest.

    Messages call the file `name`. Raises `NotText` if the bytes are no text, and `UnknownEncoding` if they may be one.
    """
    charset = _marked(data) if asked is None else _asked(data, asked)
    try:
        text = charset.decode(data)
    except UnicodeDecodeError as error:
        if asked is not None:
            place = len(charset.mark) + error.start + 1
            raise UnknownEncoding(f"{name} is not {asked} text: byte {place} cannot be read") from None
        guess = _utf_16(data) if b"\0" in data else _windows(data)
    else:
        if asked is not None and charset.encode(text) != data:
            raise UnknownEncoding(f"{name} would not be the same again after it is read as {asked}")
        if "\0" not in text:
            return text, charset
        guess = None if asked or charset.mark else _utf_16(data)
    if guess is not None:
        return guess.decode(data), guess
    if _CONTROL_BYTES.search(data):
        raise NotText(f"{name} is a binary file, not text")
    raise UnknownEncoding(f"{name} is not valid UTF-8 text, and its encoding cannot be told: name it with --encoding")


def write_text(text: str, charset: Charset, name: str, asked: str | None = None) -> bytes:
    """The bytes of a file that holds `text`; raises an error if `read_text` would not give the same text back."""
    if "\0" in text:
        raise ReviserError(f"{name} cannot take a NUL: it would be no text file any more")
    try:
        data = charset.encode(text)
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        shown = f"“{character}”" if character.isprintable() else f"U+{ord(character):04X}"
        raise ReviserError(f"{name} is in {charset.name}, which has no {shown}") from None
    try:
        again = _characters(*read_text(data, name, asked))
    except NotText:
        again = None
    if again != _characters(text, charset):
        raise ReviserError(f"{name} would not be read as {charset.name} any more")
    return data


def encoding_named(name: str) -> str:
    """The name of an encoding as Python's codecs know it; raises `ReviserError` if there is none of that name."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise ReviserError(
            f"there is no encoding {name}; there are utf-8, utf-16, windows-1252, latin-1 and others"
        ) from None
    return codecs.lookup(name).name


def _characters(text: str, charset: Charset) -> str:
    """All characters of a file, its byte order mark included."""
    return "\ufeff" + text if charset.mark else text


def _marked(data: bytes) -> Charset:
    """The encoding that the byte order mark shows; without one, UTF-8."""
    return next((one for one in _MARKED if data.startswith(one.mark)), UTF_8)


def _asked(data: bytes, name: str) -> Charset:
    """The encoding that was asked for, with the file's byte order mark if it belongs to that encoding."""
    family = encoding_named(name).removesuffix("-sig")
    marked = _marked(data)
    if marked.mark and marked.name.startswith(family):
        return marked
    return Charset(_UNMARKED.get(family, family))


def _utf_16(data: bytes) -> Charset | None:
    """UTF-16 without a byte order mark, detected by the pattern of Latin letters; None if it is not that."""
    for charset in (Charset("utf-16-le"), Charset("utf-16-be")):
        try:
            text = charset.decode(data)
        except UnicodeDecodeError:
            continue
        if not _CONTROLS.search(text) and len(_LATIN.findall(text)) > 0.6 * len(text):
            return charset
    return None


def _windows(data: bytes) -> Charset | None:
    """Windows-1252, of which Latin-1 is a part, for mostly ASCII text that is not damaged UTF-8; else None."""
    if _CONTROL_BYTES.search(data):
        return None
    letters = len(_LETTER.findall(data))
    if len(_HIGH.findall(data)) > letters or 2 * len(_HIGH_LETTER.findall(data)) > letters:
        return None
    mended = data.decode("utf-8", "replace")
    damage = mended.count("\ufffd")
    if sum(character > "\x7f" for character in mended) > 2 * damage:
        return None
    try:
        _WINDOWS.decode(data)
    except UnicodeDecodeError:
        return None
    return _WINDOWS
