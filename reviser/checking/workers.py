"""Proofreading in one process or in several, each with its own copy of the model.

A worker is a process that gets lists of drafts through a pipe and sends back what it found. It ends when its pipe does,
so that none outlives the command. Ctrl-C in a terminal goes to the command alone, which ends its workers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Final

from reviser.checking.findings import Result
from reviser.core.errors import ReviserError
from reviser.proofreading.document import Draft
from reviser.proofreading.reading import Tell
from reviser.proofreading.suggestion import Kind

if TYPE_CHECKING:
    from reviser.proofreading.pipeline import Proofreader

_LEAST_BATCH: Final = 8_000
_MOST_BATCH: Final = 64_000
_BATCHES_OF_WORKER: Final = 4
_MOST_THREADS: Final = 8

Outcome = Result | ReviserError


@dataclass(frozen=True)
class ReaderSettings:
    """The model, and the settings of the proofreader."""

    model: str | None
    confidence: float
    kinds: frozenset[Kind]
    threads: int | None = None

    def shared(self, jobs: int) -> ReaderSettings:
        """The settings for each of several processes: the cores are divided between them unless the user has set the
        number of threads."""
        if self.threads is not None or os.environ.get("REVISER_THREADS"):
            return self
        return replace(self, threads=max(1, min(usable_cores() // jobs, _MOST_THREADS)))

    def load(self) -> Proofreader:
        from reviser.proofreading.pipeline import Proofreader
        from reviser.session.engine import load_engine

        engine = load_engine(self.model, threads=self.threads)
        return Proofreader(engine.policy, engine.tokenizer, confidence=self.confidence, kinds=self.kinds)


def usable_cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usual_jobs() -> int:
    """The default number of processes; each has several threads."""
    return max(1, usable_cores() // 2)


def proofread_in_batches(
    drafts: Sequence[Draft], reading: ReaderSettings, jobs: int, tell: Tell
) -> Iterator[dict[int, Outcome]]:
    """Proofread drafts in at most `jobs` processes; yields the outcomes, by the numbers of the drafts, as they arrive.

    `tell` is called with the number of sentences read and their total, over all batches begun so far.
    """
    batches = _batches(drafts, jobs)
    jobs = min(jobs, len(batches))
    if not batches:
        return
    if jobs > 1:
        yield from _by_workers(drafts, batches, reading.shared(jobs), jobs, tell)
        return
    proofreader = reading.load()
    heard = _BatchProgress(tell)
    for batch in batches:
        outcomes = _outcomes(proofreader, [drafts[number] for number in batch], partial(heard.take, batch[0]))
        yield dict(zip(batch, outcomes, strict=True))


class _BatchProgress:
    """The progress of all batches, reported as one sum."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._last: dict[int, tuple[int, int]] = {}
        self._read = self._of = 0

    def take(self, batch: int, read: int, of: int) -> None:
        """Record the progress of a batch, which is known by the number of its first draft."""
        read_before, of_before = self._last.get(batch, (0, 0))
        self._last[batch] = read, of
        self._read += read - read_before
        self._of += of - of_before
        self._tell(self._read, self._of)


def _batches(drafts: Sequence[Draft], jobs: int) -> list[list[int]]:
    """The numbers of drafts in batches: small enough that every worker gets some, large enough to be read together."""
    total = sum(len(draft.text) for draft in drafts)
    size = min(max(total // (jobs * _BATCHES_OF_WORKER), _LEAST_BATCH), _MOST_BATCH)
    batches: list[list[int]] = []
    room = 0
    for number, draft in enumerate(drafts):
        if not batches or room < len(draft.text):
            batches.append([])
            room = size
        batches[-1].append(number)
        room -= len(draft.text)
    return batches


def _outcomes(proofreader: Proofreader, drafts: Sequence[Draft], tell: Tell) -> list[Outcome]:
    try:
        done = proofreader.proofread_all(drafts, tell)
    except ReviserError as error:
        if len(drafts) == 1:
            return [error]
        # One bad text among several does not keep the others from being read.
        return [_outcomes(proofreader, [draft], tell)[0] for draft in drafts]
    return [Result(one.changes, one.sentences, one.used) for one in done]


# Several processes -------------------------------------------------------------------------------


def _by_workers(
    drafts: Sequence[Draft], batches: Sequence[Sequence[int]], reading: ReaderSettings, jobs: int, tell: Tell
) -> Iterator[dict[int, Outcome]]:
    waiting = list(reversed(batches))
    heard = _BatchProgress(tell)
    with ExitStack() as stack:
        busy: dict[Connection, Sequence[int]] = {}

        def give(pipe: Connection) -> None:
            batch = waiting.pop()
            busy[pipe] = batch
            # Why a worker has ended, it has said before.
            with suppress(ConnectionError):
                pipe.send([drafts[number] for number in batch])

        # All load the model while the first one is waited for.
        for worker in [stack.enter_context(_Worker(reading)) for _ in range(jobs)]:
            give(worker.pipe)
        while busy:
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                try:
                    answer = pipe.recv()
                except (EOFError, ConnectionError):
                    raise ReviserError(
                        "a process that reads texts has ended; with fewer --jobs there is more memory for each"
                    ) from None
                if isinstance(answer, ReviserError):
                    raise answer
                if isinstance(answer, tuple):
                    heard.take(busy[pipe][0], *answer)
                    continue
                yield dict(zip(busy.pop(pipe), answer, strict=True))
                if waiting:
                    give(pipe)


class _Worker:
    """A process that proofreads; a context manager that ends it on exit."""

    def __init__(self, reading: ReaderSettings) -> None:
        self.pipe, other = Pipe()
        with other:
            # It finds modules where this process does, and not in the folder that the user is in.
            program = (
                f"import sys; sys.path[:] = {sys.path!r}; "
                f"from reviser.checking.workers import serve; serve({other.fileno()})"
            )
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                process_group=0,
            )
        with suppress(ConnectionError):
            self.pipe.send(reading)

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.pipe.close()
        self._process.kill()
        self._process.wait()


def serve(handle: int) -> None:
    """The main loop of a worker: load the model, then proofread batches until the pipe is closed."""
    with Connection(handle) as pipe:
        try:
            try:
                proofreader = pipe.recv().load()
            except ReviserError as error:
                pipe.send(error)
                return
            while True:
                drafts = pipe.recv()
                pipe.send(_outcomes(proofreader, drafts, lambda read, of: pipe.send((read, of))))
        except (EOFError, ConnectionError):
            return  # the command is gone
