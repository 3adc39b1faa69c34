"""Files read and written without loss of text: user errors become `ReviserError`, and files are replaced atomically."""

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
    """A user's folder for Reviser: `$REVISER_HOME`, or the platform's (on Linux the one that `variable` names)."""
    if home := os.environ.get("REVISER_HOME"):
        return Path(home)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "reviser"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "reviser"
    return Path(os.environ.get(variable) or Path.home() / usual) / "reviser"


def input_name(path: Path | str) -> str:
    """The name of an input file in messages; standard input for `-`."""
    return "standard input" if str(path) == "-" else str(path)


@contextlib.contextmanager
def open_input(path: Path) -> Iterator[io.BufferedReader]:
    """The file at `path`, or standard input for `-`, open for reading; raises `ReviserError` if it cannot be read."""
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
    """Whether an open file is a device without an end, such as /dev/zero; terminals and the null device do end."""
    try:
        status = os.fstat(file.fileno())
    except io.UnsupportedOperation:  # a stream in memory
        return False
    if not (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)):
        return False
    return not file.isatty() and status.st_rdev != Path(os.devnull).stat().st_rdev


def read_bytes(path: Path) -> bytes:
    """The bytes of the file at `path`, or of standard input for `-`; raises `ReviserError` if it cannot be read."""
    with open_input(path) as file:
        return file.read()


def read_utf8(path: Path) -> str:
    """The text of a file; raises `ReviserError` if it is not UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReviserError(f"{input_name(path)} is not a UTF-8 text file") from None


def check_output(path: Path) -> None:
    """Raise `ReviserError` if no result can be written to `path`; called before work is done for it."""
    if path == STREAM:
        return
    if path.is_dir():
        raise ReviserError(f"{path} is a directory, not a file")
    if path.exists():
        check_not_read_only(path)
    elif not path.parent.is_dir():
        raise ReviserError(f"there is no folder {path.parent}")


def check_not_read_only(path: Path) -> None:
    """Raise `ReviserError` for a file marked read-only, which an atomic replacement would otherwise overwrite."""
    writable_by_someone = stat.S_IMODE(path.stat().st_mode) & 0o222
    if not writable_by_someone or not os.access(path, os.W_OK):
        raise ReviserError(f"{path} is read-only")


def write_output(path: Path, data: bytes) -> None:
    """Write `data` where a user asked for it: to a file, or for `-` to standard output."""
    if path == STREAM:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_atomically(path, data)


def write_atomically(path: Path, data: bytes, *, replacing: bytes | None = None) -> None:
    """Replace the file at `path` by one with `data`; at any moment it is the old file or the new one.

    A link is followed, and the mode of an existing file is kept. With `replacing`, a file whose content is not these
    bytes stays as it is and `FileChanged` is raised. A device or a pipe is written to directly.
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
    """Write `data` to a new file with a free name next to the one at `path`; returns its path."""
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
    """A new file in `folder`, locked while it is open and removed afterwards."""
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
    """Replace `target` by `temporary`; raises `FileChanged` if its content is not `known`.

    Where the system can exchange two files in one step, the old file is compared again after the exchange, and put back
    if another program wrote it in between. Elsewhere a gap of a few microseconds remains.
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
    """Open a file and lock it, waiting for other writers that use this function.

    They lock the old file and the new one, so `target` stays locked until the new file is in place. Other programs may
    hold such a lock for long, so the wait is limited.
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
    """Undo an exchange, unless another program has replaced or removed the file `ours` in the meantime."""
    if not _exchange(temporary, target):
        temporary.replace(target)
    elif temporary.stat().st_ino != ours:
        _exchange(temporary, target)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two files in one step; False where the system cannot."""
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
    """Remove temporary files of writers that were killed: those that nobody has locked."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        stale = [entry.path for entry in entries if _TEMPORARY.fullmatch(entry.name)]
        for name in stale:
            with contextlib.suppress(OSError), Path(name).open("rb") as file:
                lock(file.fileno())
                Path(name).unlink()


def lock(handle: int, *, wait: bool = False) -> None:
    """Lock an open file until it is closed.

    Raises BlockingIOError if another process holds the lock, and another OSError where files cannot be locked.
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
    """Wait until a file or a folder is on the disk; Windows does not allow that for what is open for reading only."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
