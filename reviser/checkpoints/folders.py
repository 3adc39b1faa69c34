"""Atomic creation of folders: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reviser.core.errors import ReviserError
from reviser.core.files import sync


@contextmanager
def atomic_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """A temporary folder beside `target` that takes its place if the block ends without an error.

    With `replace`, an existing folder is replaced. No file system swaps full folders in one step that every platform
    has, so for an instant neither has the name; both are whole at all times.
    """
    target = Path(os.path.realpath(target))
    if not replace and _occupied(target):
        raise ReviserError(f"{target} already exists")
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
        temporary.chmod(0o777 & ~_umask())
        yield temporary
        _finish(temporary)
        _put_in_place(temporary, target)
    except OSError as error:
        raise ReviserError(f"{target} cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _occupied(target: Path) -> bool:
    if target.is_dir():
        return any(target.iterdir())
    return target.exists()


def _put_in_place(temporary: Path, target: Path) -> None:
    if not _occupied(target):
        temporary.replace(target)
    else:
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
        target.replace(aside / target.name)
        temporary.replace(target)
        shutil.rmtree(aside, ignore_errors=True)
    sync(target.parent)


def _finish(folder: Path) -> None:
    """Give files the usual mode, which writers of weights may not set, and sync them to the disk."""
    for path in folder.iterdir():
        # A folder in it was made whole before, and must stay one that can be entered.
        if path.is_file():
            path.chmod(0o666 & ~_umask())
        sync(path)
    sync(folder)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
