"""The journal of unsaved changes, kept on disk for recovery after a crash.

A journal holds the text as last saved and one line for each change since. After many changes it is rewritten from the
present text, so that reading it takes no longer after a day than after a minute. It is locked while its editor lives,
so an unlocked journal was left behind by a crash. Where files cannot be locked (Windows), every journal counts as left
behind; the system does not let one that is open be moved.

A journal that is no longer needed goes to a trash folder, where it stays for some days.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reviser.core.buffer import Buffer
from reviser.core.edits import Edit
from tui.document.locked_files import LockedFile, is_held

_SUFFIX = ".journal"
# The number of changes after which a journal is rewritten.
_MOST_CHANGES = 1000
_TRASH = "trash"
TRASH_DAYS = 14


class Journal:
    """The journal of one draft; it has a file only while there are unsaved changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: LockedFile | None = None
        self._pending: list[Edit] = []
        self._header: dict[str, object] = {}
        # The number of changes noted, and of those written to the file.
        self._changes = self._lines = 0

    @property
    def active(self) -> bool:
        return self._held is not None

    def begin(self, path: Path | None, base: str) -> None:
        """Start from `base`, the text before the first change, which is in the file at `path`."""
        self._header = {"path": None if path is None else str(path.absolute()), "base": digest(base)}
        self._changes = 0
        self._write(base)

    def _write(self, text: str) -> None:
        """Write a new journal with `text` and no changes."""
        data = text.encode("utf-8", "surrogatepass")
        header = json.dumps(self._header | {"changes": self._changes, "bytes": len(data)}).encode()
        before = self._held
        self._held = LockedFile(self._folder, _SUFFIX, header + b"\n" + data + b"\n", before.path if before else None)
        self._lines = 0
        if before is not None:
            before.file.close()

    def note(self, change: Edit) -> None:
        """Add a change; it is written to disk with the next flush."""
        self._pending.append(change)

    def flush(self, text: Callable[[], str]) -> None:
        """Write the noted changes, so that they survive this process; `text` returns the draft's present text."""
        if self._held is None or not self._pending:
            return
        noted, self._pending = self._pending, []
        self._changes += len(noted)
        self._lines += len(noted)
        if self._lines > _MOST_CHANGES:
            self._write(text())
            return
        lines = [json.dumps([change.start, len(change.old), change.new]) for change in noted]
        self._held.file.write(("\n".join(lines) + "\n").encode())
        self._held.file.flush()

    def end(self) -> None:
        """Remove the file: there are no unsaved changes any more."""
        self._pending.clear()
        if self._held is not None:
            self._held.remove()
            self._held = None


def digest(text: str) -> str:
    """A digest that tells one text from others."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Leftover:
    """A recoverable text: left behind by a crash, or discarded."""

    journal: Path
    path: Path | None
    text: str
    changes: int
    # The digest of the text that was changed: at the last save, that of the file.
    base: str
    # When it was last written to, or thrown away.
    at: float

    @property
    def discarded(self) -> bool:
        return self.journal.parent.name == _TRASH

    def discard(self) -> None:
        """Move the journal to the trash, where it stays for some days."""
        if not self.discarded:
            _throw_away(self.journal)


def leftovers(folder: Path) -> list[Leftover]:
    """The journals of dead editors, latest first; unreadable ones are moved to the trash."""
    found = []
    for path in _journals(folder):
        with suppress(OSError), path.open("rb") as file:
            if is_held(file):
                continue
            leftover = _read(path, file.read())
            if leftover is None:
                _throw_away(path)
            elif not leftover.changes:
                path.unlink(missing_ok=True)
            else:
                found.append(leftover)
    return found


def thrown_away(folder: Path) -> list[Leftover]:
    """The journals in the trash, latest first."""
    return [found for path in _journals(folder / _TRASH) if (found := read_journal(path))]


def sweep_trash(folder: Path) -> None:
    """Delete journals that have been in the trash for too many days."""
    oldest = time.time() - TRASH_DAYS * 24 * 3600
    for path in _journals(folder / _TRASH):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def read_journal(journal: Path) -> Leftover | None:
    """The text and origin that a journal holds; None if it cannot be read."""
    try:
        return _read(journal, journal.read_bytes())
    except OSError:
        return None


def _journals(folder: Path) -> list[Path]:
    """The journals in a folder, latest first."""
    found = []
    with suppress(OSError):
        for path in folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):
                found.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(found, reverse=True)]


def _throw_away(journal: Path) -> None:
    """Move a journal to the trash beside it; it may be gone already, if another editor was quicker."""
    with suppress(OSError):
        trash = journal.parent / _TRASH
        trash.mkdir(exist_ok=True, mode=0o700)
        # The days in the trash are counted from now on.
        os.utime(journal)
        journal.rename(trash / journal.name)


def _read(journal: Path, data: bytes) -> Leftover | None:
    """A journal's text, up to the last complete change; None if its first line is incomplete."""
    first, newline, rest = data.partition(b"\n")
    try:
        header = json.loads(first)
        size = int(header["bytes"])
        named = None if header["path"] is None else Path(header["path"])
    except (ValueError, KeyError, TypeError):
        return None
    if not newline or len(rest) < size:
        return None
    base = rest[:size].decode("utf-8", "surrogatepass")
    buffer, changes = Buffer(base), int(header.get("changes", 0))
    for line in rest[size + 1 :].split(b"\n"):
        try:
            start, removed, inserted = json.loads(line)
            buffer.replace(start, start + removed, inserted)
        except (ValueError, TypeError):
            break  # the last line may have been cut short
        changes += 1
    known = header.get("base") or digest(base)
    return Leftover(journal, named, buffer.text, changes, known, journal.stat().st_mtime)
