"""The guard of one document: decides which suggestions may be made, each by itself and beside the others."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from reviser.core.edits import Edit, apply_edits
from reviser.proofreading.document import Document, Sentence
from reviser.proofreading.guard.calibration import FOLLOWED, Calibration, log_odds, logistic
from reviser.proofreading.guard.usage import makes_one, usage_in
from reviser.proofreading.guard.vetoes import Vetoes
from reviser.proofreading.spelling.dictionary import Dictionary
from reviser.proofreading.spelling.gathering import terms_of
from reviser.proofreading.spelling.slips import slip_confidence
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Format, Paragraph

MARKED_UP: Final = 0.45
"""How much the log-odds of a change fall in documents with markup.

Calibrations are fitted on texts of learners, who make a mistake in every second sentence. Documentation has one in
hundreds of words, so that the same evidence says less.
"""
_AS_LEARNERS_WRITE: Final = frozenset((Format.PLAIN, Format.MAIL, Format.COMMIT))
# Characters between words that agree with each other, at the most.
_NEAR_VERB: Final = 24
# Kinds of changes that may respell a name.
_OF_WORDS: Final = frozenset((Kind.SPELLING, Kind.CASE, Kind.JOINED_OR_SPLIT, Kind.WORD_FORM, Kind.OTHER))
_LONE_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_IN_AGREEMENT: Final = frozenset(((Kind.NOUN_NUMBER, Kind.AGREEMENT), (Kind.ARTICLE, Kind.NOUN_NUMBER)))


class Guard:
    """Decides about the suggestions for one document, with the names and the usage of its draft."""

    def __init__(
        self,
        document: Document,
        confidence: float,
        kinds: Collection[Kind],
        calibration: Calibration,
        listed: Dictionary | None = None,
    ) -> None:
        draft, prose = document.draft, document.paragraphs
        self.terms: Final = terms_of(draft.text, prose, draft.format, draft.words, listed)
        self._document = document
        self._listed = listed
        self._calibration = calibration
        self._vetoes = Vetoes(
            confidence,
            kinds,
            self.terms,
            usage_in(prose),
            listed.knows if listed else None,
            listed.is_name if listed else None,
        )
        self._without_dial = replace(self._vetoes, confidence=0.0)
        # What sentences were before they were edited.
        self._former: set[str] = set()

    def needed(self, sentence: Sentence, suggestion: Suggestion) -> float:
        """The confidence that a suggestion must reach."""
        return self._vetoes.needed(suggestion, sentence.paragraph)

    def undecided(self, sentence: Sentence, found: Sequence[Suggestion]) -> list[Suggestion]:
        """The suggestions without a veto, for which only the confidence decides."""
        return self._allowed(self._without_dial, sentence.paragraph, found)

    def hopeful(self, sentence: Sentence, found: Sequence[Suggestion]) -> set[Suggestion]:
        """The suggestions that would reach the needed confidence with the best possible left-to-right reading."""
        best = self._calibration.best_reading
        judged = self.judged(sentence, [_with_reading(one, best) for one in found])
        return {one for one, sure in zip(found, judged, strict=True) if sure.confidence >= self.needed(sentence, one)}

    def judged(self, sentence: Sentence, found: Sequence[Suggestion]) -> list[Suggestion]:
        """Suggestions with their calibrated confidence, which depends on the others in the same sentence."""
        made = self._document.sureness_in(sentence.paragraph, sentence.span)
        judged = self._calibration.judged(found, made)
        if self._calibration.is_raw or self._document.draft.format in _AS_LEARNERS_WRITE:
            return judged
        return [replace(one, confidence=logistic(log_odds(one.confidence) - MARKED_UP)) for one in judged]

    def admit_judged(self, sentence: Sentence, found: Sequence[Suggestion]) -> None:
        """Calibrate the model's suggestions for a sentence, and have the document accept the allowed ones."""
        followed = frozenset((one.start, one.end) for one in found if one.confidence >= FOLLOWED)
        paragraph = sentence.paragraph
        judged = [self._as_slip(paragraph, one) for one in self.judged(sentence, found)]
        allowed = self._allowed(self._vetoes, paragraph, judged)
        allowed = _without_contradictions(judged, allowed, followed)
        allowed = [one for one in allowed if not self._contradicts_made(paragraph, one)]
        self._accept(sentence, allowed)

    def admit(self, sentence: Sentence, found: Sequence[Suggestion]) -> None:
        """Have the document accept the allowed ones of the suggestions for a sentence, with their confidence as it
        is."""
        weighed = [self._as_slip(sentence.paragraph, one) for one in found]
        self._accept(sentence, self._allowed(self._vetoes, sentence.paragraph, weighed))

    def _as_slip(self, paragraph: Paragraph, suggestion: Suggestion) -> Suggestion:
        """A suggestion for an unknown word with less confidence if the word may be a name.

        What a rule says of a word is said of that word, and stays.
        """
        old, new, text = suggestion.old, suggestion.new, paragraph.text
        if self._listed is None or suggestion.reason or suggestion.kind not in _OF_WORDS:
            return suggestion
        if not new or not _LONE_WORD.fullmatch(old) or self._listed.knows(old):
            return suggestion
        before, behind = text[: suggestion.start], text[suggestion.end :]
        return replace(
            suggestion,
            confidence=slip_confidence(
                suggestion.confidence, old, new, before, behind, in_note=paragraph.role.fragment
            ),
        )

    def _allowed(self, vetoes: Vetoes, paragraph: Paragraph, found: Sequence[Suggestion]) -> list[Suggestion]:
        return [
            one
            for one in found
            if (_is_asked_for(one, vetoes) if one.is_own else vetoes.objection(one, paragraph) is None)
            if self._document.is_open(paragraph, one)
        ]

    def _accept(self, sentence: Sentence, allowed: Sequence[Suggestion]) -> None:
        # Nothing leads back to what the sentence was before.
        paragraph = sentence.paragraph
        on = [one for one in allowed if not self._document.is_off(paragraph, one)]
        kept = [one for one in on if _corrected(sentence, [one]) not in self._former]
        if kept and _corrected(sentence, kept) not in self._former:
            self._former.add(_corrected(sentence, []))
            self._document.accept(paragraph, kept)

    def _contradicts_made(self, paragraph: Paragraph, suggestion: Suggestion) -> bool:
        """Whether a suggestion contradicts an edit made near it before."""
        start, end = paragraph.source_span(suggestion.start, suggestion.end)
        return any(
            (0 < start - last <= _NEAR_VERB and _agree(change, suggestion) is False)
            or (0 < first - end <= _NEAR_VERB and _agree(suggestion, change) is False)
            for first, last, change in self._document.made
        )


