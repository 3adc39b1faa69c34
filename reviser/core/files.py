"""Reading and writing files so that no text is lost: plain errors in, atomic replacement out."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from reviser.core.errors import FileChanged, ReviserError

STREAM = Path("-")
"""How a user names standard input, or standard output where something is written."""

# Files that are being written; the lock on one tells whether its writer still lives.
_TEMPORARY_PREFIX, _TEMPORARY_SUFFIX = ".reviser-", ".tmp"
_PATIENCE = 1.0  # seconds for another writer to finish with a file
_TEMPORARY = re.compile(r"\.reviser-[a-z0-9_]{8}\.tmp")
# Windows neither removes nor replaces a file that is open.
_OPEN_FILES_MOVE = os.name != "nt"


def home_folder(variable: str, usual: str) -> Path:
    """A user's folder for Reviser: `$REVISER_HOME`, or the platform's place, which `variable` names on Linux."""
    if home := os.environ.get("REVISER_HOME"):
        return Path(home)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "reviser"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "reviser"
    return Path(os.environ.get(variable) or Path.home() / usual) / "reviser"


def input_name(path: Path | str) -> str:
    """What messages call the file that is read at `path`."""
    return "standard input" if str(path) == "-" else str(path)


@contextlib.contextmanager
def open_input(path: Path) -> Iterator[io.BufferedReader]:
    """The file at `path`, or standard input for `-`, open for reading; it raises `ReviserError` for what cannot be
    read."""
    try:
        with contextlib.ExitStack() as open_files:
            if path == STREAM:
                file = cast("io.BufferedReader", sys.stdin.buffer)
            else:
                file = open_files.enter_context(path.open("rb"))
            if _is_endless(file):
                raise ReviserError(f"{input_name(path)} is a device, not a file")
            yield file
    except FileNotFoundError:
        raise ReviserError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ReviserError(f"{input_name(path)} is a directory, not a file") from None
    except PermissionError:
        raise ReviserError(f"{path} may not be read by you") from None
    except OSError as error:
        raise ReviserError(f"{input_name(path)} cannot be read: {error.strerror or error}") from None


def _is_endless(file: BinaryIO) -> bool:
    """Whether an open file is a device, such as /dev/zero; a terminal ends with Ctrl+D, and the null device at once."""
    try:
        status = os.fstat(file.fileno())
    except io.UnsupportedOperation:  # a stream in memory
        return False
    if not (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)):
        return False
    return not file.isatty() and status.st_rdev != Path(os.devnull).stat().st_rdev


def read_bytes(path: Path) -> bytes:
    """The bytes of the file at `path`, or of standard input for `-`."""
    with open_input(path) as file:
        return file.read()


def read_utf8(path: Path) -> str:
    """The text of a file that must be UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReviserError(f"{input_name(path)} is not a UTF-8 text file") from None


def check_output(path: Path) -> None:
    """Refuse a place where no result can be put, before any work is done for it."""
    if path == STREAM:
        return
    if path.is_dir():
        raise ReviserError(f"{path} is a directory, not a file")
    if path.exists():
        check_not_read_only(path)
    elif not path.parent.is_dir():
        raise ReviserError(f"there is no folder {path.parent}")


def check_not_read_only(path: Path) -> None:
    """Refuse a file that says it must not be written; replacing it would get around that."""
    writable_by_someone = stat.S_IMODE(path.stat().st_mode) & 0o222
    if not writable_by_someone or not os.access(path, os.W_OK):
        raise ReviserError(f"{path} is read-only")


def write_output(path: Path, data: bytes) -> None:
    """Put `data` where a user asked for it: in a file, or for `-` on standard output."""
    if path == STREAM:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_atomically(path, data)


def write_atomically(path: Path, data: bytes, *, replacing: bytes | None = None) -> None:
    """Put `data` in the place of the file at `path`: at any moment it is the old file or the new one.

    A link is followed, and the mode of an existing file is kept. If the file no longer holds
    `replacing`, where that is given, it stays as it is and `FileChanged` is raised. What is not a file
    but a device or a pipe is written to.
    """
    target = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        _sweep(target.parent)
        with _temporary_file(target.parent) as (temporary, file):
            _fill(file.fileno(), data, _mode_for(target))
            if not _OPEN_FILES_MOVE:
                file.close()
            if replacing is None:
                temporary.replace(target)
            else:
                _replace_known(temporary, target, replacing, path)
            sync(target.parent)
    except OSError as error:
        raise ReviserError(f"{path} cannot be written: {error.strerror}") from None


