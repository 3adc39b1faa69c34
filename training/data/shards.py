"""Turns texts into token shards, once, so that every later run maps them into memory.

python -m training data OUT --tokenizer gpt2 SOURCE…

A source is a JSONL file (`.jsonl`, one object with a `text` a line), any other file (one document), a
folder of such files, or `hf:NAME@CONFIG#SPLIT`, a data set of the Hugging Face hub. Files may be
compressed (`.xz`, `.gz`, `.zst`). Sources that are already in OUT are skipped, so an interrupted
run goes on where it was. Several processes may take a part each (`--part`), to be joined (`--join`).
"""

from __future__ import annotations

import datetime
import hashlib
import io
import sys
import textwrap
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from reviser.cli.options import Argument, Option
from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Tokenizer, load_tokenizer
from training.data.boundaries import boundary_classes
from training.data.corpus import (
    Manifest,
    ShardEntry,
    SourceEntry,
    TokenizerEntry,
    offsets_path,
    shard_is_whole,
    tokens_path,
)
from training.data.edit_files import read_edits
from training.data.parts import Part, join_parts
from training.data.sources import HUB, documents, expand, source_digest

SHARD_TOKENS = 2**26
# An edit is its neighbour on the left, the text before and after, and its neighbour on the right.
PARTS = 4
_CHUNK_CHARACTERS = 2**18
_TEXT_OF_TOKENIZER = "The quick, brown fox:\n it's 7 o'clock… 漢字\t<|endoftext|>"

Encoded = tuple[NDArray[np.int64], NDArray[np.uint32]]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """How sources are read and shards are cut."""

    field: str = "text"
    limit: int | None = None
    shard_tokens: int = SHARD_TOKENS
    workers: int = 1
    edits: bool = False
    """Whether sources hold edits (see `training.data.edit_files`); each then gives four documents."""
    wrapped: float = 0.0
    """Share of the texts whose lines are wrapped, as people wrap them in mails and commit messages."""
    part: Part | None = None
    """Which of the documents of each source; None for all."""

    def of_source(self) -> dict[str, object]:
        """The options that change which texts a source gives."""
        told: dict[str, object] = {"field": self.field, "limit": self.limit}
        if self.edits:
            told |= {"edits": True}
        told |= {"wrapped": self.wrapped} if self.wrapped else {}
        return told | {"part": str(self.part)} if self.part else told


def tokenise(
    out: Path, sources: Sequence[str], tokenizer_name: str, options: Options | None = None, say: Say = lambda line: None
) -> Manifest:
    """Adds `sources` to the shards in `out`; existing shards stay as they are."""
    options = options or Options()
    tokenizer = load_tokenizer(tokenizer_name)
    entry = describe_tokenizer(tokenizer)
    out.mkdir(parents=True, exist_ok=True)
    manifest = _manifest_for(out, entry)
    write_array(out / "boundaries.npy", boundary_classes(tokenizer))
    with ExitStack() as stack:
        encode = _encoder(stack, tokenizer, tokenizer_name, options.workers)
        for source in expand(sources):
            digest = source_digest(source)
            done = _find(manifest, source, digest, options)
            if done and all(shard_is_whole(out, shard) for shard in done.shards):
                say(f"{done.source}: already there, {counted(done.tokens, 'token')}")
                continue
            made = _tokenise_source(out, source, digest, entry, options, encode, say)
            kept = tuple(old for old in manifest.sources if old != done)
            manifest = replace(manifest, sources=(*kept, made))
            manifest.save(out)
            say(f"{made.source}: {counted(made.documents, 'document')}, {counted(made.tokens, 'token')}")
    return manifest


def describe_tokenizer(tokenizer: Tokenizer) -> TokenizerEntry:
    digest = hashlib.sha256()
    for id in range(tokenizer.size):
        token = tokenizer.token_bytes(id)
        digest.update(len(token).to_bytes(4, "little") + token)
    # Two tokenizers may have the same tokens and join them differently.
    digest.update(repr(tokenizer.encode(_TEXT_OF_TOKENIZER)).encode())
    return TokenizerEntry(tokenizer.name, digest.hexdigest(), tokenizer.size, tuple(sorted(tokenizer.markers)))


def _manifest_for(out: Path, tokenizer: TokenizerEntry) -> Manifest:
    if not (out / "manifest.json").exists():
        return Manifest(tokenizer)
    manifest = Manifest.load(out)
    if manifest.tokenizer.sha256 != tokenizer.sha256:
        raise ReviserError(f"{out} holds tokens of another tokenizer, {manifest.tokenizer.name}")
    return manifest


