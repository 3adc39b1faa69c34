"""The part of a document that the model gets, with `\\n` as the only line ending."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

# Before the cursor: more than any model's window. The cut moves seldom, so that caches keep their worth.
_BEFORE = 16_384
_STEP = 8_192

LINE_ENDING = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Surroundings:
    """The text before a place, the text there, and the text after it."""

    before: str
    inside: str
    after: str

    @classmethod
    def of(cls, *parts: str) -> Surroundings:
        """The given parts of a document, with line endings as the model knows them."""
        return cls(*(LINE_ENDING.sub("\n", part) for part in parts))

    @property
    def text(self) -> str:
        return self.before + self.inside + self.after

    @property
    def start(self) -> int:
        return len(self.before)

    @property
    def end(self) -> int:
        return len(self.before) + len(self.inside)


def surroundings(text: str, start: int, end: int, after: int) -> Surroundings:
    """The text around characters `start` to `end`, with at most `after` characters behind them."""
    cut = max((start - _BEFORE) // _STEP * _STEP, 0)
    behind = text[end : end + after]
    if end + after < len(text):
        behind = behind.rsplit(None, 1)[0] if re.search(r"\s\S", behind) else behind
    if not behind.strip():
        behind = ""
    return Surroundings.of(text[cut:start], text[start:end], behind)


def line_ending(text: str) -> str:
    """The line ending of a document: that of its first line."""
    found = LINE_ENDING.search(text)
    return found.group() if found else "\n"


def paragraph(text: str, offset: int) -> tuple[int, int]:
    """The start and end of the lines around a place up to the nearest blank lines."""
    ends = [found.span() for found in LINE_ENDING.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(text)]
    here = bisect_right(starts, offset) - 1
    first = last = here
    while first > 0 and text[starts[first - 1] : stops[first - 1]].strip():
        first -= 1
    while last < len(starts) - 1 and text[starts[last + 1] : stops[last + 1]].strip():
        last += 1
    blank = not text[starts[here] : stops[here]].strip()
    return (starts[here], stops[here]) if blank else (starts[first], stops[last])


def offset_before(text: str, offset: int) -> int:
    """The offset in `text` of a place that is counted in the text with `\\n` line endings."""
    for found in re.finditer("\r\n", text):
        if found.start() >= offset:
            break
        offset += 1
    return offset
