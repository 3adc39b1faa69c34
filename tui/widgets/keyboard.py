"""The characters that keys type into a text or a field."""

from __future__ import annotations

import unicodedata

from textual import events
from textual.widgets import Input

from tui.document.disk import plain_newlines

# With one of these a key is a command, also where the terminal sends a character with it.
_MODIFIERS = {"alt", "ctrl", "super", "meta", "hyper"}
# Controls, which are commands of the keyboard and the terminal, and halves of surrogate pairs, which no file can hold.
_NO_TEXT = {"Cc", "Cs"}
# Characters that terminals with Kitty's protocol send for keys without a character.
_KITTY_KEYS = range(0xE000, 0xE080)


def written_by(key: events.Key) -> str | None:
    """The character that a key types; None if the key is a command.

    Text includes characters that Python calls unprintable: joiners, no-break spaces, soft hyphens, direction marks,
    line separators, and characters newer than Python's tables.
    """
    character = key.character
    if character is None or _MODIFIERS & set(key.key.split("+")):
        return None
    if ord(character) in _KITTY_KEYS or unicodedata.category(character) in _NO_TEXT:
        return None
    return character


class Field(Input):
    """A one-line input that accepts every character that the text accepts."""

    def on_key(self, event: events.Key) -> None:
        text = written_by(event)
        if text is not None:
            event.stop()
            self.replace(text, *self.selection)
        if text is not None or event.is_printable:
            # Textual would take less, and letters that are held with Alt.
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Paste the first line; characters other than line endings stay in it."""
        event.stop()
        event.prevent_default()
        self.replace(plain_newlines(event.text).partition("\n")[0], *self.selection)
