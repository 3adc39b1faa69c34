"""Parts of a long paragraph, which are read one by one, so that the cost of a word does not grow with the text
around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from reviser.prose.paragraphs import Paragraph
from reviser.prose.source import Role, Span
from reviser.prose.words import OVERLONG

LONGEST: Final = 8_000
"""The most characters of a part."""

_SENTENCE_END = re.compile(r"[.!?…]['\"”’)]*(?= )")


def parts_of(paragraph: Paragraph) -> Iterator[Paragraph]:
    """A paragraph in parts that are short enough, without overlong words."""
    text = paragraph.text
    place = 0
    cut_before = False
    for word in OVERLONG.finditer(text):
        yield from _stretch(paragraph, place, word.start(), cut_before, cut_behind=True)
        place, cut_before = word.end(), True
    if not place and len(text) <= LONGEST:
        yield paragraph
    else:
        yield from _stretch(paragraph, place, len(text), cut_before, cut_behind=False)


def _stretch(paragraph: Paragraph, start: int, end: int, cut_before: bool, cut_behind: bool) -> Iterator[Paragraph]:
    """The parts of a range of a paragraph; `cut_before` and `cut_behind` tell that it ends within a sentence there."""
    text = paragraph.text
    while start < end:
        place, within = (end, cut_behind) if end - start <= LONGEST else _cut(paragraph, start)
        first = start + len(text[start:place]) - len(text[start:place].lstrip(" "))
        last = place - (len(text[first:place]) - len(text[first:place].rstrip(" ")))
        if first < last:
            part = paragraph.part(first, last)
            yield replace(part, role=Role.CELL) if (within or cut_before) and not part.role.fragment else part
        start, cut_before = place, within


def _cut(paragraph: Paragraph, start: int) -> tuple[int, bool]:
    """The offset at which a long range is cut, after a sentence or else at a space, and whether that is within a
    sentence."""
    text, most = paragraph.text, start + LONGEST
    ends = [found.end() for found in _SENTENCE_END.finditer(text, start + LONGEST // 2, most)]
    for place in reversed(ends):
        if not paragraph.touches_protected(place, place + 1):
            return place, False
    space = text.rfind(" ", start + 1, most)
    return space if space > start else most, True


def overlong_words(paragraph: Paragraph) -> Iterator[Span]:
    """The ranges of the source with words that are too long to be read, other than addresses."""
    for word in OVERLONG.finditer(paragraph.text):
        if "://" not in word[0][:200]:
            yield paragraph.source_span(*word.span())
