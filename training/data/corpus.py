"""Tokenised texts on disk: memory-mapped shards, document offsets and a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reviser.core.errors import ReviserError
from reviser.core.files import read_utf8, write_atomically
from reviser.core.vocabulary import KINDS, Vocabulary
from training.data.boundaries import Classes

FORMAT = "reviser token shards 1"
Tokens = NDArray[np.uint16] | NDArray[np.uint32]


@dataclass(frozen=True)
class ShardEntry:
    """One shard in the manifest; `sha256` is that of its tokens as stored."""

    name: str
    documents: int
    tokens: int
    sha256: str


@dataclass(frozen=True)
class SourceEntry:
    """A source that has been tokenised whole, and the shards it went into."""

    source: str
    sha256: str
    date: str
    options: dict[str, object]
    shards: tuple[ShardEntry, ...]

    @property
    def documents(self) -> int:
        return sum(shard.documents for shard in self.shards)

    @property
    def tokens(self) -> int:
        return sum(shard.tokens for shard in self.shards)


@dataclass(frozen=True)
class TokenizerEntry:
    """The tokenizer of the shards; `sha256` is over the bytes of all its tokens and a test text."""

    name: str
    sha256: str
    size: int
    markers: tuple[int, ...]

    @property
    def dtype(self) -> str:
        return "<u2" if self.size <= 2**16 else "<u4"


@dataclass(frozen=True)
class Manifest:
    """The contents of a folder of shards and their sources."""

    tokenizer: TokenizerEntry
    sources: tuple[SourceEntry, ...] = ()

    @property
    def documents(self) -> int:
        return sum(source.documents for source in self.sources)

    @property
    def tokens(self) -> int:
        return sum(source.tokens for source in self.sources)

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        path = folder / "manifest.json"
        try:
            data = json.loads(read_utf8(path))
            if data["format"] != FORMAT:
                raise ReviserError(f"{path} is of another format: {data['format']}")
            tokenizer = dict(data["tokenizer"], markers=tuple(data["tokenizer"]["markers"]))
            sources = [
                SourceEntry(**dict(row, shards=tuple(ShardEntry(**part) for part in row["shards"])))
                for row in data["sources"]
            ]
            return cls(TokenizerEntry(**tokenizer), tuple(sources))
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError):
            raise ReviserError(f"{path} is not a manifest of token shards") from None

    def save(self, folder: Path) -> None:
        totals = {"documents": self.documents, "tokens": self.tokens}
        data = {"format": FORMAT, **totals, **asdict(self)}
        write_atomically(folder / "manifest.json", (json.dumps(data, indent=1) + "\n").encode())


@dataclass(frozen=True)
class Shard:
    """The concatenated tokens of many documents; document i is `offsets[i]` to `offsets[i + 1]`.

    `optional`, if it was measured, has for each token the length of the omissible piece that ends before it,
    or 0 (see `training.data.optional_pieces`).
    """

    tokens: Tokens
    offsets: NDArray[np.int64]
    optional: NDArray[np.uint8] | None = None


def tokens_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.tokens.npy"


def offsets_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.offsets.npy"


def optional_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.optional.npy"


def shard_is_whole(folder: Path, entry: ShardEntry) -> bool:
    """Whether the files of a shard exist and have the right size."""
    try:
        shard = _open_shard(folder, entry.name)
    except ReviserError:
        return False
    return len(shard.tokens) == entry.tokens and len(shard.offsets) == entry.documents + 1


def _open_shard(folder: Path, name: str) -> Shard:
    try:
        # A plain array over the map: the compiled code does not know memory maps as such.
        tokens = np.asarray(np.load(tokens_path(folder, name), mmap_mode="r"))
        optional = _beside(tokens, optional_path(folder, name), np.dtype(np.uint8))
        return Shard(tokens, np.load(offsets_path(folder, name)), optional)
    except (OSError, ValueError) as error:
        raise ReviserError(f"shard {name} in {folder} cannot be read: {error}") from None


def _beside(tokens: Tokens, path: Path, kind: np.dtype[Any]) -> NDArray[Any] | None:
    """The per-token array of a file beside the tokens; None if there is no such file."""
    if not path.exists():
        return None
    found = np.asarray(np.load(path, mmap_mode="r"))
    if found.shape != tokens.shape or found.dtype != kind:
        raise ReviserError(f"{path} was not made for the tokens beside it")
    return found


@dataclass(frozen=True)
class Corpus:
    """Shards of tokens with the boundary class of each token id."""

    shards: tuple[Shard, ...]
    classes: Classes
    tokenizer: TokenizerEntry = field(compare=False)

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        manifest = Manifest.load(folder)
        if not manifest.sources:
            raise ReviserError(f"{folder} holds no texts yet")
        names = [shard.name for source in manifest.sources for shard in source.shards]
        shards = tuple(_open_shard(folder, name) for name in names)
        try:
            classes = np.load(folder / "boundaries.npy")
        except (OSError, ValueError) as error:
            raise ReviserError(f"{folder} has no table of boundaries: {error}") from None
        return cls(shards, classes, manifest.tokenizer)

    @classmethod
    def of(cls, documents: Sequence[Sequence[int]], classes: Classes) -> Corpus:
        """Documents in memory, as one shard."""
        tokenizer = TokenizerEntry("", "", len(classes), ())
        flat = np.array([token for text in documents for token in text], dtype=tokenizer.dtype)
        offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
        flat.setflags(write=False)
        return cls((Shard(flat, offsets),), classes, tokenizer)

    @cached_property
    def tokens(self) -> int:
        return sum(len(shard.tokens) for shard in self.shards)

    def vocabulary(self, extensions: Iterable[str] = (), kinds: Iterable[str] = KINDS) -> Vocabulary:
        """The vocabulary whose base is this corpus's tokenizer, with no spare rows."""
        return Vocabulary(
            self.tokenizer.size,
            frozenset(self.tokenizer.markers),
            tuple(extensions),
            frozenset(kinds),
            self.tokenizer.name,
        )
