"""Reading and writing files so that no text is lost: plain errors in, atomic replacement out."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from reviser.errors import ReviserError


def read_bytes(path: Path) -> bytes:
    """The bytes of the file at `path`, or of standard input for `-`."""
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except FileNotFoundError:
        raise ReviserError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ReviserError(f"{path} is a directory, not a file") from None
    except PermissionError:
        raise ReviserError(f"{path} may not be read by you") from None
    except OSError as error:
        raise ReviserError(f"{path} cannot be read: {error.strerror}") from None


def read_utf8(path: Path) -> str:
    """The text of a file that must be UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReviserError(f"{path} is not a UTF-8 text file") from None


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` in the place of the file at `path`: at any moment it is the old file or the new one.

    A link is followed, and the mode of an existing file is kept.
    """
    target = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise ReviserError(f"{path} cannot be written: {error.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), _mode_for(target))
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync_directory(target.parent)
    except OSError as error:
        raise ReviserError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _mode_for(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_directory(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
