"""The signals that ask the editor to end, as far as the system has them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

NAMES = ("SIGTERM", "SIGHUP", "SIGINT")


def leave_on_signals(leave: Callable[[], None]) -> None:
    """Call `leave` in the running loop at each signal. Windows has no SIGHUP and no signal handlers of loops."""
    loop = asyncio.get_running_loop()

    def later(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(leave)

    for name in NAMES:
        number = getattr(signal, name, None)
        if number is None:
            continue
        try:
            loop.add_signal_handler(number, leave)
        except NotImplementedError:
            signal.signal(number, later)
