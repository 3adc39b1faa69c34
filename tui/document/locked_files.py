"""Files that are locked while their editor process lives, by which editors detect each other."""

from __future__ import annotations

import json
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from reviser.core.files import lock

_MARK = ".open"


class LockedFile:
    """A file that this process keeps locked, so that others can tell it from one that a dead process left behind."""

    def __init__(self, folder: Path, suffix: str, data: bytes, path: Path | None = None) -> None:
        """Write `data` to a new file in `folder`, or replace the file at `path`."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        self.file: IO[bytes] = os.fdopen(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        with suppress(OSError):  # no locks here
            lock(self.file.fileno(), wait=True)
        self.file.write(data)
        self.file.flush()
        # It is renamed only now, so that another editor never finds it unlocked or incomplete.
        self.path = name.replace(path or name.with_suffix(suffix))

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.file.close()


def is_held(file: IO[bytes]) -> bool | None:
    """Whether the editor that made a file is alive; None where files cannot be locked."""
    try:
        lock(file.fileno())
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


class OpenMark:
    """A mark that tells other editors of this user that a file is open here, and whether one of them has it open.

    The mark of an editor that died is not locked, so it is ignored and removed. Where files cannot be locked, a mark
    counts as long as its process lives; one from another machine then does not count.
    """

    def __init__(self, folder: Path, path: Path) -> None:
        """Keep the mark in `folder`; if that cannot be written, other editors are not told."""
        self._folder = folder
        self._path = os.path.realpath(path)
        self._held: LockedFile | None = None
        mark = {"path": self._path, "process": os.getpid(), "host": socket.gethostname()}
        with suppress(OSError):
            self._held = LockedFile(folder, _MARK, json.dumps(mark).encode())

    def elsewhere(self) -> int | None:
        """The process id of another editor that has the file open; None if there is none."""
        with suppress(OSError):
            for found in self._folder.glob(f"*{_MARK}"):
                if self._held is None or found != self._held.path:
                    mark = _living(found)
                    if mark.get("path") == self._path:
                        return int(mark["process"])
        return None

    def remove(self) -> None:
        if self._held is not None:
            with suppress(OSError):
                self._held.remove()
            self._held = None


def _living(found: Path) -> dict[str, Any]:
    """The content of a mark; empty if its editor is dead, in which case the mark is removed."""
    with suppress(OSError, ValueError), found.open("rb") as file:
        held = is_held(file)
        if held is False:
            found.unlink()
        else:
            mark: dict[str, Any] = json.loads(file.read())
            if held or (mark["host"] == socket.gethostname() and _lives(mark["process"])):
                return mark
    return {}


def _lives(process: int) -> bool:
    if os.name == "nt":  # where a signal would end it
        return False
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
