"""Shards of next edits: histories made once by many processes from real and synthetic sessions.

python -m training sessions SHARDS --tokenizer tokenizer.json --sessions sessions.jsonl.xz --texts texts.jsonl.xz
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from reviser.cli.options import Argument, Option
from reviser.core.edits import Edit
from reviser.core.errors import ReviserError
from reviser.core.files import write_atomically
from reviser.core.tokenizer import Tokenizer, load_tokenizer
from reviser.core.vocabulary import Vocabulary
from training.data.randomness import KeyedRandom, key
from training.data.sources import documents
from training.edits.edit_samples import in_passes
from training.edits.sessions.made_up import ShapeLexicon, made_up_session
from training.edits.sessions.samples import NextEditSample, next_edit_sample
from training.edits.sessions.session import EditSession, read_sessions
from training.samples.histories import Histories
from training.samples.mixture import Mixture

LEARNED = frozenset({"insert", "move", "stop", "delete"})
_ABOUT = "next_edits.json"
_PASS = 11
_LEXICON_TEXTS = 2000
_SHORTEST_TEXT = 400


@dataclass(frozen=True, kw_only=True)
class ShardOptions:
    """Options of `make`: the sessions and texts from which samples are made."""

    out: Annotated[Path, Argument("folder of the shards")]
    tokenizer: Annotated[str, Option("a tokenizer.json")]
    sessions: Annotated[Path | None, Option("file of sessions (JSON lines, perhaps compressed)")] = None
    texts: Annotated[Path | None, Option("file of good texts to make sessions up in")] = None
    draws: Annotated[int, Option("samples of each session")] = 6
    made_up: Annotated[int, Option("made-up sessions")] = 100_000
    made_up_draws: Annotated[int, Option("samples of each made-up session")] = 2
    longest: Annotated[int, Option("ids of a sample, at the most")] = 1024
    workers: Annotated[int, Option("processes")] = 2
    seed: Annotated[int, Option("random seed")] = 0


@dataclass(frozen=True)
class _ShardJob:
    """The work of one process: part `number` of `of`."""

    options: ShardOptions
    number: int
    of: int


@dataclass
class _SampleArrays:
    """Samples as flat arrays, and their number by kind."""

    ids: NDArray[np.uint16]
    lengths: NDArray[np.int32]
    given: NDArray[np.int32]
    counts: Counter[str]


def make_shards(options: ShardOptions) -> None:
    if options.sessions is None and options.texts is None:
        raise ReviserError("samples of next edits need --sessions or --texts")
    began = time.perf_counter()
    options.out.mkdir(parents=True, exist_ok=True)
    jobs = [_ShardJob(options, number, options.workers) for number in range(options.workers)]
    counts: Counter[str] = Counter()
    ids = 0
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for number, made in enumerate(pool.imap(_make, jobs)):
            np.savez(options.out / f"next-edits-{number:03}.npz", ids=made.ids, lengths=made.lengths, given=made.given)
            counts += made.counts
            ids += len(made.ids)
            print(f"part {number + 1} of {len(jobs)}: {len(made.lengths):,} samples", flush=True)
    about = {"samples": dict(sorted(counts.items())), "ids": ids, "seed": options.seed, "longest": options.longest}
    write_atomically(options.out / _ABOUT, json.dumps(about, indent=1).encode())
    print(f"{about} in {time.perf_counter() - began:.0f} s", flush=True)


def _make(job: _ShardJob) -> _SampleArrays:
    options = job.options
    tokenizer = load_tokenizer(options.tokenizer)
    vocabulary = next_edit_vocabulary(tokenizer)
    samples: list[NextEditSample] = []
    counts: Counter[str] = Counter()
    for kind, session, number, draws in _sessions(job):
        for draw in range(draws):
            random = KeyedRandom(key(options.seed, number, draw))
            sample = next_edit_sample(session, tokenizer, vocabulary, random, options.longest)
            if sample is not None:
                samples.append(sample)
                counts[kind + (" with edits left" if sample.left else "")] += 1
    order = np.random.default_rng(options.seed + job.number).permutation(len(samples))
    chosen = [samples[at] for at in order]
    return _SampleArrays(
        np.array([id for sample in chosen for id in sample.ids], dtype=np.uint16),
        np.array([len(sample.ids) for sample in chosen], dtype=np.int32),
        np.array([sample.given for sample in chosen], dtype=np.int32),
        counts,
    )


def next_edit_vocabulary(tokenizer: Tokenizer) -> Vocabulary:
    """The vocabulary of a model that overtypes, with ids for the actions that describe an edit."""
    return Vocabulary(
        tokenizer.size, tokenizer.markers, name=tokenizer.name, kinds=LEARNED, overtypes=True, next_edits=True
    )


def _sessions(job: _ShardJob) -> Iterator[tuple[str, EditSession, int, int]]:
    """Yields the sessions of a part: kind, session, number, and how many samples it gives."""
    options = job.options
    number = 0
    if options.sessions is not None:
        for session in islice(read_sessions(options.sessions), job.number, None, job.of):
            number += 1
            yield "real", session, number * job.of + job.number, options.draws
    if options.texts is None:
        return
    texts = list(islice(_texts(options.texts), job.number, None, job.of))
    if not texts:
        return
    lexicon = ShapeLexicon.of(texts[:_LEXICON_TEXTS])
    wanted = options.made_up // job.of
    for made in range(wanted):
        name = key(options.seed, job.number, made)
        random = KeyedRandom(name)
        found = made_up_session(random.pick(texts), lexicon, random)
        if found is not None:
            session = found.session
            if random.chance(0.5):
                session = reversed_session(session)
            yield found.kind.value, session, name, options.made_up_draws


def reversed_session(session: EditSession) -> EditSession:
    """The session that reverts all edits: it starts from the edited text and ends at the given session's text."""
    parts, edits = [], []
    done = length = 0
    for edit in session.edits:
        kept = session.text[done : edit.start]
        length += len(kept)
        edits.append(Edit(length, edit.new, edit.old))
        parts += [kept, edit.new]
        length += len(edit.new)
        done = edit.end
    text = "".join([*parts, session.text[done:]])
    return EditSession(text, tuple(edits), session.source, session.commit, session.path)


