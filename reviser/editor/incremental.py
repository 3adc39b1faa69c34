"""Incremental checking of a document while it is written: only pieces that have changed are read again.

A document is cut into pieces, each a paragraph or a few, at places where a piece that is read alone is the same
prose as within the document. What was found in a piece is remembered by its text, so that it does not matter where
the piece stands.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from reviser.proofreading.document import Draft, Proofread
from reviser.proofreading.guard.usage import Usage, usage_in
from reviser.proofreading.guard.vetoes import needed_if_meant
from reviser.proofreading.pipeline import unheard
from reviser.proofreading.project.settings import CONFIDENCE
from reviser.proofreading.project.words import Words
from reviser.proofreading.reading import Tell
from reviser.proofreading.rules.own import RuleText
from reviser.proofreading.spelling.dictionary import Dictionary
from reviser.proofreading.spelling.gathering import terms_of
from reviser.proofreading.spelling.terms import Terms
from reviser.proofreading.suggestion import Suggestion, with_suggestions
from reviser.prose import Format, Paragraph, Role, Span, paragraphs, same_structure
from reviser.prose.switches import switches_in

REMEMBERED: Final = 20_000
"""The most pieces whose findings are remembered."""

_ENDING = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"(?:\A|[\r\n])[^\S\r\n]*(?:\r\n|\r|\n)\Z")


class CheckedPart(NamedTuple):
    """The state of some ranges of a document: all changes found in them, and whether they were read just now."""

    spans: tuple[Span, ...]
    changes: tuple[Suggestion, ...]
    fresh: bool


@dataclass(frozen=True)
class _DocumentPiece:
    """A range of a document; `alone` if it is the same prose without the rest of the document."""

    span: Span
    alone: bool


class _Key(NamedTuple):
    """Everything that decides what is found in a piece."""

    text: str
    format: str
    kept: frozenset[str]
    rules: tuple[RuleText, ...] = ()


class IncrementalChecker:
    """Finds the changes for successive versions of documents, with a function that proofreads a draft."""

    def __init__(
        self,
        proofread: Callable[[Draft, Tell], Proofread],
        confidence: float = CONFIDENCE,
        listed: Dictionary | None = None,
    ) -> None:
        """`listed` is the list of English words that the function uses, if it uses one."""
        self._proofread = proofread
        self._listed = listed
        self._confidence = confidence
        self._found: OrderedDict[_Key, tuple[Suggestion, ...]] = OrderedDict()

    def check(self, draft: Draft, near: int = 0, tell: Tell = unheard) -> Iterator[CheckedPart]:
        """All that is known at once, then each other piece as it is read, nearest to `near` first.

        Together the ranges cover the whole text. A caller that stops iterating leaves the rest unread.
        """
        text = draft.text
        prose = paragraphs(text, draft.format)
        terms = terms_of(text, prose, draft.format, draft.words, self._listed)
        usage = usage_in(prose)
        waiting: list[tuple[_DocumentPiece, _Key]] = []
        known: list[Suggestion] = []
        for piece in _pieces(draft, prose):
            start, end = piece.span
            source = text[start:end]
            key = _Key(
                # What is not read alone depends on all that is around it.
                source if piece.alone else f"{start} {end} {text}",
                draft.format,
                frozenset(source[first:last] for first, last in terms.spans(source)),
                draft.rules,
            )
            if (found := self._recall(key)) is None:
                waiting.append((piece, key))
            else:
                known += [change.moved(start) for change in found]
        spans = _gaps(len(text), [piece.span for piece, _ in waiting])
        yield CheckedPart(tuple(spans), self._agreeing(text, draft.format, known, usage), fresh=False)
        waiting.sort(key=lambda one: max(one[0].span.start - near, near - one[0].span.end, 0))
        # The same may stand in several places.
        equal: dict[_Key, list[_DocumentPiece]] = {}
        for piece, key in waiting:
            equal.setdefault(key, []).append(piece)
        for key, pieces in equal.items():
            found = self._read(draft, pieces[0], terms, tell)
            self._remember(key, found)
            changes = [change.moved(piece.span.start) for piece in pieces for change in found]
            read = tuple(piece.span for piece in pieces)
            yield CheckedPart(read, self._agreeing(text, draft.format, changes, usage), fresh=True)

    def _agreeing(
        self, text: str, format: Format, changes: Iterable[Suggestion], usage: Usage
    ) -> tuple[Suggestion, ...]:
        """The changes that neither the usage elsewhere in the document nor a comment forbids.

        This is applied last, to remembered changes too, so that another use of a word, or a comment elsewhere, does not
        make pieces be read again.
        """
        switches = switches_in(text, format)
        return tuple(
            change
            for change in changes
            if not any(one.holds(change.start, change.end, change.names) for one in switches)
            if not usage.forbids(change.kind, change.old, change.new, text, change.start)
            if not usage.has_often(change.kind, change.old)
            or change.confidence >= needed_if_meant(self._confidence, change.old, change.new)
        )

    def _read(self, draft: Draft, piece: _DocumentPiece, terms: Terms, tell: Tell) -> tuple[Suggestion, ...]:
        """The changes found in a piece, with offsets within it."""
        start, end = piece.span
        words = draft.words | Words(terms.names, terms.told)
        if piece.alone:
            source = Draft(draft.text[start:end], draft.format, words, rules=draft.rules)
            return tuple(_each_safe(source, self._proofread(source, tell).changes))
        whole = replace(draft, words=words, within=piece.span)
        found = _each_safe(whole, self._proofread(whole, tell).changes)
        return tuple(change.moved(-start) for change in found)

    def _recall(self, key: _Key) -> tuple[Suggestion, ...] | None:
        found = self._found.get(key)
        if found is not None:
            self._found.move_to_end(key)
        return found

    def _remember(self, key: _Key, found: tuple[Suggestion, ...]) -> None:
        self._found[key] = found
        while len(self._found) > REMEMBERED:
            self._found.popitem(last=False)


def _each_safe(draft: Draft, changes: Sequence[Suggestion]) -> Iterator[Suggestion]:
    """The changes that keep the structure when each is made alone."""
    for change in changes:
        changed = with_suggestions(draft.text, [change])
        if len(changes) == 1 or same_structure(draft.text, changed, draft.format):
            yield change


def _gaps(length: int, spans: Sequence[Span]) -> list[Span]:
    """The ranges of a text that are outside of all spans, which are in order."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), length]
    return [Span(a, b) for a, b in zip(ends, starts, strict=True) if a < b]


