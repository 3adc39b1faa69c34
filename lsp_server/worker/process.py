"""The worker process: it loads models on demand and carries out one task at a time.

What needs no model waits for none: it is carried out in a thread of its own. The process serves one language server
through its standard streams, or several through a local socket that only its owner may open. It ends when the last of
them has disconnected.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import socket
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lsp_server.worker.readers import evaluated_by, follow, read, revise
from lsp_server.worker.tasks import (
    Event,
    FollowingTask,
    LoadingTask,
    ModelKey,
    Order,
    SuggestingTask,
    WritingTask,
    decode_order,
    encode_event,
)
from reviser.core.edits import Edit, within
from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from reviser.editor.reader import EditorReader
    from reviser.session.engine import Engine
    from reviser.session.frames import Frame
    from reviser.session.session import Generation, Session

logger = logging.getLogger(__name__)

_SESSIONS = 16
# Seconds for which a shared process stays without a peer: an editor may be restarting.
GRACE = 2.0


@dataclass(eq=False)
class Peer:
    """A connected language server, with its input and output streams."""

    reader: BinaryIO
    writer: BinaryIO
    key: ModelKey | None = None
    cancelled: set[int] = field(default_factory=set)
    gone: bool = False
    sessions: OrderedDict[tuple[ModelKey, str], Session] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, event: Event) -> None:
        try:
            with self.lock:
                self.writer.write(encode_event(event))
                self.writer.flush()
        except (OSError, ValueError):
            self.gone = True

    def wants(self, task: Order) -> bool:
        """Whether the peer still waits for this task; checked between two actions."""
        return not self.gone and task.id not in self.cancelled


class Worker:
    """A worker that receives tasks from peers in one thread each, and carries them out in two: with a model, and
    without."""

    def __init__(self, load: Callable[[ModelKey], Engine]) -> None:
        self._load = load
        self._engines: dict[ModelKey, Engine] = {}
        self._orders: queue.SimpleQueue[tuple[Peer, Order]] = queue.SimpleQueue()
        self._light_orders: queue.SimpleQueue[tuple[Peer, Order]] = queue.SimpleQueue()
        self._peers: set[Peer] = set()
        self._change = threading.Condition()
        self._readers: dict[ModelKey, EditorReader] = {}

    def admit(self, peer: Peer) -> threading.Thread:
        """Read the tasks of a peer in a new thread until it disconnects."""
        with self._change:
            self._peers.add(peer)
            self._change.notify_all()
        thread = threading.Thread(target=self._listen, args=(peer,), daemon=True)
        thread.start()
        return thread

    def work(self) -> None:
        """Carry out tasks, of those with a model one at a time, for ever."""
        threading.Thread(target=self._answer_all, args=(self._light_orders,), daemon=True).start()
        self._answer_all(self._orders)

    def _answer_all(self, orders: queue.SimpleQueue[tuple[Peer, Order]]) -> None:
        while True:
            self._answer(*orders.get())

    def wait_until_left(self, grace: float) -> None:
        """Return once no peer has been connected for `grace` seconds."""
        with self._change:
            while True:
                self._change.wait_for(lambda: not self._peers)
                if not self._change.wait_for(lambda: bool(self._peers), timeout=grace):
                    return

    def _listen(self, peer: Peer) -> None:
        try:
            for line in peer.reader:
                order = decode_order(line)
                if isinstance(order, int):
                    peer.cancelled.add(order)
                elif isinstance(order, FollowingTask) and not order.asks_model:
                    self._light_orders.put((peer, order))
                else:
                    self._orders.put((peer, order))
        except (OSError, ValueError, KeyError, TypeError) as error:
            logger.warning("a language server sent something else than an order: %s", error)
        peer.gone = True
        with suppress(OSError, ValueError):
            peer.writer.close()
        with self._change:
            self._peers.discard(peer)
            self._change.notify_all()

    def _answer(self, peer: Peer, task: Order) -> None:
        try:
            if not peer.wants(task):
                peer.send(Event(task.id, "done", ending="cancelled"))
                return
            if isinstance(task, FollowingTask) and not task.asks_model:
                follow(task, None, peer.send, lambda: peer.wants(task))
                return
            engine = self._engine(peer, task.key)
            if isinstance(task, FollowingTask):
                follow(task, self._readers[task.key], peer.send, lambda: peer.wants(task))
            elif isinstance(task, LoadingTask):
                peer.send(Event(task.id, "done", ending="stop"))
            elif isinstance(task, WritingTask) and _proofreads(task, engine):
                revise(task, self._readers[task.key], peer.send, lambda: peer.wants(task))
            elif isinstance(task, WritingTask):
                self._write(peer, task, engine)
            elif isinstance(task, SuggestingTask):
                self._suggest(peer, task, engine)
            else:
                read(task, self._readers[task.key], peer.send, lambda: peer.wants(task))
        except ReviserError as error:
            peer.send(Event(task.id, "failed", message=str(error)))
        except Exception as error:  # whatever happens to one task, the next one is answered
            logger.exception("task %s failed", task.id)
            peer.send(Event(task.id, "failed", message=f"the model failed: {error!r}"))
        finally:
            peer.cancelled.discard(task.id)

    def _write(self, peer: Peer, task: WritingTask, engine: Engine) -> None:
        session = self._session(peer, engine, task)
        session.text = task.text
        used, before, reused = evaluated_by(engine), 0, 0
        ending = "stop"
        for run, first, last in generations(session, task):
            evaluated = evaluated_by(engine)
            peer.send(Event(task.id, "begun", trailing_space=len(run.window.trailing_space)))
            home = len(run.window.before) + len(run.window.prefix)
            while peer.wants(task) and (frame := next(run, None)) is not None:
                if frame.step.number == 0 and hasattr(engine.policy, "evaluated"):
                    needed, known = _known(run, evaluated_by(engine) - evaluated)
                    before, reused = before + needed, reused + known
                peer.send(
                    Event(
                        task.id,
                        "step",
                        edits=_edits(run, frame),
                        first=first,
                        last=last,
                        cursor=frame.cursor.chars - home,
                        label=frame.label,
                    )
                )
            ending = run.rollout.ending or "cancelled"
            if not peer.wants(task):
                break
        used = evaluated_by(engine) - used
        peer.send(Event(task.id, "done", ending=ending, evaluated=used, before=before, reused=reused))

    def _suggest(self, peer: Peer, task: SuggestingTask, engine: Engine) -> None:
        from reviser.session.suggesting import SuggestionRequest, Suggestions

        session = self._session(peer, engine, task)
        session.text = task.text
        request = SuggestionRequest(task.count, task.tokens, task.confidence, task.whole_line)

        texts: list[str] = []

        def step(text: str) -> bool:
            peer.send(Event(task.id, "step", text="" if texts else text))
            return peer.wants(task)

        used = evaluated_by(engine)
        found = Suggestions(session, task.at, request, step)
        found.read()
        read = evaluated_by(engine) - used
        counts = hasattr(engine.policy, "evaluated")
        while peer.wants(task) and (suggestion := next(found, None)) is not None:
            texts.append(suggestion.text)
        peer.send(
            Event(
                task.id,
                "done",
                ending="stop" if peer.wants(task) else "cancelled",
                evaluated=evaluated_by(engine) - used,
                before=found.before if counts else 0,
                reused=min(found.before, found.seeded - read) if counts else 0,
                texts=texts,
            )
        )

    def _engine(self, peer: Peer, key: ModelKey) -> Engine:
        from reviser.editor.reader import EditorReader

        peer.key = key
        if key not in self._engines:
            in_use = {other.key for other in self._peers}
            for unused in set(self._engines) - in_use:
                del self._engines[unused], self._readers[unused]
            try:
                engine = self._load(key)
            except ReviserError:
                raise
            except Exception as error:  # whatever a damaged file makes libraries say
                said = " ".join(str(error).split()) or type(error).__name__
                raise ReviserError(f"the model cannot be loaded: {said}") from error
            self._engines[key], self._readers[key] = engine, EditorReader(engine)
        return self._engines[key]

    def _session(self, peer: Peer, engine: Engine, task: WritingTask | SuggestingTask) -> Session:
        """The session of a document, kept so that its context window stays the same between two tasks."""
        sessions = peer.sessions
        place = (task.key, task.document)
        session = sessions.pop(place, None)
        if session is None or session.policy is not engine.policy:
            session = engine.session("")
        sessions[place] = session
        while len(sessions) > _SESSIONS:
            sessions.popitem(last=False)
        return session


def generations(session: Session, task: WritingTask) -> Iterator[tuple[Generation, int, int]]:
    """Yields the generations of a task, in order, with the start and end of what it revises."""
    from reviser.decoding.sampler import Sampler

    sampler = Sampler(task.temperature, task.top_k or None, seed=task.seed)
    if not task.revises:
        limit, checks = task.max_actions, task.checks_steps_back
        if task.ends_document:
            run = session.continue_(sampler, at=task.start, max_actions=limit, check_steps_back=checks)
        else:
            run = session.infill(task.start, task.end, sampler, max_actions=limit, check_steps_back=checks)
        yield run, 0, 0
        return
    runs = session.revise_all(task.start, task.end, sampler, max_actions=task.max_actions, margin=task.margin)
    for run, first, last in runs:
        yield run, first - task.start, last - task.start


def _edits(run: Generation, frame: Frame) -> tuple[Edit, ...]:
    """The edits that a step has made in the text that the run writes."""
    changes = [edit.change for edit in frame.edits]
    start = len(run.window.before) + len(run.window.prefix)
    end = start + len(run.written) - sum(change.growth for change in changes)
    return within(changes, start, end)


def _proofreads(task: WritingTask, engine: Engine) -> bool:
    """Whether a task is done by proofreading: a revising one at temperature 0, or with a model that overtypes."""
    return task.revises and (not task.temperature or engine.policy.vocabulary.overtypes)


def _known(run: Generation, evaluated: int) -> tuple[int, int]:
    """The number of ids before the place of writing that were needed, and how many of them were cached."""
    before = 1 + run.rollout.canvas.low
    # Ids evaluated beyond the first action are not part of the text that had to be read.
    evaluated -= getattr(run.rollout.policy, "ahead", 0)
    return before, min(before, run.rollout.seeded - evaluated)


def load(key: ModelKey) -> Engine:
    from reviser.session.engine import load_engine

    return load_engine(key.model, threads=key.threads)


def serve_streams() -> None:
    """Serve one language server through standard input and output, and end with it."""
    # An interrupt typed into the editor's terminal is meant for the editor.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Output that libraries print must not be mixed with the messages.
    writer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = Worker(load)
    listener = worker.admit(Peer(sys.stdin.buffer, writer))
    threading.Thread(target=worker.work, daemon=True).start()
    listener.join()
    # A step of the model may be under way; nobody waits for it.
    os._exit(0)


def serve_socket(path: Path, *, stays: bool = False) -> None:
    """Serve every language server of this user that connects to `path`; end with the last, or, if it `stays`, when
    interrupted.
    """
    listener, lock = _listening(path)
    with listener:
        worker = Worker(load)
        threading.Thread(target=_admit_all, args=(worker, listener), daemon=True).start()
        threading.Thread(target=worker.work, daemon=True).start()
        try:
            if stays:
                threading.Event().wait()
            worker.wait_until_left(GRACE)
        finally:
            path.unlink(missing_ok=True)
            lock.unlink(missing_ok=True)
            os._exit(0)


def _admit_all(worker: Worker, listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        worker.admit(Peer(connection.makefile("rb"), connection.makefile("wb")))


def socket_path(name: str = "engine") -> Path:
    """The path of a shared engine's socket, in a folder that only this user can open."""
    if sys.platform == "win32":
        raise ReviserError("an engine cannot be shared on Windows")
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "reviser" / f"{name}.sock"
    import tempfile

    return Path(tempfile.gettempdir()) / f"reviser-{os.getuid()}" / f"{name}.sock"


