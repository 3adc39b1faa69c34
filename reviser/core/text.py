"""The text layer: token splices become character edits that never show a broken character.

A token can hold part of a character. Each token therefore *emits* the characters whose last byte it
holds; what it emits depends on the token and on the unfinished bytes, at most three, before it. A
splice changes the emissions of the tokens it inserts and of the few behind them that continue a
character, so an edit costs what it touches. Bytes that form no character emit nothing, which makes the
text equal, at every moment, to a full decode of the canvas with incomplete sequences left out.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from reviser.core.actions import Splice
from reviser.core.edits import Edit, cuts_line_ending


class TokenBytes(Protocol):
    """The part of a tokenizer that the text layer needs: the bytes of each token."""

    def token_bytes(self, token: int) -> bytes: ...


class Extent(NamedTuple):
    """The length of a piece of text in every unit that editors count in.

    `lines` counts line endings (`\\n`, `\\r\\n`, `\\r`, as the Language Server Protocol has them, and no others); the
    `column` counts measure what follows the last one. Measured from the start of a document, an extent is a position in
    it. Extents add up, also across a split `\\r\\n`.
    """

    chars: int = 0
    utf8: int = 0
    utf16: int = 0
    lines: int = 0
    column: int = 0
    column_utf8: int = 0
    column_utf16: int = 0
    starts_with_lf: bool = False
    ends_with_cr: bool = False

    @classmethod
    def of(cls, text: str) -> Extent:
        if text.isascii() and "\n" not in text and "\r" not in text:
            size = len(text)
            return cls(size, size, size, 0, size, size, size)
        lines = text.count("\n") + text.count("\r") - text.count("\r\n")
        tail = text[max(text.rfind("\n"), text.rfind("\r")) + 1 :]
        return cls(
            len(text),
            _utf8_length(text),
            _utf16_length(text),
            lines,
            len(tail),
            _utf8_length(tail),
            _utf16_length(tail),
            text.startswith("\n"),
            text.endswith("\r"),
        )

    def __add__(self, other: Extent) -> Extent:  # type: ignore[override]
        if not other.chars:
            return self
        if not self.chars:
            return other
        joined = self.ends_with_cr and other.starts_with_lf
        fresh = other.lines > 0
        return Extent(
            self.chars + other.chars,
            self.utf8 + other.utf8,
            self.utf16 + other.utf16,
            self.lines + other.lines - joined,
            other.column if fresh else self.column + other.column,
            other.column_utf8 if fresh else self.column_utf8 + other.column_utf8,
            other.column_utf16 if fresh else self.column_utf16 + other.column_utf16,
            self.starts_with_lf,
            other.ends_with_cr,
        )


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True)
class TextEdit:
    """An edit with positions in every unit: `removed`, from `start` to `end` of the text before, becomes `inserted`.

    An edit never starts or ends between the two halves of a `\\r\\n`, where editors have no position.
    """

    start: Extent
    end: Extent
    removed: str
    inserted: str

    def moved(self, origin: Extent) -> TextEdit:
        """The same edit in a document where this text starts at `origin`."""
        if not origin.chars:
            return self
        start = origin + self.start
        end = origin + self.end if self.removed else start
        return TextEdit(start, end, self.removed, self.inserted)

    @property
    def change(self) -> Edit:
        """The same edit in characters alone."""
        return Edit(self.start.chars, self.removed, self.inserted)

    def apply_to(self, text: str) -> str:
        return text[: self.start.chars] + self.inserted + text[self.end.chars :]


def visible_text(data: bytes) -> str:
    """The text that bytes show: complete characters only."""
    return data.decode("utf-8", errors="ignore")


class _Emission(NamedTuple):
    """The text that one token adds, its extent, and the unfinished bytes that it leaves to the next token."""

    token: int
    text: str
    extent: Extent
    unfinished: bytes


# A position is a short sum away from one that is kept. Near the gap they are kept for every so many
# tokens, and over long stretches that nobody asked about for every so many.
_NEAR = 64
_FAR = 4096


class TextLayer:
    """The text of a canvas, kept in step with it splice by splice."""

    def __init__(self, tokenizer: TokenBytes, tokens: Iterable[int] = ()) -> None:
        self._tokenizer = tokenizer
        # What each token emits after a whole character, and the tokens that end inside one.
        self._usual: dict[int, _Emission] = {}
        self._partial: set[int] = set()
        # A gap buffer like the canvas's own. The position before token `_marked[i]` is `_marks[i]`;
        # positions are worked out when they are asked for, so that long texts go in at little cost.
        self._left = self._emit(tuple(tokens), b"")
        self._right: list[_Emission] = []
        self._marked = [0]
        self._marks = [Extent()]
        # The boundary that was asked about last, and its position: the next is mostly one token on.
        self._asked, self._answer = 0, Extent()

    @property
    def text(self) -> str:
        """The whole text; costs time in proportion to its length."""
        left = [emission.text for emission in self._left]
        return "".join(left + [emission.text for emission in reversed(self._right)])

    def between(self, start: int, end: int) -> str:
        """The text that the tokens between two boundaries show."""
        self._bring_gap(end)
        return "".join([emission.text for emission in self._left[start:]])

    def position(self, boundary: int) -> Extent:
        """The position of token boundary `boundary` in the text; fast near the last edit or query."""
        self._bring_gap(boundary)
        return self._position()

    def apply(self, splice: Splice) -> TextEdit | None:
        """Update the text after a splice of the canvas; returns the edit of the text, None if no text changed."""
        if splice.start != len(self._left):
            self._bring_gap(splice.start)
        old = self._take(len(splice.removed)) if splice.removed else []
        new = self._emit(splice.inserted, self._unfinished())
        # Behind the splice, only tokens that start inside a character can emit something else now.
        while self._right and self._continues(self._right[-1].token):
            follower = self._right.pop()
            old.append(follower)
            new += self._emit((follower.token,), new[-1].unfinished if new else self._unfinished())
        removed = "".join([emission.text for emission in old]) if old else ""
        inserted = new[0].text if len(new) == 1 else "".join([emission.text for emission in new])
        edit = None if removed == inserted else self._minimal_edit(removed, inserted)
        self._left += new
        return edit

    def _emit(self, tokens: Sequence[int], unfinished: bytes) -> list[_Emission]:
        if len(tokens) == 1:
            return [self._next_emission(tokens[0], unfinished)]
        distinct = set(tokens)
        for token in distinct.difference(self._usual):
            self._next_emission(token, b"")
        if not unfinished and self._partial.isdisjoint(distinct):
            return list(map(self._usual.__getitem__, tokens))
        emissions = []
        for token in tokens:
            emission = self._next_emission(token, unfinished)
            unfinished = emission.unfinished
            emissions.append(emission)
        return emissions

    def _next_emission(self, token: int, unfinished: bytes) -> _Emission:
        if unfinished:
            return self._emission(token, unfinished)
        usual = self._usual.get(token)
        if usual is None:
            usual = self._usual[token] = self._emission(token, b"")
            if usual.unfinished:
                self._partial.add(token)
        return usual

    def _emission(self, token: int, unfinished: bytes) -> _Emission:
        data = unfinished + self._tokenizer.token_bytes(token)
        try:
            text, unfinished = data.decode(), b""
        except UnicodeDecodeError:
            decoder = codecs.getincrementaldecoder("utf-8")("ignore")
            text = decoder.decode(data)
            unfinished = decoder.getstate()[0]
        return _Emission(token, text, Extent.of(text), unfinished)

    def _continues(self, token: int) -> bool:
        data = self._tokenizer.token_bytes(token)
        return not data or 0x80 <= data[0] <= 0xBF

    def _unfinished(self) -> bytes:
        return self._left[-1].unfinished if self._left else b""

    def _minimal_edit(self, removed: str, inserted: str) -> TextEdit:
        after = next((e.text[0] for e in reversed(self._right) if e.text), "") if self._right else ""
        if not removed and after != "\n":  # by far the most edits, and minimal as they are
            place = self._position()
            return TextEdit(place, place, "", inserted)
        before, home = self._character_before()
        return minimal_edit(home, before, removed, inserted, after)

    def _character_before(self) -> tuple[str, Extent]:
        """The last character left of the gap ("" if there is none) and its position."""
        index = len(self._left) - 1
        while index >= 0 and not self._left[index].text:
            index -= 1
        if index < 0:
            return "", Extent()
        text = self._left[index].text
        return text[-1], self._position(index) + Extent.of(text[:-1])

    def _position(self, boundary: int | None = None) -> Extent:
        """The position of a boundary at or left of the gap (of the gap itself by default)."""
        boundary = len(self._left) if boundary is None else boundary
        asked, answer = self._asked, self._answer
        if boundary == asked + 1:
            answer += self._left[asked].extent
        elif boundary != asked:
            answer = self._position_by_marks(boundary)
        self._asked, self._answer = boundary, answer
        return answer

    def _position_by_marks(self, boundary: int) -> Extent:
        while (distance := boundary - self._marked[-1]) >= _NEAR:
            mark = self._marked[-1] + (_FAR if distance > _FAR else _NEAR)
            self._marks.append(self._marks[-1] + self._extent(self._marked[-1], mark))
            self._marked.append(mark)
        nearest = bisect_right(self._marked, boundary) - 1
        return self._marks[nearest] + self._extent(self._marked[nearest], boundary)

    def _extent(self, start: int, end: int) -> Extent:
        return Extent.of("".join([emission.text for emission in self._left[start:end]]))

    def _take(self, count: int) -> list[_Emission]:
        """Remove the next `count` tokens right of the gap and return their emissions."""
        rest = len(self._right) - count
        taken = self._right[rest:]
        del self._right[rest:]
        taken.reverse()
        return taken

    def _bring_gap(self, boundary: int) -> None:
        shift = boundary - len(self._left)
        if shift < 0:
            self._right.extend(reversed(self._left[boundary:]))
            del self._left[boundary:]
            known = bisect_right(self._marked, boundary)
            del self._marked[known:], self._marks[known:]
            if self._asked > boundary:
                self._asked, self._answer = self._marked[-1], self._marks[-1]
        elif shift > 0:
            self._left += self._take(shift)


def minimal_edit(home: Extent, before: str, removed: str, inserted: str, after: str) -> TextEdit:
    """The smallest edit that turns `removed` into `inserted`.

    `before` and `after` are the characters around them, and `home` is where `before` starts; the edit is widened into
    them where it would cut a `\\r\\n`.
    """
    core = Edit.between(removed, inserted, len(before))
    old, new = before + removed + after, before + inserted + after
    start = core.start - cuts_line_ending(old, core.start)
    end = core.end + cuts_line_ending(old, core.end)
    origin = home + Extent.of(old[:start])
    gone, come = old[start:end], new[start : len(new) - (len(old) - end)]
    return TextEdit(origin, origin + Extent.of(gone), gone, come)
