"""What was typed since the last save, kept on disk for the next start after a crash.

A journal holds the text as it was at the last save and one line for each change since. It is locked
for as long as its editor lives, so a journal that nobody holds is one that a crash has left behind. Where files cannot
be locked (Windows), every journal counts as left behind; the system keeps one that is open from being moved.

A journal that is not wanted any more goes to a trash folder, in which it stays for some days.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from reviser.core.buffer import Buffer
from reviser.core.edits import Edit
from reviser.core.files import lock

_SUFFIX = ".journal"
_TRASH = "trash"
TRASH_DAYS = 14


class Journal:
    """The journal of one draft; it has a file only while there is something to lose."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._pending: list[Edit] = []

    @property
    def active(self) -> bool:
        return self._file is not None

    def begin(self, path: Path | None, base: str) -> None:
        """Start from `base`, the text before the first change."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        file = os.fdopen(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        with suppress(OSError):  # no locks here
            lock(file.fileno(), wait=True)
        data = base.encode("utf-8", "surrogatepass")
        header = {"path": None if path is None else str(path.absolute()), "bytes": len(data)}
        file.write(json.dumps(header).encode() + b"\n" + data + b"\n")
        file.flush()
        # Named as a journal only now, so that another editor never finds it unlocked.
        self._path = name.rename(name.with_suffix(_SUFFIX))
        self._file = file

    def note(self, change: Edit) -> None:
        """Remember a change; it reaches the disk with the next flush."""
        self._pending.append(change)

    def flush(self) -> None:
        """Hand what was noted to the system, where it survives this process."""
        if self._file is None or not self._pending:
            return
        lines = [json.dumps([c.start, len(c.old), c.new]) for c in self._pending]
        self._pending.clear()
        self._file.write(("\n".join(lines) + "\n").encode())
        self._file.flush()

    def end(self) -> None:
        """There is nothing to lose any more."""
        self._pending.clear()
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None


@dataclass(frozen=True)
class Leftover:
    """What a crash has left behind, or what was thrown away."""

    journal: Path
    path: Path | None
    text: str
    changes: int
    # When it was last written to, or thrown away.
    at: float

    @property
    def discarded(self) -> bool:
        return self.journal.parent.name == _TRASH

    def discard(self) -> None:
        """Put it into the trash, where it stays for some days."""
        if not self.discarded:
            _throw_away(self.journal)


def leftovers(folder: Path) -> list[Leftover]:
    """The journals that no living editor holds, the latest first; those that cannot be read go to the trash."""
    found = []
    for path in _journals(folder):
        with suppress(OSError), path.open("rb") as file:
            try:
                lock(file.fileno())
            except BlockingIOError:
                continue
            except OSError:  # no locks here
                pass
            leftover = _read(path, file.read())
            if leftover is None:
                _throw_away(path)
            elif not leftover.changes:
                path.unlink(missing_ok=True)
            else:
                found.append(leftover)
    return found


def thrown_away(folder: Path) -> list[Leftover]:
    """The journals in the trash, the latest first."""
    return [found for path in _journals(folder / _TRASH) if (found := read_journal(path))]


def sweep_trash(folder: Path) -> None:
    """Remove what has been in the trash for longer than its days."""
    oldest = time.time() - TRASH_DAYS * 24 * 3600
    for path in _journals(folder / _TRASH):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def read_journal(journal: Path) -> Leftover | None:
    """What a journal holds; None if it cannot be read."""
    try:
        return _read(journal, journal.read_bytes())
    except OSError:
        return None


def _journals(folder: Path) -> list[Path]:
    """The journals in a folder, the latest first."""
    found = []
    with suppress(OSError):
        for path in folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):
                found.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(found, reverse=True)]


def _throw_away(journal: Path) -> None:
    """Move a journal to the trash beside it; another editor may have been quicker."""
    with suppress(OSError):
        trash = journal.parent / _TRASH
        trash.mkdir(exist_ok=True, mode=0o700)
        # Its days are counted from now on.
        os.utime(journal)
        journal.rename(trash / journal.name)


def _read(journal: Path, data: bytes) -> Leftover | None:
    """A journal's text, as far as it was written; None if not even its start was."""
    first, newline, rest = data.partition(b"\n")
    try:
        header = json.loads(first)
        size = int(header["bytes"])
        named = None if header["path"] is None else Path(header["path"])
    except (ValueError, KeyError, TypeError):
        return None
    if not newline or len(rest) < size:
        return None
    buffer = Buffer(rest[:size].decode("utf-8", "surrogatepass"))
    changes = 0
    for line in rest[size + 1 :].split(b"\n"):
        try:
            start, removed, inserted = json.loads(line)
            buffer.replace(start, start + removed, inserted)
        except (ValueError, TypeError):
            break  # the last line may have been cut short
        changes += 1
    return Leftover(journal, named, buffer.text, changes, journal.stat().st_mtime)
