"""Lines of a document, and ranges of prose in them, as places in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def names(text: str) -> frozenset[str]:
    """A set of words, written as a text with blanks between them."""
    return frozenset(text.split())


class Span(NamedTuple):
    """A range of a text, from `start` up to but not including `end`."""

    start: int
    end: int


class Role(StrEnum):
    """The role of a paragraph in its document."""

    BODY = "body"
    HEADING = "heading"
    ITEM = "item"
    CAPTION = "caption"
    CELL = "cell"
    QUOTE = "quote"
    NOTE = "note"
    COMMENT = "comment"

    @property
    def fragment(self) -> bool:
        """Whether such a paragraph need not be a sentence, so that no full stop is missing."""
        return self not in (Role.BODY, Role.QUOTE, Role.NOTE)


class Line(NamedTuple):
    """A line, or the rest of one after its markers, without its line ending; `start` is its offset in the source."""

    text: str
    start: int

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def indent(self) -> int:
        """The number of blank characters at the start of the line."""
        return len(self.text) - len(self.text.lstrip(" \t"))

    def cut(self, start: int, end: int | None = None) -> Line:
        """The part of the line between two columns."""
        return Line(self.text[start:end], self.start + start)

    @property
    def prose(self) -> Span:
        """The range of the line's text in the source, without the blanks around it."""
        left = len(self.text) - len(self.text.lstrip())
        return Span(self.start + left, self.start + max(len(self.text.rstrip()), left))


def split_lines(text: str, start: int = 0) -> list[Line]:
    """The lines from `start` on; they end at `\\n`, `\\r\\n` and `\\r`, and at nothing else."""
    lines = []
    for found in _LINE.finditer(text, start):
        if found.end() > found.start():
            lines.append(Line(found.group().rstrip("\r\n"), found.start()))
    return lines


class Written(NamedTuple):
    """Characters whose source differs from their text, such as an entity of HTML; `start` is their offset in the
    source."""

    start: int
    source: str
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.source)


@dataclass
class Block:
    """A paragraph as found by a reader; all offsets are in the source.

    `segments` are its lines without the markers around the prose; they are joined by spaces, except where the segment's
    index is in `tight`. `protected` are the ranges that are not prose, in order; one may go beyond a segment, over the
    boundary to the next. `written` are the characters whose source differs from their text, in order. `shape` is
    anything else that a change must not alter. Within `scope`, if given, it can be seen whether a change keeps the
    structure.
    """

    role: Role
    segments: list[Span]
    protected: list[Span] = field(default_factory=list)
    shape: str = ""
    scope: Span | None = None
    tight: set[int] = field(default_factory=set)
    written: list[Written] = field(default_factory=list)


def block_of(role: Role, lines: Sequence[Line]) -> Iterator[Block]:
    """The block of some lines, if they have text."""
    segments = [line.prose for line in lines if not line.blank]
    if segments:
        yield Block(role, segments)
