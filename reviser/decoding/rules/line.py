"""The line rule: a gap within a line or list item is filled with text of that line only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from reviser.core.canvas import Canvas
from reviser.core.tokenizer import Tokenizer, decode
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.rules.rule import ScoreProcessor

ITEM: Final = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+\[[ xX]\])?|#{1,6}|>|\|)(?=[ \t]|$)[ \t]*")
"""The mark at the start of a line: of a list item, a task, a heading, a quotation or a table row."""
_OPENING: Final = re.compile(r"[(\[{“„«]\Z|(?:^|[\s(])[\"*_`]+\Z")
_MARKS: Final = "',;:.!?-–—*+•|/=_#>~`)]}"


def is_within_line(before: str, after: str) -> bool:
    """Whether a gap between two texts is within one line: the line goes on after it, or is a list item."""
    line, rest = before[before.rfind("\n") + 1 :], after.split("\n", 1)[0]
    return bool(line.strip() and (rest.strip() or ITEM.match(line)))


class LineRule(ScoreProcessor):
    """A rule for filling a gap within a line: the run ends where the line would, begins a list item with a word, and
    does not copy a neighbouring item.

    `before` and `after` are the texts around the gap; `apart` says that a space stands before it already.
    """

    def __init__(self, vocabulary: Vocabulary, tokenizer: Tokenizer, before: str, after: str, *, apart: bool) -> None:
        self._stop_id = vocabulary.stop_id
        self._size = vocabulary.base_size
        self._tokenizer = tokenizer
        line = before[before.rfind("\n") + 1 :]
        mark = ITEM.match(line)
        self._cell = line.lstrip().startswith("|")
        starts = bool(_OPENING.search(line)) and not apart
        blank = line.rstrip().endswith("|") if self._cell else mark is not None and not line[mark.end() :].strip()
        self._begins = blank or starts
        self._needs_space = blank and (apart or not line[-1:].isspace())
        self._next_to = starts
        self._begun = line[mark.end() :] if mark else ""
        self._rest = after.split("\n", 1)[0]
        self._neighbours = _items(before.split("\n")[:-1][::-1]) | _items(after.split("\n")[1:]) if mark else set()

    def instead(self, id: int, history: Sequence[int], canvas: Canvas) -> Sequence[int] | None:
        stops = id == self._stop_id
        if id >= self._size and not stops:
            return None
        text = "" if stops else self._tokenizer.token_bytes(id).decode("utf-8", "ignore")
        written = ""
        ends = stops or "\n" in text or (self._cell and "|" in text)
        if ends:
            written = decode(self._tokenizer, canvas.between(canvas.low, canvas.high))
            if not written.strip() or self._repeats(written):
                return ()
            return None if stops else (self._stop_id,)
        if canvas.cursor == canvas.low and self._begins:
            return None if self._begins_word(text) else ()
        return None

    def fits(self, tokens: Sequence[int]) -> bool:
        """Whether a filling is allowed in the line."""
        text = decode(self._tokenizer, tokens)
        return "\n" not in text and not self._repeats(text) and (not self._begins or self._begins_word(text))

    def _begins_word(self, text: str) -> bool:
        if (self._needs_space and not text.startswith(" ")) or (self._next_to and text.startswith(" ")):
            return False
        word = text.removeprefix(" ")
        return not word.startswith((*_MARKS, " "))

    def _repeats(self, written: str) -> bool:
        return (self._begun + written + self._rest).strip().casefold() in self._neighbours


def _items(lines: Sequence[str]) -> set[str]:
    """The texts, without marks, of the list items at the start of `lines`, up to the first line that is none."""
    found = set()
    for line in lines:
        mark = ITEM.match(line)
        if mark is None:
            break
        found.add(line[mark.end() :].strip().casefold())
    return found - {""}
