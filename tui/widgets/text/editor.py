"""The widget that edits a sheet by keys, clipboard and mouse."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from reviser.editor.edited_text import EditedText, Kind, Selection
from tui.commands import TEXT_COMMANDS
from tui.document.disk import plain_newlines
from tui.sheet import Sheet
from tui.widgets.key_order import CommandsInProgress
from tui.widgets.keyboard import written_by
from tui.widgets.text.movements import Movements
from tui.widgets.text.text_view import TextView

# The text of keys that are not characters themselves. Some terminals send a line feed for a pasted line
# ending.
_WRITTEN = {"enter": "\n", "shift+enter": "\n", "ctrl+j": "\n", "tab": "\t"}


# The unit in which typed text is undone: a word or a line ending, with the spaces behind it.
_STEPS = re.compile(r"(?:\n|\S+)[^\S\n]*|[^\S\n]+")
# This many characters at once count as pasted, not typed.
_PASTED = 200


def typed_text(key: events.Key) -> str | None:
    """The text that a key types; None if the key is a command."""
    return _WRITTEN.get(key.key) or written_by(key)


class Editor(TextView, can_focus=True):
    """The text widget with keys and mouse, which edit its draft."""

    BINDINGS: ClassVar[list[BindingType]] = [
        each.binding for command in TEXT_COMMANDS for each in (command, command.selects) if each is not None
    ]

    @dataclass
    class Typed(Message):
        """Keys that arrived at once and type text."""

        keys: list[events.Key]

    def __init__(self, sheet: Sheet, *, id: str | None = None) -> None:
        super().__init__(sheet, id=id)
        self._movements = Movements(self.viewport)
        self._selecting: Callable[[int], Selection] | None = None
        self._dragging_thumb = False
        # The dialog that a command of this widget has opened last.
        self._asking: Screen[object] | None = None

    @property
    def _draft(self) -> EditedText:
        return self.sheet.draft

    def show(self, sheet: Sheet) -> None:
        self._movements.forget_goal()
        super().show(sheet)

    def select(self, selection: Selection, *, keep_goal: bool = False) -> None:
        """Move the cursor and scroll to it."""
        self._draft.select(selection)
        self._after_own(keep_goal=keep_goal)

    def type(self, text: str, kind: Kind = "other") -> None:
        """Replace the selection by text."""
        selection = self._draft.selection
        self._draft.edit(selection.start, selection.end, text, kind)
        self._after_own()

    def _after_own(self, *, keep_goal: bool = False) -> None:
        if not keep_goal:
            self._movements.forget_goal()
        self.sheet.follows_model = False
        self.viewport.reveal(self._draft.selection.cursor)
        self.changed()

    # Keys

    async def on_key(self, event: events.Key) -> None:
        """Type a key's text, or run the command bound to it.

        Both happen here, so that keys that arrive faster than they are handled keep their order. A key that means
        nothing is stopped here too: passed on, it could reach a dialog that a later key has opened.
        """
        if self._is_left():
            # An earlier key has opened a field or a dialog, and this key is meant for that.
            event.stop()
            await self.app.on_event(events.Key(event.key, event.character))
            return
        text = typed_text(event)
        bound = None if text is not None else self.screen.active_bindings.get(event.key)
        event.stop()
        event.prevent_default()
        if text is not None:
            self.type(text, "typing" if self._draft.selection.empty else "other")
        elif bound is not None and bound.enabled:
            begun = CommandsInProgress(self.app)
            await self.app.run_action(bound.binding.action, bound.node)
            await begun.settled()
            self._asking = self.app.screen if self.app.screen is not self.screen else None

    async def on_editor_typed(self, event: Editor.Typed) -> None:
        """Insert text that was typed at once and draw it once; undo treats it as typed slowly."""
        event.stop()
        if self._is_left():
            for key in event.keys:
                await self.on_key(key)
            return
        text = "".join(filter(None, map(typed_text, event.keys)))
        if len(text) > _PASTED:
            self.type(text)
            return
        for piece in _STEPS.findall(text):
            selection = self._draft.selection
            kind: Kind = "typing" if selection.empty else "other"
            self._draft.edit(selection.start, selection.end, piece, kind)
        self._after_own()

    def _is_left(self) -> bool:
        """Whether keys are meant for a field or a dialog that an earlier key has opened."""
        asking = self._asking is not None and self.app.screen is self._asking
        return asking or isinstance(self.app.focused, Input)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if text := plain_newlines(event.text):
            self.type(text)

    def action_move(self, where: str, selecting: bool = False) -> None:
        """Move the cursor; `selecting` extends the selection."""
        selection = self._draft.selection
        if not selecting and not selection.empty and where in ("left", "right"):
            # The arrows leave a selection at the side they point to.
            self.select(Selection.at(selection.start if where == "left" else selection.end))
            return
        target = self._movements.target(where, selection.cursor)
        anchor = selection.anchor if selecting else target
        self.select(Selection(anchor, target), keep_goal=self._movements.keeps_goal(where))

    def action_erase(self, where: str) -> None:
        selection = self._draft.selection
        if not selection.empty:
            self.type("")
            return
        erased = Selection(selection.cursor, self._movements.erasing_target(where, selection.cursor))
        if erased.empty:
            return
        kinds: dict[str, Kind] = {"left": "erasing", "right": "deleting"}
        self._draft.edit(erased.start, erased.end, "", kinds.get(where, "other"))
        self._after_own()

    def action_select_all(self) -> None:
        self.select(Selection(0, self._draft.buffer.length))

    def action_copy(self) -> None:
        selection = self._draft.selection
        if not selection.empty:
            text = self._draft.buffer.slice(selection.start, selection.end)
            self.app.copy_to_clipboard(text)

    def action_cut(self) -> None:
        if not self._draft.selection.empty:
            self.action_copy()
            self.type("")

    def action_paste(self) -> None:
        if text := plain_newlines(self.app.clipboard):
            self.type(text)

    def action_undo(self) -> None:
        if not self._draft.undo():
            self.app.bell()
        self._after_own()

    def action_redo(self) -> None:
        if not self._draft.redo():
            self.app.bell()
        self._after_own()

    # Mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.screen.set_focus(self)
        self.capture_mouse()
        if self._on_scrollbar(event):
            self._dragging_thumb = True
            self._drag_thumb(event.y)
            return
        offset = self.viewport.offset_at(event.x, event.y)
        anchor = self._draft.selection.anchor if event.shift else offset
        self._selecting = lambda place: Selection(anchor, place)
        self.select(Selection(anchor, offset))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging_thumb:
            self._drag_thumb(event.y)
        elif self._selecting is not None:
            if event.y < 0 or event.y >= self.size.height:
                self.scroll_rows(-1 if event.y < 0 else 1)
            self.select(self._selecting(self.viewport.offset_at(event.x, event.y)))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._selecting = None
        self._dragging_thumb = False
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """Select the word with a second click, the line with a third."""
        if event.chain < 2 or self._on_scrollbar(event):
            return
        offset = self.viewport.offset_at(event.x, event.y)
        chosen = self._movements.word_at if event.chain == 2 else self._movements.line_at
        self.select(chosen(offset))

    def _on_scrollbar(self, event: events.MouseEvent) -> bool:
        return event.x >= self.size.width - 1

    def _drag_thumb(self, y: int) -> None:
        share = max(0.0, min(1.0, y / max(self.size.height - 1, 1)))
        self.viewport.scroll_to_share(share)
        self.changed()
