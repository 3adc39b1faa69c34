"""The lines of a document and the stretches of prose in them, both as places in its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def names(text: str) -> frozenset[str]:
    """A set of words that is written as a text."""
    return frozenset(text.split())


class Span(NamedTuple):
    """A stretch of text, from `start` up to but without `end`."""

    start: int
    end: int


class Role(StrEnum):
    """What a paragraph is in its document."""

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
        """Whether such a paragraph is complete without being a sentence: no full stop is missing."""
        return self not in (Role.BODY, Role.QUOTE, Role.NOTE)


class Line(NamedTuple):
    """A line, or the rest of one behind its markers, without its ending, and where it starts in the source."""

    text: str
    start: int

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def indent(self) -> int:
        """How many blank characters the line starts with."""
        return len(self.text) - len(self.text.lstrip(" \t"))

    def cut(self, start: int, end: int | None = None) -> Line:
        """The part of the line between two columns."""
        return Line(self.text[start:end], self.start + start)

    @property
    def prose(self) -> Span:
        """Where the line's text is in the source, without the blanks around it."""
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
    """Characters that are written in another way in the source, from `start` on, such as an entity of HTML."""

    start: int
    source: str
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.source)


@dataclass
class Block:
    """A paragraph as a format's reader finds it, all in places of the source.

    `segments` are its lines without what is around the prose, which spaces join, except where the segment's number is
    in `tight`. `protected` is what in them is not prose, sorted; it may reach beyond them, over the place where two
    segments meet. `written` is what in them reads otherwise than it is written, in order. `shape` is what else the
    reader knows of the paragraph and what a change must not alter. Whether a change keeps the structure can be seen
    from `scope` alone, if there is one.
    """

    role: Role
    segments: list[Span]
    protected: list[Span] = field(default_factory=list)
    shape: str = ""
    scope: Span | None = None
    tight: set[int] = field(default_factory=set)
    written: list[Written] = field(default_factory=list)


def block_of(role: Role, lines: Sequence[Line]) -> Iterator[Block]:
    """The block that the lines make up, if they say something."""
    segments = [line.prose for line in lines if not line.blank]
    if segments:
        yield Block(role, segments)
