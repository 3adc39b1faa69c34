"""Ghost text, which is drawn but is not in the text: what a run has erased, or what a change would restore.

The editor lays out a buffer with ghost text as it does a plain one. Ghosts hold no line endings, so line numbers stay
the same; only offsets within a line differ between screen and text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.style import Style

from reviser.core.buffer import Buffer

_PLAIN = Style.null()
_LONGEST = 300
_LINE_ENDING = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Ghost:
    """A ghost text drawn before the character at `at`; its first `lead` and last `bare` characters are drawn without
    the style."""

    at: int
    text: str
    style: Style = _PLAIN
    bare: int = 0
    lead: int = 0


def shown_as(text: str) -> str:
    """Text as a ghost shows it: line endings as symbols, and of very long text only the two ends."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
    return _LINE_ENDING.sub("↵", text)


class GhostBuffer:
    """A buffer with ghosts in it. Its offsets are those on the screen; `shown` and `real` convert from and to the
    text's.
    """

    def __init__(self, buffer: Buffer, ghosts: Sequence[Ghost] = ()) -> None:
        """`ghosts` are sorted by their offsets."""
        self._buffer = buffer
        self.ghosts = tuple(ghost for ghost in ghosts if ghost.text)
        self._places = [ghost.at for ghost in self.ghosts]
        # The total length of the ghosts before each one, and at last of all.
        self._sizes = [0, *accumulate(len(ghost.text) for ghost in self.ghosts)]

    @property
    def length(self) -> int:
        return self._buffer.length + self._sizes[-1]

    @property
    def line_count(self) -> int:
        return self._buffer.line_count

    def shown(self, offset: int) -> int:
        """The screen offset of the character at `offset`, behind the ghosts before it."""
        return offset + self._sizes[bisect_right(self._places, offset)]

    def shown_before(self, offset: int) -> int:
        """The screen offset at which the ghosts before the character at `offset` begin."""
        return offset + self._sizes[bisect_left(self._places, offset)]

    def real(self, shown: int) -> int:
        """The text offset of a screen offset; inside a ghost, that of the character behind it."""
        index = self._ghosts_before(shown)
        if index and shown < self._starts(index - 1) + len(self.ghosts[index - 1].text):
            return self._places[index - 1]
        return shown - self._sizes[index]

    def in_ghost(self, shown: int) -> bool:
        """Whether a screen offset lies inside a ghost, and not at its start."""
        index = self._ghosts_before(shown)
        if not index:
            return False
        start = self._starts(index - 1)
        return start < shown < start + len(self.ghosts[index - 1].text)

    def places_between(self, start: int, end: int) -> list[int]:
        """The text offsets of the ghosts between two text offsets."""
        return self._places[bisect_right(self._places, start) : bisect_left(self._places, end)]

    def spans(self, start: int, end: int) -> list[tuple[int, int, Ghost]]:
        """The ghosts that overlap a part of the screen text, each with its start and end there."""
        found = []
        for index in range(max(self._ghosts_before(start) - 1, 0), len(self.ghosts)):
            first = self._starts(index)
            if first >= end:
                break
            last = first + len(self.ghosts[index].text)
            if last > start:
                found.append((first, last, self.ghosts[index]))
        return found

    def _starts(self, index: int) -> int:
        return self._places[index] + self._sizes[index]

    def _ghosts_before(self, shown: int) -> int:
        """The number of ghosts that begin at or before a screen offset."""
        return bisect_right(range(len(self.ghosts)), shown, key=self._starts)

    def slice(self, start: int, end: int) -> str:
        start, end = max(start, 0), min(end, self.length)
        if not self.ghosts:
            return self._buffer.slice(start, end)
        parts = []
        at = start
        for first, last, ghost in self.spans(start, end):
            parts.append(self._buffer.slice(self.real(at), ghost.at) if at < first else "")
            parts.append(ghost.text[max(at - first, 0) : end - first])
            at = min(last, end)
        if at < end:
            offset = at - self._sizes[self._ghosts_before(at)]
            parts.append(self._buffer.slice(offset, offset + end - at))
        return "".join(parts)

    def line_of(self, shown: int) -> int:
        return self._buffer.line_of(self.real(shown))

    def line_start(self, line: int) -> int:
        if line >= self.line_count:
            return self.length
        return self.shown_before(self._buffer.line_start(line))

    def line_end(self, line: int) -> int:
        # A ghost before the line ending still belongs to the line.
        return self.shown(self._buffer.line_end(line))
