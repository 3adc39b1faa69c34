"""The findings in a document and their places; lines and columns count characters from 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from reviser.core.counts import counted
from reviser.core.errors import ReviserError
from reviser.proofreading.document import Draft
from reviser.proofreading.suggestion import Suggestion, with_suggestions
from reviser.prose import unread
from reviser.prose.switches import switches_in
from reviser.session.documents import DocumentFile


class Place(NamedTuple):
    """A line and a column in a text."""

    line: int
    column: int


class Result(NamedTuple):
    """The changes that a proofreader found in a text, in order, the number of sentences it read, and the numbers of the
    comments that have switched something off."""

    changes: tuple[Suggestion, ...]
    sentences: int
    used: frozenset[int] = frozenset()


class UnusedComment(NamedTuple):
    """A comment that switches nothing off which would be found: its place and its text."""

    place: Place
    text: str


class UnreadWord(NamedTuple):
    """A word that is too long to be read: its line and its length in characters."""

    line: int
    characters: int

    @property
    def told(self) -> str:
        return f"line {self.line} has a word of {counted(self.characters, 'character')}, which is not read"


def unread_words(draft: Draft) -> list[UnreadWord]:
    """The words of a text that are too long to be read."""
    text = draft.text
    return [UnreadWord(_place(text, start).line, end - start) for start, end in unread(text, draft.format)]


@dataclass(frozen=True)
class Source:
    """A document to check; `name` is its path, or the name for standard input."""

    name: Path
    document: DocumentFile
    draft: Draft


@dataclass(frozen=True)
class Finding:
    """A change that was found in a document."""

    source: Source
    change: Suggestion

    @cached_property
    def start(self) -> Place:
        return _place(self.source.draft.text, self.change.start)

    @cached_property
    def end(self) -> Place:
        """The place after the last character."""
        return _place(self.source.draft.text, self.change.end)


@dataclass(frozen=True)
class Checked:
    """A checked document with its findings."""

    source: Source
    result: Result

    @property
    def findings(self) -> list[Finding]:
        return [Finding(self.source, change) for change in self.result.changes]

    @property
    def corrected(self) -> str:
        """The document's text with all findings corrected."""
        return with_suggestions(self.source.document.text, self.result.changes)

    @property
    def unused(self) -> list[UnusedComment]:
        """The comments that switch nothing off which would be found."""
        text = self.source.draft.text
        return [
            UnusedComment(_place(text, one.comment.start), " ".join(text[one.comment.start : one.comment.end].split()))
            for number, one in enumerate(switches_in(text, self.source.draft.format))
            if number not in self.result.used
        ]

    @cached_property
    def unread(self) -> list[UnreadWord]:
        return unread_words(self.source.draft)


@dataclass(frozen=True)
class Failed:
    """A document that could not be checked."""

    name: Path
    error: ReviserError


def _place(text: str, offset: int) -> Place:
    return Place(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
