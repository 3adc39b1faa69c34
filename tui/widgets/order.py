"""Keys in their order: what a key begins is done, or asks something, before the next key is taken."""

from __future__ import annotations

import asyncio
from typing import Any

from textual import events
from textual.app import App


class Begun:
    """What is under way before a key is pressed, to tell from it what the key has begun."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._screen = app.screen
        self._workers = set(app.workers)

    async def settled(self) -> None:
        """Wait until the commands that a key has begun, or gone on with by an answer, are done or ask what they
        want to know.

        An app that ends waits for its widgets, and its commands go on until then: nobody must wait for them.
        """
        while self._app.is_running and not self._app._exit and self._under_way():
            await asyncio.sleep(0)

    def _under_way(self) -> bool:
        app = self._app
        if app.screen is not self._screen and len(app.screen_stack) > 1:
            return app.focused is None
        # Where a question has been answered, those who asked it go on.
        known = self._workers if app.screen is self._screen else set()
        return any(not worker.is_finished for worker in app.workers if worker not in known)


async def keys_before_are_taken(app: App[Any]) -> None:
    """Wait until the widget that has the focus has taken all keys that were passed on to it."""
    settled = None
    while (widget := app.focused) is not None and widget is not settled:
        done = asyncio.Event()
        widget.post_message(events.Callback(callback=done.set))
        while not done.is_set() and app.is_running and widget.is_running:
            await asyncio.sleep(0)
        settled = widget


def is_taken_by_all(app: App[Any], key: str) -> bool:
    """Whether a key is for the screen or the app before the widget that has the focus."""
    chain = [bindings.key_to_bindings.get(key, ()) for _, bindings in app.screen._binding_chain]
    return any(binding.priority for bindings in chain for binding in bindings)
