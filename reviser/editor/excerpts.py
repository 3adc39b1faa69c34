"""Excerpts of a long document: the whole paragraphs around the user's place that are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
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
    """The excerpts that make up a text, the nearest to `near` first, as far as it is read: they overlap a little.

    Most changes of the text leave the excerpts without them as they are.
    """
    if len(text) <= MOST:
        yield 0, len(text)
        return
    for start, end in ranges_around(near, len(text), MOST - 2 * _SEAM):
        if max(start - near, near - end) <= FARTHEST:
            yield excerpt(text, (start + end) // 2, format)


def ranges_around(near: int, length: int, size: int) -> list[tuple[int, int]]:
    """The ranges of a size that make up a length, the nearest to `near` first."""
    ranges = pairwise([*range(0, length, size), length])
    return sorted(ranges, key=lambda one: max(one[0] - near, near - one[1], 0))
