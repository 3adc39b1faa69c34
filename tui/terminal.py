"""What a terminal sends: keys in bursts, whatever bytes come, until it is gone."""

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

# As many bytes as a terminal holds for its reader.
_MOST = 4096
# Seconds after which an Escape that nothing follows is a key.
_TICK = 0.1


@dataclass
class Burst(Message):
    """Keys that came at once, as pasted text does where the terminal does not mark it as such."""

    keys: list[events.Key]


class Gone(Message):
    """The terminal is not there any more."""


class TerminalInput:
    """The messages that the bytes of a terminal stand for; bytes that stand for nothing are passed over."""

    def __init__(self) -> None:
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._parser = XTermParser()

    def take(self, data: bytes) -> list[Message]:
        """What has come with these bytes."""
        return list(_in_bursts(self._parsed(self._decode(data))))

    def tick(self) -> list[Message]:
        """What has come because nothing followed it for a while."""
        return list(self._parser.tick())

    def _parsed(self, text: str) -> Iterator[Message]:
        for character in text:
            try:
                yield from self._parser.feed(character)
            except ValueError:  # such as a key with a number that no character has
                self._parser = XTermParser()


def _in_bursts(messages: Iterator[Message]) -> Iterator[Message]:
    """Keys that follow each other as one message."""
    for of_keys, group in groupby(messages, lambda message: isinstance(message, events.Key)):
        found = list(group)
        if of_keys and len(found) > 1:
            yield Burst([key for key in found if isinstance(key, events.Key)])
        else:
            yield from found


class _Screen:
    """The terminal to write to; when it is gone, what is written is lost and nothing waits for it."""

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
    """How the editor reads and writes its terminal; None where that is not a Unix one."""
    if sys.platform == "win32":
        return None
    from textual.drivers.linux_driver import LinuxDriver

    class TerminalDriver(LinuxDriver):
        """Textual's driver, which would end with a traceback at a wrong byte, and wait for a terminal that is gone."""

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
                            self.process_message(Gone())
                            return
                        self._pass_on(terminal.take(data))
                    self._pass_on(terminal.tick())

        def _read(self) -> bytes:
            """What the terminal has sent; nothing if it is gone."""
            with suppress(OSError):
                return os.read(self.fileno, _MOST)
            return b""

        def _pass_on(self, messages: list[Message]) -> None:
            for message in messages:
                self.process_message(message)

    return TerminalDriver
