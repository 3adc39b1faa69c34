"""The rules stage: mistakes that are certain from the words alone."""

from __future__ import annotations

from collections.abc import Iterator

from reviser.core.edits import Edit
from reviser.proofreading.document import Document, Sentence
from reviser.proofreading.stages.whole_words import from_word_to_word
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Paragraph, Span


def corrected_by_rules(paragraph: Paragraph) -> list[Span]:
    """The ranges of a paragraph that rules correct."""
    from reviser.proofreading.rules.english import matcher

    found_in = matcher().find_in(paragraph)
    return [Span(span.start + one.start, span.start + one.end) for span, found in found_in for one in found]


def rule_suggestions(document: Document) -> Iterator[tuple[Sentence, list[Suggestion]]]:
    """The corrections by rules, sentence by sentence."""
    from reviser.proofreading.rules.english import matcher

    for paragraph in document.inside():
        for span, found in matcher().find_in(paragraph):
            sentence = Sentence(paragraph, span)
            text = sentence.text
            some = [
                Suggestion(
                    Edit(one.start, text[one.start : one.end], one.new),
                    one.kind or Kind.OTHER,
                    one.confidence,
                    one.why,
                    rule=one.rules[0],
                )
                for one in found
            ]
            yield sentence, [*from_word_to_word(sentence, some)]