def _texts(path: Path) -> Iterator[str]:
    return (text for text in documents(str(path)) if len(text) >= _SHORTEST_TEXT)


class StoredNextEdits:
    """A source of histories from shards of next edits; each sample occurs once per pass."""

    def __init__(self, folder: Path, start_id: int, mixture: Mixture, seed: int = 0) -> None:
        files = sorted(folder.glob("next-edits-*.npz"))
        if not files:
            raise ReviserError(f"{folder} has no samples of next edits")
        parts = [np.load(file) for file in files]
        self._ids = np.concatenate([part["ids"] for part in parts])
        lengths = np.concatenate([part["lengths"] for part in parts])
        self._given = np.concatenate([part["given"] for part in parts])
        self._offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        self._width = mixture.max_history
        self._usable = np.flatnonzero(lengths <= self._width)
        self._seed = seed
        self._start_id = start_id
        if not len(self._usable):
            raise ReviserError(f"no next edit fits into a history of {self._width} ids")

    @property
    def start_id(self) -> int:
        return self._start_id

    def __len__(self) -> int:
        return len(self._usable)

    def histories(self, epoch: int, first: int, last: int, start: int = 0) -> Histories:
        """Samples `first` to `last` after `start`; the stream is endless, so the epoch is ignored."""
        chosen = in_passes(start + first, start + last, self._usable, np.uint64(key(self._seed, _PASS)))
        ids = np.full((len(chosen), self._width), self._start_id, dtype=np.int32)
        starts, ends = self._offsets[chosen], self._offsets[chosen + 1]
        for row, (begin, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            ids[row, : end - begin] = self._ids[begin:end]
        lengths = (ends - starts).astype(np.int32)
        places = np.arange(self._width, dtype=np.int32)
        counted = (places >= self._given[chosen][:, None]) & (places < lengths[:, None])
        return Histories(ids, counted, lengths, 0)