# Pieces ------------------------------------------------------------------------------------------


def _pieces(draft: Draft, prose: Sequence[Paragraph]) -> Iterator[_DocumentPiece]:
    """The pieces of a document that hold prose, in order."""
    text = draft.text
    bounds = [(one.segments[0].start, one.segments[-1].end) for one in prose]
    lines = [(_line_start(text, start), _line_end(text, end)) for start, end in bounds]
    for block in _cut(text, lines, range(len(prose)), _starts_block):
        groups = [*_cut(text, lines, block, _starts_line)]
        # What means nothing by its own line may do so by its block, as the row of a table does.
        if not all(_reads_alone(draft, prose, lines, group) for group in groups):
            groups = [block]
        alone = len(groups) > 1 or _reads_alone(draft, prose, lines, block)
        yield from (_DocumentPiece(_span(lines, group), alone) for group in groups)


def _line_start(text: str, place: int) -> int:
    return max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1


def _line_end(text: str, place: int) -> int:
    found = _ENDING.search(text, place)
    return found.end() if found else len(text)


Lines = Sequence[tuple[int, int]]
_Shape = tuple[str, Role, tuple[tuple[int, int], ...], tuple[Span, ...]]


def _cut(text: str, lines: Lines, numbers: range, starts: Callable[[str, int], bool]) -> Iterator[range]:
    """Paragraphs in groups; a new group begins wherever `starts` allows."""
    first = numbers.start
    for before, number in pairwise(numbers):
        if lines[before][1] <= lines[number][0] and starts(text, lines[number][0]):
            yield range(first, number)
            first = number
    if numbers:
        yield range(first, numbers.stop)


def _starts_line(text: str, place: int) -> bool:
    return not text[place : place + 1].isspace()


def _starts_block(text: str, place: int) -> bool:
    return _starts_line(text, place) and bool(_BLANK.search(text, max(place - 200, 0), place))


def _span(lines: Lines, numbers: range) -> Span:
    return Span(lines[numbers[0]][0], max(lines[number][1] for number in numbers))


def _reads_alone(draft: Draft, prose: Sequence[Paragraph], lines: Lines, numbers: range) -> bool:
    start, end = _span(lines, numbers)
    within = tuple(_shape(prose[number], start) for number in numbers)
    return _shapes(draft.text[start:end], draft.format) == within


@lru_cache(maxsize=REMEMBERED)
def _shapes(text: str, format: Format) -> tuple[_Shape, ...]:
    return tuple(_shape(paragraph, 0) for paragraph in paragraphs(text, format))


def _shape(paragraph: Paragraph, start: int) -> _Shape:
    segments = tuple((first - start, last - start) for first, last in paragraph.segments)
    return paragraph.text, paragraph.role, segments, paragraph.protected
