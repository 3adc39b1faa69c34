"""Commands on files of runs: playing recordings, and saving and exporting runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reviser.core.errors import ReviserError
from tui.player.player import Player
from tui.prompts import Prompts
from tui.runs.run import DraftRun
from tui.runs.writer import Writer
from tui.sheets import Sheets
from tui.widgets.desk import Desk

if TYPE_CHECKING:
    from reviser.core.tokenizer import Tokenizer
    from reviser.core.trajectory import Trajectory


class RunFiles:
    """The commands that read and write trajectory files. The code for them is imported when first used."""

    def __init__(self, sheets: Sheets, writer: Writer, player: Player, desk: Desk, prompts: Prompts) -> None:
        self._sheets = sheets
        self._writer = writer
        self._player = player
        self._desk = desk
        self._prompts = prompts

    # Playing

    async def open(self) -> None:
        if path := await self._prompts.ask_path("Play which trajectory file?"):
            await self.play(path)

    async def play(self, path: Path) -> None:
        """Play a run of the file at `path`, in a sheet of its own."""
        from tui.runs.recordings import describe, read_recordings, recorded_run

        try:
            found = read_recordings(path)
            number: int | None = 0
            if len(found) > 1:
                lines = [describe(trajectory, index) for index, trajectory in enumerate(found)]
                number = await self._prompts.choose(f"Which run of {path.name}?", lines)
            if number is None:
                return
            run = recorded_run(found[number], await self._tokenizer_for(found[number]))
        except ReviserError as error:
            self._prompts.fail(error)
            return
        name = describe(found[number], number).partition(" · ")[0]
        run.draft.mark_saved()
        sheet = self._sheets.blank(name, run.draft)
        self._desk.add(sheet)
        self._player.adopt(sheet, run)

    async def _tokenizer_for(self, trajectory: Trajectory) -> Tokenizer:
        from reviser.core.tokenizer import Gpt2Tokenizer

        if trajectory.vocabulary.base_size == Gpt2Tokenizer.size:
            return Gpt2Tokenizer()
        self._prompts.say("Loading the model for its tokenizer…", seconds=3)
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[Tokenizer] = loop.create_future()

        def fetch() -> None:
            try:
                tokenizer = self._writer.engine().tokenizer
                loop.call_soon_threadsafe(ready.set_result, tokenizer)
            except ReviserError as error:
                loop.call_soon_threadsafe(ready.set_exception, error)
            except Exception as error:
                # The thread must live on, and the user must know.
                told = ReviserError(f"the model failed: {type(error).__name__}: {error}")
                loop.call_soon_threadsafe(ready.set_exception, told)

        self._writer.submit(fetch)
        return await ready

    # Writing

    async def save(self) -> None:
        from tui.runs.recordings import save_run

        await self._export("Save the run as", ".run.json", save_run)

    async def export_page(self) -> None:
        from tui.runs.recordings import export_page

        await self._export("Write the page to", ".run.html", export_page)

    async def export_diff(self) -> None:
        from tui.runs.recordings import export_diff

        file = self._sheets.current.file
        name = "text.txt" if file is None else file.path.name
        newline = "\n" if file is None else file.document.newline
        await self._export("Write the patch to", ".diff", lambda run, path: export_diff(run, path, name, newline))

    async def _export(self, question: str, suffix: str, write: Callable[[DraftRun, Path], object]) -> None:
        sheet = self._sheets.current
        run = sheet.run
        if run is None:
            self._prompts.warn("There is no run yet.")
            return
        folder = sheet.path.parent if sheet.path else Path()
        proposed = folder / f"{Path(sheet.title).stem}{suffix}"
        path = await self._prompts.ask_path(question, str(proposed))
        if path is None or not await self._prompts.may_replace(path):
            return
        try:
            write(run, path)
        except ReviserError as error:
            self._prompts.fail(error)
        else:
            self._prompts.say(f"Wrote {path}.")
