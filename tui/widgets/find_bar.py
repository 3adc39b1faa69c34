"""The bar at the bottom for search and replace."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label

from reviser.core.errors import ReviserError
from reviser.editor.edited_text import Selection
from tui.document.searching import SearchFailed, TextSearch
from tui.widgets.keyboard import Field
from tui.widgets.text.editor import Editor

# Seconds without a key before matches are counted, and seconds that a key may wait for a match.
_PAUSE = 0.15
_TYPING = 0.5


def _command(key: str, action: str, what: str, id: str) -> Binding:
    return Binding(key, action, what, show=False, priority=True, id=id)


class FindBar(Vertical):
    """A search bar that finds as the user types, and goes from match to match."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False),
        Binding("up", "previous", "Previous", show=False),
        Binding("down", "next", "Next", show=False),
        # Before the fields see them: they would take the letter, or what is typed behind a tab.
        Binding("tab", "app.focus_next", "Next field", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous field", show=False, priority=True),
        _command("alt+c", "switch('case')", "Match case", "find-case"),
        _command("alt+r", "switch('pattern')", "Pattern", "find-pattern"),
        _command("alt+a", "replace_all", "Replace all", "replace-all"),
    ]

    def __init__(self, editor: Editor, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._editor = editor
        self._case = False
        self._pattern = False
        self._origin = 0
        self._counting: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(classes="bar-row"):
            yield Label("Find ")
            yield Field(id="find", compact=True, select_on_focus=False)
            yield Label("", id="found", markup=False)
        with Horizontal(classes="bar-row", id="replace-row"):
            yield Label("With ")
            yield Field(id="replace", compact=True, select_on_focus=False)
            yield Label("⏎ one · alt+a all", classes="hint")

    @property
    def search(self) -> TextSearch:
        return TextSearch(self.query_one("#find", Input).value, self._case, self._pattern)

    def open(self, *, replacing: bool) -> None:
        """Show the bar, with the selected text in its field."""
        draft = self._editor.sheet.draft
        self._origin = draft.selection.start
        self.display = True
        self.query_one("#replace-row").display = replacing
        field = self.query_one("#find", Input)
        if not draft.selection.empty and draft.selection.end - draft.selection.start < 200:
            selected = draft.buffer.slice(draft.selection.start, draft.selection.end)
            if "\n" not in selected:
                field.value = selected
        self.screen.set_focus(field)
        field.action_select_all()
        self._look(move=False)

    def find_again(self, *, forwards: bool) -> None:
        """Go to the next match of the last search, or ask for a search text."""
        if not self.search.wanted:
            self.open(replacing=False)
        else:
            self._go(forwards=forwards)

    def action_close(self) -> None:
        self.display = False
        self._editor.search = None
        self._count_no_more()
        self._editor.look_again()
        self.screen.set_focus(self._editor)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.id == "find":
            self._look(move=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id == "find":
            self.action_next()
        else:
            self._replace_one()

    def _look(self, *, move: bool) -> None:
        """Mark the matches, show the first one behind where the search began, and begin to count."""
        search, draft = self.search, self._editor.sheet.draft
        self._editor.search, told = None, ""
        try:
            found = search.following(draft, self._origin, _TYPING)
        except SearchFailed as failure:
            found, told = None, failure.short
        else:
            self._editor.search = search if search.wanted else None
            told = ("…" if found is not None else "nothing found") if search.wanted else ""
        if move and found is not None:
            self._select(found)
        self._editor.look_again()
        self._say(told)
        self._count_no_more()
        if found is not None:
            self._counting = asyncio.create_task(self._count(search))

    async def _count(self, search: TextSearch) -> None:
        """Show the number of matches, once nothing was typed for a moment."""
        await asyncio.sleep(_PAUSE)
        ended = Event()
        try:
            text = self._editor.sheet.draft.text
            count = await asyncio.to_thread(search.count, text, ended.is_set)
        finally:
            ended.set()
        self._say(f"{count.number}{'' if count.complete else '+'} found")

    def _count_no_more(self) -> None:
        if self._counting is not None:
            self._counting.cancel()

    def on_unmount(self) -> None:
        self._count_no_more()

    def _say(self, text: str) -> None:
        modes = (" Aa" if self._case else "") + (" .*" if self._pattern else "")
        self.query_one("#found", Label).update(f"{text}{modes}")

    def _select(self, found: Selection | None) -> None:
        if found is None:
            self.app.bell()
        else:
            self._editor.select(found)

    def action_next(self) -> None:
        self._go(forwards=True)

    def action_previous(self) -> None:
        self._go(forwards=False)

    def _go(self, *, forwards: bool) -> None:
        draft = self._editor.sheet.draft
        try:
            if forwards:
                self._select(self.search.following(draft, draft.selection.end))
            else:
                self._select(self.search.preceding(draft, draft.selection.start))
        except ReviserError as error:
            self.app.notify(str(error), severity="warning")

    def action_switch(self, what: str) -> None:
        if what == "case":
            self._case = not self._case
        else:
            self._pattern = not self._pattern
        self._look(move=True)

    def _replace_one(self) -> None:
        draft = self._editor.sheet.draft
        replacement = self.query_one("#replace", Input).value
        try:
            self.search.replace_selected(draft, replacement)
            self._go(forwards=True)
        except ReviserError as error:
            self.app.notify(str(error), severity="warning")
        self._origin = draft.selection.start
        self._look(move=False)

    def action_replace_all(self) -> None:
        draft = self._editor.sheet.draft
        replacement = self.query_one("#replace", Input).value
        try:
            count = self.search.replace_all(draft, replacement)
        except ReviserError as error:
            self.app.notify(str(error), severity="warning")
            return
        self._look(move=False)
        self.app.notify(f"Replaced {count}." if count else "Nothing to replace.")
