"""Questions, prompts and the help screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Button, Input, Label, OptionList, Static

from tui.disk import typed_path


class Question(ModalScreen[str | None]):
    """A question with a few answers; Escape gives none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", show=False),
        Binding("left,up", "app.focus_previous", "Previous", show=False),
        Binding("right,down", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, question: str, answers: Sequence[tuple[str, str]]) -> None:
        """`answers` are names and labels, the safe one first; the first letter of a label answers too."""
        super().__init__()
        self._question = question
        self._answers = answers

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._question, markup=False)
            with Horizontal(classes="answers"):
                for name, label in self._answers:
                    yield Button(label, id=name, compact=True)

    def on_mount(self) -> None:
        self.query(Button).first().focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id)

    def on_key(self, event: events.Key) -> None:
        for name, label in self._answers:
            if event.character and event.character.lower() == label[0].lower():
                event.stop()
                self.dismiss(name)
                return


class PathSuggester(Suggester):
    """Completes the path of a file."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        folder, _, start = value.rpartition("/")
        base = typed_path(f"{folder}/" if folder or value.startswith("/") else ".")
        try:
            found = sorted(p for p in base.iterdir() if p.name.startswith(start))
        except OSError:
            return None
        if not found or not start:
            return None
        slash = "/" if found[0].is_dir() else ""
        return value + found[0].name[len(start) :] + slash


class Prompt(ModalScreen[str | None]):
    """One line of text; Escape gives none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", show=False)
    ]

    def __init__(self, title: str, value: str = "", *, path: bool = False) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._path = path

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._title, markup=False)
            yield Input(
                self._value,
                suggester=PathSuggester() if self._path else None,
                select_on_focus=False,
                compact=True,
            )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Choice(ModalScreen[int | None]):
    """One of several; Escape gives none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", show=False)
    ]

    def __init__(self, title: str, choices: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield Label(self._title, markup=False)
            lines = (Text(line, no_wrap=True, overflow="ellipsis") for line in self._choices)
            yield OptionList(*lines, compact=True)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)


HelpGroup = tuple[str, Iterable[tuple[str, str]]]


class Help(ModalScreen[None]):
    """What the keys do, as they are bound now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss(None)", "Close", show=False)
    ]

    def __init__(self, introduction: str, groups: Sequence[HelpGroup]) -> None:
        super().__init__()
        self._introduction = introduction
        self._groups = groups

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog help"):
            yield Static(self._introduction, markup=False)
            for title, keys in self._groups:
                table = Table.grid(padding=(0, 2))
                table.add_column(min_width=11, no_wrap=True)
                table.add_column()
                for key, what in keys:
                    table.add_row(Text(key, style="bold"), what)
                yield Label(title, classes="help-title", markup=False)
                yield Static(table)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
