"""The start and end of a command: its streams, Ctrl-C, and errors reported as one sentence.

This is the first code of a command that runs, so it imports next to nothing.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NoReturn, TextIO

from reviser.core.errors import ReviserError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_INTERRUPTED = 130
_READER_GONE = 141


class OutputFailed(Exception):
    """An error of standard output: it is closed, or the disk is full."""


class ReaderGone(Exception):
    """The pipe that reads standard output was closed."""


class _Output(io.FileIO):
    """Standard output, with errors of a type of their own."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as error:
            raise OutputFailed(f"standard output cannot be written: {error.strerror}") from None


class _Messages(io.FileIO):
    """Standard error; errors in writing to it are ignored."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


@cache
def started_by() -> int:
    """The id of the parent process when the command started; the process may be reparented later."""
    return os.getppid()


def run_command(load: Callable[[], Callable[[], int | None]]) -> NoReturn:
    """Load a command, run it, and end the process with its exit status.

    While it loads and after it has finished, Ctrl-C ends the process at once: there is nothing to clean up.
    """
    started_by()
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    open_streams()
    try:
        command = load()
        try:
            if interruptible:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            status = command() or 0
        finally:
            if interruptible:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.stdout.flush()
    except SystemExit as stop:
        status = _status_of_exit(stop)
    except BaseException as error:
        status = _status_of(error)
    sys.exit(status)


def complain(error: object) -> int:
    """Print one sentence on an error; returns the exit status for it."""
    print(f"reviser: {error}", file=sys.stderr)
    return error.exit_status if isinstance(error, ReviserError) else ReviserError.exit_status


def open_streams() -> None:
    """Replace closed standard streams by ones that raise errors, and give errors of standard output a type of their
    own."""
    for handle, access in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDWR)):
        try:
            os.fstat(handle)
        except OSError:
            # Else the next file that is opened would get this number, and what is meant for the stream.
            os.dup2(os.open(os.devnull, access), handle)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None or not sys.stdout.isatty():
        sys.stdout = _stream(_Output(1, "wb", closefd=False), sys.stdout)
    if sys.stderr is None or not sys.stderr.isatty():
        sys.stderr = _stream(_Messages(2, "wb", closefd=False), sys.stderr)


def _stream(file: io.FileIO, former: TextIO | None) -> io.TextIOWrapper:
    """A text stream to `file`, with the settings of the former stream if there was one."""
    if not isinstance(former, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(file), write_through=True)
    former.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=former.encoding,
        errors=former.errors,
        line_buffering=former.line_buffering,
        write_through=former.write_through,
    )


def _status_of_exit(stop: SystemExit) -> int:
    try:
        sys.stdout.flush()
    except (OutputFailed, ReaderGone) as error:
        return _status_of(error)
    if isinstance(stop.code, str):
        complain(stop.code)
        return 1
    return int(stop.code or 0)


def _status_of(error: BaseException) -> int:
    """The exit status for an uncaught error, after printing its message."""
    if _was_interrupted(error):
        return _INTERRUPTED
    if isinstance(error, OutputFailed | ReaderGone):
        # What is still to be written has nowhere to go; closing the stream must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, ReaderGone):
            return _READER_GONE
        complain(error)
        return 1
    if isinstance(error, ReviserError):
        return complain(error)
    if isinstance(error, ModuleNotFoundError):
        from reviser.core.extras import missing_package

        if sentence := missing_package(error):
            return complain(sentence)
    if isinstance(error, OSError) and error.filename is not None:
        return complain(f"{os.fsdecode(error.filename)}: {error.strerror}")
    raise error


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error; an interrupted import may raise another type of error."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