def _find(manifest: Manifest, source: str, digest: str, options: Options) -> SourceEntry | None:
    """The manifest's entry of a source, found by its digest; a data set of the hub is found by its name."""
    for entry in manifest.sources:
        same = entry.source == source if source.startswith(HUB) else entry.sha256 == digest
        if same and entry.options == options.of_source():
            return entry
    return None


# Encoding ----------------------------------------------------------------------------------------


def encode_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> Encoded:
    """The lengths and the concatenated tokens of some texts."""
    rows = [tokenizer.encode(text) for text in texts]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    flat = np.fromiter((id for row in rows for id in row), np.uint32, int(lengths.sum()))
    return lengths, flat


_worker_tokenizer: list[Tokenizer] = []


def _start_worker(name: str) -> None:
    _worker_tokenizer.append(load_tokenizer(name))


def _encode_in_worker(texts: list[str]) -> Encoded:
    return encode_texts(_worker_tokenizer[0], texts)


Encoder = Callable[[Iterable[list[str]]], Iterator[Encoded]]


def _encoder(stack: ExitStack, tokenizer: Tokenizer, name: str, workers: int) -> Encoder:
    if workers <= 1:
        return lambda chunks: (encode_texts(tokenizer, chunk) for chunk in chunks)
    # Fresh processes: forking one that has threads, as tokenizers may have, can hang. They take a while to start and
    # do so with their first task, so a source of one chunk is encoded here.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (name,))
    stack.enter_context(pool)

    def encode(chunks: Iterable[list[str]]) -> Iterator[Encoded]:
        rest = iter(chunks)
        first = list(islice(rest, 2))
        if len(first) < 2:
            return (encode_texts(tokenizer, chunk) for chunk in first)
        return _in_order(pool, chain(first, rest), 4 * workers)

    return encode


def _in_order(pool: Executor, chunks: Iterable[list[str]], ahead: int) -> Iterator[Encoded]:
    """Yields encoded chunks in their order; at most `ahead` are in progress."""
    running: deque[Future[Encoded]] = deque()
    for chunk in chunks:
        running.append(pool.submit(_encode_in_worker, chunk))
        if len(running) >= ahead:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()


def _texts(source: str, options: Options) -> Iterator[str]:
    """Yields the documents of a source; the parts of an edit follow one another."""
    if not options.edits:
        texts = islice(documents(source, options.field, options.part), options.limit)
        return (wrapped(text, options.wrapped) for text in texts) if options.wrapped else texts
    return (part for edit in islice(read_edits(source), options.limit) for part in edit.parts)


