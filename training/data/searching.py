"""What searches through shards by a base model have in common: the loop over shards, and going on after an
interruption.

Findings are written beside the tokens of each shard, whole or not at all, and noted in a file of facts. The same
search in the same folder goes on with the first shard that is not noted there.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from reviser.checkpoints.home import Checkpoint
from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from training.data.corpus import Corpus, Manifest, Shard, ShardEntry
from training.data.shards import describe_tokenizer, write_array

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_SECONDS_BETWEEN_REPORTS = 10.0


@dataclass(frozen=True)
class ShardFindings:
    """What was found in a shard: a value for each token, counts for the facts, and a sentence that says them."""

    values: NDArray[Any]
    counts: Mapping[str, int]
    sentence: str


Say = Callable[[int, int], None]
"""Is told how many candidates of a shard are done, and how many there are."""

Look = Callable[[Shard, int, Say], ShardFindings]
"""Looks through one shard, whose number it is given."""


@dataclass(frozen=True)
class SearchKind:
    """A kind of search: the file of its facts in the folder of the shards, and where its findings are beside a
    shard."""

    facts: str
    beside: Callable[[Path, str], Path]


def read_by(model: str, corpus: Corpus) -> Checkpoint:
    """The base model of a search, which must read the same tokens as the shards have."""
    from reviser.checkpoints.importing import import_model

    base = import_model(model)
    if describe_tokenizer(base.tokenizer).sha256 != corpus.tokenizer.sha256:
        raise ReviserError("the base has another tokenizer than the shards")
    return base


def search_shards(
    kind: SearchKind, folder: Path, corpus: Corpus, look: Look, *, base: str, search: DataclassInstance
) -> None:
    """Look through all shards of a folder that the same search has not been through yet."""
    try:
        _go_through(kind, folder, corpus, look, _Facts.begun(folder / kind.facts, base, search))
    except KeyboardInterrupt:
        print("stopped: the same command goes on with the first unfinished shard", file=sys.stderr)
        raise


def _go_through(kind: SearchKind, folder: Path, corpus: Corpus, look: Look, facts: _Facts) -> None:
    entries = [entry for source in Manifest.load(folder).sources for entry in source.shards]
    for number, (entry, shard) in enumerate(zip(entries, corpus.shards, strict=True)):
        path = kind.beside(folder, entry.name)
        if facts.has(entry) and path.exists():
            print(f"{entry.name}: already there", flush=True)
            continue
        began = time.perf_counter()
        found = look(shard, number, _progress(entry.name))
        write_array(path, found.values)
        facts.note(entry, found.counts)
        facts.save(folder / kind.facts)
        seconds = time.perf_counter() - began
        print(f"{entry.name}: {found.sentence}, {seconds:.0f} s", flush=True)


@dataclass
class _Facts:
    """What was searched so far, by which base and with which settings."""

    base: str
    search: dict[str, Any]
    shards: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def begun(cls, path: Path, base: str, search: DataclassInstance) -> _Facts:
        """Those of the last search in a folder if it was the same one, else none."""
        fresh = cls(base, asdict(search))
        try:
            known = cls(**json.loads(read_utf8(path)))
        except (OSError, ReviserError, TypeError, ValueError):
            return fresh
        return known if (known.base, known.search) == (fresh.base, fresh.search) else fresh

    def has(self, entry: ShardEntry) -> bool:
        """Whether a shard with these tokens was searched; older facts do not say which tokens they are about."""
        wanted = (entry.name, entry.sha256)
        return any((one.get("shard"), one.get("sha256")) == wanted for one in self.shards)

    def note(self, entry: ShardEntry, counts: Mapping[str, int]) -> None:
        """Note what was found in a shard, in place of what was noted of it before."""
        others = [one for one in self.shards if one.get("shard") != entry.name]
        self.shards = [*others, {"shard": entry.name, "sha256": entry.sha256, **counts}]

    def save(self, path: Path) -> None:
        write_atomically(path, (json.dumps(asdict(self), indent=1) + "\n").encode())


def _progress(name: str) -> Say:
    """Says now and then how many candidates of a shard are done."""
    told = time.monotonic()

    def say(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _SECONDS_BETWEEN_REPORTS:
            told = time.monotonic()
            print(f"{name}: {done:,} of {total:,} candidates …", file=sys.stderr, flush=True)

    return say
