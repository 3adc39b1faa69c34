"""The model stage: corrections found by overtyping each sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from reviser.core.edits import Edit
from reviser.core.tokenizer import Tokenizer
from reviser.decoding.policy import SessionPolicy
from reviser.model.scoring import ChoiceScores
from reviser.proofreading.document import Document, Sentence
from reviser.proofreading.evidence.readings import SentenceQuestion, readings
from reviser.proofreading.guard.calibration import SearchThresholds
from reviser.proofreading.guard.guard import Guard
from reviser.proofreading.overtyping import Correction, OvertypingReader
from reviser.proofreading.reading import Passage, corrections_of, find_corrections, overtyping_reader, rules_for
from reviser.proofreading.stages.whole_words import from_word_to_word
from reviser.proofreading.suggestion import Kind, Suggestion
from reviser.prose import Paragraph, Span, sentences
from reviser.session.session import PASSAGE

# Tokens on either side of a part of a sentence that a model reads. Whole sentences are shown alone: with text beside
# them the model leaves more mistakes.
_SIDE_OF_PART: Final = 32
# The start marker, the draft's, and the moves back over what follows a passage.
_MARKERS: Final = 14
_CHARACTERS_OF_TOKEN: Final = 8
_LETTERS = re.compile(r"[^\W\d_]{2}|\b[aiAI]\b")

Key = tuple[tuple[int, ...], ...]
Readings = dict[Key, OvertypingReader]
"""Earlier readings, by everything that decides their result."""
Offer = tuple[Document, Sentence, list[Suggestion]]


class ModelStage:
    """Reads sentences with a model that overtypes."""

    def __init__(self, policy: SessionPolicy, tokenizer: Tokenizer) -> None:
        self._policy = policy
        self._tokenizer = tokenizer
        self._rules = rules_for(policy.vocabulary)
        # The passage twice, as a draft and overtyped, and tokens around it: together they fit the model.
        third = min(policy.context, policy.max_length or policy.context) // 3
        self._longest = max(1, min(PASSAGE, third - _MARKERS))
        self._side = min(third // 2, _SIDE_OF_PART)

    def sentences(self, document: Document) -> Iterator[Sentence]:
        """The sentences of a document that are still to be read."""
        for paragraph in document.inside():
            whole = Span(0, len(paragraph.text))
            if document.is_to_read(paragraph, whole):
                for sentence in self.sentences_of(document, paragraph):
                    document.sentences += document.is_read_whole
                    yield sentence

    def sentences_of(self, document: Document, paragraph: Paragraph) -> Iterator[Sentence]:
        """The sentences of a paragraph still to be read, without those that the tokenizer does not reproduce
        exactly."""
        for sentence in self._parts(paragraph):
            if document.is_to_read(paragraph, sentence.span):
                yield sentence

    def _parts(self, paragraph: Paragraph) -> Iterator[Sentence]:
        """The sentences of a paragraph, or parts of long ones."""
        longest, place = self._longest, 0
        for sentence in sentences(paragraph):
            # The space between two sentences belongs to the second, as to a word.
            whole = Span(place, sentence.end)
            waiting = [whole]
            place = sentence.end
            while waiting:
                span = waiting.pop()
                text = paragraph.text[span.start : span.end]
                if not _LETTERS.search(text):
                    continue
                tokens = self._tokenizer.encode(text) if len(text) <= 16 * longest else []
                cut = _cut(text)
                if (not tokens or len(tokens) > longest) and cut:
                    middle = span.start + cut
                    waiting += [Span(middle, span.end), Span(span.start, middle)]
                elif 0 < len(tokens) <= longest and self._bytes(tokens) == text.encode():
                    yield Sentence(paragraph, span, tokens, span != whole)

    def suggest(
        self,
        found: Sequence[tuple[Document, Sentence]],
        search: SearchThresholds,
        known: Readings,
        tell: Callable[[int], None] | None = None,
    ) -> list[Offer]:
        """The model's suggestions for sentences; those in `known` are not read again. `tell` is called with the
        number of sentences read."""
        shown = [self.shown(sentence) for _, sentence in found]
        corrections = self.find_corrections(shown, search, known, tell)
        return [
            (document, sentence, [*from_word_to_word(sentence, self._suggestions(sentence, some))])
            for (document, sentence), some in zip(found, corrections, strict=True)
        ]

    def find_corrections(
        self,
        passages: Sequence[Passage],
        search: SearchThresholds,
        known: Readings,
        tell: Callable[[int], None] | None = None,
    ) -> list[list[Correction]]:
        """The corrections of passages that reach the thresholds of `search`, from known readings or new ones."""
        keys = [*map(key_of, passages)]
        unread = [one for one, key in zip(passages, keys, strict=True) if key not in known]
        found = iter(find_corrections(self._policy, unread, search, tell))
        return [corrections_of(known[key], search.least) if key in known else next(found) for key in keys]

    def reader(self, passage: Passage, search: SearchThresholds, told: Sequence[ChoiceScores]) -> OvertypingReader:
        """A reader of a passage; `told` are known scores of its first places."""
        return overtyping_reader(self._policy, passage, search, told)

    def with_evidence(self, offers: Sequence[Offer], guards: Sequence[Guard], best: float) -> list[Offer]:
        """The suggestions with left-to-right readings added where there is no veto and only the confidence decides.

        A suggestion that could not reach the needed confidence even with the reading `best` is not read, and gets that
        value.
        """
        told = [dict[Suggestion, float | None]() for _ in offers]
        asked = []
        for number, ((_, sentence, found), guard) in enumerate(zip(offers, guards, strict=True)):
            undecided, hopeful = (guard.undecided(sentence, found), guard.hopeful(sentence, found))
            told[number].update((one, best) for one in undecided if one not in hopeful)
            if wanted := [one for one in undecided if one in hopeful]:
                asked.append((number, wanted))
        questions = [self.question(offers[number][1], some) for number, some in asked]
        answers = readings(self._policy, self._rules, questions)
        for (number, some), read in zip(asked, answers, strict=True):
            told[number].update(zip(some, read, strict=True))
        return [
            (document, sentence, [_read(one, said.get(one)) for one in found])
            for (document, sentence, found), said in zip(offers, told, strict=True)
        ]

    def question(self, sentence: Sentence, some: Sequence[Suggestion]) -> SentenceQuestion:
        """The question how a sentence reads after each of some edits."""
        low, text = sentence.span.start, sentence.text
        changed = [self._tokenizer.encode(one.edit.moved(-low).apply_to(text)) for one in some]
        return SentenceQuestion(self.shown(sentence), changed)

    def shown(self, sentence: Sentence) -> Passage:
        """A sentence as a passage; a part of a sentence gets the text beside it as context."""
        if not sentence.is_part:
            return Passage(sentence.tokens)
        text, (start, end) = sentence.paragraph.text, sentence.span
        size = self._side * _CHARACTERS_OF_TOKEN
        left = self._tokenizer.encode(text[_space_after(text, start - size) : start])
        right = self._tokenizer.encode(text[end : _space_before(text, end + size)])
        return Passage(sentence.tokens, left[len(left) - min(len(left), self._side) :], right[: self._side])

    def _suggestions(self, sentence: Sentence, corrections: Sequence[Correction]) -> list[Suggestion]:
        """The corrections in characters, in order, with the kinds that follow from the words; those that would cut a
        character are left out."""
        data = sentence.text.encode()
        lengths = (len(self._tokenizer.token_bytes(token)) for token in sentence.tokens)
        ends = [0, *accumulate(lengths)]
        found = []
        for correction in corrections:
            start, end = ends[correction.start], ends[correction.end]
            first, last = start, end
            while first and _continues(data, first):
                first -= 1
            while _continues(data, last):
                last += 1
            new = data[first:start] + self._bytes(correction.tokens) + data[end:last]
            try:
                text = new.decode()
            except UnicodeDecodeError:
                continue
            before, old = data[:first].decode(), data[first:last].decode()
            found.append(Suggestion(Edit(len(before), old, text), Kind.OTHER, correction.confidence))
        return sorted(found, key=lambda one: (one.edit.start, one.edit.end, one.edit.new, one.confidence))

    def _bytes(self, tokens: Sequence[int]) -> bytes:
        return b"".join(map(self._tokenizer.token_bytes, tokens))


def key_of(passage: Passage) -> Key:
    """Everything that decides the result of reading a passage."""
    return tuple(map(tuple, passage))


def _read(suggestion: Suggestion, reading: float | None) -> Suggestion:
    return replace(suggestion, evidence=suggestion.evidence._replace(reading=reading))


def _continues(data: bytes, place: int) -> bool:
    return place < len(data) and 0x80 <= data[place] <= 0xBF


def _cut(text: str) -> int:
    """The offset at which a long text is cut in two: at the mark, else the space, nearest to its middle; 0 if there
    is none."""
    for pattern in (r"[,;:–—](?= )", r"(?<=\S)(?= )"):
        cuts = [found.end() for found in re.finditer(pattern, text)]
        if cuts:
            return min(cuts, key=lambda cut: abs(2 * cut - len(text)))
    return 0


def _space_after(text: str, place: int) -> int:
    """The offset of the first space from `place` on, or 0 if `place` is before the text."""
    return 0 if place <= 0 else max(text.find(" ", place), place)


def _space_before(text: str, place: int) -> int:
    """The offset of the last space before `place`, or the end of the text if `place` is beyond it."""
    return len(text) if place >= len(text) else max(text.rfind(" ", 0, place), 0) or place
