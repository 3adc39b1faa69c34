"""Run folders, and the cache through which no generation or judgement is paid for twice."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reviser.errors import ReviserError


def key_of(**facts: Any) -> str:
    """The address of a result: the SHA-256 of all that it depends on, as canonical JSON."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def default_cache() -> Path:
    """Where results are kept between runs unless the user names another place."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "reviser" / "bench.sqlite"


class Cache:
    """Results by address, in one SQLite file; each is safe on disk before `put` returns."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
            )
        except (OSError, sqlite3.Error) as error:
            raise ReviserError(f"{path} cannot be used as a cache: {error}") from None

    def get(self, key: str) -> Any | None:
        """The JSON value kept under `key`, or None."""
        found = self._connection.execute(
            "SELECT value FROM results WHERE key = ?", (key,)
        ).fetchone()
        return json.loads(found[0]) if found else None

    def put(self, key: str, value: Any) -> None:
        """Keep a JSON value; the same key always has the same value, so the last one written stays."""
        self._connection.execute(
            "INSERT OR REPLACE INTO results VALUES (?, ?)",
            (key, json.dumps(value, ensure_ascii=False)),
        )

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
