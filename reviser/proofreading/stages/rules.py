"""The rules stage: mistakes that are certain from the words alone, and what a project's own rules ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviser.core.edits import Edit
from reviser.proofreading.document import Document, Sentence
from reviser.proofreading.stages.whole_words import from_word_to_word
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Paragraph, Span

if TYPE_CHECKING:
    from reviser.proofreading.rules.matching import RuleMatch


def corrected_by_rules(document: Document, paragraph: Paragraph) -> list[Span]:
    """The ranges of a paragraph that rules correct."""
    return [
        Span(span.start + one.start, span.start + one.end)
        for span, found in _found_in(document, paragraph)
        for one, _ in found
    ]


def rule_suggestions(document: Document) -> Iterator[tuple[Sentence, list[Suggestion]]]:
    """The corrections by rules, sentence by sentence."""
    for paragraph in document.inside():
        for span, found in _found_in(document, paragraph):
            sentence = Sentence(paragraph, span)
            some = [_suggestion(sentence.text, one, is_own=is_own) for one, is_own in found]
            yield sentence, [*from_word_to_word(sentence, some)]


def _found_in(document: Document, paragraph: Paragraph) -> Iterator[tuple[Span, list[tuple[RuleMatch, bool]]]]:
    """The sentences of a paragraph with what rules find there, and whether the rule is the project's own. Where two
    overlap, its own rules have precedence."""
    from reviser.proofreading.rules.english import matcher, own_matcher

    found: dict[Span, list[tuple[RuleMatch, bool]]] = {}
    own = own_matcher(document.draft.rules) if document.draft.rules else ()
    for finder in (*own, matcher()):
        for span, some in finder.find_in(paragraph):
            held = found.setdefault(span, [])
            held += [
                (one, finder in own)
                for one in some
                if not any(one.start < other.end and other.start < one.end for other, _ in held)
            ]
    for span, matches in sorted(found.items()):
        yield span, sorted(matches, key=lambda match: match[0].start)


def _suggestion(text: str, one: RuleMatch, *, is_own: bool) -> Suggestion:
    return Suggestion(
        Edit(one.start, text[one.start : one.end], one.new),
        one.kind or Kind.OTHER,
        one.confidence,
        one.why,
        rule=one.rules[0],
        level=one.level,
        is_own=is_own,
    )
