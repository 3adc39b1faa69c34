"""Work on many cases in several processes, each of which computes with one thread."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from reviser.cli.progress import working

Job = TypeVar("Job")
Result = TypeVar("Result")


def in_processes(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    """Yields the results of the cases in order, and shows the progress of long work."""
    with multiprocessing.get_context("spawn").Pool(workers, _with_one_thread) as pool, working("reading") as tell:
        for number, result in enumerate(pool.imap(work, jobs, chunksize=4), start=1):
            tell(f"{number:,} of {len(jobs):,} cases")
            yield result


def _with_one_thread() -> None:
    os.environ["REVISER_THREADS"] = "1"