def write_beside(path: Path, data: bytes) -> Path:
    """Write `data` to a new file with a free name next to the one at `path`; returns where it is."""
    for number in itertools.count(1):
        mark = "reviser" if number == 1 else f"reviser-{number}"
        beside = path.with_name(f"{path.stem}.{mark}{path.suffix}")
        try:
            file = beside.open("xb")
        except FileExistsError:
            continue
        except OSError as error:
            raise ReviserError(f"{beside} cannot be written: {error.strerror}") from None
        try:
            with file:
                _fill(file.fileno(), data, _mode_for(path))
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise ReviserError(f"{beside} cannot be written: {error.strerror}") from None
        break
    return beside


@contextlib.contextmanager
def _temporary_file(folder: Path) -> Iterator[tuple[Path, io.FileIO]]:
    """A new file in `folder`, open and locked as long as its writer lives, and gone afterwards."""
    import tempfile  # it loads much, and reading needs none of it

    while True:
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY_PREFIX, suffix=_TEMPORARY_SUFFIX, dir=folder)
        with contextlib.suppress(OSError):
            lock(handle, wait=True)
        # Another process may have swept it away before it was locked.
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)
    with io.FileIO(handle, "w") as file:
        try:
            yield Path(name), file
        finally:
            if not _OPEN_FILES_MOVE:
                file.close()
            Path(name).unlink(missing_ok=True)


def _fill(handle: int, data: bytes, mode: int) -> None:
    with open(handle, "wb", closefd=False) as file:
        file.write(data)
        file.flush()
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _replace_known(temporary: Path, target: Path, known: bytes, path: Path) -> None:
    """Replace `target` unless it holds something else than `known`.

    Where the system can exchange two files in one step, what came out is looked at once more, and put
    back if somebody wrote it after the first look. Elsewhere a few microseconds remain for that.
    """
    changed = FileChanged(f"{path} was changed by someone else meanwhile")
    try:
        file = _hold(target)
    except FileNotFoundError:
        raise FileChanged(f"{path} was removed meanwhile") from None
    with file:
        if file.read() != known:
            raise changed
        if not _OPEN_FILES_MOVE:
            file.close()
        ours = temporary.stat().st_ino
        if not _exchange(temporary, target):
            temporary.replace(target)
        elif temporary.read_bytes() != known:
            _put_back(temporary, target, ours)
            raise changed


def _hold(target: Path) -> BinaryIO:
    """Open a file and lock it against other writers of this kind, who may have to finish first.

    They lock the old file and the new one, so that the file at `target` is locked until theirs is there
    for good. Other programs may hold such a lock for long, which is no reason to wait for ever.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        file = target.open("rb")
        try:
            lock(file.fileno())
            settled = os.path.samestat(os.fstat(file.fileno()), target.stat())
        except (BlockingIOError, FileNotFoundError):
            settled = False
        except OSError:  # no locks here
            settled = True
        if settled or time.monotonic() > deadline:
            return file
        file.close()
        time.sleep(0.001)


def _put_back(temporary: Path, target: Path, ours: int) -> None:
    """Undo an exchange, unless somebody has replaced or removed the file `ours` in the meantime."""
    if not _exchange(temporary, target):
        temporary.replace(target)
    elif temporary.stat().st_ino != ours:
        _exchange(temporary, target)


def _exchange(one: Path, other: Path) -> bool:
    """Let two files change places in one step; False where the system cannot do that."""
    if sys.platform != "linux":
        return False
    import ctypes

    at_working_folder, exchange = -100, 2
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # a C library without it
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    return bool(call(at_working_folder, first, at_working_folder, second, exchange) == 0)


def _sweep(folder: Path) -> None:
    """Remove what writers left behind that were killed: files whose lock nobody holds any more."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        stale = [entry.path for entry in entries if _TEMPORARY.fullmatch(entry.name)]
        for name in stale:
            with contextlib.suppress(OSError), Path(name).open("rb") as file:
                lock(file.fileno())
                Path(name).unlink()


def lock(handle: int, *, wait: bool = False) -> None:
    """Lock an open file until it is closed.

    Raises BlockingIOError if somebody else has done so, and another OSError where files cannot be locked.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        raise OSError(errno.ENOTSUP, "files cannot be locked here") from None
    fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _mode_for(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk; Windows cannot be asked to for what is open to be read alone."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