def wrapped(text: str, share: float) -> str:
    """Wraps the lines of a `share` of all texts at 56 to 80 columns; other texts are returned unchanged.

    The choice and the width depend on the text alone, so that every run makes the same shards.
    """
    drawn = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    if drawn % 1000 >= 1000 * share:
        return text
    lines = line_wrapper(56 + drawn // 1000 % 25)
    return "\n".join(lines.fill(line) for line in text.split("\n"))


def line_wrapper(columns: int) -> textwrap.TextWrapper:
    """A wrapper that breaks lines between words only."""
    return textwrap.TextWrapper(columns, break_long_words=False, break_on_hyphens=False)


def _chunks(texts: Iterable[str], digest: Any, together: int) -> Iterator[list[str]]:
    """Yields lists of texts and feeds each text to `digest`; every `together` consecutive texts stay in one list."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        chunk.append(text)
        size += len(text)
        if size >= _CHUNK_CHARACTERS and len(chunk) % together == 0:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _tokenise_source(
    out: Path, source: str, digest: str, tokenizer: TokenizerEntry, options: Options, encode: Encoder, say: Say
) -> SourceEntry:
    texts = hashlib.sha256()
    label = source if source.startswith(HUB) else Path(source).name
    stem = hashlib.sha256(f"{digest or source} {options.of_source()}".encode())
    writer = _ShardWriter(out, stem.hexdigest()[:12], tokenizer.dtype, options.shard_tokens)
    told = time.monotonic()
    chunks = _chunks(_texts(source, options), texts, PARTS if options.edits else 1)
    for lengths, tokens in encode(chunks):
        writer.add(lengths, tokens)
        if time.monotonic() - told >= 2:
            told = time.monotonic()
            say(f"{label}: {counted(writer.documents, 'document')}, {counted(writer.tokens, 'token')} …")
    return SourceEntry(
        label, digest or texts.hexdigest(), datetime.date.today().isoformat(), options.of_source(), writer.close()
    )


class _ShardWriter:
    """Collects encoded documents and writes a shard when it is full."""

    def __init__(self, out: Path, stem: str, dtype: str, shard_tokens: int) -> None:
        self._out = out
        self._stem = stem
        self._dtype = dtype
        self._shard_tokens = shard_tokens
        self._lengths: list[NDArray[np.int64]] = []
        self._parts: list[NDArray[Any]] = []
        self._held = 0
        self._shards: list[ShardEntry] = []
        self.documents = 0
        self.tokens = 0

    def add(self, lengths: NDArray[np.int64], tokens: NDArray[np.uint32]) -> None:
        self._lengths.append(lengths)
        self._parts.append(tokens.astype(self._dtype))
        self._held += len(tokens)
        self.documents += len(lengths)
        self.tokens += len(tokens)
        if self._held >= self._shard_tokens:
            self._flush()

    def close(self) -> tuple[ShardEntry, ...]:
        if self._held:
            self._flush()
        return tuple(self._shards)

    def _flush(self) -> None:
        name = f"{self._stem}-{len(self._shards):03d}"
        lengths = np.concatenate(self._lengths)
        tokens = np.concatenate(self._parts)
        self._shards.append(write_shard(self._out, name, tokens, lengths))
        self._lengths, self._parts, self._held = [], [], 0


def write_shard(out: Path, name: str, tokens: NDArray[Any], lengths: NDArray[np.int64]) -> ShardEntry:
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    write_array(offsets_path(out, name), offsets)
    write_array(tokens_path(out, name), tokens)
    digest = hashlib.sha256(tokens.tobytes()).hexdigest()
    return ShardEntry(name, len(lengths), len(tokens), digest)


def write_array(path: Path, array: NDArray[Any]) -> None:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    write_atomically(path, buffer.getvalue())


# Command -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TokeniseOptions:
    """Options of the command: sources, tokenizer and shards."""

    out: Annotated[Path, Argument("folder of the shards")]
    sources: Annotated[tuple[str, ...], Argument("files, folders, or hf:NAME@CONFIG#SPLIT", metavar="SOURCE")] = ()
    tokenizer: Annotated[str | None, Option("gpt2, or the path of a tokenizer.json")] = None
    field: Annotated[str, Option("field that holds the text")] = "text"
    edits: Annotated[bool, Option("sources hold edits: before and after, or diffs")] = False
    wrapped: Annotated[float, Option("share of the texts to wrap at 56 to 80 columns")] = 0.0
    limit: Annotated[int | None, Option("documents to take of each source")] = None
    workers: Annotated[int, Option("processes")] = 2
    shard_tokens: Annotated[int, Option("size of a shard")] = SHARD_TOKENS
    part: Annotated[str | None, Option("tokenise one part alone, INDEX/COUNT, or rank: as the environment says")] = None
    join: Annotated[bool, Option("make one folder of the parts in OUT")] = False

    def reading(self) -> Options:
        part = Part.said(self.part) if self.part else None
        return Options(self.field, self.limit, self.shard_tokens, self.workers, self.edits, self.wrapped, part)


def run(chosen: TokeniseOptions) -> None:
    if chosen.part:
        chosen = _of_part(chosen, Part.said(chosen.part))
        if not chosen.sources:
            raise ReviserError("--part needs sources to take a part of")
    if chosen.join:
        join_parts(chosen.out)
    if chosen.sources:
        if not 0 <= chosen.wrapped <= 1 or (chosen.wrapped and chosen.edits):
            raise ReviserError("--wrapped is a share from 0 to 1, and not for edits")
        if not chosen.tokenizer:
            raise ReviserError("say which tokenizer: --tokenizer gpt2, or a path")
        tokenise(chosen.out, chosen.sources, chosen.tokenizer, chosen.reading(), _to_stderr)
    manifest = Manifest.load(chosen.out)
    print(f"{chosen.out}: {counted(manifest.documents, 'document')}, {counted(manifest.tokens, 'token')}")


def _of_part(chosen: TokeniseOptions, part: Part) -> TokeniseOptions:
    """The options of one part: whole files if there are enough for all parts, else some documents of each file."""
    if chosen.edits or chosen.join:
        raise ReviserError("--part is for texts alone, and not with --join")
    sources = tuple(expand(chosen.sources))
    out = chosen.out / part.folder
    if len(sources) >= part.count and not any(source.startswith(HUB) for source in sources):
        return replace(chosen, out=out, sources=tuple(part.of(sources)), part=None)
    return replace(chosen, out=out, sources=sources, part=str(part))


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
