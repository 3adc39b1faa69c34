"""The edit actions: what each does to a canvas, when it is allowed, and what undoes it.

An action is a value. `objection` says in words why a canvas refuses it (None: it is valid), `plan` says
what it does as splices and a new cursor, and `inverse` lists the actions that restore the canvas and
the cursor it was planned on. Indices follow the paper: the cursor is a boundary `u` between tokens,
`0 <= u <= length`, and single-token operators act on the token to its left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from reviser.core.counts import counted


@dataclass(frozen=True, slots=True)
class Splice:
    """A replacement of tokens: at boundary `start`, `removed` is replaced by `inserted`."""

    start: int
    removed: tuple[int, ...]
    inserted: tuple[int, ...]

    def inverse(self) -> Splice:
        return Splice(self.start, self.inserted, self.removed)


class Plan(NamedTuple):
    """The effect of an action: splices, each in the coordinates left by the one before, and the cursor afterwards."""

    splices: tuple[Splice, ...]
    cursor: int


class Board(Protocol):
    """The part of a canvas that actions read: its length, its cursor and its protected ends."""

    @property
    def cursor(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def low(self) -> int:
        """First boundary outside the protected prefix."""

    @property
    def high(self) -> int:
        """Last boundary outside the protected suffix."""

    @property
    def room(self) -> int:
        """How many more tokens fit."""

    def between(self, start: int, end: int) -> tuple[int, ...]: ...


class Action(Protocol):
    """One edit operation: the base class of all actions."""

    kind: ClassVar[str]

    def objection(self, board: Board) -> str | None: ...
    def plan(self, board: Board) -> Plan: ...
    def inverse(self, board: Board) -> tuple[Action, ...]: ...


def _lacking(wanted: int, there: int, side: str, what: str = "editable token") -> str:
    """The reason why `wanted` tokens beside the cursor cannot be used when only `there` exist."""
    if wanted < 1:
        return f"an action takes 1 token or more, not {wanted}"
    return f"there {'is' if there == 1 else 'are'} {counted(there, what)} to the {side} of the cursor, not {wanted}"


def _moves(*deltas: int) -> tuple[Action, ...]:
    return tuple(Move(delta) for delta in deltas if delta)


@dataclass(frozen=True, slots=True)
class Insert:
    """Put `token` at the cursor and step over it."""

    token: int
    kind: ClassVar[str] = "insert"

    def objection(self, board: Board) -> str | None:
        return None if board.room >= 1 else "the canvas is full"

    def plan(self, board: Board) -> Plan:
        return Plan((Splice(board.cursor, (), (self.token,)),), board.cursor + 1)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        return (Delete(),)


@dataclass(frozen=True, slots=True)
class SpanInsert:
    """Put `tokens` at the cursor and step over them: many Inserts as one action.

    It has no id. A model writes token by token; this is for programs that write long texts.
    """

    tokens: tuple[int, ...]
    kind: ClassVar[str] = "insert"

    def objection(self, board: Board) -> str | None:
        if not self.tokens:
            return "there is nothing to insert"
        return None if board.room >= len(self.tokens) else "the canvas is full"

    def plan(self, board: Board) -> Plan:
        return Plan((Splice(board.cursor, (), self.tokens),), board.cursor + len(self.tokens))

    def inverse(self, board: Board) -> tuple[Action, ...]:
        return (SpanDelete(len(self.tokens)),)


@dataclass(frozen=True, slots=True)
class Move:
    """Shift the cursor by `delta` tokens."""

    delta: int
    kind: ClassVar[str] = "move"

    def objection(self, board: Board) -> str | None:
        if self.delta == 0:
            return "a move of 0 goes nowhere"
        target = board.cursor + self.delta
        if board.low <= target <= board.high:
            return None
        return f"the cursor would leave the editable text ({board.low} to {board.high})"

    def plan(self, board: Board) -> Plan:
        return Plan((), board.cursor + self.delta)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        return (Move(-self.delta),)


@dataclass(frozen=True, slots=True)
class Stop:
    """End the run; the text stays as it is."""

    kind: ClassVar[str] = "stop"

    def objection(self, board: Board) -> str | None:
        return None

    def plan(self, board: Board) -> Plan:
        return Plan((), board.cursor)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the token left of the cursor."""

    kind: ClassVar[str] = "delete"

    def objection(self, board: Board) -> str | None:
        return SpanDelete(1).objection(board)

    def plan(self, board: Board) -> Plan:
        return SpanDelete(1).plan(board)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        return SpanDelete(1).inverse(board)


@dataclass(frozen=True, slots=True)
class Replace:
    """Put `token` in the place of the one left of the cursor."""

    token: int
    kind: ClassVar[str] = "replace"

    def objection(self, board: Board) -> str | None:
        return None if board.cursor - board.low >= 1 else "no editable token stands left of the cursor"

    def plan(self, board: Board) -> Plan:
        u = board.cursor
        return Plan((Splice(u - 1, board.between(u - 1, u), (self.token,)),), u)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        (old,) = board.between(board.cursor - 1, board.cursor)
        return (Replace(old),)


