"""Incremental state of the tokens before the cursor, updated after each action so that each token is read once."""

from __future__ import annotations

from abc import ABC, abstractmethod

from reviser.core.canvas import Canvas


class BeforeCursor(ABC):
    """State derived from the tokens between a boundary and the cursor. Usually one token is added; after any other
    change all are read again."""

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
        """Update the state to the tokens of `canvas` from boundary `first` to its cursor."""
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
        """Whether the last change of a canvas inserted tokens at the former cursor."""
        return all(splice.start == self._end and not splice.removed for splice in canvas.last_change)

    def _look_at_all(self, canvas: Canvas, first: int) -> None:
        self._canvas, self._first = canvas, first
        self.clear()
        for token in canvas.between(first, canvas.cursor):
            self.add(token)