def check_private(folder: Path) -> None:
    """Create `folder` if need be; raises an error if another user could access it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = folder.lstat()
    if not folder.is_dir() or folder.is_symlink() or state.st_uid != os.getuid():
        raise ReviserError(f"{folder} is not a folder of yours, so no engine can be shared in it")
    if state.st_mode & 0o077:
        raise ReviserError(f"{folder} is open to others; make it yours alone with chmod 700")


def _listening(path: Path) -> tuple[socket.socket, Path]:
    """A socket on which only this process listens, and the lock file that ensures it.

    The socket of a dead process is replaced. If an error is raised, no file is left behind.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise ReviserError("an engine cannot be shared on Windows")
    check_private(path.parent)
    if path.exists() and not path.is_socket():
        raise ReviserError(f"{path} is there already, and is not a socket")
    lock = path.with_name(f"{path.name}.lock")
    if not _take(lock):
        raise ReviserError(f"an engine is already listening on {path}")
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        lock.unlink(missing_ok=True)
        raise ReviserError(f"cannot listen on {path}: {error.strerror or error}") from None
    finally:
        os.umask(before)
    listener.listen()
    return listener, lock


def _take(lock: Path) -> bool:
    """Lock a file, created if need be, until this process ends; False if another process holds it."""
    import fcntl

    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        # The process that had it before may just have removed it.
        if os.fstat(handle).st_nlink:
            return True
        os.close(handle)