def _is_asked_for(suggestion: Suggestion, vetoes: Vetoes) -> bool:
    """Whether a suggestion by a project's own rule is made: the rule knows what it says, and needs no veto."""
    return suggestion.kind in vetoes.kinds and suggestion.confidence >= vetoes.confidence


def _with_reading(suggestion: Suggestion, reading: float | None) -> Suggestion:
    return replace(suggestion, evidence=suggestion.evidence._replace(reading=reading))


def _without_contradictions(
    found: Sequence[Suggestion], allowed: Sequence[Suggestion], followed: frozenset[tuple[int, int]]
) -> list[Suggestion]:
    """The allowed suggestions; of two that exclude each other, the surer one.

    "My colleagues describes" has two corrections. A verb that was read behind another noun does not stay either, if
    the noun is not edited: `followed` are the places with whose edits the rest of the sentence was read.
    """
    left = list(allowed)
    for first, second in product(found, found):
        if second not in left or not 0 < second.start - first.end <= _NEAR_VERB:
            continue
        agree = _agree(first, second)
        if first in left and agree is False:
            left.remove(min(first, second, key=lambda one: one.confidence))
        elif agree and first not in left and (first.start, first.end) in followed and first.kind is Kind.NOUN_NUMBER:
            left.remove(second)
    return left


def _agree(first: Suggestion, second: Suggestion) -> bool | None:
    """Whether two edits agree in number (singular or plural); None if they are independent."""
    if (first.kind, second.kind) not in _IN_AGREEMENT:
        return None
    one, other = (makes_one(made.kind, made.old, made.new) for made in (first, second))
    return None if one is None or other is None else one is other


def _corrected(sentence: Sentence, some: Sequence[Suggestion]) -> str:
    start = sentence.span.start
    edits: list[Edit] = [one.edit.moved(-start) for one in some]
    return apply_edits(sentence.text, edits).strip()
