"""Sources of texts: files, folders and data sets of the hub, plain or compressed, read document by document."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, BinaryIO, cast

from reviser.core.errors import ReviserError
from reviser.core.files import open_input
from training.data.parts import Part

HUB = "hf:"


def expand(sources: Iterable[str]) -> Iterator[str]:
    """Yields the sources; a folder is replaced by its files in order of name."""
    for source in sources:
        path = Path(source)
        if source.startswith(HUB) or not path.is_dir():
            yield source
        else:
            yield from sorted(str(file) for file in path.rglob("*") if file.is_file())


def source_digest(source: str) -> str:
    """The SHA-256 of a file; empty for a data set of the hub, which has none before it is read."""
    if source.startswith(HUB):
        return ""
    with open_input(Path(source)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def documents(source: str, field: str = "text", part: Part | None = None) -> Iterator[str]:
    """Yields the documents of a source, or of a part of it."""
    if source.startswith(HUB):
        yield from _hub_documents(source, field, part)
    elif part is not None:
        yield from part.of(_documents_of_file(source, field))
    else:
        yield from _documents_of_file(source, field)


def _documents_of_file(source: str, field: str) -> Iterator[str]:
    path = Path(source)
    bare = path.with_suffix("") if path.suffix in (".xz", ".gz", ".zst") else path
    try:
        with open_text(path) as lines:
            if bare.suffix == ".jsonl":
                yield from _json_lines(lines, source, field)
            else:
                yield lines.read()
    except UnicodeDecodeError:
        raise ReviserError(f"{source} is not UTF-8 text") from None
    except (EOFError, lzma.LZMAError) as error:
        raise ReviserError(f"{source} cannot be read: {error}") from None


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Opens a text file, decompressed according to its name; raises `ReviserError` if it cannot be read."""
    with (
        open_input(path) as file,
        _unpacked(path, file) as content,
        io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as lines,
    ):
        yield lines


def _unpacked(path: Path, file: BinaryIO) -> IO[bytes]:
    match path.suffix:
        case ".xz":
            return lzma.open(file, "rb")
        case ".gz":
            return cast("IO[bytes]", gzip.open(file, "rb"))
        case ".zst":
            return _open_zstandard(path, file)
        case _:
            return file


def _open_zstandard(path: Path, file: BinaryIO) -> IO[bytes]:
    try:
        zstandard = import_module("zstandard")
    except ImportError:
        raise ReviserError(f"reading {path} needs zstandard; install it with: pip install 'reviser[data]'") from None
    opened: IO[bytes] = zstandard.open(file, "rb")
    return opened


def _json_lines(lines: Iterable[str], source: str, field: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            text = json.loads(line)[field]
        except (json.JSONDecodeError, KeyError, TypeError):
            text = None
        if not isinstance(text, str):
            raise ReviserError(f'{source}, line {number}: not an object with a text "{field}"')
        yield text


def _hub_documents(source: str, field: str, part: Part | None) -> Iterator[str]:
    """Streams `hf:NAME@CONFIG#SPLIT`; the configuration may be left out, and the split is `train` by default.

    If the number of files is a multiple of the number of parts, a part reads only its own files.
    """
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise ReviserError(f"reading {source} needs datasets; install it with: pip install 'reviser[data]'") from None
    rest, _, split = source.removeprefix(HUB).partition("#")
    name, _, config = rest.partition("@")
    try:
        rows = datasets.load_dataset(name, config or None, split=split or "train", streaming=True)
        if part is not None:
            divide = import_module("datasets.distributed").split_dataset_by_node
            rows = divide(rows, rank=part.index, world_size=part.count)
        for row in rows:
            yield row[field]
    except KeyError:
        raise ReviserError(f"{source} has no field {field}") from None
    except Exception as error:  # the library raises many kinds, from its own and from the network's
        raise ReviserError(f"{source} cannot be read: {error}") from None
