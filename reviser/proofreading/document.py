"""A document during proofreading: its present text, the edits made so far, and the parts still to be read."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple

from reviser.core.edits import Edit, apply_edits
from reviser.proofreading.changes import kind_of
from reviser.proofreading.project.words import Words
from reviser.proofreading.spelling.dictionary import Dictionary
from reviser.proofreading.spelling.foreign import foreign_in
from reviser.proofreading.suggestion import Suggestion, with_suggestions
from reviser.prose import Format, Paragraph, Span, paragraphs, safe_edits, same_structure, source_edits
from reviser.prose.switches import switches_in

if TYPE_CHECKING:
    from reviser.proofreading.rules.own import RuleText

_FIRST_OF_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Draft:
    """A text to proofread: its format, the words that must stay, the range to look at, and the project's own rules."""

    text: str
    format: Format = Format.PLAIN
    words: Words = field(default_factory=Words)
    within: Span | None = None
    rules: tuple[RuleText, ...] = ()


@dataclass(frozen=True)
class Proofread:
    """A proofread text, and the edits that made it, in order and without overlaps."""

    draft: Draft
    text: str
    changes: tuple[Suggestion, ...]
    sentences: int
    used: frozenset[int] = frozenset()
    """The numbers of the switches (`reviser.prose.switches`) that have kept an edit from being made."""


def safe_selection(draft: Draft, changes: Sequence[Suggestion]) -> list[Suggestion]:
    """The selected edits that keep the structure of the text when the edits that were not selected are left out."""

    def is_safe(some: Sequence[Suggestion]) -> bool:
        return same_structure(draft.text, with_suggestions(draft.text, some), draft.format)

    if is_safe(changes):
        return list(changes)
    kept: list[Suggestion] = []
    for change in changes:
        if is_safe([*kept, change]):
            kept.append(change)
    return kept


class Sentence(NamedTuple):
    """A sentence of a paragraph with the space before it, or a part of a long one; for the model, with its tokens."""

    paragraph: Paragraph
    span: Span
    tokens: Sequence[int] = ()
    was_cut: bool = False

    @property
    def text(self) -> str:
        return self.paragraph.text[self.span.start : self.span.end]

    @property
    def is_part(self) -> bool:
        """Whether it is only a part of a sentence: a long one is cut, and so is one with a full stop inside."""
        first = _FIRST_OF_WORD.search(self.text)
        later = _FIRST_OF_WORD.search(self.paragraph.text, self.span.end)
        return self.was_cut or any(found and found[0].islower() for found in (first, later))


class AppliedEdit(NamedTuple):
    """An edit that was made, and the range of its new text in the present text."""

    start: int
    end: int
    suggestion: Suggestion


