"""Run folders, progress bars, and the cache of generations and judgements.

A run folder has all files of one run: `settings.json`, `prompts/SEED.jsonl`, `generations/MODEL.jsonl`,
`trajectories/MODEL.json`, `judgements.jsonl`, `results.json` and the report. It is written during the run.
Finished work comes from the cache, so an interrupted run is resumed by starting it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.protocol.records import Contestant, Continuation, Progress, Prompt, record_of
from benchmarks.protocol.setup import Setup
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically


def key_of(**facts: Any) -> str:
    """The cache key of a result: the SHA-256 of everything it depends on, as canonical JSON."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def default_cache() -> Path:
    """The default path of the cache."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "reviser" / "bench.sqlite"


class RunCache:
    """Results by key in one SQLite file; a value given to `put` survives the end of the program.

    It may not survive a loss of power, because waiting for the disk at each of many thousands of values is too slow.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise ReviserError(f"{path} cannot be used as a cache: {error}") from None

    def get(self, key: str) -> Any | None:
        """The JSON value of `key`, or None."""
        found = self._connection.execute("SELECT value FROM results WHERE key = ?", (key,)).fetchone()
        return json.loads(found[0]) if found else None

    def put(self, key: str, value: Any) -> None:
        """Stores a JSON value; equal keys have equal values, so the last one written stays."""
        self._connection.execute(
            "INSERT OR REPLACE INTO results VALUES (?, ?)", (key, json.dumps(value, ensure_ascii=False))
        )

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def start(cls, path: Path, settings: Mapping[str, object]) -> RunFolder:
        """Creates the folder of a run, or reopens that of a run with the same settings."""
        folder = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReviserError(f"{path} cannot be made: {error.strerror}") from None
        if folder.has("settings.json"):
            if folder.read_json("settings.json") != json.loads(json.dumps(settings)):
                raise ReviserError(f"{path} holds a run with other settings; name another folder")
        elif any(path.iterdir()):
            raise ReviserError(f"{path} is not empty and holds no run; name another folder")
        folder.write_json("settings.json", settings)
        return folder

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """Opens the folder of a finished run."""
        folder = cls(path)
        if not folder.has("results.json"):
            raise ReviserError(f"{path} holds no results of a run")
        return folder

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def file(self, *parts: str) -> Path:
        """The path of a file in the folder; creates its parent folders."""
        path = self.path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write_json(self, name: str, data: Any) -> None:
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
        write_atomically(self.file(name), f"{text}\n".encode())

    def read_json(self, name: str) -> Any:
        try:
            return json.loads(read_utf8(self.path / name))
        except json.JSONDecodeError:
            raise ReviserError(f"{self.path / name} is not JSON") from None


def file_name(name: str) -> str:
    """A file name for a model's name; names that would clash get a suffix."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"
    return plain if plain == name else f"{plain}-{key_of(name=name)[:6]}"


class ProgressBars:
    """Progress bars of the parts of a run on standard error; none if `quiet` or if that is not a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def say(self, text: str) -> None:
        if not self._quiet:
            from rich.console import Console

            Console(stderr=True, highlight=False).print(text, markup=False)

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[Progress]:
        """A bar of `total` steps; yields a function to call with the number of steps just done."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Display

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        hidden = self._quiet or not console.is_terminal
        with Display(*columns, console=console, disable=hidden) as display:
            bar = display.add_task(label, total=total)
            yield lambda done: display.advance(bar, done)


def generations_of(
    contestant: Contestant, prompts: Sequence[Prompt], seed: int, setup: Setup, cache: RunCache, progress: Progress
) -> list[Continuation]:
    """The contestant's continuations in the order of prompts; only those not cached are generated."""

    def key(prompt: Prompt) -> str:
        return key_of(
            kind="generation",
            maker=type(contestant).__name__,
            model=contestant.fingerprint,
            prompt=asdict(replace(prompt, source="")),
            seed=seed,
            writing=setup.writing(),
        )

    keys = {prompt.id: key(prompt) for prompt in prompts}
    kept = {id: cache.get(address) for id, address in keys.items()}
    found = {
        id: replace(record_of(value, Continuation), contestant=contestant.name)
        for id, value in kept.items()
        if value is not None
    }
    progress(len(found))
    missing = [prompt for prompt in prompts if prompt.id not in found]
    for made in contestant.generate(missing, seed, progress) if missing else ():
        cache.put(keys[made.prompt_id], asdict(made))
        found[made.prompt_id] = made
    return [found[prompt.id] for prompt in prompts]


def measured_each(
    items: Sequence[Any],
    key: Callable[[Any], str],
    measure: Callable[[Sequence[Any]], Sequence[Any]],
    cache: RunCache,
    progress: Progress,
    chunk: int = 32,
) -> list[Any]:
    """A JSON value for each item, in order; `measure` computes those not cached, `chunk` at a time."""
    keys = [key(item) for item in items]
    times = Counter(keys)
    found = {address: value for address in keys if (value := cache.get(address)) is not None}
    progress(sum(times[address] for address in found))
    missing = {address: item for address, item in zip(keys, items, strict=True) if address not in found}
    addresses = list(missing)
    for start in range(0, len(addresses), chunk):
        part = addresses[start : start + chunk]
        for address, value in zip(part, measure([missing[a] for a in part]), strict=True):
            cache.put(address, value)
            found[address] = value
            progress(times[address])
    return [found[address] for address in keys]


class PlainBars(ProgressBars):
    """Progress as plain lines on standard error, for machines without rich."""

    def say(self, text: str) -> None:
        if not self._quiet:
            print(text, file=sys.stderr, flush=True)

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[Progress]:
        began = time.perf_counter()
        yield lambda done: None
        self.say(f"{label}: {total} in {time.perf_counter() - began:.1f} s")
