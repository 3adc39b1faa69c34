"""Paragraphs: the text that a model reads, with the place of each character in the source."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from reviser.prose.formats import Format
from reviser.prose.source import Block, Role, Span, Written
from reviser.prose.words import fixed_words


class _Layout(NamedTuple):
    """The starts and ends of segments in a paragraph's text, and pairs of offsets in the text and in the source.

    After such a pair, text and source are the same up to the next pair or the end of the segment.
    """

    starts: list[int]
    ends: list[int]
    in_text: list[int]
    in_source: list[int]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph without the markers around it, its wrapped lines joined by single spaces.

    `segments` are the ranges of the source that the paragraph consists of, in order: lines, or parts of lines between
    tags. Those whose index is in `tight` follow without a space. `protected` are ranges of `text` that must stay: code,
    link targets, maths, commands, names. `written` are the parts of the source that differ from `text`, such as
    entities.
    """

    text: str
    role: Role
    segments: tuple[Span, ...]
    protected: tuple[Span, ...]
    scope: Span | None = None
    tight: frozenset[int] = frozenset()
    written: tuple[Written, ...] = ()

    @property
    def starts(self) -> list[int]:
        """The start of each segment in `text`."""
        return self._layout.starts

    @property
    def ends(self) -> list[int]:
        """The end of each segment in `text`."""
        return self._layout.ends

    def segment_at(self, offset: int) -> int:
        """The index of the segment that `offset` is in, or at the end of."""
        return bisect_right(self.starts, offset) - 1

    def source_offset(self, offset: int) -> int:
        """The offset in the source of an offset in `text`."""
        layout = self._layout
        number = bisect_right(layout.in_text, offset) - 1
        return layout.in_source[number] + offset - layout.in_text[number]

    def source_span(self, start: int, end: int) -> Span:
        """The range of the source for a range of `text`, without markers at its ends."""
        number = bisect_left(self.ends, end)
        at_end = number < len(self.ends) and self.ends[number] == end
        last = self.segments[number].end if at_end else self.source_offset(end)
        return Span(self.source_offset(start) if start < end else last, last)

    def source_of(self, start: int, end: int) -> str:
        """The source of a range within one segment."""
        pieces, place = list[str](), start
        for at, one in self._written_between(start, end):
            pieces += [self.text[place:at], one.source]
            place = at + len(one.text)
        return "".join([*pieces, self.text[place:end]])

    def as_written(self, start: int, end: int, new: str) -> str:
        """New text for a range, with characters encoded as in the old source."""
        known = {one.text: one.source for _, one in self._written_between(start, end)}
        return "".join([known.get(character, character) for character in new]) if known else new

    def text_span(self, start: int, end: int) -> Span:
        """The range of `text` for a range of the source; one between two segments covers the space there."""
        first, last = self._text_offset(start), self._text_offset(end)
        number = bisect_right(self.segments, end, key=lambda segment: segment.end) - 1
        if 0 <= number < len(self.segments) - 1 and self.segments[number].end < end <= self.segments[number + 1].start:
            last = self.starts[number + 1]
        return Span(first, last)

    def part(self, start: int, end: int) -> Paragraph:
        """A range of the paragraph as a paragraph of its own."""
        first, last = self.segment_at(start), bisect_left(self.ends, end)
        span = self.source_span(start, end)
        segments = [
            Span(max(segment.start, span.start), min(segment.end, span.end))
            for segment in self.segments[first : last + 1]
        ]
        own = bool(self.scope) and self.scope == Span(self.segments[0].start, self.segments[-1].end)
        inside = self.protected[bisect_right(self._protected_ends, start) :]
        return Paragraph(
            self.text[start:end],
            self.role,
            tuple(segments),
            tuple(
                Span(max(a - start, 0), min(b, end) - start) for a, b in takewhile(lambda one: one.start < end, inside)
            ),
            span if own else self.scope,
            frozenset(number - first for number in self.tight if first < number <= last),
            tuple(one for _, one in self._written_between(start, end)),
        )

    def touches_protected(self, start: int, end: int) -> bool:
        """Whether a change from `start` to `end` would alter a protected span, or cut it in two."""
        after = bisect_right(self._protected_ends, start)
        if after == len(self.protected):
            return False
        span = self.protected[after]
        return span.start < end if start < end else span.start < start

    def _written_between(self, start: int, end: int) -> list[tuple[int, Written]]:
        """The parts of a range whose source differs from the text, with their offsets in `text`."""
        if not self.written:
            return []
        low, high = (bisect_left(self._places_of_written, place) for place in (start, end))
        return list(zip(self._places_of_written[low:high], self.written[low:high], strict=True))

    def _text_offset(self, place: int) -> int:
        """The offset in `text` of an offset in the source; one outside of all segments maps to the end before it."""
        number = bisect_right(self.segments, place, key=lambda segment: segment.start) - 1
        if number < 0:
            return 0
        if place >= self.segments[number].end:
            return self.ends[number]
        _, _, in_text, in_source = self._layout
        number = bisect_right(in_source, place) - 1
        after = in_text[number] + place - in_source[number]
        return min([after, *in_text[number + 1 : number + 2]])

    @cached_property
    def _protected_ends(self) -> list[int]:
        return [span.end for span in self.protected]

    @cached_property
    def _places_of_written(self) -> list[int]:
        return [self._text_offset(one.start) for one in self.written]

    @cached_property
    def _layout(self) -> _Layout:
        layout = _Layout([], [], [], [])
        place = index = 0
        for number, (start, end) in enumerate(self.segments):
            place += bool(number) and number not in self.tight
            layout.starts.append(place)
            layout.in_text.append(place)
            layout.in_source.append(start)
            at = start
            while index < len(self.written) and self.written[index].start < end:
                one = self.written[index]
                place += one.start - at + len(one.text)
                at = one.end
                layout.in_text.append(place)
                layout.in_source.append(at)
                index += 1
            place += end - at
            layout.ends.append(place)
        return layout


def paragraph_of(source: str, block: Block, format: Format) -> Paragraph:
    """The paragraph of a block of `source`."""
    text = text_of(source, block)
    fixed = fixed_words(text, format)
    segments, tight, written = tuple(block.segments), frozenset(block.tight), tuple(block.written)
    bare = Paragraph(text, block.role, segments, tuple(merge(fixed)), block.scope, tight, written)
    structure = [bare.text_span(*span) for span in merge(block.protected)]
    return replace(bare, protected=tuple(merge([*structure, *fixed]))) if structure else bare


def text_of(source: str, block: Block) -> str:
    """The text of a block of `source`."""
    if not block.tight and not block.written:
        return " ".join([source[start:end] for start, end in block.segments])
    pieces, index = list[str](), 0
    for number, (start, end) in enumerate(block.segments):
        if number and number not in block.tight:
            pieces.append(" ")
        at = start
        while index < len(block.written) and block.written[index].start < end:
            one = block.written[index]
            pieces += [source[at : one.start], one.text]
            at = one.end
            index += 1
        pieces.append(source[at:end])
    return "".join(pieces)


def merge(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, with overlapping and touching ones joined."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        elif span.start < span.end:
            merged.append(span)
    return merged
