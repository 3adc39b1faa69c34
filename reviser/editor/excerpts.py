"""Excerpts of a long document: the whole paragraphs around the user's place that are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from reviser.prose import Format

MOST: Final = 100_000
"""The most characters of a document that are read: those around the last edit."""
FARTHEST: Final = 1_000_000
"""The most characters on each side of the user's place that are read part by part."""

_SEAM: Final = 5000
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)")
_FENCES = ("\n```", "\n~~~")
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")


def whole_characters(text: str) -> str:
    """A text that can be encoded: lone surrogates become replacement characters."""
    return _HALF_A_CHARACTER.sub("\ufffd", text)


def excerpt(text: str, near: int, format: Format, most: int = MOST) -> tuple[int, int]:
    """The start and end of the part of a text that is read: all of it, or whole paragraphs around `near` with at
    most `most` characters."""
    if len(text) <= MOST:
        return 0, len(text)
    start = max(min(near - most // 2, len(text) - most), 0)
    end = start + most
    if start and (found := _BLANK_LINE.search(text, start, near)):
        start = found.end()
    if format in (Format.MARKDOWN, Format.MDX) and start:
        # Where code has been begun, prose starts behind its end.
        for fence in _FENCES:
            if text.count(fence, 0, start) % 2 and (close := text.find(fence, start, end)) >= 0:
                start = min(close + len(fence), near)
    if end < len(text):
        for found in _BLANK_LINE.finditer(text, max(end - _SEAM, near), end):
            end = found.end()
    return start, end


def excerpts(text: str, near: int, format: Format) -> Iterator[tuple[int, int]]:
    """The excerpts of a text from `near` outwards, as far as it is read; neighbours may overlap."""
    yield excerpt(text, near, format)
    step = MOST - 2 * _SEAM
    for distance in range(step, FARTHEST if len(text) > MOST else 0, step):
        for place in (near + distance, near - distance):
            if -step < place < len(text) + step:
                yield excerpt(text, max(min(place, len(text)), 0), format)
