"""The tokens before a canvas's cursor, followed from action to action, so that each is looked at once."""

from __future__ import annotations

from abc import ABC, abstractmethod

from reviser.core.canvas import Canvas


class BeforeCursor(ABC):
    """What is known of the tokens from a boundary to the cursor. Mostly one is added; after anything else all are
    looked at again."""

    def __init__(self) -> None:
        self._canvas: Canvas | None = None
        self._revision = self._first = self._end = 0

    @abstractmethod
    def clear(self) -> None:
        """Forget all tokens."""

    @abstractmethod
    def add(self, token: int) -> None:
        """Take in one more token."""

    def follow(self, canvas: Canvas, first: int) -> None:
        """Be what is known of a canvas from boundary `first` to its cursor."""
        cursor, revision = canvas.cursor, canvas.revision
        if canvas is not self._canvas or first != self._first:
            self._look_at_all(canvas, first)
        elif revision == self._revision + 1 and cursor > self._end and self._is_added(canvas):
            for token in canvas.between(self._end, cursor):
                self.add(token)
        elif revision != self._revision or cursor != self._end:
            self._look_at_all(canvas, first)
        self._revision, self._end = revision, cursor

    def _is_added(self, canvas: Canvas) -> bool:
        """Whether the last change of a canvas has put tokens at what was the cursor."""
        return all(splice.start == self._end and not splice.removed for splice in canvas.last_change)

    def _look_at_all(self, canvas: Canvas, first: int) -> None:
        self._canvas, self._first = canvas, first
        self.clear()
        for token in canvas.between(first, canvas.cursor):
            self.add(token)
