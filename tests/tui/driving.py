"""The editor under test: a real app without a terminal, and a tiny model with random weights."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from reviser.engine import Engine
from tests.toys import ToyTokenizer, toy_policy
from tui.app import EditorApp
from tui.settings import Settings

Script = Callable[[EditorApp, Pilot[None]], Awaitable[None]]

QUICK = Settings(seed=5, max_actions=30)


def toy_engine(say: Callable[[str], None]) -> Engine:
    say("making a toy")
    return Engine("toy", toy_policy(seed=1, context=256, canvas_length=256), ToyTokenizer())


def editor(
    folder: Path, text: str | None = None, settings: Settings = QUICK, **options: object
) -> EditorApp:
    """An editor on a file of `text` in `folder`, or on nothing."""
    files = []
    if text is not None:
        files = [folder / "file.txt"]
        files[0].write_bytes(text.encode())
    given = {"load": toy_engine, "journals": folder / "journals"} | options
    return EditorApp(files, settings, **given)  # type: ignore[arg-type]


def drive(app: EditorApp, script: Script, size: tuple[int, int] = (80, 24)) -> None:
    """Run the app and do to it what the script says."""

    async def main() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(app, pilot)

    asyncio.run(main())


async def strike(app: EditorApp, pilot: Pilot[None], *keys: str) -> None:
    """Press keys as fast as they can be taken, and wait once for all of them."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))
    await pilot.pause()


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Wait for something that the model or a dialog will bring about."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it did not happen"
        await pilot.pause(0.01)


async def run_to_the_end(app: EditorApp, pilot: Pilot[None]) -> None:
    await until(pilot, lambda: app.sheet.run is not None and not app.sheet.run.writing)


def notes(app: EditorApp) -> str:
    """What the editor has said in passing."""
    return " | ".join(note.message for note in app._notifications)