class Document:
    """A draft between two stages.

    Edits are made by `accept` and `make`: they are strings of one document, while a canvas holds the tokens of one
    passage. `reviser.proofreading.recording` turns what was made into the actions of a canvas.
    """

    def __init__(self, draft: Draft, listed: Dictionary | None = None) -> None:
        """With `listed`, a list of English words, passages in another language are neither read nor edited."""
        self.draft = draft
        self._listed = listed
        self.text = draft.text
        self.paragraphs = paragraphs(draft.text, draft.format)
        self.sentences = 0
        self.made: list[AppliedEdit] = []
        self._used: set[int] = set()
        # Which parts of the text are read; None for all.
        self._fresh: list[Span] | None = None
        self._accepted: dict[int, list[Suggestion]] = {}
        # Edits of unknown words, which may be edited further.
        self._open: set[Suggestion] = set()

    @property
    def within(self) -> Span:
        """The range of the present text that is looked at."""
        within = self.draft.within
        if within is None:
            return Span(0, len(self.text))
        return Span(within.start, len(self.text) - (len(self.draft.text) - within.end))

    @property
    def is_read_whole(self) -> bool:
        """Whether the whole text is to be read, not only the surroundings of the last edits."""
        return self._fresh is None

    def inside(self) -> Iterator[Paragraph]:
        """The paragraphs that overlap the range that is looked at."""
        start, end = self.within
        for paragraph in self.paragraphs:
            first, last = paragraph.segments[0].start, paragraph.segments[-1].end
            if last >= start and first <= end:
                yield paragraph

    def is_to_read(self, paragraph: Paragraph, span: Span) -> bool:
        """Whether a range of a paragraph is looked at and was not read in its present form."""
        start, end = self.within
        first, last = paragraph.source_span(*span)
        if not (start <= last and first <= end and self._is_fresh(first, last)):
            return False
        text = paragraph.text[span.start : span.end]
        begin = span.start + len(text) - len(text.lstrip())
        return not any(low <= begin and span.end <= high for low, high in self._foreign(paragraph))

    def _foreign(self, paragraph: Paragraph) -> Sequence[Span]:
        """The ranges of a paragraph in another language, judged by the list of words."""
        return foreign_in(paragraph, self._listed) if self._listed else ()

    def _is_fresh(self, start: int, end: int) -> bool:
        if self._fresh is None:
            return True
        after = bisect_left(self._fresh, start, key=lambda span: span.end)
        return after < len(self._fresh) and self._fresh[after].start <= end

    def is_open(self, paragraph: Paragraph, suggestion: Suggestion) -> bool:
        """Whether a suggestion is in the range that is looked at, in English, and not over an earlier edit."""
        start, end = self.within
        first, last = paragraph.source_span(suggestion.start, suggestion.end)
        if not (start <= first and last <= end) or self._was_edited(first, last):
            return False
        return not any(low < suggestion.end and suggestion.start < high for low, high in self._foreign(paragraph))

    def _was_edited(self, start: int, end: int) -> bool:
        # Neither edits nor their new texts overlap, so that those near the stretch stand together.
        nearest = bisect_left(self.made, start, key=lambda made: made.end)
        for first, last, change in islice(self.made, nearest, None):
            if first > end + 1:
                break
            if change in self._open:
                continue
            # A mark may be put beside a word that was corrected; nothing comes beside what was put in or taken out.
            beside = not (change.old.strip() and change.new.strip())
            if (start <= last and first <= end) if beside else (start < last and first < end):
                return True
            # Two words became one because of the word before them, which therefore stays: "in startup".
            if _is_joined(change) and start < end == first - 1:
                return True
        return False

    def sureness_in(self, paragraph: Paragraph, span: Span) -> float:
        """The sum of the confidences of the edits already made in a sentence."""
        start, end = paragraph.source_span(*span)
        first = bisect_left(self.made, start, key=lambda made: made.start)
        sure = 0.0
        for _, last, change in islice(self.made, first, None):
            if last > end:
                break
            sure += change.confidence
        return sure

    def is_off(self, paragraph: Paragraph, suggestion: Suggestion) -> bool:
        """Whether a comment switches a suggestion off, which then counts as used."""
        start, end = paragraph.source_span(suggestion.start, suggestion.end)
        switches = switches_in(self.text, self.draft.format)
        held = {number for number, one in enumerate(switches) if one.holds(start, end, suggestion.names)}
        self._used |= held
        return bool(held)

    def accept(self, paragraph: Paragraph, suggestions: Sequence[Suggestion]) -> None:
        """Record edits of a paragraph, to be made with those of the other paragraphs."""
        self._accepted.setdefault(id(paragraph), []).extend(suggestions)

    @property
    def accepted(self) -> list[tuple[Paragraph, list[Suggestion]]]:
        """The recorded edits that are not made yet, by paragraph."""
        taken = self._accepted
        return [(one, taken[id(one)]) for one in self.paragraphs if id(one) in taken]

    def make(self, *, then_all: bool = False, revisable: bool = False) -> bool:
        """Make the accepted edits that keep the document's structure; returns whether there were any.

        Next, the surroundings of the edits are read, or with `then_all` the whole text. Later edits may not overlap
        these unless they are `revisable`.
        """
        accepted = self.accepted
        wanted = [(paragraph, [one.edit for one in some]) for paragraph, some in accepted]
        safe = set(safe_edits(self.text, self.draft.format, wanted)) if wanted else set()
        placed = [
            one
            for paragraph, some in accepted
            for suggestion in some
            if (one := _placed(paragraph, suggestion, safe)) is not None
        ]
        self._accepted, self._fresh = {}, []
        if placed:
            later = _merged(self.text, placed)
            changes = [made.suggestion for made in self.made]
            self.made = [*_in_new_text(_composed(self.draft.text, self.text, changes, later))]
            self.text = with_suggestions(self.text, later)
            self._fresh = [Span(start, end) for start, end, _ in _in_new_text(later)]
            self.paragraphs = paragraphs(self.text, self.draft.format)
        if then_all:
            self._fresh = None
        if revisable:
            self._open = {made.suggestion for made in self.made}
        return bool(placed)

    def result(self) -> Proofread:
        changes = tuple(made.suggestion for made in self.made)
        return Proofread(self.draft, self.text, changes, self.sentences, frozenset(self._used))


