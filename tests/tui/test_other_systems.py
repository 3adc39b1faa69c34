"""The terminal editor on systems without SIGHUP, signal handlers of loops, or locks on files."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from reviser.core.edits import Edit
from tui.document.journal import Journal, leftovers
from tui.signals import leave_on_signals


def test_signals_reach_the_editor_without_handlers_of_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP")
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    async def wait() -> None:
        left = asyncio.Event()
        loop = asyncio.get_running_loop()

        def refuse(*arguments: object) -> None:
            raise NotImplementedError

        monkeypatch.setattr(loop, "add_signal_handler", refuse)
        leave_on_signals(left.set)
        os.kill(os.getpid(), signal.SIGTERM)
        await left.wait()

    try:
        asyncio.run(wait())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_journals_without_locks_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    journal = Journal(tmp_path)
    journal.begin(None, "before")
    journal.note(Edit(0, "", "long "))
    journal.flush(lambda: "long before")
    assert [leftover.text for leftover in leftovers(tmp_path)] == ["long before"]
    journal.end()
    assert leftovers(tmp_path) == []
