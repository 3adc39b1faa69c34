"""An editor driven by actions, for programs: a text, a cursor, and actions given as plain data.

The unit of an action editor is the character, so a program that knows the text knows every place in it. With a
tokenizer the unit is the token, and recorded actions of a model can be given by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, cast

from reviser.core.actions import (
    Action,
    Delete,
    Move,
    Replace,
    SpanCopy,
    SpanDelete,
    SpanInsert,
    SpanMove,
    Splice,
    Stop,
    Swap,
)
from reviser.core.canvas import Canvas
from reviser.core.counts import counted
from reviser.core.errors import InvalidAction, ReviserError
from reviser.core.text import Extent, TextEdit, TextLayer
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import EXTENSIONS, Vocabulary
from reviser.session.characters import CharacterLayer, Characters, code_points
from reviser.session.documents import offset_at
from reviser.session.replay import unified_diff

Request = Mapping[str, Any] | int | Action
"""One action: an object such as {"action": "move", "by": -3}, an id, or an `Action`."""


class ActionEditor:
    """A text that is edited by actions, each of which is checked before it is carried out.

    Offsets count characters. The cursor starts at the end of the text, or at `cursor`. No action changes the text
    between the two offsets of a pair in `protected`, and none makes the text longer than `max_length` characters
    (tokens, with a tokenizer).
    """

    def __init__(
        self,
        text: str,
        tokenizer: Tokenizer | None = None,
        *,
        cursor: int | None = None,
        protected: Iterable[tuple[int, int]] = (),
        max_length: int | None = None,
    ) -> None:
        self.tokenizer: Tokenizer = tokenizer or Characters()
        self.original = text
        ranges = sorted(protected)
        place = len(text) if cursor is None else cursor
        _check_places(text, ranges, place)
        boundaries: Mapping[int, int] | range
        tokens: Sequence[int]
        self._layer: TextLayer | CharacterLayer
        if tokenizer is None:
            tokens, boundaries = code_points(text), range(len(text) + 1)
            self._layer = CharacterLayer(text)
        else:
            tokens, boundaries = _tokens_between(text, tokenizer, {place, *chain(*ranges)})
            self._layer = TextLayer(tokenizer, tokens)
            if self._layer.text != text:
                raise ReviserError(f"the tokenizer {tokenizer.name} cannot hold this text")
        vocabulary = Vocabulary(self.tokenizer.size, self.tokenizer.markers, EXTENSIONS, name=self.tokenizer.name)
        self._canvas = Canvas(vocabulary, tokens, cursor=boundaries[place], max_length=max_length)
        self._guard = _Guard([(boundaries[start], boundaries[end]) for start, end in ranges])
        self._requests: list[int] = []

    @property
    def text(self) -> str:
        """The current text."""
        return self._layer.text

    @property
    def cursor(self) -> Extent:
        """The position of the cursor: `chars` from the start, `lines` and `column` counted from 0."""
        return self._layer.position(self._canvas.cursor)

    @property
    def undoable(self) -> int:
        """How many requests can be undone."""
        return len(self._requests)

    @property
    def stopped(self) -> bool:
        """Whether Stop was carried out; further actions are refused until it is undone."""
        return self._canvas.stopped

    def act(self, request: Request) -> tuple[TextEdit, ...]:
        """Carry out one request and return its edits; raises `ReviserError`, and changes nothing, if it is refused."""
        edits: list[TextEdit] = []
        done = 0
        try:
            for action in self._actions(request):
                self._guard.check(action, self._canvas)
                edits += self._follow(self._canvas.apply(action))
                done += 1
        except ReviserError:
            self._take_back(done)
            raise
        self._requests.append(done)
        return tuple(edits)

    def act_all(self, requests: Sequence[Request]) -> tuple[TextEdit, ...]:
        """Carry out all requests or, if one is refused, none; the error names the refused one."""
        edits: list[TextEdit] = []
        for number, request in enumerate(requests):
            try:
                edits += self.act(request)
            except ReviserError as error:
                self.undo(number)
                raise InvalidAction(f"action {number}: {error}") from None
        return tuple(edits)

    def undo(self, count: int = 1) -> tuple[TextEdit, ...]:
        """Undo the last `count` requests; returns the edits that did it."""
        if not 0 <= count <= len(self._requests):
            raise ReviserError(f"{counted(len(self._requests), 'action')} can be undone, not {count}")
        edits: list[TextEdit] = []
        for _ in range(count):
            edits += self._take_back(self._requests.pop())
        return tuple(edits)

    def diff(self, name: str = "text") -> str:
        """A unified diff from the initial text to the current one."""
        return unified_diff(self.original, self.text, f"a/{name}", f"b/{name}")

    def offset_of(self, line: int, column: int) -> int:
        """The offset of a line and column, both counted from 1."""
        return offset_at(self.text, line, column)

    def _take_back(self, actions: int) -> list[TextEdit]:
        edits: list[TextEdit] = []
        for _ in range(actions):
            edits += self._follow(self._canvas.undo())
        return edits

    def _follow(self, splices: tuple[Splice, ...]) -> list[TextEdit]:
        for splice in splices:
            self._guard.follow(splice)
        return [edit for splice in splices if (edit := self._layer.apply(splice)) is not None]

    def _actions(self, request: Request) -> Iterable[Action]:
        """The actions of a request, in order."""
        if isinstance(request, Mapping):
            fields = dict(request)
            kind = fields.pop("action", None)
            if not isinstance(kind, str) or kind not in _READERS:
                raise ReviserError(f'"action" is one of {", ".join(_READERS)}')
            return _READERS[kind](self, _Fields(kind, fields))
        if type(request) is int:
            return (self._canvas.action(request),)
        if not hasattr(request, "plan"):
            raise ReviserError("an action is an object, or the id of one")
        return (cast(Action, request),)

    def _boundary(self, offset: int) -> int:
        """The token boundary at a character offset."""
        low, high = 0, self._canvas.length
        if not 0 <= offset <= self._layer.position(high).chars:
            raise ReviserError(f"there is no place {offset} in the text")
        if isinstance(self._layer, CharacterLayer):
            return offset
        while low < high:
            middle = (low + high) // 2
            if self._layer.position(middle).chars < offset:
                low = middle + 1
            else:
                high = middle
        if self._layer.position(low).chars != offset:
            raise ReviserError(f"offset {offset} lies inside a token")
        return low

    def _find(self, text: str, behind: bool) -> int:
        whole = self.text
        first = whole.find(text)
        if not text or first < 0:
            raise ReviserError(f"the text {text!r} is not there")
        if whole.find(text, first + 1) >= 0:
            raise ReviserError(f"the text {text!r} is there more than once; give more of it")
        return first + len(text) if behind else first


def _tokens_between(text: str, tokenizer: Tokenizer, places: Iterable[int]) -> tuple[list[int], dict[int, int]]:
    """The tokens of a text, cut at the given offsets, and the boundary of each of these."""
    tokens: list[int] = []
    boundaries = {0: 0}
    for start, end in pairwise(sorted({0, len(text), *places})):
        tokens += tokenizer.encode(text[start:end])
        boundaries[end] = len(tokens)
    return tokens, boundaries


def _check_places(text: str, ranges: list[tuple[int, int]], cursor: int) -> None:
    if not 0 <= cursor <= len(text):
        raise ReviserError(f"there is no place {cursor} in a text of {counted(len(text), 'character')}")
    end = 0
    for first, last in ranges:
        if not end <= first <= last <= len(text):
            raise ReviserError(f"{first} to {last} cannot be protected in a text of {counted(len(text), 'character')}")
        end = last


# Protection --------------------------------------------------------------------------------------


@dataclass
class _Guard:
    """The protected ranges as token boundaries, kept up to date with the canvas."""

    ranges: list[tuple[int, int]]

    def check(self, action: Action, canvas: Canvas) -> None:
        """Raise an error if the canvas refuses an action or if it would change a protected range."""
        if reason := canvas.objection(action):
            raise InvalidAction(reason)
        ranges = self.ranges
        for splice in action.plan(canvas).splices:
            last = splice.start + len(splice.removed)
            for first, end in ranges:
                if first < end and splice.start < end and (last > first if splice.removed else splice.start > first):
                    raise InvalidAction("this would change protected text")
            ranges = _moved(ranges, splice)

    def follow(self, splice: Splice) -> None:
        self.ranges = _moved(self.ranges, splice)


def _moved(ranges: list[tuple[int, int]], splice: Splice) -> list[tuple[int, int]]:
    shift = len(splice.inserted) - len(splice.removed)
    return [
        (first + shift, end + shift) if splice.start + len(splice.removed) <= first else (first, end)
        for first, end in ranges
    ]


# Requests ----------------------------------------------------------------------------------------


class _Fields:
    """The fields of a request, each read once; a field that is never read is an error."""

    def __init__(self, kind: str, fields: dict[str, object]) -> None:
        self._kind = kind
        self._fields = fields

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def number(self, name: str) -> int:
        value = self._fields.pop(name, None)
        if type(value) is not int:
            raise ReviserError(f'{self._kind} needs "{name}", a whole number')
        return value

    def text(self, name: str) -> str:
        value = self._fields.pop(name, None)
        if not isinstance(value, str):
            raise ReviserError(f'{self._kind} needs "{name}", a text')
        return value

    def flag(self, name: str) -> bool:
        value = self._fields.pop(name, False)
        if not isinstance(value, bool):
            raise ReviserError(f'"{name}" is true or false')
        return value

    def only(self, *actions: Action) -> tuple[Action, ...]:
        """The actions; raises an error if a field was not read."""
        if self._fields:
            raise ReviserError(f"{self._kind} knows no {', '.join(sorted(self._fields))}")
        return actions


def _tokens(editor: ActionEditor, fields: _Fields) -> list[int]:
    if "token" in fields:
        return [fields.number("token")]
    text = fields.text("text")
    tokens = editor.tokenizer.encode(text)
    if not tokens:
        raise ReviserError("an empty text cannot be written")
    return tokens


def _insert(editor: ActionEditor, fields: _Fields) -> Iterable[Action]:
    return fields.only(SpanInsert(tuple(_tokens(editor, fields))))


def _replace(editor: ActionEditor, fields: _Fields) -> Iterable[Action]:
    tokens = _tokens(editor, fields)
    if len(tokens) != 1:
        raise ReviserError(f"replace takes one of the {editor.tokenizer.name}, not {len(tokens)}")
    return fields.only(Replace(tokens[0]))


def _move(editor: ActionEditor, fields: _Fields) -> Iterable[Action]:
    if "by" in fields:
        return fields.only(Move(fields.number("by")))
    if "after" in fields:
        offset = editor._find(fields.text("after"), behind=True)
    elif "before" in fields:
        offset = editor._find(fields.text("before"), behind=False)
    elif "line" in fields:
        line = fields.number("line")
        offset = editor.offset_of(line, fields.number("column") if "column" in fields else 1)
    elif "to" in fields:
        offset = fields.number("to")
    else:
        raise ReviserError('move needs one of "by", "to", "line", "after" and "before"')
    delta = editor._boundary(offset) - editor._canvas.cursor
    return fields.only(*([Move(delta)] if delta else []))


def _span(make: Callable[[int, int, bool], Action]) -> _Reader:
    return lambda editor, fields: fields.only(make(fields.number("k"), fields.number("j"), fields.flag("right")))


_Reader = Callable[[ActionEditor, _Fields], Iterable[Action]]

_READERS: dict[str, _Reader] = {
    "insert": _insert,
    "move": _move,
    "delete": lambda editor, fields: fields.only(Delete()),
    "span_delete": lambda editor, fields: fields.only(SpanDelete(fields.number("k"))),
    "replace": _replace,
    "swap": lambda editor, fields: fields.only(Swap()),
    "span_move": _span(SpanMove),
    "span_copy": _span(SpanCopy),
    "stop": lambda editor, fields: fields.only(Stop()),
}
