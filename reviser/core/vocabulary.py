"""The action vocabulary: which id stands for which action, in the paper's layout on any base vocabulary, with
extensions.

A layout starts with the tokenizer's own ids, each an Insert, and appends the operators in the order of the released
models:

    CURSOR, END_OF_INPUT, Delete, Stop, Move +1 -1 +2 -2 … +512 -512, ten reserved ids

On GPT-2's 50257 ids this gives exactly the 50291 ids of the paper. The operators of its appendix have no ids there; a
vocabulary may append blocks for them. One id is always one whole action, so span lengths and distances come from powers
of two, as Move's do, and Replace takes one id per token.

Two reserved ids, which the paper leaves untrained, are markers here. The first marks, for models that revise, where the
draft to be revised begins. The second marks, for models that proofread by overtyping, where they begin to write over
the draft. Like the other markers these execute nothing and are never chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from reviser.core.actions import (
    Action,
    Board,
    Delete,
    Insert,
    Move,
    Replace,
    SpanCopy,
    SpanDelete,
    SpanInsert,
    SpanMove,
    Stop,
    Swap,
)
from reviser.core.errors import ReviserError, UnknownId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GPT2_BASE_SIZE = 50257
GPT2_END_OF_TEXT = 50256
# Beyond any tokenizer: a larger number is a mistake or a trick.
LARGEST_BASE = 1 << 24

MOVES = tuple(sign * 2**power for power in range(10) for sign in (1, -1))
RESERVED = 10
KINDS = ("insert", "move", "stop", "delete", "swap", "span_delete", "span_move", "span_copy", "replace")
PAPER_KINDS = frozenset({"insert", "move", "stop"})
EXTENSIONS = ("swap", "span_delete", "span_move", "span_copy", "replace")

_SPAN_LENGTHS = tuple(2**power for power in range(6))
_SPAN_JUMPS = tuple(sign * 2**power for power in range(7) for sign in (1, -1))

# An operator id names its action relative to the cursor; this makes the action for a given cursor.
_Operator = Callable[[int], Action]


def _fixed(action: Action) -> _Operator:
    return lambda cursor: action


def _span(kind: type[SpanMove] | type[SpanCopy], k: int, jump: int, right: bool) -> _Operator:
    return lambda cursor: kind(k, cursor + jump, right)


def _extension_operators(extension: str) -> list[_Operator]:
    match extension:
        case "swap":
            return [_fixed(Swap())]
        case "span_delete":
            return [_fixed(SpanDelete(2**power)) for power in range(10)]
        case "span_move":
            kind: type[SpanMove] | type[SpanCopy] = SpanMove
            jumps: tuple[int, ...] = _SPAN_JUMPS
        case "span_copy":
            kind, jumps = SpanCopy, (0, *_SPAN_JUMPS)
        case _:
            return []
    return [_span(kind, k, jump, right) for right in (False, True) for k in _SPAN_LENGTHS for jump in jumps]


class VocabularyJson(TypedDict):
    """The JSON form of a vocabulary."""

    name: str
    base_size: int
    never_inserted: list[int]
    extensions: list[str]
    kinds: list[str]
    overtypes: NotRequired[bool]
    next_edits: NotRequired[bool]


@dataclass(frozen=True)
class Vocabulary:
    """The ids of one tokenizer and of the operators after them.

    `kinds` are the actions in use; ids of other actions keep their places but are never valid. A model that was trained
    to insert and move, for example, leaves its Delete id untrained.
    """

    base_size: int
    never_inserted: frozenset[int] = frozenset()
    extensions: tuple[str, ...] = ()
    kinds: frozenset[str] = field(default=frozenset(KINDS))
    name: str = ""
    overtypes: bool = False
    """Whether models of this vocabulary are trained to proofread by overtyping; see `reviser.proofreading.overtyping`.
    """
    next_edits: bool = False
    """Whether its models are trained to follow a person's edits; see `reviser.next_edits`."""

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.extensions) - set(EXTENSIONS)):
            raise ReviserError(f"unknown vocabulary extension: {', '.join(unknown)}")
        if unknown := sorted(self.kinds - set(KINDS)):
            raise ReviserError(f"unknown kind of action: {', '.join(unknown)}")
        ordered = tuple(name for name in EXTENSIONS if name in self.extensions)
        object.__setattr__(self, "extensions", ordered)

    @classmethod
    def gpt2(cls, extensions: Iterable[str] = (), kinds: Iterable[str] = KINDS) -> Vocabulary:
        """The layout of the released models, 50291 ids, plus any extensions after it."""
        return cls(GPT2_BASE_SIZE, frozenset({GPT2_END_OF_TEXT}), tuple(extensions), frozenset(kinds), name="gpt2")

    @property
    def cursor_id(self) -> int:
        """Marks the cursor in the canvases that canvas-conditioned models read."""
        return self.base_size

    @property
    def start_id(self) -> int:
        """END_OF_INPUT: the first id of every history; it executes nothing."""
        return self.base_size + 1

    @property
    def delete_id(self) -> int:
        return self.base_size + 2

    @property
    def stop_id(self) -> int:
        return self.base_size + 3

    @property
    def first_move_id(self) -> int:
        return self.base_size + 4

    @property
    def first_reserved_id(self) -> int:
        return self.first_move_id + len(MOVES)

    @cached_property
    def move_ids(self) -> range:
        return range(self.first_move_id, self.first_reserved_id)

    @property
    def draft_id(self) -> int:
        """Marks in a history where the draft to be revised begins; it executes nothing."""
        return self.first_reserved_id

    @property
    def overtype_id(self) -> int:
        """Marks in a history where overtyping of a draft begins, at the draft's start; it executes nothing."""
        return self.first_reserved_id + 1

    def is_marker(self, id: int) -> bool:
        """Whether an id is a marker, which executes nothing."""
        return id in (self.cursor_id, self.start_id, self.draft_id, self.overtype_id)

    @property
    def revises(self) -> bool:
        """Whether models of this vocabulary are trained to revise: Delete is in use."""
        return "delete" in self.kinds

    @property
    def first_extension_id(self) -> int:
        return self.first_reserved_id + RESERVED

    @property
    def first_replace_id(self) -> int | None:
        """The first id of the Replace block, or None: Replace(token) is this id plus the token's."""
        return self._replace_start if "replace" in self.extensions else None

    @property
    def size(self) -> int:
        return self._replace_start + (self.base_size if "replace" in self.extensions else 0)

    def action(self, id: int, cursor: int = 0) -> Action:
        """The action of `id` with the cursor at `cursor` (needed for span moves and copies); raises `UnknownId`."""
        if 0 <= id < self.base_size:
            if id in self.never_inserted:
                raise UnknownId(f"id {id} is a marker of the tokenizer and is never inserted")
            return Insert(id)
        if operator := self._operators.get(id):
            return operator(cursor)
        if self._replace_start <= id < self.size:
            return Replace(id - self._replace_start)
        if self.is_marker(id):
            raise UnknownId(f"id {id} is a marker and executes nothing")
        if self.first_reserved_id <= id < self.first_extension_id:
            raise UnknownId(f"id {id} is reserved and stands for no action")
        raise UnknownId(f"id {id} is outside the vocabulary of {self.size} ids")

    def id(self, action: Action, cursor: int = 0) -> int:
        """The id of `action` when the cursor is at `cursor`."""
        match action:
            case Insert(token) if 0 <= token < self.base_size and token not in self.never_inserted:
                return token
            case Replace(token) if 0 <= token < self.base_size and token not in self.never_inserted:
                if (first := self.first_replace_id) is not None:
                    return first + token
            case SpanMove(k, j, right) | SpanCopy(k, j, right):
                relative: Action = type(action)(k, j - cursor, right)
                if (found := self._ids.get(relative)) is not None:
                    return found
            case _:
                if (found := self._ids.get(action)) is not None:
                    return found
        raise UnknownId(f"{action} has no id in this vocabulary")

    def moves(self, delta: int) -> tuple[Move, ...]:
        """The shortest sequence of moves, largest first, that together move by `delta`."""
        step = 1 if delta > 0 else -1
        rest, made = abs(delta), []
        for distance in reversed([m for m in MOVES if m > 0]):
            count, rest = divmod(rest, distance)
            made += [Move(step * distance)] * count
        return tuple(made)

    def objection(self, action: Action) -> str | None:
        """The reason why this vocabulary refuses `action` on any canvas, or None."""
        if action.kind not in self.kinds:
            return f"{action.kind.replace('_', ' ')} actions are not in use"
        if isinstance(action, (Insert, Replace)):
            return self._objection_to(action.token)
        if isinstance(action, SpanInsert):
            return next(filter(None, map(self._objection_to, sorted(set(action.tokens)))), None)
        return None

    def _objection_to(self, token: int) -> str | None:
        """The reason why `token` is never inserted, or None."""
        if not 0 <= token < self.base_size:
            return f"token {token} is not in the vocabulary"
        return f"token {token} is never inserted" if token in self.never_inserted else None

    def valid_on(self, board: Board) -> ValidIds:
        """The ids whose actions are valid on `board`."""
        if self._has_jumps:
            return self._valid_on(board)
        # Every length and distance is a power of two, so what is valid changes only at powers of two
        # to the left and right: few cases, each worked out once.
        cursor = board.cursor
        left, right = cursor - board.low, board.high - cursor
        case = (board.room >= 1, left.bit_length(), right.bit_length())
        found = self._cases.get(case)
        if found is None:
            found = self._cases[case] = self._valid_on(board)
        return found

    def _valid_on(self, board: Board) -> ValidIds:
        return ValidIds(
            self,
            "insert" in self.kinds and board.room >= 1,
            "replace" in self.kinds and "replace" in self.extensions and board.cursor > board.low,
            tuple(id for id, operator in self._used_operators if operator(board.cursor).objection(board) is None),
        )

    def to_dict(self) -> VocabularyJson:
        data: VocabularyJson = {
            "name": self.name,
            "base_size": self.base_size,
            "never_inserted": sorted(self.never_inserted),
            "extensions": list(self.extensions),
            "kinds": [kind for kind in KINDS if kind in self.kinds],
        }
        if self.overtypes:
            data["overtypes"] = True
        if self.next_edits:
            data["next_edits"] = True
        return data

    @classmethod
    def from_dict(cls, data: Any) -> Vocabulary:
        """The vocabulary of a dictionary made by `to_dict`; raises `ReviserError` for anything else."""
        if not isinstance(data, dict):
            raise ReviserError("a vocabulary is an object")
        size, name = data.get("base_size"), data.get("name")
        if type(size) is not int or not 1 <= size <= LARGEST_BASE:
            raise ReviserError(f"its base_size is not a number from 1 to {LARGEST_BASE}")
        if not isinstance(name, str):
            raise ReviserError("its name is not a text")
        for key, kind in (("never_inserted", int), ("extensions", str), ("kinds", str)):
            listed = data.get(key)
            if not isinstance(listed, list) or not all(type(item) is kind for item in listed):
                raise ReviserError(f"its {key} is not a list as it should be")
        never = frozenset(data["never_inserted"])
        if never and not 0 <= min(never) <= max(never) < size:
            raise ReviserError("its never_inserted has ids that it does not")
        for key in ("overtypes", "next_edits"):
            if type(data.get(key, False)) is not bool:
                raise ReviserError(f"its {key} is not true or false")
        extensions, kinds = tuple(data["extensions"]), frozenset(data["kinds"])
        learned = data.get("overtypes", False), data.get("next_edits", False)
        return cls(size, never, extensions, kinds, name, *learned)

    @cached_property
    def _operators(self) -> dict[int, _Operator]:
        layout: dict[int, _Operator] = {self.delete_id: _fixed(Delete()), self.stop_id: _fixed(Stop())}
        for offset, delta in enumerate(MOVES):
            layout[self.first_move_id + offset] = _fixed(Move(delta))
        id = self.first_extension_id
        for extension in self.extensions:
            for operator in _extension_operators(extension):
                layout[id] = operator
                id += 1
        return layout

    @cached_property
    def _used_operators(self) -> tuple[tuple[int, _Operator], ...]:
        return tuple((id, operator) for id, operator in self._operators.items() if operator(0).kind in self.kinds)

    @cached_property
    def _has_jumps(self) -> bool:
        """Whether actions in use go to an absolute boundary, so that distances alone do not decide validity."""
        return any(isinstance(operator(0), SpanMove | SpanCopy) for _, operator in self._used_operators)

    @cached_property
    def _cases(self) -> dict[tuple[bool, int, int], ValidIds]:
        return {}

    @cached_property
    def _ids(self) -> dict[Action, int]:
        return {operator(0): id for id, operator in self._operators.items()}

    @cached_property
    def _replace_start(self) -> int:
        return self.first_extension_id + sum(len(_extension_operators(extension)) for extension in self.extensions)


