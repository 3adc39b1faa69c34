"""A thread that does jobs one after the other."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue

# Seconds for which a thread may hold the interpreter; a key waits for that several times.
_SWITCH_SECONDS = 0.0005


class JobThread:
    """A thread with a queue of jobs; it never blocks the screen, and ends with the process."""

    def __init__(self, name: str) -> None:
        self.busy = False
        self._name = name
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, job: Callable[[], None]) -> None:
        """Queue `job`; the first one starts the thread."""
        if self._thread is None:
            sys.setswitchinterval(_SWITCH_SECONDS)
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._jobs.put(job)

    def close(self) -> None:
        """End the thread after its present job."""
        self._jobs.put(None)

    @property
    def wanted(self) -> bool:
        """Whether another job waits for the present one to end."""
        return not self._jobs.empty()

    @property
    def working(self) -> bool:
        """Whether the thread would still run for a while after `close`."""
        return self._thread is not None and self._thread.is_alive() and self.busy

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self.busy = True
            job()
            self.busy = False
