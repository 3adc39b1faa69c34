"""Files on systems that lack what Linux has: locks, modes of open files, folders that are opened."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reviser.core import files
from reviser.core.errors import FileChanged
from reviser.core.files import home_folder, sync, write_atomically, write_beside


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without fchmod, flock, renameat2, folders that can be opened, and open files that move."""
    monkeypatch.delattr(os, "fchmod")
    monkeypatch.delattr(os, "O_DIRECTORY")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    monkeypatch.setattr(files, "_OPEN_FILES_MOVE", False)
    opened = os.open

    def open_file(path: Path | str, *arguments: int, **options: int) -> int:
        assert not Path(path).is_dir()
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_file)
    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, only_if_closed(getattr(Path, name)))


def only_if_closed(method: Callable[..., Path]) -> Callable[..., Path]:
    """The method of a path, refused for files that are open."""

    def checked(path: Path, *others: Path, **options: bool) -> Path:
        held = {str(file.resolve()) for file in Path("/proc/self/fd").iterdir()}
        assert not held & {str(each.absolute()) for each in (path, *others)}
        return method(path, *others, **options)

    return checked


@pytest.mark.usefixtures("bare")
def test_files_are_still_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, b"old")
    write_atomically(path, b"new", replacing=b"old")
    assert path.read_bytes() == b"new"
    with pytest.raises(FileChanged):
        write_atomically(path, b"newer", replacing=b"old")
    beside = write_beside(path, b"newer")
    assert (path.read_bytes(), beside.read_bytes()) == (b"new", b"newer")
    assert sorted(tmp_path.iterdir()) == sorted([path, beside])


@pytest.mark.usefixtures("bare")
def test_a_folder_that_cannot_be_opened_is_not_waited_for(tmp_path: Path) -> None:
    sync(tmp_path)


def test_files_of_the_user_are_where_windows_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REVISER_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert home_folder("XDG_CONFIG_HOME", ".config") == Path("/local/reviser")
