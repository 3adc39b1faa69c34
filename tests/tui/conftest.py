"""Textual's way to wait for an app that has nothing to do, in shorter steps."""

from __future__ import annotations

from textual import _wait

# After every key Textual sleeps twice for 20 ms, and goes on once less than 1 ms of that was work. Most keys take less.
_wait.SLEEP_GRANULARITY = 1 / 200
