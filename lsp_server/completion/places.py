"""The test whether a place in a document is prose, according to the document's format.

The text at a place does not show whether it is prose: it may be a blank line. So a word is inserted there in a copy,
and the reader of the format says whether that word is prose.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from reviser.core.errors import ReviserError
from reviser.prose import Format, Paragraph, Role, paragraphs

# Characters read before and behind the place. Where each line shows its block's kind, few are enough.
_NEAR = (8_000, 2_000)
_FAR = (60_000, 20_000)
_TOLD_BY_LINES = frozenset({Format.MARKDOWN, Format.MDX, Format.RST, Format.PLAIN})
# A line after a blank one, neither indented nor in a fence, can be parsed as the first of a document.
_START = re.compile(r"\n[^\S\n]*\n(?=\S)")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
# The next letter of a word; by itself it would hardly be parsed as prose.
_LETTER, _WORDS = "x", "some words of prose"
_CLOSES = ".,;:!?…)]}\"'”’»*_"


def is_prose(text: str, offset: int, format: Format, *, invoked: bool = False) -> bool:
    """Whether text written at `offset` would be prose; text in a table counts only if the user asked (`invoked`).

    Returns True for a format that cannot be read here.
    """
    if format is Format.UNKNOWN:
        return True
    start, end = _around(text, offset, format)
    at = offset - start
    last = text[max(offset - 1, 0) : offset]
    trial = _LETTER if last.isalnum() else _WORDS
    space = " " if last and last in _CLOSES else ""
    tried = f"{text[start:offset]}{space}{trial}{text[offset:end]}"
    try:
        found = _paragraph_at(paragraphs(tried, format), at + len(space))
    except ReviserError:
        return True  # a package for the format is missing, which proofreading reports
    if found is None:
        return False
    paragraph, place = found
    if paragraph.role is Role.CELL and not invoked:
        return False
    return not paragraph.touches_protected(place, place + len(trial))


def _around(text: str, offset: int, format: Format) -> tuple[int, int]:
    """The start and end of the part of a document that is read to decide about `offset`."""
    before, behind = _NEAR if format in _TOLD_BY_LINES else _FAR
    end = min(offset + behind, len(text))
    if offset <= before:
        return 0, end
    far = offset - before
    in_fence = len(_FENCE.findall(text, 0, far)) % 2 == 1
    for found in _START.finditer(text, far, offset):
        in_fence ^= len(_FENCE.findall(text, far, found.end())) % 2 == 1
        far = found.end()
        if not in_fence:
            return far, end
    return 0, end


def _paragraph_at(found: list[Paragraph], offset: int) -> tuple[Paragraph, int] | None:
    """The paragraph that holds a character of the source, and the character's offset in it; None if none does."""
    starts = [paragraph.segments[0].start for paragraph in found]
    number = bisect_right(starts, offset) - 1
    if number < 0:
        return None
    paragraph = found[number]
    inside = any(segment.start <= offset < segment.end for segment in paragraph.segments)
    return (paragraph, paragraph.text_span(offset, offset).start) if inside else None
