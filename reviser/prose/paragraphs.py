"""Paragraphs: what a model reads of a document, and where each character of it stands in the source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from reviser.prose.formats import Format
from reviser.prose.source import Block, Role, Span
from reviser.prose.words import fixed_words


@dataclass(frozen=True)
class Paragraph:
    """A paragraph without the markers around it, its wrapped lines joined by single spaces.

    `segments` are the stretches of the source that the lines of the paragraph come from, in their order.
    `protected` are spans of `text` that must stay: code, link targets, maths, commands, names.
    """

    text: str
    role: Role
    segments: tuple[Span, ...]
    protected: tuple[Span, ...]
    scope: Span | None = None

    @cached_property
    def starts(self) -> list[int]:
        """Where in `text` each segment starts."""
        starts, place = [], 0
        for segment in self.segments:
            starts.append(place)
            place += segment.end - segment.start + 1
        return starts

    def segment_at(self, offset: int) -> int:
        """The number of the segment that `offset` is in, or at the end of."""
        return bisect_right(self.starts, offset) - 1

    def source_offset(self, offset: int) -> int:
        """The place in the source of a place in `text`."""
        number = self.segment_at(offset)
        return self.segments[number].start + offset - self.starts[number]

    def touches_protected(self, start: int, end: int) -> bool:
        """Whether a change from `start` to `end` would alter a protected span, or cut it in two."""
        after = bisect_right(self._protected_ends, start)
        if after == len(self.protected):
            return False
        span = self.protected[after]
        return span.start < end if start < end else span.start < start

    @cached_property
    def _protected_ends(self) -> list[int]:
        return [span.end for span in self.protected]


def paragraph_of(source: str, block: Block, format: Format) -> Paragraph:
    """The paragraph that a block of `source` holds."""
    text = " ".join([source[start:end] for start, end in block.segments])
    structure = list(_in_text(block))
    protected = merge([*structure, *fixed_words(text, format)])
    return Paragraph(text, block.role, tuple(block.segments), tuple(protected), block.scope)


def _in_text(block: Block) -> Iterable[Span]:
    """The block's protected spans as places in the paragraph's text."""
    place = index = 0
    spans = merge(block.protected)
    for number, (start, end) in enumerate(block.segments):
        last = number + 1 == len(block.segments)
        # The space that joins two lines stands for everything between them.
        reach = end if last else block.segments[number + 1].start
        while index < len(spans) and spans[index].start < reach:
            span = spans[index]
            left = place + min(max(span.start - start, 0), end - start)
            right = place + min(span.end - start, end - start)
            right += span.end > end and not last
            if left < right:
                yield Span(left, right)
            if span.end > reach:
                break
            index += 1
        place += end - start + 1


def merge(spans: Iterable[Span]) -> list[Span]:
    """The spans in their order, those that overlap or touch made one."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        elif span.start < span.end:
            merged.append(span)
    return merged
