"""Messages and questions to the user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.app import App

from tui.document.disk import FileStamp, typed_path
from tui.widgets.dialogs import ChoiceDialog, PromptDialog, QuestionDialog

Answers = Sequence[tuple[str, str]]


class Prompts:
    """Messages, which return at once, and questions, which are awaited in a worker of the app."""

    def __init__(self, app: App[None]) -> None:
        self._app = app

    @property
    def asking(self) -> bool:
        """Whether a question or another dialog is on the screen."""
        return len(self._app.screen_stack) > 1

    def say(self, message: str, seconds: float | None = None) -> None:
        self._app.notify(message, timeout=seconds, markup=False)

    def warn(self, message: str, seconds: float | None = None) -> None:
        self._app.notify(message, severity="warning", timeout=seconds, markup=False)

    def fail(self, reason: object, seconds: float | None = 10) -> None:
        """Show the reason why something was not done."""
        self._app.notify(str(reason), severity="error", timeout=seconds, markup=False)

    async def ask(self, question: str, answers: Answers) -> str | None:
        """The name of the chosen answer; None if the user gave none."""
        return await self._app.push_screen_wait(QuestionDialog(question, answers))

    async def ask_line(self, question: str) -> str | None:
        return await self._app.push_screen_wait(PromptDialog(question))

    async def ask_path(self, question: str, value: str = "") -> Path | None:
        answer = await self._app.push_screen_wait(PromptDialog(question, value, path=True))
        return typed_path(answer) if answer and answer.strip() else None

    async def choose(self, title: str, lines: Sequence[str]) -> int | None:
        """The index of the chosen line; None if the user chose none."""
        return await self._app.push_screen_wait(ChoiceDialog(title, lines))

    async def may_replace(self, path: Path) -> bool:
        """Whether there is no file at `path`, or the user agrees to replace it."""
        if FileStamp.of(path) is None:
            return True
        answers = [("cancel", "Cancel"), ("replace", "Replace it")]
        return await self.ask(f"{path} exists.", answers) == "replace"
