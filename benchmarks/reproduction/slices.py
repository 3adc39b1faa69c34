"""A folder of large files cut into small ones, to be carried from machine to machine, and put together again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically

MEGABYTE = 1 << 20
_MANIFEST = "slices.json"
_BLOCK = 1 << 20


class Slice(TypedDict):
    """A part of a file, with its checksum."""

    file: str
    sha256: str


class Sliced(TypedDict):
    """A file in slices."""

    name: str
    sha256: str
    slices: list[Slice]


def cut(folder: Path, out: Path, size: int = 15 * MEGABYTE) -> int:
    """Write all files of `folder` as slices into `out`; returns how many. Slices that are there are left as they
    are."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise ReviserError(f"{folder} holds no files to cut")
    out.mkdir(parents=True, exist_ok=True)
    entries: list[Sliced] = []
    for file in files:
        name = file.relative_to(folder).as_posix()
        stem = hashlib.sha256(name.encode()).hexdigest()[:8]
        whole = hashlib.sha256()
        slices: list[Slice] = []
        for number, part in enumerate(_parts(file, size)):
            whole.update(part)
            digest = hashlib.sha256(part).hexdigest()
            path = out / f"{stem}-{number:04}.part"
            if not path.exists() or _digest(path) != digest:
                write_atomically(path, part)
            slices.append({"file": path.name, "sha256": digest})
        entries.append({"name": name, "sha256": whole.hexdigest(), "slices": slices})
    manifest = {"format": "reviser slices 1", "files": entries}
    write_atomically(out / _MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return sum(len(entry["slices"]) for entry in entries)


def join(slices: Path, folder: Path) -> int:
    """Put the files of `slices` together in `folder`; returns how many. Files that are there already are left alone."""
    try:
        manifest = json.loads(read_utf8(slices / _MANIFEST))
        files: list[Sliced] = list(manifest["files"])
    except (json.JSONDecodeError, KeyError, TypeError):
        raise ReviserError(f"{slices / _MANIFEST} is not a list of slices") from None
    for entry in files:
        target = folder / entry["name"]
        if target.is_relative_to(folder) and ".." in target.parts:
            raise ReviserError(f"{slices / _MANIFEST} names a file outside of its folder")
        if target.exists() and _digest(target) == entry["sha256"]:
            continue
        _join(entry, slices, target)
    return len(files)


def _join(entry: Sliced, slices: Path, target: Path) -> None:
    missing = [part["file"] for part in entry["slices"] if not (slices / part["file"]).exists()]
    if missing:
        some = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
        raise ReviserError(f"{slices} lacks {len(missing)} slices of {entry['name']}: {some}")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.joining")
    whole = hashlib.sha256()
    try:
        with temporary.open("wb") as file:
            for part in entry["slices"]:
                data = (slices / part["file"]).read_bytes()
                if hashlib.sha256(data).hexdigest() != part["sha256"]:
                    raise ReviserError(f"{slices / part['file']} is damaged: carry it again")
                whole.update(data)
                file.write(data)
        if whole.hexdigest() != entry["sha256"]:
            raise ReviserError(f"the slices of {entry['name']} in {slices} do not belong together")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _parts(file: Path, size: int) -> Iterator[bytes]:
    with file.open("rb") as opened:
        yield opened.read(size)
        while part := opened.read(size):
            yield part


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
