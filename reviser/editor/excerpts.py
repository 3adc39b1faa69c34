"""Excerpts of a long document: the whole paragraphs around the user's place that are read."""

from __future__ import annotations

import re
from typing import Final

from reviser.prose import Format

MOST: Final = 100_000
"""The most characters of a document that are read: those around the last edit."""

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
        for found in _BLANK_LINE.finditer(text, max(end - 5000, near), end):
            end = found.end()
    return start, end
