"""The mutable canvas: tokens, a cursor, protected ends and an undo history. All edits of tokens go through it.

The tokens live in a gap buffer made of two stacks: those left of the gap, and those right of it in reverse. An edit or
a move near the gap takes time in proportion to what it touches, whatever the length of the canvas. The stacks are
arrays of numbers, not lists of objects, so that a file of many megabytes fits in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

from reviser.core.actions import Action, Plan, Splice, Stop
from reviser.core.counts import counted
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.vocabulary import ValidIds, Vocabulary


class _Done(NamedTuple):
    """One applied action, with what undo and redo need."""

    splices: tuple[Splice, ...]
    cursor_before: int
    cursor_after: int
    stops: bool


class Canvas:
    """Tokens under edit, a cursor between two of them, and the regions that must not change.

    The first `prefix` and the last `suffix` tokens are protected: the cursor stays between them and
    no action changes them. `max_length` bounds the whole canvas.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        tokens: Iterable[int] = (),
        *,
        cursor: int | None = None,
        prefix: int = 0,
        suffix: int = 0,
        max_length: int | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.max_length = max_length
        self.stopped = False
        self.revision = 0
        """Counts the changes of the tokens."""
        self.last_change: tuple[Splice, ...] = ()
        self._left = array("I")
        self._left.extend(tokens)
        if max_length is not None and len(self._left) > max_length:
            raise ReviserError(f"{counted(len(self._left), 'token')} do not fit on a canvas of {max_length}")
        self._right = array("I")
        self._done: list[_Done] = []
        self._undone: list[_Done] = []
        self.protect(prefix, suffix, cursor)

    def protect(self, prefix: int, suffix: int = 0, cursor: int | None = None) -> None:
        """Protect the first `prefix` and last `suffix` tokens; history so far can no longer be undone."""
        if prefix < 0 or suffix < 0 or prefix + suffix > self.length:
            raise ReviserError(f"cannot protect {prefix} and {suffix} tokens of a canvas of {self.length}")
        self.low = prefix
        self._suffix = suffix
        place = self.high if cursor is None else cursor
        if not self.low <= place <= self.high:
            raise ReviserError(f"cursor {place} is outside the editable text ({self.low} to {self.high})")
        self._cursor = place
        self._bring_gap(place)
        self._done.clear()
        self._undone.clear()

    @property
    def tokens(self) -> list[int]:
        """All tokens, as a new list."""
        return (self._left + self._right[::-1]).tolist()

    @property
    def cursor(self) -> int:
        return self._cursor

    @property
    def length(self) -> int:
        return len(self._left) + len(self._right)

    @property
    def high(self) -> int:
        return len(self._left) + len(self._right) - self._suffix

    @property
    def prefix(self) -> int:
        return self.low

    @property
    def suffix(self) -> int:
        return self._suffix

    @property
    def room(self) -> int:
        """How many more tokens fit; without a maximum, one more than any action can ask for."""
        if self.max_length is None:
            return 1 << 60
        return self.max_length - len(self._left) - len(self._right)

    def between(self, start: int, end: int) -> tuple[int, ...]:
        """The tokens from boundary `start` to boundary `end`; costs time in proportion to their number."""
        gap = len(self._left)
        if end <= gap:
            return tuple(self._left[start:end])
        if start >= gap:
            size = self.length
            return tuple(reversed(self._right[size - end : size - start]))
        return self.between(start, gap) + self.between(gap, end)

    def objection(self, action: Action) -> str | None:
        """The reason why `action` is invalid now, or None if it is valid."""
        if self.stopped:
            return "the run has stopped"
        return self.vocabulary.objection(action) or action.objection(self)

    def valid_actions(self) -> ValidIds:
        """The ids of all actions that are valid now; the cost does not grow with the canvas."""
        if self.stopped:
            return ValidIds(self.vocabulary, False, False, ())
        return self.vocabulary.valid_on(self)

    def action(self, id: int) -> Action:
        """The action that `id` means at the present cursor."""
        return self.vocabulary.action(id, self._cursor)

    def apply(self, action: Action) -> tuple[Splice, ...]:
        """Carry out `action` and return its splices; raises `InvalidAction`, and changes nothing, if it is invalid."""
        if reason := self.objection(action):
            raise InvalidAction(f"invalid action {action}: {reason}")
        plan: Plan = action.plan(self)
        done = _Done(plan.splices, self._cursor, plan.cursor, isinstance(action, Stop))
        self._carry_out(done.splices, done.cursor_after)
        self.stopped = done.stops
        self._done.append(done)
        self._undone.clear()
        return done.splices

    @property
    def undoable(self) -> int:
        """How many actions can be undone."""
        return len(self._done)

    @property
    def redoable(self) -> int:
        """How many actions can be redone."""
        return len(self._undone)

    def undo(self) -> tuple[Splice, ...]:
        """Take back the last action and return the splices that did it."""
        if not self._done:
            raise InvalidAction("there is nothing to undo")
        done = self._done.pop()
        splices = tuple(splice.inverse() for splice in reversed(done.splices))
        self._carry_out(splices, done.cursor_before)
        self.stopped = False
        self._undone.append(done)
        return splices

    def redo(self) -> tuple[Splice, ...]:
        """Carry out again the action last undone and return its splices."""
        if not self._undone:
            raise InvalidAction("there is nothing to redo")
        done = self._undone.pop()
        self._carry_out(done.splices, done.cursor_after)
        self.stopped = done.stops
        self._done.append(done)
        return done.splices

    def _carry_out(self, splices: tuple[Splice, ...], cursor: int) -> None:
        if splices:
            self.revision += 1
            self.last_change = splices
        for splice in splices:
            self._bring_gap(splice.start + len(splice.removed))
            if splice.removed:
                del self._left[splice.start :]
            self._left.extend(splice.inserted)
        self._cursor = cursor
        if cursor != len(self._left):
            self._bring_gap(cursor)

    def _bring_gap(self, boundary: int) -> None:
        shift = boundary - len(self._left)
        if shift < 0:
            self._right.extend(self._left[boundary:][::-1])
            del self._left[boundary:]
        elif shift > 0:
            self._left.extend(self._right[-shift:][::-1])
            del self._right[-shift:]