def _is_joined(change: Suggestion) -> bool:
    return " " in change.old.strip() and change.new.strip() == change.old.strip().replace(" ", "")


class _PlacedSuggestion(NamedTuple):
    """The edits of the source that carry out a suggestion, and the range of the text that it concerns."""

    start: int
    end: int
    edits: list[Edit]
    suggestion: Suggestion


def _placed(paragraph: Paragraph, suggestion: Suggestion, safe: set[Edit]) -> _PlacedSuggestion | None:
    """A suggestion as edits of the source; None if they are not safe."""
    edits = source_edits(paragraph, [suggestion.edit])
    if not edits or not safe.issuperset(edits):
        return None
    start, end = paragraph.source_span(suggestion.start, suggestion.end)
    start, end = min(start, edits[0].start), max(end, edits[-1].end)
    return _PlacedSuggestion(start, end, edits, suggestion)


def _merged(text: str, placed: Sequence[_PlacedSuggestion]) -> list[Suggestion]:
    """Edits of the source as suggestions for the text; several become one where a line break was moved by a word."""
    groups: list[list[_PlacedSuggestion]] = []
    reached = -1
    for one in sorted(placed, key=lambda one: (one.start, one.end, one.edits)):
        if groups and one.start < reached:
            groups[-1].append(one)
        else:
            groups.append([one])
        reached = max(reached, one.end)
    changes = []
    for group in groups:
        start, end = group[0].start, max(one.end for one in group)
        old = text[start:end]
        new = apply_edits(old, [edit.moved(-start) for one in group for edit in one.edits])
        first = group[0].suggestion
        kind = first.kind if len(group) == 1 else kind_of(old, new, text[:start], text[end:])
        sure = min(one.suggestion.confidence for one in group)
        if old != new:
            changes.append(replace(first, edit=Edit(start, old, new), kind=kind, confidence=sure))
    return changes


def _in_new_text(changes: Sequence[Suggestion]) -> Iterator[AppliedEdit]:
    """Edits with the ranges of their new texts, in the text after all of them."""
    growth = 0
    for change in changes:
        start = change.start + growth
        yield AppliedEdit(start, start + len(change.new), change)
        growth += change.edit.growth


def _composed(original: str, text: str, earlier: Sequence[Suggestion], later: Sequence[Suggestion]) -> list[Suggestion]:
    """One list of edits of `original` from edits that turned it into `text` and later edits of `text`."""
    placed = [*_in_new_text(earlier)]
    ends = [made.end for made in placed]
    growths = [0, *accumulate(made.suggestion.edit.growth for made in placed)]

    def origin(place: int) -> int:
        """The offset in the original of an offset that is in no earlier edit."""
        return place - growths[bisect_right(ends, place)]

    both = [(*made, True) for made in placed]
    both += [(change.start, change.end, change, False) for change in later]
    groups: list[list[tuple[int, int, Suggestion, bool]]] = []
    reached = -1
    for one in sorted(both, key=lambda one: one[:2]):
        if groups and one[0] < reached:
            groups[-1].append(one)
        else:
            groups.append([one])
        reached = max(reached, one[1])
    composed = []
    for group in groups:
        start, end = group[0][0], max(one[1] for one in group)
        _, _, change, is_earlier = group[0]
        if len(group) == 1:
            composed.append(change if is_earlier else change.moved(origin(start) - start))
            continue
        first, last = origin(start), origin(end)
        edits = [one[2].edit.moved(-start) for one in group if not one[3]]
        old, new = original[first:last], apply_edits(text[start:end], edits)
        kind = kind_of(old, new, original[:first], original[last:])
        sure = min(one[2].confidence for one in group)
        composed.append(replace(change, edit=Edit(first, old, new), kind=kind, confidence=sure))
    return composed
