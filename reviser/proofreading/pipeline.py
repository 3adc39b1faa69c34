"""The proofreader: documents in, corrected documents and the list of edits out.

A document is read as its format's prose. Stages suggest edits of it, one after the other: of unknown words, by
rules, and by the model, which reads each sentence by itself. The guard decides about every suggestion. What it
admits is made at once, so that the next stage reads the document as it was meant. Sentences that the model has
edited are read again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.policy import SessionPolicy
from reviser.model.scoring import ChoiceScores
from reviser.proofreading.document import Document, Draft, Proofread
from reviser.proofreading.guard.calibration import Calibration, SearchThresholds, calibration_for
from reviser.proofreading.guard.guard import Guard
from reviser.proofreading.overtyping import OvertypingReader
from reviser.proofreading.project.settings import CONFIDENCE
from reviser.proofreading.reading import AT_ONCE, Tell, told_from
from reviser.proofreading.spelling.dictionary import Dictionary
from reviser.proofreading.spelling.speller import Speller, UnknownWordsPassage, speller_for
from reviser.proofreading.stages.model import ModelStage, Readings, key_of
from reviser.proofreading.stages.rules import corrected_by_rules, rule_suggestions
from reviser.proofreading.stages.spelling import (
    Corrected,
    MisspeltSentence,
    by_itself,
    likely_words,
    misspelt,
    plain_misspellings,
)
from reviser.proofreading.suggestion import Kind

LOOKS: Final = 3
"""The most times that a sentence is read: once, and again where it was edited."""

# What the correction of an unknown word may be called.
_OF_SPELLING = frozenset(Kind) - {Kind.PUNCTUATION, Kind.WORD_ORDER, Kind.EXTRA_WORD}

Work = Sequence[tuple[Document, Guard]]


def unheard(done: int, of: int) -> None:
    """A progress callback that does nothing."""


class Proofreader:
    """Corrects documents with a model; edits below `confidence` are not made.

    Without a `calibration` the bundled one is used, if it was fitted for this model.
    """

    def __init__(
        self,
        policy: SessionPolicy,
        tokenizer: Tokenizer,
        *,
        confidence: float = CONFIDENCE,
        kinds: Collection[Kind] = frozenset(Kind),
        calibration: Calibration | None = None,
        phrases: bool = True,
    ) -> None:
        """With `phrases` False, the rules are not applied; `kinds` are the kinds of changes that may be made."""
        if policy.vocabulary.base_size < tokenizer.size:
            raise ReviserError("the model and the tokenizer do not belong together")
        if not 0 <= confidence <= 1:
            raise ReviserError("the confidence lies between 0 and 1")
        self.stage = ModelStage(policy, tokenizer)
        self.kinds = frozenset(kinds)
        self._confidence = confidence
        self._calibration = calibration_for(policy) if calibration is None else calibration
        self._speller = speller_for(policy, tokenizer)
        self._phrases = phrases

    @property
    def listed(self) -> Dictionary | None:
        """The list of English words; None if the model uses no list."""
        return self._speller.known if self._speller else None

    def proofread(self, draft: Draft, tell: Tell = unheard) -> Proofread:
        """Correct one document."""
        return self.proofread_all([draft], tell)[0]

    def proofread_all(self, drafts: Sequence[Draft], tell: Tell = unheard) -> list[Proofread]:
        """Correct several documents, whose sentences are read together."""
        work = self._guarded(drafts)
        search = self._calibration.search(self._confidence)
        done, readings = self._prepare(work, search, tell)
        for _ in range(LOOKS):
            done = self._look(work, search, readings, done, tell)
            if not sum([document.make() for document, _ in work]):
                break
        tell(done, done)
        return [document.result() for document, _ in work]

    def _guarded(self, drafts: Sequence[Draft]) -> Work:
        """The documents of the drafts, each with its guard."""
        listed = self.listed
        documents = [Document(draft, listed) for draft in drafts]
        return [(one, Guard(one, self._confidence, self.kinds, self._calibration, listed=listed)) for one in documents]

    def _prepare(self, work: Work, search: SearchThresholds, tell: Tell) -> tuple[int, Readings]:
        """Run the stages of unknown words and of rules; returns the number of sentences read for that, and the
        readings of sentences that were left unchanged."""
        readings: Readings = {}
        done = 0
        if self._speller is not None and self.kinds & _OF_SPELLING:
            done = self._correct_words(self._speller, work, search, readings, tell)
        if self._phrases:
            for document, guard in work:
                for sentence, found in rule_suggestions(document):
                    guard.admit(sentence, found)
                if document.accepted:
                    document.make(then_all=True)
        return done, readings

    def _correct_words(
        self, speller: Speller, work: Work, search: SearchThresholds, readings: Readings, tell: Tell
    ) -> int:
        """Run the stage of unknown words; returns the number of sentences with such words."""
        # What a rule says of several words, "many informations", is better than what the speller says of one.
        elsewhere: Corrected = corrected_by_rules if self._phrases else lambda document, paragraph: ()
        for document, guard in work:
            for sentence, plain in plain_misspellings(document, speller, guard.terms, elsewhere):
                guard.admit(sentence, plain)
            if document.accepted:
                document.make(then_all=True, revisable=True)
        guards = {id(document): guard for document, guard in work}
        stage = self.stage

        def shown(one: MisspeltSentence) -> UnknownWordsPassage:
            """The passage that the speller reads. If all unknown words seem right, it is the passage of the model
            stage, whose reading is then made in the same pass."""
            if not one.seems_right:
                return by_itself(one)
            passage = stage.shown(one.sentence)

            def read_on(told: Sequence[ChoiceScores]) -> OvertypingReader:
                reader = readings[key_of(passage)] = stage.reader(passage, search, told)
                return reader

            return UnknownWordsPassage(passage, one.sentence.text, one.unknown, read_on)

        found = [
            one
            for document, guard in work
            for one in misspelt(document, speller, guard.terms, elsewhere, stage.sentences_of)
        ]
        for one, likely in likely_words(found, speller, shown, tell):
            guards[id(one.document)].admit(one.sentence, likely)
        for document in {id(one.document): one.document for one in found}.values():
            document.make(then_all=True, revisable=True)
        return len(found)

    def _look(self, work: Work, search: SearchThresholds, readings: Readings, done: int, tell: Tell) -> int:
        """Run the model stage on the sentences still to be read; `done` sentences were read before. Returns the new
        total."""
        guards = {id(document): guard for document, guard in work}
        found = [(document, sentence) for document, _ in work for sentence in self.stage.sentences(document)]
        total = done + len(found)
        for at in range(0, len(found), AT_ONCE):
            tell(done, total)
            some = found[at : at + AT_ONCE]
            offers = self.stage.suggest(some, search, readings, told_from(tell, done, total))
            if not self._calibration.is_raw:
                asked = [guards[id(document)] for document, _ in some]
                offers = self.stage.with_evidence(offers, asked, self._calibration.best_reading)
            for document, sentence, suggested in offers:
                guards[id(document)].admit_judged(sentence, suggested)
            done += len(some)
        return done
