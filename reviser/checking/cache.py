"""A cache of results by content, so that an unchanged text is not read again.

One SQLite file holds them: writes are whole or not there, and several processes can use it at once. It is
optional: where it cannot be used, texts are read without it, and damaged entries are ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import reviser
from reviser.checking.findings import Result
from reviser.core.edits import Edit
from reviser.core.files import home_folder
from reviser.proofreading.document import Draft
from reviser.proofreading.request import Request
from reviser.proofreading.suggestion import Kind, Level, Suggestion

MOST_BYTES: Final = 64 << 20
"""The largest size of the cache, in bytes; entries unused for longest are deleted first."""

_FILE: Final = "results.sqlite"
_PATIENCE: Final = 5.0  # seconds for another process to finish writing
_FRESH: Final = 24 * 3600  # seconds for which a use need not be written down again
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT NOT NULL, used REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS results_by_use ON results (used);
CREATE TABLE IF NOT EXISTS digests (file TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
"""
# What of the program has a say in what is found.
_PARTS: Final = ("checking", "checkpoints", "core", "decoding", "model", "native", "proofreading", "prose", "session")

_Answer = TypeVar("_Answer")


def cache_folder() -> Path:
    """Where results are kept: in `$REVISER_HOME/checked`, or the platform's place for caches."""
    return home_folder("XDG_CACHE_HOME", ".cache") / "checked"


class Cache:
    """The cached results in a folder, by key."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._path = folder / _FILE
        self._most_bytes = most_bytes
        self._used: list[str] = []
        self._database: sqlite3.Connection | None = None
        with contextlib.suppress(OSError, sqlite3.Error):
            if not folder.exists():
                folder.mkdir(parents=True)
                (folder / ".gitignore").write_text("*\n")
            try:
                self._database = _connect(self._path)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                # It was damaged, and holds nothing that could not be had again.
                self._path.unlink(missing_ok=True)
                self._database = _connect(self._path)

    def get(self, key: str, text: str) -> Result | None:
        """The result for a key; None if there is none, or if it does not fit the text."""
        row = self._ask(lambda base: base.execute("SELECT value, used FROM results WHERE key = ?", (key,)).fetchone())
        if row is None:
            return None
        result = _decoded(row[0], text)
        if result is not None and row[1] < time.time() - _FRESH:
            self._used.append(key)
        return result

    def put(self, results: Mapping[str, Result]) -> None:
        """Store results; beyond the size limit, those that were unused for longest are deleted."""
        now = time.time()
        rows = [(key, _encoded(result), now) for key, result in results.items()]

        def write(base: sqlite3.Connection) -> None:
            base.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)
            while _size(base) > self._most_bytes:
                some = "SELECT 1 + count(*) / 8 FROM results"
                oldest = f"SELECT key FROM results ORDER BY used LIMIT ({some})"
                cursor = base.execute(f"DELETE FROM results WHERE key IN ({oldest})")
                if not cursor.rowcount:
                    break

        self._write(write)

    def digest(self, path: Path) -> str:
        """The digest of a large file; it is computed again only if the file's size or time has changed."""
        about = path.stat()
        key = f"{path.resolve()} {about.st_size} {about.st_mtime_ns}"
        row = self._ask(lambda base: base.execute("SELECT digest FROM digests WHERE file = ?", (key,)).fetchone())
        if row is not None:
            return str(row[0])
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "blake2b").hexdigest()
        self._write(lambda base: base.execute("INSERT OR REPLACE INTO digests VALUES (?, ?)", (key, digest)))
        return digest

    def close(self) -> None:
        """Record which entries were used, and close the file."""
        if self._database is None:
            return
        now = time.time()
        if self._used:
            used = [(now, key) for key in self._used]
            self._write(lambda base: base.executemany("UPDATE results SET used = ? WHERE key = ?", used))
        self._database.close()
        self._database = None

    def _ask(self, question: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        if self._database is None:
            return None
        try:
            return question(self._database)
        except sqlite3.Error:
            return None

    def _write(self, change: Callable[[sqlite3.Connection], object]) -> None:
        if self._database is None:
            return
        # A full disk or a folder that is read-only is no reason to fail.
        with contextlib.suppress(sqlite3.Error), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            change(self._database)


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        known = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if len(known) < 2:
            database.executescript(_TABLES)
    except BaseException:
        database.close()
        raise
    return database


def _size(base: sqlite3.Connection) -> int:
    """The bytes in use; the space of deleted entries is reused later."""
    pages, free, size = (
        int(base.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _encoded(result: Result) -> str:
    changes = [
        [one.start, one.old, one.new, one.confidence, one.kind.value, one.reason, one.rule, one.level.value]
        for one in result.changes
    ]
    return json.dumps([result.sentences, changes, sorted(result.used)])


def _decoded(value: str, text: str) -> Result | None:
    try:
        sentences, rows, used = json.loads(value)
        changes = tuple(
            Suggestion(Edit(start, old, new), Kind(kind), confidence, str(reason), rule=str(rule), level=Level(level))
            for start, old, new, confidence, kind, reason, rule, level in rows
        )
        result = Result(changes, int(sentences), frozenset(map(int, used)))
        fits = all(text[one.start : one.end] == one.old for one in changes)
    except (ValueError, TypeError):
        return None
    return result if fits else None


# Keys --------------------------------------------------------------------------------------------


class Keys:
    """The cache keys of texts: digests of everything that decides what is found in them."""

    def __init__(self, request: Request, model: str) -> None:
        kinds = sorted(request.kinds)
        self._head = json.dumps([program(), model, request.confidence, kinds]).encode()

    def key(self, draft: Draft) -> str:
        digest = hashlib.blake2b(self._head, digest_size=24)
        words = draft.words.within(draft.text)
        rules = (one.text for one in draft.rules)
        for part in (draft.format, *sorted(words.terms), "", *sorted(words.accepted), "", *rules, "", draft.text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()


def model_digest(folder: Path, cache: Cache) -> str:
    """The digest of a model: of its configuration, tokenizer and weights."""
    names = ("config.json", "tokenizer*.json*", "*.safetensors")
    files: Iterable[Path] = sorted({path for name in names for path in folder.glob(name)})
    return _joined({path.name: cache.digest(path) for path in files if path.is_file()})


def program() -> str:
    """The version of the program, and a digest of the code that decides what is found."""
    home = Path(reviser.__file__).parent
    files = sorted(
        path for part in _PARTS for path in (home / part).rglob("*") if path.suffix in (".py", ".json", ".xz")
    )
    digests = {path.relative_to(home).as_posix(): hashlib.blake2b(path.read_bytes()).hexdigest() for path in files}
    return _joined({"version": reviser.__version__} | digests)


def _joined(parts: Mapping[str, object]) -> str:
    return hashlib.blake2b(json.dumps(dict(parts)).encode(), digest_size=24).hexdigest()
