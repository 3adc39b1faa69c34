"""The input of a terminal: keys in bursts, tolerant of invalid bytes, until the terminal is closed."""

from __future__ import annotations

import os
import selectors
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import IO, TYPE_CHECKING

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

if TYPE_CHECKING:
    from textual.driver import Driver

# The number of bytes that a terminal buffers for its reader.
_MOST = 4096
# Seconds after which a lone Escape counts as a key.
_TICK = 0.1


@dataclass
class KeyBurst(Message):
    """Keys that arrived at once, such as pasted text that the terminal does not mark as pasted."""

    keys: list[events.Key]


class TerminalGone(Message):
    """The terminal was closed."""


class TerminalInput:
    """A parser of a terminal's bytes to messages; bytes that mean nothing are ignored."""

    def __init__(self) -> None:
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._parser = XTermParser()

    def take(self, data: bytes) -> list[Message]:
        """The messages that these bytes complete."""
        return list(_in_bursts(self._parsed(self._decode(data))))

    def tick(self) -> list[Message]:
        """The messages that are complete because nothing followed for a while, such as a lone Escape."""
        return list(self._parser.tick())

    def _parsed(self, text: str) -> Iterator[Message]:
        for character in text:
            try:
                yield from self._parser.feed(character)
            except ValueError:  # such as a key with a number that no character has
                self._parser = XTermParser()


def _in_bursts(messages: Iterator[Message]) -> Iterator[Message]:
    """The messages, with keys that follow each other as one."""
    for of_keys, group in groupby(messages, lambda message: isinstance(message, events.Key)):
        found = list(group)
        if of_keys and len(found) > 1:
            yield KeyBurst([key for key in found if isinstance(key, events.Key)])
        else:
            yield from found


class _Screen:
    """The terminal as output; when it is closed, output is dropped and writing does not block."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.fileno = file.fileno

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


def driver_class() -> type[Driver] | None:
    """The driver class for this terminal; None if it is not a Unix one."""
    if sys.platform == "win32":
        return None
    from textual.drivers.linux_driver import LinuxDriver

    class TerminalDriver(LinuxDriver):
        """Textual's driver, which by itself would crash at an invalid byte and hang when the terminal is closed."""

        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[arg-type]
            if self._file is not None:
                self._file = _Screen(self._file)  # type: ignore[assignment]

        def run_input_thread(self) -> None:
            terminal = TerminalInput()
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    if selector.select(_TICK):
                        data = self._read()
                        if not data:
                            self.process_message(TerminalGone())
                            return
                        self._pass_on(terminal.take(data))
                    self._pass_on(terminal.tick())

        def _read(self) -> bytes:
            """The bytes that the terminal has sent; empty if it is closed."""
            with suppress(OSError):
                return os.read(self.fileno, _MOST)
            return b""

        def _pass_on(self, messages: list[Message]) -> None:
            for message in messages:
                self.process_message(message)

    return TerminalDriver
