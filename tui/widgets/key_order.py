"""The order of keys: the command of a key is done, or has asked its question, before the next key is handled."""

from __future__ import annotations

import asyncio
from typing import Any

from textual import events
from textual.app import App


class CommandsInProgress:
    """The commands that run before a key is handled, so that those it starts can be told from them."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._screen = app.screen
        self._workers = set(app.workers)

    async def settled(self) -> None:
        """Wait until the commands that a key has started, or continued by an answer, are done or ask a question.

        When the app exits it waits for its widgets while commands still run, so widgets must not wait for commands
        then.
        """
        while self._app.is_running and not self._app._exit and self._under_way():
            await asyncio.sleep(0)

    def _under_way(self) -> bool:
        app = self._app
        if app.screen is not self._screen and len(app.screen_stack) > 1:
            return app.focused is None
        # Workers whose question has been answered continue and must be waited for.
        known = self._workers if app.screen is self._screen else set()
        return any(not worker.is_finished for worker in app.workers if worker not in known)


async def keys_before_are_taken(app: App[Any]) -> None:
    """Wait until the focused widget has handled all keys that were passed to it."""
    settled = None
    while (widget := app.focused) is not None and widget is not settled:
        done = asyncio.Event()
        widget.post_message(events.Callback(callback=done.set))
        while not done.is_set() and app.is_running and widget.is_running:
            await asyncio.sleep(0)
        settled = widget


def is_taken_by_all(app: App[Any], key: str) -> bool:
    """Whether the screen or the app handles a key before the focused widget does."""
    chain = [bindings.key_to_bindings.get(key, ()) for _, bindings in app.screen._binding_chain]
    return any(binding.priority for bindings in chain for binding in bindings)
