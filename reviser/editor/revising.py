"""Revision of a part of a document for an editor: proofread passage by passage, reported change by change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from reviser.editor.excerpts import whole_characters
from reviser.proofreading.document import Draft, Proofread, safe_selection
from reviser.proofreading.suggestion import Suggestion, with_suggestions
from reviser.prose import Span, paragraphs

_AT_ONCE: Final = 600
"""The least characters of a passage: short paragraphs are read together."""


class Revised(NamedTuple):
    """A change, its passage, and the passage's text after this change and those before it.

    The passage is a range of the original document; `cursor` is the offset after the change, in `text`.
    """

    change: Suggestion
    passage: Span
    text: str
    cursor: int


def revise(
    draft: Draft, proofread: Callable[[Draft], Proofread], wanted: Callable[[Suggestion], bool] = lambda change: True
) -> Iterator[Revised]:
    """The wanted changes within a draft, in order; a caller that stops iterating leaves the rest unread."""
    given = replace(draft, text=whole_characters(draft.text))
    for span in _passages(given):
        found = proofread(replace(given, within=span)).changes
        kept = [one for one in found if _fits(one, draft.text, span) and wanted(one)]
        if len(kept) < len(found):
            kept = safe_selection(given, kept)
        before = draft.text[span.start : span.end]
        growth = 0
        for count, change in enumerate(kept, start=1):
            inside = [one.moved(-span.start) for one in kept[:count]]
            cursor = inside[-1].start + growth + len(change.new)
            growth += len(change.new) - len(change.old)
            yield Revised(change, span, with_suggestions(before, inside), cursor)


def _fits(change: Suggestion, text: str, span: Span) -> bool:
    """Whether a change is within this passage, and its old text is really there."""
    inside = span.start <= change.start and change.end <= span.end
    return inside and text.startswith(change.old, change.start)


def _passages(draft: Draft) -> Iterator[Span]:
    """The ranges of the draft's selection, each of one paragraph or several."""
    low, high = draft.within or Span(0, len(draft.text))
    waiting: Span | None = None
    for paragraph in paragraphs(draft.text, draft.format):
        start = max(paragraph.segments[0].start, low)
        end = min(paragraph.segments[-1].end, high)
        if start >= end:
            continue
        if waiting is not None and start < waiting.end:
            # One that stands inside another, as a note does.
            waiting = Span(waiting.start, max(end, waiting.end))
            continue
        if waiting is not None and waiting.end - waiting.start >= _AT_ONCE:
            yield waiting
            waiting = None
        waiting = Span(start if waiting is None else waiting.start, end)
    if waiting is not None:
        yield waiting