@dataclass(frozen=True, eq=False)
class ValidIds(Set[int]):
    """The set of ids that are valid at one moment; making it costs the same on any canvas."""

    vocabulary: Vocabulary
    inserts: bool
    replaces: bool
    operators: tuple[int, ...]

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, int):
            return False
        vocabulary = self.vocabulary
        if 0 <= id < vocabulary.base_size:
            return self.inserts and id not in vocabulary.never_inserted
        first = vocabulary.first_replace_id
        if first is not None and first <= id < vocabulary.size:
            return self.replaces and id - first not in vocabulary.never_inserted
        return id in self.operators

    def __iter__(self) -> Iterator[int]:
        insertable = [
            token for token in range(self.vocabulary.base_size) if token not in self.vocabulary.never_inserted
        ]
        if self.inserts:
            yield from insertable
        yield from self.operators
        first = self.vocabulary.first_replace_id
        if self.replaces and first is not None:
            yield from (first + token for token in insertable)

    def __len__(self) -> int:
        insertable = self.vocabulary.base_size - len(self.vocabulary.never_inserted)
        return insertable * (self.inserts + self.replaces) + len(self.operators)

    def mask(self) -> NDArray[np.bool_]:
        """The set as a read-only boolean array, True where an id is valid; equal masks are cached."""
        return self._kept_mask

    @cached_property
    def _kept_mask(self) -> NDArray[np.bool_]:
        return _mask(self.vocabulary, self.inserts, self.replaces, self.operators)


@lru_cache(maxsize=256)
def _mask(vocabulary: Vocabulary, inserts: bool, replaces: bool, operators: tuple[int, ...]) -> NDArray[np.bool_]:
    import numpy as np

    tokens = np.ones(vocabulary.base_size, dtype=bool)
    tokens[list(vocabulary.never_inserted)] = False
    mask = np.zeros(vocabulary.size, dtype=bool)
    if inserts:
        mask[: vocabulary.base_size] = tokens
    if replaces and vocabulary.first_replace_id is not None:
        mask[vocabulary.first_replace_id :] = tokens
    mask[list(operators)] = True
    mask.setflags(write=False)
    return mask
