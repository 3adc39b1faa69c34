"""Windows: the parts of a document that the model overtypes one by one."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 700
"""The most characters of a window, unless it is one word."""
_LINE = re.compile(r"[^\n]*(?:\n+|$)")
_SENTENCE = re.compile(r"[\s\S]*?(?:[.!?:;]\s+|$)")
_WORD = re.compile(r"\S*\s*")


def windows(text: str, longest: int = LONGEST) -> list[tuple[int, int]]:
    """The start and end of each window of a text: whole lines where they fit, else sentences, else words."""
    made: list[tuple[int, int]] = []
    start = end = 0
    for piece in _pieces(text, 0, len(text), longest, (_LINE, _SENTENCE, _WORD)):
        if end > start and piece - start > longest:
            made.append((start, end))
            start = end
        end = piece
    if end > start:
        made.append((start, end))
    return made


def _pieces(text: str, start: int, end: int, longest: int, ways: tuple[re.Pattern[str], ...]) -> list[int]:
    """The ends of pieces that are at most as long as a window, as far as possible."""
    if not ways:
        return [end]
    ends: list[int] = []
    while start < end:
        found = ways[0].match(text, start, end)
        stop = found.end() if found and found.end() > start else end
        if stop - start > longest:
            ends += _pieces(text, start, stop, longest, ways[1:])
        else:
            ends.append(stop)
        start = stop
    return ends
