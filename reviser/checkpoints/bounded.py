"""Bounded reading of files that may be damaged or hostile: size, unpacking and nesting are limited."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

from reviser.core.errors import ReviserError
from reviser.core.files import read_bytes

# Far more than any model needs: its configuration, its index of shards, its tokenizer.
LARGEST_JSON = 16 << 20
LARGEST_TOKENIZER = 256 << 20
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def file_size(path: Path) -> int:
    """The size of a regular file in bytes; raises an error for devices and pipes, which have no end."""
    try:
        if not path.exists():
            raise ReviserError(f"there is no file {path}")
        if not path.is_file():
            raise ReviserError(f"{path} is not a regular file")
        return path.stat().st_size
    except OSError as error:
        raise ReviserError(f"{path} cannot be read: {error.strerror or error}") from None


def read_bounded(path: Path, most: int) -> bytes:
    """The content of a file; raises an error if it has more than `most` bytes."""
    size = file_size(path)
    if size > most:
        raise ReviserError(f"{path} is too large: {size} bytes, and {most} are the most")
    return read_bytes(path)


def read_json(path: Path, most: int = LARGEST_JSON) -> Any:
    """The content of a JSON file of at most `most` bytes."""
    return parse_json(read_bounded(path, most), str(path))


def parse_json(data: bytes | str, source: str) -> Any:
    """The content of JSON data; `source` names it in errors. Raises an error for half a surrogate pair, which no file
    can hold."""
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        content = json.loads(text)
        if _HALF.search(text):
            json.dumps(content, ensure_ascii=False).encode("utf-8")
        return content
    except RecursionError:
        raise ReviserError(f"{source} is not usable JSON: it is nested too deeply") from None
    except UnicodeDecodeError:
        raise ReviserError(f"{source} is not JSON: it is not a UTF-8 text") from None
    except UnicodeEncodeError:
        raise ReviserError(f"{source} is not usable JSON: it has half a character in it") from None
    except ValueError as error:
        raise ReviserError(f"{source} is not JSON: {error}") from None


def unpack_gzip(data: bytes, source: Path, most: int = LARGEST_TOKENIZER) -> bytes:
    """The content of gzip `data`; raises an error if it has more than `most` bytes."""
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = unpacker.decompress(data, most)
    except zlib.error as error:
        raise ReviserError(f"{source} is damaged: {error}") from None
    if unpacker.unconsumed_tail:
        raise ReviserError(f"{source} is too large: unpacked, it has more than {most} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise ReviserError(f"{source} is damaged: it does not end where it should")
    return content


def pack_gzip(content: bytes) -> bytes:
    """The content packed with gzip; equal content always gives equal bytes."""
    import gzip  # it loads more than unpacking needs

    return gzip.compress(content, mtime=0)