@dataclass(frozen=True, slots=True)
class SpanDelete:
    """Remove the `k` tokens left of the cursor."""

    k: int
    kind: ClassVar[str] = "span_delete"

    def objection(self, board: Board) -> str | None:
        if 1 <= self.k <= board.cursor - board.low:
            return None
        return _lacking(self.k, board.cursor - board.low, "left")

    def plan(self, board: Board) -> Plan:
        start = board.cursor - self.k
        return Plan((Splice(start, board.between(start, board.cursor), ()),), start)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        return tuple(Insert(t) for t in board.between(board.cursor - self.k, board.cursor))


@dataclass(frozen=True, slots=True)
class Swap:
    """Exchange the two tokens left of the cursor."""

    kind: ClassVar[str] = "swap"

    def objection(self, board: Board) -> str | None:
        if board.cursor - board.low >= 2:
            return None
        return _lacking(2, board.cursor - board.low, "left")

    def plan(self, board: Board) -> Plan:
        u = board.cursor
        first, second = board.between(u - 2, u)
        return Plan((Splice(u - 2, (first, second), (second, first)),), u)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        return (Swap(),)


@dataclass(frozen=True, slots=True)
class SpanMove:
    """Move the `k` tokens beside the cursor to boundary `j`, counted on the canvas before the move.

    The span is the one left of the cursor; with `right=True`, its mirror image, the one to the right. As in the paper,
    a left-hand span may go to `1 <= j <= u-k` (the cursor stays at `u`) or to `u <= j <= length` (the cursor goes
    along, to `j`). Mirrored, a right-hand span may go to `u+k <= j <= length-1` (the cursor stays) or to `0 <= j <= u`
    (the cursor goes along).
    """

    k: int
    j: int
    right: bool = False
    kind: ClassVar[str] = "span_move"

    def objection(self, board: Board) -> str | None:
        u, k, j = board.cursor, self.k, self.j
        available = board.high - u if self.right else u - board.low
        if not 1 <= k <= available:
            return _lacking(k, available, self._side)
        if self.right:
            fits = board.low <= j <= u or u + k <= j <= min(board.high, board.length - 1)
        else:
            fits = max(board.low, 1) <= j <= u - k or u <= j <= board.high
        return None if fits else f"a span cannot be moved to boundary {j}"

    def plan(self, board: Board) -> Plan:
        u, k, j = board.cursor, self.k, self.j
        start = u if self.right else u - k
        carried = j <= u if self.right else j >= u
        cursor = j if carried else u
        if start <= j <= start + k:
            return Plan((), cursor)
        span = board.between(start, start + k)
        landing = j if j < start else j - k
        return Plan((Splice(start, span, ()), Splice(landing, (), span)), cursor)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        u, k, j = board.cursor, self.k, self.j
        if self.right and j <= u:
            return (Move(k), SpanMove(k, u + k), Move(-k))
        if self.right:
            return (*_moves(j - k - u), SpanMove(k, u, right=True))
        if j >= u:
            return (Move(-k), SpanMove(k, u - k, right=True), Move(k))
        return (*_moves(j + k - u), SpanMove(k, u))

    @property
    def _side(self) -> str:
        return "right" if self.right else "left"


@dataclass(frozen=True, slots=True)
class SpanCopy:
    """Insert a copy of the `k` tokens beside the cursor at boundary `j`.

    The copy of a left-hand span leaves the cursor behind it, at `j+k`; that of a right-hand span, its
    mirror image, leaves the cursor before it, at `j`. Protected text may be copied from, not into.
    """

    k: int
    j: int
    right: bool = False
    kind: ClassVar[str] = "span_copy"

    def objection(self, board: Board) -> str | None:
        available = board.length - board.cursor if self.right else board.cursor
        if not 1 <= self.k <= available:
            side = "right" if self.right else "left"
            return _lacking(self.k, available, side, "token")
        if not board.low <= self.j <= board.high:
            return f"a span cannot be copied to boundary {self.j}"
        return None if board.room >= self.k else "the canvas is full"

    def plan(self, board: Board) -> Plan:
        start = board.cursor if self.right else board.cursor - self.k
        span = board.between(start, start + self.k)
        return Plan((Splice(self.j, (), span),), self.j if self.right else self.j + self.k)

    def inverse(self, board: Board) -> tuple[Action, ...]:
        step_over = _moves(self.k) if self.right else ()
        return (*step_over, SpanDelete(self.k), *_moves(board.cursor - self.j))


def describe(action: Action, token_text: str | None = None) -> str:
    """A short label for people: `Insert " the"`, `Move -4`, `SpanMove 3 left to 17`."""
    match action:
        case Insert(token) | Replace(token):
            shown = f"token {token}" if token_text is None else _quote(token_text)
            return f"{type(action).__name__} {shown}"
        case SpanInsert(tokens):
            return f"SpanInsert {len(tokens)}"
        case Move(delta):
            return f"Move {delta:+d}"
        case SpanDelete(k):
            return f"SpanDelete {k}"
        case SpanMove(k, j, right) | SpanCopy(k, j, right):
            return f"{type(action).__name__} {k} {'right' if right else 'left'} to {j}"
        case _:
            return type(action).__name__


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in escaped) + '"'
