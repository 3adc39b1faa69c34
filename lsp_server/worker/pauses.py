"""Work on documents in the pauses of their users: one at a time, given up at the next change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress


class PausedWork:
    """The documents that wait for a pause, by their addresses, and the work on one of them."""

    def __init__(self, ready: Callable[[], Awaitable[None]], work: Callable[[str], Awaitable[None]]) -> None:
        self._ready = ready
        self._work = work
        self._due: dict[str, float] = {}
        self._all: asyncio.Task[None] | None = None
        self._current: asyncio.Task[None] | None = None
        self._uri = ""
        self._news = asyncio.Event()

    def waits(self, uri: str) -> bool:
        """Whether the work on a document is still to begin."""
        return uri in self._due

    def is_for(self, uri: str) -> bool:
        """Whether a document waits, or is worked on now."""
        return uri in self._due or self._uri == uri

    def schedule(self, uri: str, delay_ms: float) -> None:
        """Work on a document after a pause; work on its former text is given up."""
        self.give_up(uri)
        self._due[uri] = asyncio.get_running_loop().time() + delay_ms / 1000
        self._news.set()
        if self._all is None or self._all.done():
            self._all = asyncio.create_task(self._work_on_all())

    def give_up(self, uri: str) -> None:
        """Forget about a document, and cancel the work on it."""
        self._due.pop(uri, None)
        if self._current is not None and self._uri == uri:
            self._current.cancel()

    def interrupt(self, uri: str) -> None:
        """Cancel the work on a document, for something more urgent, and begin it again."""
        if self._current is not None and self._uri == uri:
            self._due.setdefault(uri, asyncio.get_running_loop().time())
            self._current.cancel()

    def stop(self) -> None:
        """Cancel all work."""
        for task in (self._all, self._current):
            if task is not None:
                task.cancel()
        self._all, self._current, self._uri = None, None, ""

    async def _work_on_all(self) -> None:
        await self._ready()
        loop = asyncio.get_running_loop()
        while self._due:
            uri = min(self._due, key=self._due.__getitem__)
            self._news.clear()
            if (rest := self._due[uri] - loop.time()) > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), rest)
                continue
            del self._due[uri]
            self._uri = uri
            self._current = asyncio.ensure_future(self._work(uri))
            await asyncio.wait([self._current])
            self._uri, self._current = "", None
