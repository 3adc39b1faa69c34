"""The server's client for the worker: a process that starts with the first task and ends when idle.

The process is this server's own, or one that several editors share. In both cases, closing the connection unloads the
model, so an idle server needs no memory for it and no processor time.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_server.worker.tasks import (
    LINE_LIMIT,
    Event,
    FollowingTask,
    LoadingTask,
    ModelKey,
    Order,
    decode_event,
    encode_cancel,
    encode_task,
)
from reviser.core.errors import ReviserError

logger = logging.getLogger(__name__)

_PATIENCE = 20.0  # seconds for a shared engine to come up
_LONGEST_REST = 60.0  # seconds before an engine that ends by itself is started again
_FAREWELL = 2.0  # seconds for a process to end by itself


class WorkerLost(ReviserError):
    """The worker process ended in the middle of a task."""


@dataclass
class Connection:
    """The streams to an engine, and its process if it is this server's own."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    process: asyncio.subprocess.Process | None = None


class WorkerClient:
    """A client that sends tasks and receives events. It connects when first needed and disconnects after `idle_after()`
    idle seconds.

    `changed` is called whenever a model has been loaded, has failed to load, or has been unloaded.
    """

    def __init__(
        self, idle_after: Callable[[], float], shared: Callable[[], Path | None], changed: Callable[[], None]
    ) -> None:
        self._idle_after = idle_after
        self._shared = shared
        self._changed = changed
        self._loading: tuple[ModelKey, asyncio.Task[None]] | None = None
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._pump: asyncio.Task[None] | None = None
        self._listeners: dict[int, asyncio.Queue[Event | None]] = {}
        self._ids = itertools.count(1)
        self._idle: asyncio.TimerHandle | None = None
        self._leaving: asyncio.Future[None] | None = None
        self._failures = 0
        self._not_before = 0.0
        self.evaluated = 0
        self.before = 0
        self.reused = 0
        self.tasks = 0
        self.problem = ""

    @property
    def connected(self) -> bool:
        return self._connection is not None

    @property
    def loading(self) -> bool:
        """Whether a model is being loaded."""
        return self._loading is not None and not self._loading[1].done()

    async def load(self, key: ModelKey) -> None:
        """Load a model, unless it is loaded. If the caller is cancelled, loading continues."""
        if self._loading is None or self._loading[0] != key or self._is_in_vain(self._loading[1]):
            loading = asyncio.create_task(self._load(key))
            loading.add_done_callback(self._loaded)
            self._loading = key, loading
            self._changed()
        loading = self._loading[1]
        await asyncio.wait([loading])
        if loading.cancelled():
            raise WorkerLost("the engine was let go")
        loading.result()

    def _is_in_vain(self, loading: asyncio.Task[None]) -> bool:
        return loading.done() and (self._connection is None or loading.cancelled() or loading.exception() is not None)

    async def _load(self, key: ModelKey) -> None:
        connection = await self._connect()
        async with contextlib.aclosing(self._events(connection, LoadingTask(0, key))) as events:
            async for _ in events:
                pass

    def _loaded(self, loading: asyncio.Task[None]) -> None:
        error = None if loading.cancelled() else loading.exception()
        if self._loading is not None and self._loading[1] is loading:
            self.problem = str(error or "")
        self._changed()

    async def write(self, task: Order) -> AsyncGenerator[Event, None]:
        """Yields the events of a task, whose model, if it needs one, is loaded first. Leaving the iteration early
        cancels the task between two actions.
        """
        if not isinstance(task, FollowingTask) or task.asks_model:
            await self.load(task.key)
        self.tasks += 1
        async with contextlib.aclosing(self._events(await self._connect(), task)) as events:
            async for event in events:
                yield event

    async def _events(self, connection: Connection, task: Order) -> AsyncGenerator[Event, None]:
        task = replace(task, id=next(self._ids))
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._listeners[task.id] = events
        self._stir()
        over = False
        try:
            connection.writer.write(encode_task(task))
            while not over:
                event = await events.get()
                if event is None:
                    over = True
                    raise WorkerLost("the engine ended unexpectedly")
                over = event.is_last
                if event.kind == "failed":
                    raise ReviserError(event.message)
                yield event
        finally:
            self._listeners.pop(task.id, None)
            if not over and self._connection is connection:
                connection.writer.write(encode_cancel(task.id))
            if not self._listeners:
                self._rest()

    async def close(self) -> None:
        """Disconnect from the engine; its process ends, or serves others."""
        self._stir()
        self.problem = ""
        if self._loading is not None:
            self._loading[1].cancel()
            self._loading = None
        # A process that is being started now would outlive the loop that waits for its end.
        async with self._connecting:
            connection, self._connection = self._connection, None
        if connection is None:
            return
        logger.info("the model is unloaded")
        self._changed()
        connection.writer.close()
        if connection.process is not None:
            try:
                await asyncio.wait_for(connection.process.wait(), _FAREWELL)
            except TimeoutError:
                connection.process.kill()
                await connection.process.wait()

    async def _connect(self) -> Connection:
        async with self._connecting:
            if self._connection is None:
                if time.monotonic() < self._not_before:
                    raise WorkerLost("the engine has ended several times; it rests for a while")
                path = self._shared()
                opened = await (start_process() if path is None else join_shared(path))
                self._connection = opened
                self._pump = asyncio.create_task(self._receive(opened))
            return self._connection

    async def _receive(self, connection: Connection) -> None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            while line := await connection.reader.readline():
                self._failures = 0
                event = decode_event(line)
                self._count(event)
                if listener := self._listeners.get(event.id):
                    listener.put_nowait(event)
        if self._connection is connection:
            logger.warning("the engine ended unexpectedly")
            self._connection = None
            self._failures += 1
            # An engine that keeps crashing must not be restarted at every key; one crash may be an accident.
            rest = min(2.0**self._failures, _LONGEST_REST) if self._failures > 1 else 0.0
            self._not_before = time.monotonic() + rest
        for listener in self._listeners.values():
            listener.put_nowait(None)

    def _count(self, event: Event) -> None:
        # Counted here, because a task that was left early has no reader for its last event.
        self.evaluated += event.evaluated
        self.before += event.before
        self.reused += event.reused

    def _stir(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest(self) -> None:
        self._stir()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(self._idle_after(), self._leave)

    def _leave(self) -> None:
        if not self._listeners:
            self._leaving = asyncio.ensure_future(self.close())


async def start_process() -> Connection:
    """Start an engine for this server alone."""
    # It imports modules from where this process does, not from the current folder.
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; from lsp_server.worker.process import serve_streams; serve_streams()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-c",
        program,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE_LIMIT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return Connection(process.stdout, process.stdin, process)


async def join_shared(path: Path) -> Connection:
    """Connect to the engine that listens on `path`, which is started if there is none."""
    from lsp_server.worker.process import check_private

    check_private(path.parent)
    deadline = asyncio.get_running_loop().time() + _PATIENCE
    process: asyncio.subprocess.Process | None = None
    while True:
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=LINE_LIMIT)
            return Connection(reader, writer)
        except (FileNotFoundError, ConnectionRefusedError):
            if asyncio.get_running_loop().time() > deadline:
                raise ReviserError(f"no engine came up at {path}") from None
        except OSError as error:
            raise ReviserError(f"no engine can be reached at {path}: {error}") from None
        if process is None or process.returncode is not None:
            process = await _start_shared(path)
        await asyncio.sleep(0.05)


async def _start_shared(path: Path) -> asyncio.subprocess.Process:
    # A session of its own: the engine outlives the editor that happened to start it.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "reviser",
        "serve",
        "--socket",
        os.fspath(path),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
