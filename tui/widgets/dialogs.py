"""Dialogs: questions, prompts, the command palette and the help screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_lowercase
from typing import ClassVar, TypeVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Button, Input, Label, Static

from tui.commands import Command
from tui.document.disk import typed_path
from tui.widgets.keyboard import Field
from tui.widgets.rows import Rows

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer]):
    """A screen that returns exactly one answer; keys that come after it, or while another screen covers it, are
    ignored.

    Textual removes the uppermost screen, whichever screen was dismissed. A second answer would close what is under the
    dialog, or another dialog, whose caller would then wait for ever.
    """

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        return super().dismiss(result) if self._takes_answers() else AwaitComplete()

    def _takes_answers(self) -> bool:
        return self.app.screen_stack[-1] is self


def _first(key: str, action: str) -> Binding:
    return Binding(key, action, show=False, priority=True)


class QuestionDialog(Dialog[str | None]):
    """A question with a few answers, chosen with arrows and Enter; Escape returns none.

    A letter alone is no answer, since it may be meant for the text; Alt and the letter is.
    """

    # Before the buttons see them: keys that come fast are then handled one after the other.
    BINDINGS: ClassVar[list[BindingType]] = [
        _first("escape", "dismiss(None)"),
        _first("left,up,shift+tab", "app.focus_previous"),
        _first("right,down,tab", "app.focus_next"),
        _first("enter", "take"),
        *(_first(f"alt+{letter}", f"take('{letter}')") for letter in ascii_lowercase),
    ]

    def __init__(self, question: str, answers: Sequence[tuple[str, str]]) -> None:
        """`answers` are names and labels, the safe one first; Alt and the first letter of a label answer too."""
        super().__init__()
        self._question = question
        self._answers = answers

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._question, markup=False)
            with Horizontal(classes="answers"):
                for name, label in self._answers:
                    shown = Content.assemble((label[0], "underline"), label[1:])
                    yield Button(shown, id=name, compact=True)
            yield Label("Arrows and Enter, or Alt+letter", classes="keys")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id)

    def action_take(self, letter: str = "") -> None:
        """Give the answer that has the focus, or the one that begins with a letter."""
        for name, label in self._answers:
            focused = self.focused is not None and self.focused.id == name
            if label[0].lower() == letter or (not letter and focused):
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


class PromptDialog(Dialog[str | None]):
    """A field for one line of text; Escape returns none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", show=False)]

    def __init__(self, title: str, value: str = "", *, path: bool = False) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._path = path

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._title, markup=False)
            yield Field(
                self._value, suggester=PathSuggester() if self._path else None, select_on_focus=False, compact=True
            )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class ChoiceDialog(Dialog[int | None]):
    """A list of which one line is chosen; Escape returns none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", show=False)]

    def __init__(self, title: str, choices: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield Label(self._title, markup=False)
            yield Rows("There is nothing to choose.", [(line, "") for line in self._choices])

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        event.stop()

    def on_rows_taken(self, event: Rows.Taken) -> None:
        event.stop()
        self.dismiss(event.index)


class Palette(Dialog[Command | None]):
    """The command palette: a field and the commands that match it, the first one chosen; Escape returns none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel", show=False),
        *(
            Binding(key, f"choose({by})", show=False)
            for key, by in (("up", -1), ("down", 1), ("pageup", -10), ("pagedown", 10))
        ),
    ]

    def __init__(self, commands: Sequence[Command], keys: Mapping[str, str]) -> None:
        """`keys` are those that the settings bind in place of the defaults."""
        super().__init__()
        self._commands = commands
        self._keys = keys
        self._found: list[Command] = []
        self._rows = Rows("No command has such a name.")
        # What is typed goes into the field, whatever the mouse has clicked at.
        self._rows.can_focus = False
        self._filter("")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide palette"):
            yield Field(placeholder="The name of a command", compact=True)
            yield self._rows

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._filter(event.value)

    def _filter(self, typed: str) -> None:
        """Show the commands with all words in their names, before those with the words in their descriptions."""
        words = typed.casefold().split()
        named = [one for one in self._commands if _has(one.title, words)]
        told = [one for one in self._commands if _has(f"{one.title} {one.help}", words)]
        named.sort(key=lambda one: not one.title.casefold().startswith(typed.strip().casefold()))
        self._found = [*named, *(one for one in told if one not in named)]
        self._rows.fill([_palette_line(one, self._keys) for one in self._found], 0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._rows.action_take()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        event.stop()

    def on_rows_taken(self, event: Rows.Taken) -> None:
        event.stop()
        self.dismiss(self._found[event.index])

    def action_choose(self, by: int) -> None:
        self._rows.action_choose(by)


def _has(text: str, words: Sequence[str]) -> bool:
    return all(word in text.casefold() for word in words)


def _palette_line(command: Command, keys: Mapping[str, str]) -> tuple[str, str]:
    """The title and purpose of a command, and its key for the right edge."""
    key = keys.get(command.id, command.key).partition(",")[0]
    return " · ".join(filter(None, (command.title, command.help))), key


HelpGroup = tuple[str, Iterable[tuple[str, str, str]]]


class Help(Dialog[None]):
    """A list of all commands with the keys now bound to them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss(None)", "Close", show=False)]

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
                for key, name, purpose in keys:
                    told = Text.assemble(name, (f" · {purpose}" if purpose else "", "dim"))
                    table.add_row(Text(key, style="bold"), told)
                yield Label(title, classes="help-title", markup=False)
                yield Static(table)
