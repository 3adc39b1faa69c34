"""Questions, prompts, the command palette and the help screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import ClassVar, TypeVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Button, Input, Label, OptionList, Static

from tui.document.disk import typed_path

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer]):
    """A screen that takes exactly one answer: keys that come behind it, or while it is covered, give none.

    Textual takes the uppermost screen away, whichever screen was dismissed. A second answer would so close
    what is under the dialog, or another dialog, whose asker would then wait for ever.
    """

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        return super().dismiss(result) if self._takes_answers() else AwaitComplete()

    def _takes_answers(self) -> bool:
        return self.app.screen_stack[-1] is self


class Palette(CommandPalette, Dialog[None]):
    """The command palette; it carries out one command, however often Enter is pressed."""

    def __init__(self) -> None:
        super().__init__(id="--command-palette")
        self._used = False

    def use(self) -> bool:
        """Whether the command that was chosen is the first one."""
        first, self._used = not self._used, True
        return first


def _first(key: str, action: str) -> Binding:
    return Binding(key, action, show=False, priority=True)


class Question(Dialog[str | None]):
    """A question with a few answers, which are picked with arrows and Enter; Escape gives none.

    A letter alone answers nothing, since it may be meant for the text; with Alt it does.
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


class Prompt(Dialog[str | None]):
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


class Choice(Dialog[int | None]):
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


HelpGroup = tuple[str, Iterable[tuple[str, str, str]]]


class Help(Dialog[None]):
    """Every command with its keys, as they are bound now."""

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
                for key, name, purpose in keys:
                    told = Text.assemble(name, (f" · {purpose}" if purpose else "", "dim"))
                    table.add_row(Text(key, style="bold"), told)
                yield Label(title, classes="help-title", markup=False)
                yield Static(table)
