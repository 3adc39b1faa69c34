"""The spelling stage: obvious corrections of unknown words, and those that the model finds likely."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from reviser.core.edits import Edit
from reviser.proofreading.changes import kind_of
from reviser.proofreading.document import Document, Sentence
from reviser.proofreading.reading import AT_ONCE, Passage, Tell, told_from
from reviser.proofreading.spelling.speller import Respelling, Speller, UnknownWordsPassage
from reviser.proofreading.spelling.terms import Terms
from reviser.proofreading.spelling.unknown import UnknownWord
from reviser.proofreading.suggestion import Suggestion
from reviser.prose import Format, Paragraph, Span, sentences

_QUOTES = re.compile('["“”„«»]')
_WORD = re.compile(r"\w+(?:['’]\w+)*")


class MisspeltSentence(NamedTuple):
    """A sentence with unknown words, which have offsets in it, and whether they seem right."""

    document: Document
    sentence: Sentence
    unknown: list[UnknownWord]
    seems_right: bool


Corrected = Callable[[Document, Paragraph], Sequence[Span]]
"""The ranges of a paragraph that another stage corrects, whatever words they hold."""


def plain_misspellings(
    document: Document, speller: Speller, terms: Terms, elsewhere: Corrected
) -> Iterator[tuple[Sentence, list[Suggestion]]]:
    """The obvious corrections, found without the model.

    A word that occurs twice is left to the model, as it may be intended, and so is a sentence with a quotation.
    """
    counts: Counter[str] | None = None
    for paragraph, unknown in _unknown(document, speller, terms, elsewhere):
        for span in sentences(paragraph):
            sentence = Sentence(paragraph, span)
            if _QUOTES.search(sentence.text):
                continue
            words = _inside(sentence, unknown)
            found = [one for each in words if (one := speller.plainly(each)) is not None]
            if found:
                counts = counts or Counter(_WORD.findall(document.text))
                once = [one for one in found if counts[one.unknown.text] == 1]
                yield sentence, suggestions(sentence, once)


def misspelt(
    document: Document,
    speller: Speller,
    terms: Terms,
    elsewhere: Corrected,
    passages: Callable[[Document, Paragraph], Iterator[Sentence]],
) -> Iterator[MisspeltSentence]:
    """The sentences with unlisted words."""
    for paragraph, unknown in _unknown(document, speller, terms, elsewhere):
        for sentence in passages(document, paragraph):
            if words := _inside(sentence, unknown):
                right = all(map(speller.seems_right, words))
                yield MisspeltSentence(document, sentence, words, right)


def likely_words(
    found: Sequence[MisspeltSentence],
    speller: Speller,
    shown: Callable[[MisspeltSentence], UnknownWordsPassage],
    tell: Tell,
) -> Iterator[tuple[MisspeltSentence, list[Suggestion]]]:
    """The corrections that the model finds likely; `shown` makes the passage that it reads for a sentence."""
    for at in range(0, len(found), AT_ONCE):
        some = found[at : at + AT_ONCE]
        corrected = speller.find([*map(shown, some)], told_from(tell, at, len(found)))
        for one, corrections in zip(some, corrected, strict=True):
            yield one, suggestions(one.sentence, corrections)


def by_itself(one: MisspeltSentence) -> UnknownWordsPassage:
    """The passage of a sentence with unknown words, without context."""
    return UnknownWordsPassage(Passage(one.sentence.tokens), one.sentence.text, one.unknown)


def suggestions(sentence: Sentence, corrections: Sequence[Respelling]) -> list[Suggestion]:
    """Respellings as suggestions."""
    text, low = sentence.text, sentence.span.start
    return [
        Suggestion(Edit(low + start, old, new), kind_of(old, new, text[:start], text[end:]), confidence)
        for (start, end, old, _), new, confidence in corrections
    ]


def _unknown(
    document: Document, speller: Speller, terms: Terms, elsewhere: Corrected
) -> Iterator[tuple[Paragraph, list[UnknownWord]]]:
    """The paragraphs with unlisted words, and these words, without those that another stage corrects."""
    plain = document.draft.format in (Format.PLAIN, Format.MAIL)
    for paragraph in document.inside():
        if unknown := speller.unknown(paragraph, terms, plain=plain):
            spans = elsewhere(document, paragraph)
            if left := [one for one in unknown if not any(a < one.end and one.start < b for a, b in spans)]:
                yield paragraph, left


def _inside(sentence: Sentence, unknown: Sequence[UnknownWord]) -> list[UnknownWord]:
    """The words of a paragraph that are wholly in a sentence, with offsets in it."""
    start, end = sentence.span
    return [
        one._replace(start=one.start - start, end=one.end - start)
        for one in unknown
        if start <= one.start and one.end <= end
    ]
